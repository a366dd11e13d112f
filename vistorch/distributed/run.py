"""`vistorch launch`, which is `python -m vistorch.distributed.run`: a program as the ranks of a job.

The options and the environment are torchrun's, so that its programs run unchanged.

Invariant: the launcher itself listens on 127.0.0.1 alone, unless `--master-addr` names another address.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import uuid
from typing import Any

from ..ranks.agent import Agent, Settings
from ..torch_api.compat.import_torch import environment

__all__ = ["get_args_parser", "main", "run"]

EXAMPLES = """\
examples:
  vistorch launch --nproc 4 train.py --epochs 3
  vistorch launch --nproc 2 --max-restarts 3 train.py      # a failed job starts again, from its last checkpoint
  vistorch launch --nnodes 2 --node-rank 0 --master-addr node0 --master-port 29500 --nproc 4 train.py
  mpiexec -n 8 --hostfile hosts vistorch run train.py      # the site's MPI starts the ranks
  srun -n 8 vistorch run train.py                          # Slurm does
"""


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of the options.

    Example:
        >>> from vistorch.distributed.run import get_args_parser
        >>> get_args_parser().parse_args(["--nproc", "4", "train.py", "--epochs", "3"]).nproc_per_node
        '4'
    """
    parser = argparse.ArgumentParser(
        prog="vistorch launch",
        description="Run a PyTorch program as the ranks of one job, on one machine or several.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )

    def add(*names: str, **options: Any) -> None:
        spelled = [
            name
            for one in names
            for name in dict.fromkeys((one, one.replace("-", "_").replace("__", "--", 1)))
        ]
        first = names[0].lstrip("-").replace("-", "_")
        default = os.environ.get(f"PET_{first.upper()}", options.pop("default", None))
        parser.add_argument(*dict.fromkeys(spelled), default=default, dest=first, **options)

    add("--nproc-per-node", "--nproc", default="1", help="ranks on this machine: a number, cpu, gpu or auto")
    add("--nnodes", default="1", help="machines: a number (of a range, the first is taken)")
    add("--node-rank", type=int, default=0, help="the number of this machine")
    add("--master-addr", default="127.0.0.1", help="the address of machine 0")
    add("--master-port", type=int, default=None, help="its port; any free one on one machine")
    add("--max-restarts", type=int, default=0, help="how often all ranks start again when one has failed")
    add("--monitor-interval", type=float, default=0.05, help="seconds between two looks at the ranks")
    add("--rdzv-backend", default="static", help="static or c10d: both meet at the endpoint")
    add("--rdzv-endpoint", default="", help="host:port of machine 0")
    add("--rdzv-id", default="none", help="the name of the job")
    add("--rdzv-conf", default="", help="torchrun's; not used")
    add("--start-method", default="spawn", help="torchrun's; not used")
    add("--event-log-handler", default="null", help="torchrun's; not used")
    add("--role", default="default", help="the role of the ranks")
    add("--local-addr", default=None, help="torchrun's; not used")
    add("--logs-specs", default=None, help="torchrun's; not used")
    add("--numa-binding", default=None, help="torchrun's; not used")
    add("--shutdown-timeout", type=int, default=None, help="torchrun's; not used")
    add("--signals-to-handle", default="", help="torchrun's; not used")
    add("--duplicate-stdout-filters", default="", help="torchrun's; not used")
    add("--duplicate-stderr-filters", default="", help="torchrun's; not used")
    add("--log-dir", default=None, help="the folder of the logs")
    parser.add_argument(
        "-r", "--redirects", default="0", help="into the logs: 1 stdout, 2 stderr, 3 both; 0:3,1:1 by rank"
    )
    parser.add_argument("-t", "--tee", default="0", help="into the logs and to the screen; as --redirects")
    add("--local-ranks-filter", default="", help="the local ranks whose output is shown: 0,1")
    parser.add_argument("--standalone", action="store_true", help="one machine, any free port")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    parser.add_argument("--no-python", "--no_python", action="store_true", help="the program is not Python's")
    parser.add_argument("--run-path", "--run_path", action="store_true", help="torchrun's; as without it")
    parser.add_argument(
        "--virtual-local-rank", "--virtual_local_rank", action="store_true", help="LOCAL_RANK is 0 for all"
    )
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its own arguments")
    return parser


def _processes(given: str) -> int:
    if given == "cpu":
        return os.cpu_count() or 1
    if given in ("gpu", "auto"):
        from ..cuda import device_count, is_available

        if is_available():
            return device_count()
        if given == "gpu":
            raise ValueError("Cuda is not available.")
        return os.cpu_count() or 1
    try:
        count = int(given)
    except ValueError:
        raise ValueError(f"Unsupported nproc_per_node value: {given}") from None
    if count < 1:
        raise ValueError(f"--nproc takes a number from 1 on, not {given}")
    return count


def _by_rank(given: str, count: int) -> dict[int, int]:
    """What is done with which rank's output, from "3" or "0:3,1:1"."""
    if ":" not in given:
        return dict.fromkeys(range(count), int(given))
    return {int(rank): int(what) for rank, what in (pair.split(":") for pair in given.split(","))}


def settings_of(given: argparse.Namespace) -> Settings:
    """What a command line says.

    Args:
        given: the parsed options.

    Example:
        >>> from vistorch.distributed.run import get_args_parser, settings_of
        >>> settings_of(get_args_parser().parse_args(["--nproc=2", "-m", "train"])).processes
        2
    """
    count, nodes = _processes(str(given.nproc_per_node)), int(str(given.nnodes).partition(":")[0])
    host, port = given.master_addr, int(given.master_port or 0)
    if given.rdzv_endpoint and not given.standalone:
        host, _, said = given.rdzv_endpoint.partition(":")
        port = int(said or port or 29400)
    if nodes > 1 and not port:
        port = 29500
    if given.no_python and given.module:
        raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
    program = [given.training_script, *given.training_script_args]
    if not given.no_python:
        program = [sys.executable, "-u", *(["-m"] if given.module else []), *program]
        if not given.module and not os.path.exists(given.training_script):
            raise ValueError(f"there is no file {given.training_script!r} to run.")
    logs = given.log_dir
    redirects, tees = _by_rank(given.redirects, count), _by_rank(given.tee, count)
    if logs is None and (any(redirects.values()) or any(tees.values())):
        import tempfile

        logs = tempfile.mkdtemp(prefix="vistorch-launch-")
    shown = [int(one) for one in given.local_ranks_filter.split(",") if one] or None
    return Settings(
        command=lambda local: program,
        processes=count,
        nodes=nodes,
        node=int(given.node_rank),
        host="127.0.0.1" if given.standalone else host,
        port=0 if given.standalone else port,
        max_restarts=int(given.max_restarts),
        interval=float(given.monitor_interval),
        job=given.rdzv_id if given.rdzv_id != "none" else uuid.uuid4().hex[:8],
        role=given.role,
        environment=environment(),
        logs=logs,
        redirects=redirects,
        tees=tees,
        shown=shown,
    )


def run(args: argparse.Namespace) -> int:
    """Run a job.

    Args:
        args: the parsed options.

    Returns:
        0 if all ranks ended well.

    Example:
        >>> from vistorch.distributed.run import get_args_parser, run
        >>> run(get_args_parser().parse_args(["--no-python", "true"]))
        0
    """
    settings = settings_of(args)
    agent = Agent(settings)
    failure = agent.run()
    if failure is None:
        return 0
    program = shlex.join([args.training_script, *args.training_script_args])
    print(
        f"vistorch launch: {program} FAILED: {failure.sentence()}; the other ranks were ended. Its own output is "
        "above.",
        file=sys.stderr,
        flush=True,
    )
    return 130 if agent.asked_to_end == 2 else 1


def main(args: list[str] | None = None) -> int:
    """Do what a command line says.

    Args:
        args: the words; those of this process if not given.

    Example:
        >>> from vistorch.distributed.run import main
        >>> main(["--no-python", "true"])
        0
    """
    parser = get_args_parser()
    given = parser.parse_args(args)
    try:
        return run(given)
    except (ValueError, RuntimeError) as error:
        print(f"vistorch launch: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
