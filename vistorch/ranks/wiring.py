"""One MPI job from processes that nobody's mpiexec started: MPI asks its process manager who is there, and we answer.

MPICH finds its peers by PMI, lines of text over a socket whose number is in the environment. Here the other end of that
socket is a thread of the same process, which answers from the job's store. So ranks that were started by a launcher, by
`multiprocessing.spawn` or by hand in two shells are one MPI job, and no port is opened for it.

Invariant: MPI is started once in a process; what it would leave in shared memory is unlinked before a rank computes.
"""

from __future__ import annotations

import ctypes
import os
import re
import socket
import threading
from pathlib import Path
from typing import Any

from . import slurm
from .store import PrefixStore, Store

# mpiexec and srun say in these that the process is already in an MPI job
MANAGERS = ("PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "PMI_PORT")
NEEDS = "needs mpi4py and an MPI: pip install 'vistorch[mpi]'"
_THREAD_MULTIPLE = 3


def started_by_manager() -> bool:
    """Whether mpiexec or srun started this process in an MPI job."""
    return any(name in os.environ for name in MANAGERS)


def is_there() -> bool:
    """Whether mpi4py is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec("mpi4py") is not None


def mpi() -> Any:
    """mpi4py's module, with MPI not ended by it: `end` does that."""
    if not is_there():
        raise RuntimeError(f"Training in several processes {NEEDS}.")
    import mpi4py

    from_us = not _running()
    if from_us:
        mpi4py.rc.initialize = mpi4py.rc.finalize = False
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"Training in several processes {NEEDS}. mpi4py itself says: {error}") from None
    return MPI


def _running() -> bool:
    import sys

    module = sys.modules.get("mpi4py.MPI")
    return module is not None and module.Is_initialized()


def managed() -> Any:
    """The world communicator of the job that mpiexec or srun made."""
    MPI = mpi()
    if not MPI.Is_initialized():
        if _only_pmix() and "MPICH" in (said := _library(MPI)) and "pmix" not in said.lower():
            raise RuntimeError(
                _ALONE.format(first="The ranks were started")
            )  # MPI itself would end the process
        MPI.Init_thread(MPI.THREAD_MULTIPLE)
        MPI.COMM_WORLD.Barrier()
        _unlink()
    size, promised = MPI.COMM_WORLD.Get_size(), _promised()
    if size == 1 < promised:  # each rank would train on its own
        raise RuntimeError(_ALONE.format(first=f"{promised} ranks were started"))
    return MPI.COMM_WORLD


_ALONE = (
    "{first}, but not by this process's MPI, which sees itself alone. Start the program by that MPI's own mpiexec; "
    "under Slurm by `srun --mpi=none` (the ranks find each other by Slurm's variables) or `srun --mpi=pmi2`."
)


def _only_pmix() -> bool:
    """Whether what started this process speaks PMIx and nothing else."""
    return "PMIX_RANK" in os.environ and not any(name in os.environ for name in ("PMI_FD", "PMI_PORT"))


def _promised() -> int:
    """How many ranks were started together, as far as the environment says it; 1 if it does not."""
    for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return max(1, slurm.tasks())


def wired(store: Store, rank: int, size: int, seconds: float) -> Any:
    """The world communicator of `size` processes that share a store.

    Args:
        store: theirs.
        rank: of this process.
        size: how many they are.
        seconds: how long to wait for them.
    """
    MPI = mpi()
    if MPI.Is_initialized():
        world = MPI.COMM_WORLD
        if (world.Get_rank(), world.Get_size()) != (rank, size):
            raise RuntimeError(
                f"MPI runs in this process already, as rank {world.Get_rank()} of {world.Get_size()}, and cannot "
                f"become rank {rank} of {size}: call init_process_group before mpi4py.MPI is imported, and with "
                "the same ranks each time."
            )
        return world
    if "MPICH" not in (MPI.Get_library_version() if MPI.Is_initialized() else _library(MPI)):
        raise RuntimeError(
            "The MPI that mpi4py found joins only processes that its own mpiexec (or srun) has started: start the "
            "program by that, or install MPICH (pip install 'vistorch[mpi]')."
        )
    store = PrefixStore("mpi", store)
    _one_host(store, rank, size)
    ours, theirs = socket.socketpair()
    threading.Thread(
        target=_serve, args=(ours, store, size, seconds), daemon=True, name="vistorch-pmi"
    ).start()
    # the C library's own environment too: MPI reads that
    os.environ.update(PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    try:
        # by ctypes, which lets other threads run meanwhile: one of them answers
        given = ctypes.c_int()
        failed = ctypes.CDLL(MPI.__file__).MPI_Init_thread(None, None, _THREAD_MULTIPLE, ctypes.byref(given))
    finally:
        for name in ("PMI_FD", "PMI_RANK", "PMI_SIZE"):  # not for the processes that this one starts
            os.environ.pop(name, None)
    if failed:
        raise RuntimeError(f"MPI could not be started: MPI_Init_thread returned {failed}.")
    MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)
    MPI.COMM_WORLD.Barrier()
    _unlink()
    _keep.append(theirs)
    return MPI.COMM_WORLD


_keep: list[Any] = []  # MPI uses the socket until its end


def _library(MPI: Any) -> str:
    """The version text of the library, which MPI gives before it is started too."""
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    ctypes.CDLL(MPI.__file__).MPI_Get_library_version(text, ctypes.byref(length))
    return text.value.decode(errors="replace")


def _one_host(store: Store, rank: int, size: int) -> None:
    """Have MPI use shared memory alone if all ranks are on one machine: then it opens no port."""
    name = f"{socket.gethostname()} {_boot()}"
    store.set(f"host/{rank}", name)
    alike = all(store.get(f"host/{other}").decode() == name for other in range(size))
    if alike and not any(key.startswith(("UCX_TLS", "FI_PROVIDER")) for key in os.environ):
        os.environ["UCX_TLS"], os.environ["FI_PROVIDER"] = "self,posix", "shm"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _serve(connection: socket.socket, store: Store, size: int, seconds: float) -> None:
    """Answer what MPI asks: a line `cmd=... key=value ...`, and a line in return."""
    barriers = 0
    with connection, connection.makefile("r") as lines:
        job = store.get("job").decode() if store.add("asked", 1) > 1 else _named(store)
        for line in lines:
            asked = dict(word.split("=", 1) for word in line.split() if "=" in word)
            command = asked.get("cmd", "")
            if command == "barrier_in":
                barriers += 1
                answer = f"cmd=barrier_out rc={_barrier(store, barriers, size, seconds)}"
            elif command == "put":
                store.set(f"kvs/{asked['key']}", line.split("value=", 1)[1].rstrip("\n"))
                answer = "cmd=put_result rc=0 msg=success"
            elif command == "get":
                key = f"kvs/{asked['key']}"
                found = store.get(key).decode() if store.check([key]) else None
                answer = "cmd=get_result " + (
                    "rc=-1 msg=key_not_found value=unknown"
                    if found is None
                    else f"rc=0 msg=success value={found}"
                )
            else:
                answer = _FIXED.get(command, f"cmd={command} rc=-1").format(job=job, size=size)
            try:
                connection.sendall(f"{answer}\n".encode())
            except OSError:
                return


_FIXED = {
    "init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0",
    "get_appnum": "cmd=appnum appnum=0 rc=0",
    "get_my_kvsname": "cmd=my_kvsname kvsname={job} rc=0",
    "get_universe_size": "cmd=universe_size size={size} rc=0",
    "finalize": "cmd=finalize_ack rc=0",
}


def _named(store: Store) -> str:
    """A name that no other job has: MPI names its shared memory after it."""
    name = f"vistorch_{os.getpid()}_{os.urandom(8).hex()}"
    store.set("job", name)
    return name


def _barrier(store: Store, number: int, size: int, seconds: float) -> int:
    from datetime import timedelta

    try:
        store.barrier(f"barrier/{number}", size, timedelta(seconds=seconds))
    except RuntimeError:
        return -1
    return 0


def _unlink() -> None:
    """Remove the names of MPI's shared memory: those who use it have it open, and nothing stays if they are killed."""
    try:
        mapped = Path("/proc/self/maps").read_text()
    except OSError:
        return
    for path in set(re.findall(r"(/dev/shm/(?:mpich_shm|ucx_shm)\S*)", mapped)):
        try:
            os.unlink(path)
        except OSError:
            pass  # another rank was first
