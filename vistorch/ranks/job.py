"""The beginning and the end of a job: `init_process_group`, groups within it, `destroy_process_group`.

Invariant: what begins here ends here: threads, connections, the hook on uncaught exceptions, MPI itself.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ..engine.base.warn_once import once
from . import slurm, wiring
from .backends import Backend, by_device
from .debug_level import debug_level
from .errors import NO_GROUP
from .group import NON_MEMBER, WORLD, ProcessGroup, World, chosen, default
from .lifeline import Lifeline, host_for, report_uncaught
from .printed import wait_for_reader
from .rendezvous import DEFAULT_TIMEOUT, rendezvous
from .store import HashStore, PrefixStore, Store
from .transport import MPITransport, Solo
from .work import Work

__all__ = ["destroy_process_group", "init_process_group", "new_group"]


def _checked(timeout: Any) -> timedelta:
    if timeout is None:
        return DEFAULT_TIMEOUT
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: Any = None,
) -> None:
    """Make this process a rank of a job. All ranks call this; each waits for the others.

    A program that `vistorch launch`, mpiexec or srun has started need say nothing but the backend.

    Args:
        backend: "mpi" for CPUs, "nccl" for CUDA devices; "gloo" is answered by MPI.
        init_method: where the ranks find each other: "env://" (the default), "tcp://host:port", or a URL of a file.
        timeout: how long an operation may take; 30 minutes if not given.
        world_size: how many ranks there are, if the environment does not say it.
        rank: which this is, if the environment does not say it.
        store: in place of `init_method`, a store that all ranks have.
        group_name: PyTorch's; not used.
        pg_options: PyTorch's; not used.
        device_id: the CUDA device of this rank.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.get_rank(), dist.get_world_size(), dist.is_initialized()
        (0, 1, True)
        >>> dist.destroy_process_group()
    """
    if WORLD.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None:
        if not world_size > 0:
            raise AssertionError("world_size must be positive if using store")
        if not rank >= 0:
            raise AssertionError("rank must be non-negative if using store")
    timeout, name, devices = _checked(timeout), _spelled(backend), by_device(backend)
    debug_level()
    if wiring.started_by_manager() and store is None and init_method in (None, "env://") and _unset():
        comm = wiring.managed()
        rank, world_size = comm.Get_rank(), comm.Get_size()
        _begin(MPITransport(comm, wiring.mpi()), None, timeout, name, rank)
        _environment(comm)
    else:
        if store is None:
            if init_method in (None, "env://") and rank == world_size == -1:
                os.environ.update(slurm.rank_environment())
            found: Any = next(rendezvous(init_method or "env://", rank, world_size, timeout=timeout))
            store, rank, world_size = found
            found[0].set_timeout(timeout)
        if not 0 <= rank < world_size:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {world_size - 1}]")
        WORLD.made += 1
        assert store is not None
        inner = PrefixStore(
            f"default_pg/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{WORLD.made}", store
        )
        if world_size == 1:
            _begin(Solo(), inner, timeout, name, rank)
        else:
            _join(inner, rank, world_size, timeout, name)
    if "gloo" in devices.values() and world_size > 1 and rank == 0:
        once("vistorch has no Gloo: the backend 'gloo' is answered by MPI.")
    if devices.get("cuda") == "nccl":
        from .nccl import NCCLTransport

        group = default()
        group.device_transports["cuda"] = NCCLTransport(group, device_id)


def _spelled(backend: str | None) -> str:
    if backend is None:
        return "undefined"
    return Backend(backend) if ":" not in backend else backend.lower()


def _unset() -> bool:
    """Whether no launcher has said which rank this is, or mpiexec has started it after all."""
    return "TORCHELASTIC_RUN_ID" not in os.environ


def _join(store: Store, rank: int, size: int, timeout: timedelta, name: str) -> None:
    """Be one of several ranks that have a store."""
    lifeline = Lifeline(store, rank, host_for(store), timeout.total_seconds())
    try:
        comm = wiring.wired(store, rank, size, timeout.total_seconds())
    except BaseException as error:
        lifeline.report(f"{type(error).__name__}: {error}")
        lifeline.leave()
        raise
    WORLD.lifeline, WORLD.undo = lifeline, report_uncaught(lifeline)
    _begin(MPITransport(comm, wiring.mpi()), store, timeout, name, rank)


def _begin(transport: Any, store: Store | None, timeout: timedelta, name: str, rank: int) -> None:
    """Make the group of all ranks."""
    whole = list(range(transport.size))
    if transport.size > 1:
        _ends.ready()
    group = ProcessGroup(transport, whole, store, timeout, "0", name, "default_pg")
    WORLD.default, WORLD.store, WORLD.pid = group, store, os.getpid()
    WORLD.groups.append(group)
    if transport.size > 1:
        group.control = transport.part(whole)
        group.transport = transport.part(whole)  # the user of MPI has the world for other messages


def _environment(comm: Any) -> None:
    """Say in the environment what a launcher would have said, where mpiexec has started the ranks."""
    MPI = wiring.mpi()
    local = comm.Split_type(MPI.COMM_TYPE_SHARED)
    said = {
        "RANK": comm.Get_rank(),
        "WORLD_SIZE": comm.Get_size(),
        "LOCAL_RANK": local.Get_rank(),
        "LOCAL_WORLD_SIZE": local.Get_size(),
    }
    local.Free()
    for variable, value in said.items():
        os.environ.setdefault(variable, str(value))


class _Ends:
    """What is done when the process ends."""

    def __init__(self) -> None:
        self.registered, self.failed = False, False

    def ready(self) -> None:
        """Register, once."""
        if not self.registered:
            self.registered = True
            atexit.register(self.end)
            if wiring.started_by_manager():
                before = sys.excepthook

                def say(kind: Any, error: Any, trace: Any) -> None:
                    before(kind, error, trace)
                    self.failed = True

                sys.excepthook = say

    def end(self) -> None:
        """Leave the job; end MPI where its manager waits for that."""
        if WORLD.default is not None and WORLD.pid == os.getpid():
            WORLD.default.broken = WORLD.default.broken or None
            self.failed = self.failed or WORLD.default.broken is not None
            leave(well=not self.failed)
        module = sys.modules.get("mpi4py.MPI")
        if module is None or not wiring.started_by_manager() or module.Is_finalized():
            return
        if self.failed:
            wait_for_reader()
            module.COMM_WORLD.Abort(1)
        sys.stdout.flush()
        sys.stderr.flush()
        module.Finalize()


_ends = _Ends()


def leave(well: bool = True) -> None:
    """Forget the job.

    Args:
        well: whether this rank ends as it should; if not, the others are not sent a goodbye.
    """
    if WORLD.undo is not None:
        WORLD.undo()
    if WORLD.lifeline is not None and well:
        WORLD.lifeline.leave()
    for group in WORLD.groups:
        group.transport.free()
        group.broken = "the group has been destroyed"
    made = WORLD.made
    vars(WORLD).update(vars(World()))
    WORLD.made = made


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Make a group of some ranks. All ranks of the job call this, in the same order, whether or not they are in it.

    Args:
        ranks: the ranks; all if None.
        timeout: how long an operation in it may take; that of the whole job if not given.
        backend: that of the whole job if not given.
        pg_options: PyTorch's; not used.
        use_local_synchronization: only the ranks of the group call this.
        group_desc: what it is for.
        device_id: PyTorch's; not used.
        sort_ranks: whether the numbers in the group follow those in the job.

    Returns:
        The group, or `GroupMember.NON_GROUP_MEMBER` for a rank that is not in it.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.new_group([0]).size()
        1
        >>> dist.destroy_process_group()
    """
    world = default()
    if ranks is None:
        chosen_ranks = list(world.ranks)
    else:
        if not len(ranks):
            raise TypeError(
                "new_group: `ranks` is empty, and a group has at least one rank; None stands for all."
            )
        chosen_ranks = sorted(ranks) if sort_ranks else list(ranks)
        if len(set(chosen_ranks)) != len(chosen_ranks):
            raise ValueError(f"ranks list must not contain duplicate entries, got {chosen_ranks}")
        for rank in chosen_ranks:
            if not 0 <= rank < world.size():
                raise ValueError(
                    f"Rank {rank} is out of range. Valid ranks are 0 to {world.size() - 1} "
                    f"(world_size={world.size()})"
                )
    timeout = world.timeout if timeout is None else _checked(timeout)
    name = world.backend if backend is None else _spelled(backend)
    by_device(backend)
    WORLD.made += 1
    me = world.rank()
    if use_local_synchronization:
        if me not in chosen_ranks:
            return NON_MEMBER
        number = "_".join(map(str, chosen_ranks))
        _meet(world, chosen_ranks, timeout)
    else:
        number = str(WORLD.made)
        if world.size() > 1:
            world.meet("new_group", timeout)
        if me not in chosen_ranks:
            return NON_MEMBER
    transport = world.transport.part(chosen_ranks)
    store = None if WORLD.store is None else PrefixStore(f"group/{number}", WORLD.store)
    made = ProcessGroup(transport, chosen_ranks, store, timeout, number, name, group_desc or "undefined")
    if transport.size > 1:
        made.control = world.transport.part(chosen_ranks)
    WORLD.groups.append(made)
    if "cuda" in world.device_transports:
        made.device_transports["cuda"] = world.device_transports["cuda"].part(made)
    return made


def _meet(world: ProcessGroup, ranks: list[int], timeout: timedelta) -> None:
    """Wait until some of the ranks are here, by a message from each to each."""
    others = [rank for rank in ranks if rank != world.rank()]
    word = np.zeros(1, np.uint8)
    sent = [world.control.send(word, rank, _TAG) for rank in others]
    came = [world.control.receive(np.zeros(1, np.uint8), rank, _TAG) for rank in others]
    Work(world, "new_group", [*sent, *came]).wait(timeout)


_TAG = 30_002


def destroy_process_group(group: Any = None) -> None:
    """Leave a group; without one, the job.

    Args:
        group: the group; all if None.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.destroy_process_group()
        >>> dist.is_initialized()
        False
    """
    if group == NON_MEMBER:
        return
    if WORLD.default is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is WORLD.default:
        broken = WORLD.default.broken is not None
        leave(well=not broken)
        _ends.failed = _ends.failed or broken
        return
    group = chosen(group)
    if group not in WORLD.groups:
        raise ValueError("Invalid process group specified")
    WORLD.groups.remove(group)
    group.transport.free()
    group.broken = "the group has been destroyed"


def store_of_job() -> Store:
    """The store that the ranks share."""
    if WORLD.default is None:
        raise ValueError(NO_GROUP)
    if WORLD.store is None:
        WORLD.store = HashStore()
    return WORLD.store
