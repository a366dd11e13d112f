"""Groups made of groups, as PyTorch's newest names ask for them, and the name that operations go by meanwhile.

Invariant: all ranks of a group that is cut call this, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from . import work
from .group import chosen
from .job import new_group

__all__ = ["get_backend_config", "record_comm", "shrink_group", "split_group"]


def split_group(
    parent_pg: Any = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> Any:
    """Cut a group into groups.

    Args:
        parent_pg: the group; all ranks if None.
        split_ranks: for each new group its ranks, by their numbers in `parent_pg`.
        timeout: how long an operation in the new groups may take.
        pg_options: PyTorch's; not used.
        group_desc: what they are for.
        backend: of the new groups.

    Returns:
        The new group that this rank is in; None if it is in none.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.split_group(split_ranks=[[0]]).size()
        1
        >>> dist.destroy_process_group()
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    parent = chosen(parent_pg)
    size = len(parent.ranks)
    flat = [rank for ranks in split_ranks for rank in ranks]
    if len(set(flat)) < len(flat):
        raise ValueError(f"split_ranks takes each rank once, but has {sorted(flat)}")
    for rank in flat:
        if not 0 <= rank < size:
            raise ValueError(f"split_ranks has rank {rank}: the group has the ranks 0 to {size - 1}")
    me, mine = parent.rank(), None
    for ranks in split_ranks:
        if me in ranks:
            own = [parent.ranks[rank] for rank in sorted(ranks)]
            mine = new_group(own, timeout, backend, pg_options, True, group_desc)
    return mine


def shrink_group(
    ranks_to_exclude: Sequence[int], group: Any = None, shrink_flags: int = 0, pg_options: Any = None
) -> Any:
    """Make a group of those ranks of a group that are left; only these call it.

    Args:
        ranks_to_exclude: the numbers of the others in the group.
        group: the ranks; all if None.
        shrink_flags: PyTorch's; not used.
        pg_options: PyTorch's; not used.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.shrink_group([0])
        Traceback (most recent call last):
            ...
        ValueError: shrink_group is called by the ranks that stay: rank 0 is among those that do not
        >>> dist.destroy_process_group()
    """
    parent = chosen(group)
    gone = set(ranks_to_exclude)
    if not gone:
        raise ValueError("ranks_to_exclude cannot be empty")
    for rank in sorted(gone):
        if not 0 <= rank < len(parent.ranks):
            raise ValueError(
                f"ranks_to_exclude has rank {rank}: the group has the ranks 0 to {len(parent.ranks) - 1}"
            )
    if parent.rank() in gone:
        raise ValueError(
            f"shrink_group is called by the ranks that stay: rank {parent.rank()} is among those that do not"
        )
    return new_group([r for i, r in enumerate(parent.ranks) if i not in gone], use_local_synchronization=True)


@contextmanager
def record_comm(name: str) -> Iterator[None]:
    """Name the operations that are started inside: in errors, and on the time line of ranks.

    Args:
        name: what they are called.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> with dist.record_comm("layer 1"):
        ...     print(str(dist.all_reduce(vistorch.ones(2), async_op=True)).partition(" (")[0])
        layer 1
        >>> dist.destroy_process_group()
    """
    before, work.title.text = getattr(work.title, "text", ""), name
    try:
        yield
    finally:
        work.title.text = before


def get_backend_config(group: Any = None) -> str:
    """What moves the data of a group, by device.

    Args:
        group: the ranks; all if None.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.distributed_c10d.get_backend_config()
        'cpu:mpi'
        >>> dist.destroy_process_group()
    """
    found = str(chosen(group).backend)
    if ":" in found:
        return found
    known = {"nccl": "cuda:nccl", "undefined": "cpu:mpi,cuda:nccl"}
    return known.get(found, f"cpu:{found}")
