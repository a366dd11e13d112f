"""A whole job cut into groups.

Invariant: all ranks make all groups, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .group import chosen, default
from .job import new_group

__all__ = ["new_subgroups", "new_subgroups_by_enumeration"]


def new_subgroups(
    group_size: int | None = None,
    group: Any = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple:
    """Cut the job into groups of equally many neighbours; return this rank's and all of them.

    Args:
        group_size: how many ranks a group has; as many as CUDA devices if not given.
        group: the ranks that are cut; all if None.
        timeout: how long an operation may take.
        backend: of the groups.
        pg_options: PyTorch's; not used.
        group_desc: what they are for.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> mine, all_of_them = dist.new_subgroups(1)
        >>> mine.size(), len(all_of_them)
        (1, 1)
        >>> dist.destroy_process_group()
    """
    if group_size is None:
        from ..cuda import device_count, is_available

        if not is_available():
            raise ValueError("Default group size only takes effect when CUDA is available.")
        group_size = device_count()
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    ranks = chosen(group).ranks
    if len(ranks) < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({len(ranks)})")
    if len(ranks) % group_size:
        raise ValueError(f"The world size ({len(ranks)}) must be divisible by '{group_size}'")
    cuts = [ranks[at : at + group_size] for at in range(0, len(ranks), group_size)]
    return new_subgroups_by_enumeration(cuts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple:
    """Make the groups that are listed; return this rank's and all of them.

    Args:
        ranks_per_subgroup_list: the ranks of each.
        timeout: how long an operation may take.
        backend: of the groups.
        pg_options: PyTorch's; not used.
        group_desc: what they are for.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.new_subgroups_by_enumeration([[0]])[0].size()
        1
        >>> dist.destroy_process_group()
    """
    if ranks_per_subgroup_list is None or len(ranks_per_subgroup_list) == 0:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
    mine, groups, me = None, [], default().rank()
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        if me in ranks:
            mine = made
    return mine, groups
