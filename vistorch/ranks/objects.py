"""Collective operations on any objects: pickled, and moved as bytes.

Pickles travel between the ranks of one job alone, which have proved the job's token to each other or were started by
one mpiexec.

Invariant: the lengths travel first, so that no rank reserves more than arrives.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from .collectives import not_in_group, root_of
from .errors import DistArgumentError
from .group import ProcessGroup, chosen
from .point_to_point import TAG_OF_OBJECTS, peer_of
from .work import Work

__all__ = """
    all_gather_object broadcast_object_list gather_object recv_object_list scatter_object_list send_object_list
""".split()


def _packed(value: Any) -> np.ndarray:
    try:
        from .. import _code_pickle as how  # knows what a notebook defines
    except ImportError:
        how = pickle
    return np.frombuffer(how.dumps(value), np.uint8)


def _unpacked(raw: np.ndarray) -> Any:
    return pickle.loads(raw.tobytes())


def _wait(group: ProcessGroup, name: str, *requests: Any) -> None:
    Work(group, name, requests).wait()


def _all(group: ProcessGroup, name: str, raw: np.ndarray) -> list[np.ndarray]:
    """The bytes of all ranks."""
    sizes = np.empty(group.size(), np.int64)
    _wait(
        group,
        name,
        group.transport.all_gather(np.array([raw.size], np.int64).view(np.uint8), sizes.view(np.uint8)),
    )
    counts = sizes.tolist()
    into = np.empty(sum(counts), np.uint8)
    sent = np.tile(raw, group.size())
    _wait(group, name, group.transport.all_to_all(sent, [raw.size] * group.size(), into, counts))
    return np.split(into, np.cumsum(counts)[:-1])


def all_gather_object(object_list: list, obj: Any, group: Any = None) -> None:
    """Give all ranks the objects of all.

    Args:
        object_list: where they go, one for each rank.
        obj: this rank's; anything that can be pickled.
        group: whose ranks; all if None.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> found = [None]
        >>> dist.all_gather_object(found, {"loss": 0.5})
        >>> found
        [{'loss': 0.5}]
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "all_gather_object"):
        return
    group = chosen(group)
    _check_length("object_list", object_list, group)
    raw = _packed(obj)
    group.begin("all_gather_object", "")
    for rank, part in enumerate(_all(group, "all_gather_object", raw)):
        object_list[rank] = _unpacked(part)


def _check_length(name: str, given: Any, group: ProcessGroup) -> None:
    if len(given) != group.size():
        raise DistArgumentError(
            f"``{name}`` takes one object for each of the {group.size()} ranks, but has {len(given)}"
        )


def gather_object(
    obj: Any,
    object_gather_list: list | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Give one rank the objects of all.

    Args:
        obj: this rank's.
        object_gather_list: at that rank, where they go.
        dst: that rank; 0 if not given.
        group: whose ranks; all if None.
        group_dst: the same rank by its number in the group.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> found = [None]
        >>> dist.gather_object("here", found)
        >>> found
        ['here']
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "gather_object"):
        return
    group = chosen(group)
    root = root_of(group, 0 if dst is None and group_dst is None else dst, group_dst)
    if group.rank() == root:
        if not object_gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        _check_length("object_gather_list", object_gather_list, group)
    elif object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    raw = _packed(obj)
    group.begin("gather_object", "")
    sizes = np.empty(group.size(), np.int64)
    mine = np.array([raw.size], np.int64).view(np.uint8)
    _wait(group, "gather_object", group.transport.all_gather(mine, sizes.view(np.uint8)))
    here = group.rank() == root
    counts = sizes.tolist() if here else [0] * group.size()
    into = np.empty(sum(counts), np.uint8)
    sent = [raw.size if other == root else 0 for other in range(group.size())]
    _wait(group, "gather_object", group.transport.all_to_all(raw, sent, into, counts))
    if here:
        assert object_gather_list is not None
        for rank, part in enumerate(np.split(into, np.cumsum(counts)[:-1])):
            object_gather_list[rank] = _unpacked(part)


def broadcast_object_list(
    object_list: list,
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give all ranks the objects of one, in place.

    Args:
        object_list: the objects, or where they go.
        src: the rank whose objects they are; 0 if not given.
        group: whose ranks; all if None.
        device: PyTorch's; not used.
        group_src: the same rank by its number in the group.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.broadcast_object_list(["settings", 3], src=0)
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "broadcast_object_list"):
        return
    group = chosen(group)
    root = root_of(group, 0 if src is None and group_src is None else src, group_src)
    here = group.rank() == root
    raw = _packed(list(object_list)) if here else np.empty(0, np.uint8)
    group.begin("broadcast_object_list", "")
    size = np.array([raw.size, len(object_list)], np.int64)
    _wait(group, "broadcast_object_list", group.transport.broadcast(size.view(np.uint8), root))
    if not here:
        raw = np.empty(int(size[0]), np.uint8)
    _wait(group, "broadcast_object_list", group.transport.broadcast(raw, root))
    if not here:
        if int(size[1]) != len(object_list):
            raise RuntimeError(
                f"broadcast_object_list: the source has {int(size[1])} objects, this rank's list {len(object_list)}"
            )
        object_list[:] = _unpacked(raw)


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Give each rank one of the objects of one rank.

    Args:
        scatter_object_output_list: its first place is where the object goes.
        scatter_object_input_list: at that rank, the objects, one for each rank.
        src: that rank; 0 if not given.
        group: whose ranks; all if None.
        group_src: the same rank by its number in the group.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> found = [None]
        >>> dist.scatter_object_list(found, ["yours"], src=0)
        >>> found
        ['yours']
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "scatter_object_list"):
        return
    group = chosen(group)
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = root_of(group, 0 if src is None and group_src is None else src, group_src)
    here = group.rank() == root
    parts: list[np.ndarray] = []
    if here:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        _check_length("scatter_object_input_list", scatter_object_input_list, group)
        parts = [_packed(one) for one in scatter_object_input_list]
    group.begin("scatter_object_list", "")
    size = np.empty(1, np.int64)
    sizes = np.array([part.size for part in parts], np.int64).view(np.uint8) if here else None
    _wait(group, "scatter_object_list", group.transport.scatter(sizes, size.view(np.uint8), root))
    raw = np.concatenate(parts) if here else np.empty(0, np.uint8)
    sent = [part.size for part in parts] if here else [0] * group.size()
    counts = [int(size[0]) if other == root else 0 for other in range(group.size())]
    into = np.empty(int(size[0]), np.uint8)
    _wait(group, "scatter_object_list", group.transport.all_to_all(raw, sent, into, counts))
    scatter_object_output_list[0] = _unpacked(into)


def send_object_list(
    object_list: list,
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to a rank.

    Args:
        object_list: the objects.
        dst: the rank.
        group: whose ranks; all if None.
        device: PyTorch's; not used.
        group_dst: the same rank by its number in the group.
        use_batch: PyTorch's; not used.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.send_object_list(["a", 1], dst=0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: Invalid destination rank...
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "send_object_list"):
        return
    group = chosen(group)
    to = peer_of(group, dst, group_dst, "destination")
    raw = _packed(list(object_list))
    group.begin("send_object_list", "", checks=False)
    size = np.array([raw.size], np.int64).view(np.uint8)
    move = group.transport
    _wait(group, "send_object_list", move.send(size, to, TAG_OF_OBJECTS), move.send(raw, to, TAG_OF_OBJECTS))


def recv_object_list(
    object_list: list,
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive objects from a rank, in place.

    Args:
        object_list: where they go.
        src: the rank; any if not given.
        group: whose ranks; all if None.
        device: PyTorch's; not used.
        group_src: the same rank by its number in the group.
        use_batch: PyTorch's; not used.

    Returns:
        The rank that sent them.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.recv_object_list([None], src=0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        vistorch.ranks.errors.DistArgumentError: Invalid source rank...
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "recv_object_list"):
        return -1
    group = chosen(group)
    given = peer_of(group, src, group_src, "source")
    group.begin("recv_object_list", "", checks=False)
    size = np.empty(1, np.int64)
    first = Work(
        group, "recv_object_list", [group.transport.receive(size.view(np.uint8), given, TAG_OF_OBJECTS)]
    )
    first.wait()
    source = first._source if first._source is not None else given
    raw = np.empty(int(size[0]), np.uint8)
    _wait(group, "recv_object_list", group.transport.receive(raw, source, TAG_OF_OBJECTS))
    found = _unpacked(raw)
    if len(found) != len(object_list):
        raise RuntimeError(
            f"recv_object_list: {len(found)} objects came, the list has {len(object_list)} places"
        )
    object_list[:] = found
    return group.global_rank(source)
