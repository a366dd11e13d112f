"""A process group: ranks that exchange something, their transport, and the order of what they do.

Invariant: every operation of a group has a number, the same on all its ranks; after one that was not answered the group
refuses all others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from vistorch.engine.library_name import library

from .debug_level import debug_level
from .errors import NO_GROUP, DistBackendError
from .store import Store
from .work import Work, wait

NON_MEMBER = -100


class Exchange:
    """What the operations of a group ask of it: a number for each, what ends a wait, which rank is missing."""

    def __init__(
        self,
        transport: Any,
        ranks: Sequence[int],
        store: Store | None,
        timeout: timedelta,
        name: str,
        backend: str,
        desc: str = "undefined",
    ) -> None:
        self.transport, self.ranks, self.store = transport, list(ranks), store
        self.timeout, self.group_name, self.backend = timeout, name, backend
        self.group_desc = desc
        self.number = 0  # of the operation that runs
        self.broken: str | None = None
        self.control = transport  # for what is not the user's: other messages never meet it
        self.device_transports: dict[str, Any] = {}  # by type of device, where another one moves its tensors

    def global_rank(self, rank: int) -> int:
        """The number in the world of one of the ranks."""
        return self.ranks[rank]

    def begin(self, name: str, what: str, tensors: Sequence[Any] = (), checks: bool = True) -> None:
        """Number an operation; in the check mode, compare it with the other ranks'.

        Args:
            name: what it is called.
            what: its dtypes and shapes.
            tensors: what it is given.
            checks: whether all ranks do the same, so that it can be compared.
        """
        if self.broken is not None:
            raise DistBackendError(f"{name}: {self.broken}")
        self.number += 1
        if checks and self.transport.size > 1 and debug_level() == "DETAIL":
            from .fingerprint import compare

            compare(self, name, tensors)

    def check_ranks(self) -> None:
        """Raise if another rank of the job has ended."""
        if WORLD.lifeline is not None:
            try:
                WORLD.lifeline.check(self.ranks)
            except DistBackendError as error:
                self.broken = str(error).split("\n", 1)[0]
                raise

    def late(self, work: Any, seconds: float) -> Exception:
        """The error of an operation that was not answered in time."""
        missing = self._missing()
        text = (
            f"rank {self.global_rank(self.transport.rank)}: Timed out waiting {seconds * 1000:.0f}ms for {work} to "
            "complete"
        )
        if missing:
            who = ", ".join(str(rank) for rank in missing)
            text += f"; rank{'s' * (len(missing) > 1)} {who} did not come to it"
        self.broken = f"the group is broken since an operation was not answered in time ({work})"
        return DistBackendError(f"{text}.")

    def _missing(self) -> list[int]:
        """Which ranks are not in this very operation: all that are write so, and have a second for it."""
        if self.store is None or self.transport.size == 1:
            return []
        try:
            key = f"late/{self.number}"
            self.store.set(f"{key}/{self.transport.rank}", "1")
            end = time.monotonic() + min(1.0, self.timeout.total_seconds())
            others = list(range(self.transport.size))
            while others and time.monotonic() < end:
                others = [one for one in others if not self.store.check([f"{key}/{one}"])]
                time.sleep(0.02)
        except RuntimeError:
            return []
        return [self.global_rank(one) for one in others]

    def run(
        self,
        name: str,
        requests: Sequence[Any],
        finish: Callable[[], None] | None,
        async_op: bool,
        results: Sequence[Any] = (),
        what: str = "",
    ) -> Work | None:
        """Follow an operation that was started; wait for it unless it is to run on its own."""
        work = Work(self, name, requests, finish, results, what)
        if async_op:
            return work
        work.wait()
        return None

    def meet(self, name: str, timeout: timedelta | None = None) -> None:
        """Wait for all ranks, apart from the user's operations."""
        seconds = (timeout or self.timeout).total_seconds()
        request = self.control.barrier()

        def late() -> Exception:
            return DistBackendError(
                f"rank {self.global_rank(self.transport.rank)}: Timed out waiting {seconds * 1000:.0f}ms for all "
                f"ranks in {name}"
            )

        wait(request.Test, seconds, self, late)


class ProcessGroup(Exchange):
    """Ranks that exchange something; `new_group` and `init_process_group` make them.

    Args:
        transport: what moves arrays between them.
        ranks: their numbers in the world.
        store: a store of the group's own.
        timeout: how long an operation may take.
        name: of the group.
        backend: what its user asked for.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> group = dist.group.WORLD
        >>> group.rank(), group.size(), group.name(), group.group_name, group.group_desc
        (0, 1, 'mpi', '0', 'default_pg')
        >>> dist.destroy_process_group()
    """

    def rank(self) -> int:
        """This process's number in the group."""
        return self.transport.rank

    def size(self) -> int:
        """How many ranks the group has."""
        return self.transport.size

    def name(self) -> str:
        """The backend."""
        return self.backend

    def __repr__(self) -> str:
        return f"<{library}.distributed.ProcessGroup {self.group_name}: ranks {self.ranks}>"


class World:
    """What this process knows of its job."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []
        self.made = 0
        self.store: Store | None = None
        self.lifeline: Any = None
        self.undo: Callable[[], None] | None = None
        self.pid = os.getpid()


WORLD = World()


def default() -> ProcessGroup:
    """The group of all ranks."""
    if WORLD.default is None:
        raise ValueError(NO_GROUP)
    return WORLD.default


def chosen(group: Any = None) -> ProcessGroup:
    """A group that was given, or that of all ranks."""
    if group is None:
        return default()
    if not isinstance(group, ProcessGroup) and group != NON_MEMBER:
        raise ValueError(f"Expecting a ProcessGroup, but got a {type(group)}.")
    return group  # type: ignore[return-value]


def outside(group: Any) -> bool:
    """Whether this rank is not in a group."""
    return group is not None and group == NON_MEMBER


def is_initialized() -> bool:
    """Whether there is a process group.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_initialized()
        False
    """
    return WORLD.default is not None


def get_rank(group: Any = None) -> int:
    """This process's number in a group; -1 if it is not in it.

    Args:
        group: the group; that of all ranks if None.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.get_rank() if vistorch.distributed.is_initialized() else 0
        0
        >>> vistorch.distributed.get_rank()
        Traceback (most recent call last):
            ...
        ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """
    return -1 if outside(group) else (default() if group is None else _known(group)).rank()


def get_world_size(group: Any = None) -> int:
    """How many ranks a group has; -1 if this process is not in it.

    Args:
        group: the group; that of all ranks if None.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.get_world_size() if vistorch.distributed.is_initialized() else 1
        1
        >>> vistorch.distributed.get_world_size()
        Traceback (most recent call last):
            ...
        ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """
    return -1 if outside(group) else (default() if group is None else _known(group)).size()


def get_backend(group: Any = None) -> str:
    """The backend of a group.

    Args:
        group: the group; that of all ranks if None.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.get_backend()
        'mpi'
        >>> dist.destroy_process_group()
    """
    if outside(group):
        raise ValueError("Invalid process group specified")
    return (default() if group is None else _known(group)).backend


def _known(group: Any) -> ProcessGroup:
    default()
    group = chosen(group)
    if group not in WORLD.groups:
        raise ValueError("Invalid process group specified")
    return group


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in a group of a rank of the world.

    Args:
        group: the group.
        global_rank: the number in the world.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.get_group_rank(dist.group.WORLD, 0), dist.get_global_rank(dist.group.WORLD, 0)
        (0, 0)
        >>> dist.get_process_group_ranks(dist.group.WORLD), dist.get_pg_count()
        ([0], 1)
        >>> dist.destroy_process_group()
    """
    group = chosen(group)
    if group is WORLD.default:
        return global_rank
    if group not in WORLD.groups:
        raise ValueError(
            f"Group {group} is not registered, please create group with {library}.distributed.new_group API"
        )
    if global_rank not in group.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number in the world of a rank of a group.

    Args:
        group: the group.
        group_rank: the number in the group.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.get_global_rank(dist.group.WORLD, 0)
        0
        >>> dist.destroy_process_group()
    """
    group = chosen(group)
    if group is WORLD.default:
        return group_rank
    if group not in WORLD.groups:
        raise ValueError(
            f"Group {group} is not registered, please create group with {library}.distributed.new_group API"
        )
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The numbers in the world of the ranks of a group.

    Args:
        group: the group; that of all ranks if None.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.get_process_group_ranks(None)
        [0]
        >>> dist.destroy_process_group()
    """
    if outside(group):
        raise ValueError("Invalid process group specified")
    return list(chosen(group).ranks)


def get_pg_count() -> int:
    """How many groups there are.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.get_pg_count()
        0
    """
    return len(WORLD.groups)


class _Groups(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all ranks."""
        return WORLD.default


class group(metaclass=_Groups):
    """`group.WORLD` is the group of all ranks.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.group.WORLD is None
        True
    """


class GroupMember(metaclass=_Groups):
    """`GroupMember.NON_GROUP_MEMBER` is what `new_group` gives to ranks that are not in the group.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.GroupMember.NON_GROUP_MEMBER
        -100
    """

    NON_GROUP_MEMBER = NON_MEMBER
