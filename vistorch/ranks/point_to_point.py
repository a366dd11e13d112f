"""Tensors from one rank to another: send, recv, and both without waiting.

Invariant: a message that is longer or shorter than the tensor it goes into is an error at the rank that receives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.core.tensor import Tensor
from .buffers import Buffer
from .collectives import described, mover, not_in_group, one_tensor, root_of
from .errors import DistArgumentError, DistBackendError
from .group import ProcessGroup, chosen
from .transport import ANY
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]
TAG_OF_OBJECTS = 30_001
MOST_TAG = 29_999


def peer_of(group: ProcessGroup, rank: int | None, group_rank: int | None, which: str) -> int:
    """The number in the group of the other rank.

    Args:
        group: the group.
        rank: its number in the world.
        group_rank: its number in the group.
        which: "source" or "destination".
    """
    if rank is None and group_rank is None and which == "source":
        return ANY
    found = root_of(group, rank, group_rank)
    if found == group.rank():
        raise (ValueError if which == "destination" else DistArgumentError)(
            f"Invalid {which} rank: {which} rank should not be the same as the rank of the current process."
        )
    return found


def _checked_tag(tag: int) -> int:
    if not 0 <= tag <= MOST_TAG:
        raise ValueError(f"a tag is a number from 0 to {MOST_TAG}, not {tag}")
    return tag


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Send a tensor to a rank, without waiting.

    Args:
        tensor: what to send; it must not change before the work has ended.
        dst: the rank.
        group: whose ranks; all if None.
        tag: a number that the receiver names too.
        group_dst: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.isend(vistorch.ones(2), dst=0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: Invalid destination rank...
        >>> dist.destroy_process_group()
    """
    return _send("isend", tensor, dst, group, tag, group_dst)


def _send(name: str, tensor: Any, dst: Any, group: Any, tag: int, group_dst: Any) -> Work | None:
    tensor = one_tensor(tensor, "tensor")
    if not_in_group(group, name):
        return None
    group = chosen(group)
    to = peer_of(group, dst, group_dst, "destination")
    what = f"{described([tensor])}, to rank {group.global_rank(to)}"
    group.begin(name, what, [tensor], checks=False)
    transport = mover(group, [tensor])
    if getattr(transport, "on_device", False):
        request = transport.send(transport.buffer(tensor).array, to, _checked_tag(tag))
    else:
        request = transport.send(Buffer(tensor).raw, to, _checked_tag(tag))
    return Work(group, name, [request], None, [tensor], what)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Receive a tensor from a rank, without waiting.

    Args:
        tensor: where it goes, when the work has ended.
        src: the rank; any if not given.
        group: whose ranks; all if None.
        tag: the number that the sender names.
        group_src: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.irecv(vistorch.ones(2)).is_completed()
        False
        >>> dist.destroy_process_group()
    """
    return _receive("irecv", tensor, src, group, tag, group_src)


def _receive(name: str, tensor: Any, src: Any, group: Any, tag: int, group_src: Any) -> Work | None:
    tensor = one_tensor(tensor, "tensor")
    if not_in_group(group, name):
        return None
    group = chosen(group)
    source = peer_of(group, src, group_src, "source")
    who = "any rank" if source == ANY else f"rank {group.global_rank(source)}"
    what = f"{described([tensor])}, from {who}"
    group.begin(name, what, [tensor], checks=False)
    transport = mover(group, [tensor])
    if getattr(transport, "on_device", False):
        there = transport.buffer(tensor)
        request = transport.receive(there.array, source, _checked_tag(tag))
        return Work(group, name, [request], there.store, [tensor], what)
    held = Buffer(tensor, reads=False)
    request = transport.receive(held.raw, source, _checked_tag(tag))

    def finish() -> None:
        came = getattr(request, "count", held.raw.size)
        if came != held.raw.size:
            raise DistBackendError(
                f"{name} ({what}): {came} bytes came, the tensor has {held.raw.size}: the sender's has another shape "
                "or dtype."
            )
        held.store()

    return Work(group, name, [request], finish, [tensor], what)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to a rank, and wait until it is on its way.

    Args:
        tensor: what to send.
        dst: the rank.
        group: whose ranks; all if None.
        tag: a number that the receiver names too.
        group_dst: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.send(vistorch.ones(2), dst=0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: Invalid destination rank...
        >>> dist.destroy_process_group()
    """
    work = _send("send", tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor from a rank.

    Args:
        tensor: where it goes.
        src: the rank; any if not given.
        group: whose ranks; all if None.
        tag: the number that the sender names.
        group_src: the same rank by its number in the group.

    Returns:
        The rank that sent it; -1 if this rank is not in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.recv(vistorch.ones(2), src=0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        vistorch.ranks.errors.DistArgumentError: Invalid source rank...
        >>> dist.destroy_process_group()
    """
    work = _receive("recv", tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    return work.source_rank()


class P2POp:
    """One of the operations of `batch_isend_irecv`.

    Args:
        op: `isend` or `irecv`.
        tensor: what is sent, or where it goes.
        peer: the other rank.
        group: whose ranks; all if None.
        tag: a number that both name.
        group_peer: the other rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.P2POp(dist.broadcast, vistorch.ones(2), 1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: Invalid ``op``...
    """

    def __init__(
        self,
        op: Callable,
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.tag = op, one_tensor(tensor, "tensor"), tag
        self.group = chosen(group)
        self.group_peer = root_of(self.group, peer, group_peer)
        self.peer = self.group.global_rank(self.group_peer)


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start several operations between two ranks each; return their works.

    Args:
        p2p_op_list: the operations.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.batch_isend_irecv([])
        Traceback (most recent call last):
            ...
        IndexError: Invalid ``p2p_op_list``: it has no operation.
    """
    if not isinstance(p2p_op_list, (list, tuple)) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``."
        )
    if not p2p_op_list:
        raise IndexError("Invalid ``p2p_op_list``: it has no operation.")
    group = p2p_op_list[0].group
    if not all(one.group is group for one in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    works = [one.op(one.tensor, group=group, tag=one.tag, **_peer(one)) for one in p2p_op_list]
    return [work for work in works if work is not None]


def _peer(one: P2POp) -> dict[str, int]:
    return {"group_dst" if one.op is isend else "group_src": one.group_peer}
