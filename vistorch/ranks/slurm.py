"""Which rank a task of Slurm's is, from what srun writes into its environment.

With `srun --mpi=none`, or where Slurm was built without a plugin for MPI, nothing else says it.

Invariant: what a launcher or the user has said already is left as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_STEP = (
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_STEP_ID",
)  # a batch script by itself has not all three
_PORTS = range(20_000, 30_000)  # below those that systems give to clients


def tasks(environ: Mapping[str, str] = os.environ) -> int:
    """How many tasks the step has that srun started this process in; 0 if srun did not.

    Args:
        environ: the environment.
    """
    return int(environ["SLURM_STEP_NUM_TASKS"]) if all(environ.get(name) for name in _STEP) else 0


def rank_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a launcher would have written for this task: RANK, MASTER_ADDR and so on; nothing where it has been written.

    Args:
        environ: the environment.
    """
    if not tasks(environ) or environ.get("RANK") or environ.get("WORLD_SIZE"):
        return {}
    names = hosts(environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST", ""))
    each = counts(environ.get("SLURM_STEP_TASKS_PER_NODE") or environ.get("SLURM_TASKS_PER_NODE", ""))
    node = int(environ.get("SLURM_NODEID", "0"))
    job = int(environ.get("SLURM_JOB_ID", "0")) * 31 + int(environ["SLURM_STEP_ID"])
    found = {
        "RANK": environ["SLURM_PROCID"],
        "WORLD_SIZE": environ["SLURM_STEP_NUM_TASKS"],
        "LOCAL_RANK": environ.get("SLURM_LOCALID", "0"),
        "MASTER_ADDR": names[0] if len(names) > 1 else "127.0.0.1",
        "MASTER_PORT": str(_PORTS[job % len(_PORTS)]),
    }
    if node < len(each):
        found["LOCAL_WORLD_SIZE"] = str(each[node])
    return {name: value for name, value in found.items() if not environ.get(name)}


def hosts(text: str) -> list[str]:
    """The names in a list of Slurm's.

    Args:
        text: as `node[01-03,7],login`.
    """
    found: list[str] = []
    for one in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        names = [""]
        for fixed, ranges in re.findall(r"([^\[]*)(?:\[([^\]]*)\])?", one):
            numbers = _numbers(ranges) if ranges else [""]
            names = [name + fixed + number for name in names for number in numbers]
        found += names
    return found


def _numbers(ranges: str) -> list[str]:
    """`01-03,7` as 01, 02, 03, 7: with the zeros in front."""
    found: list[str] = []
    for one in ranges.split(","):
        first, _, last = one.partition("-")
        found += [f"{n:0{len(first)}d}" for n in range(int(first), int(last or first) + 1)]
    return found


def counts(text: str) -> list[int]:
    """The numbers of tasks by node.

    Args:
        text: as `2(x3),1`, which is 2, 2, 2, 1.
    """
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", text)
    return [int(count) for count, times in found for _ in range(int(times or 1))]
