"""Programs as ranks, from a test: with the launcher, with mpiexec, and by hand."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = Path("/dev/shm")


def environment(**more):
    """This process's, without what would make a rank of it."""
    found = {
        k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI", "TORCH", "MASTER", "RANK"))
    }
    paths = [str(ROOT), *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
    # mpiexec of the mpich wheel lies beside the interpreter
    found["PATH"] = os.pathsep.join([found.get("PATH", ""), str(Path(sys.executable).parent)])
    found.update(PYTHONPATH=os.pathsep.join(dict.fromkeys(paths)), OMP_NUM_THREADS="1", **more)
    return found


def launch(*words, ranks=2, seconds=60, **more):
    """Run `vistorch launch`, and return what it did and how long it took."""
    command = [sys.executable, "-m", "vistorch.distributed.run", "--nproc", str(ranks), *map(str, words)]
    begin = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=environment(**more), capture_output=True, text=True, timeout=seconds
    )
    done.seconds = time.monotonic() - begin
    return done


def program(tmp_path, text, name="program.py"):
    """A file with a program, whose first lines make it a rank."""
    path = tmp_path / name
    path.write_text(f"{HEAD}\n{text}")
    return path


HEAD = """
import os, sys, time
from datetime import timedelta
import vistorch as torch
import vistorch.distributed as dist
from vistorch import nn
dist.init_process_group("mpi", timeout=timedelta(seconds=float(os.environ.get("PATIENCE", "30"))))
rank, size = dist.get_rank(), dist.get_world_size()
"""


def by_hand(command, ranks=2, seconds=60, **more):
    """Start each rank as a shell would; return their outputs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [
        subprocess.Popen(
            [sys.executable, *map(str, command)],
            cwd=ROOT,
            env=environment(
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(port),
                RANK=str(rank),
                LOCAL_RANK=str(rank),
                WORLD_SIZE=str(ranks),
                **more,
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks)
    ]
    outputs = [one.communicate(timeout=seconds)[0] for one in started]
    return list(zip([one.returncode for one in started], outputs, strict=True))


def segments():
    """What MPI has in shared memory now."""
    return {path.name for path in SHARED.glob("mpich_shm*")} | {path.name for path in SHARED.glob("ucx_shm*")}
