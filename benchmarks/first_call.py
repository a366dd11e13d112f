"""The first call on a machine with a GPU: everything once, in under ten minutes, with the results in one folder.

Run as `python -m benchmarks.first_call [FOLDER]`; without a folder it takes the environment's OUT, else `gpu-results`.
Each step is a process with a time limit of its own, so one that hangs or dies takes nothing along. `summary.txt` has a
line a step and is written anew after each. Nothing is installed: what a step lacks, its log says.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

DIAGNOSE = "import vistorch as v; print(v.cuda.diagnose()); print(v.cuda.get_device_name())"
# A test that hangs ends its worker, which is replaced: it costs itself alone, and -v has said its name.
TEST = (
    *("-m", "pytest", "-v", "-p", "no:cacheprovider", "--maxfail=200"),
    *("--timeout=30", "--timeout-method=thread"),
)


class Step(NamedTuple):
    """One process: its name, which is its log's, the most seconds it gets, and Python's arguments."""

    name: str
    limit: int
    arguments: tuple[str, ...]


STEPS = (
    Step("diagnose", 40, ("-c", DIAGNOSE)),
    Step("tests_gpu", 60, (*TEST, "-n", "1", "tests/cuda/test_on_gpu.py")),
    Step("tests_kernels", 70, (*TEST, "-n", "1", "tests/cuda/test_on_gpu_kernels.py")),
    Step("tests_graphs", 40, (*TEST, "-n", "1", "tests/cuda/test_on_gpu_graphs.py")),
    Step("benchmarks", 150, ("-m", "benchmarks.gpu", "--seconds", "2")),
    Step("tests_ops", 110, (*TEST, "-n", "8", "tests/cuda/test_ops_on_gpu.py")),
    Step("tests_training", 80, (*TEST, "-n", "8", "tests/cuda/test_on_gpu_training.py")),
    Step("fuzz", 20, ("-m", "tests.fuzz.run", "--device", "cuda", "--programs", "200", "--jobs", "4")),
    Step("kernels_exist", 20, (*TEST, "tests/cuda/test_kernels_exist.py")),
)


def run(step: Step, folder: Path) -> str:
    """Run a step into its log; the line about it."""
    start = time.monotonic()
    with (folder / f"{step.name}.txt").open("w") as log:
        made = subprocess.Popen(
            [sys.executable, *step.arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own: what it started ends with it, and lets go of the card
        )
        try:
            ended = f"status {made.wait(step.limit)}"
        except subprocess.TimeoutExpired:
            ended = f"stopped after {step.limit} s"
        with suppress(ProcessLookupError):
            os.killpg(made.pid, signal.SIGKILL)
        made.wait()
    last = (folder / f"{step.name}.txt").read_text(errors="replace").strip().splitlines()
    return f"{step.name:14} {ended:20} {time.monotonic() - start:6.1f} s  {last[-1][:150] if last else ''}"


def main(folder: str | None = None, steps: tuple[Step, ...] = STEPS) -> int:
    """Run the steps one after another; 0 if each ended well."""
    into = Path(folder or os.environ.get("OUT") or "gpu-results")
    into.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for step in steps:
        lines.append(run(step, into))
        (into / "summary.txt").write_text("\n".join(lines) + "\n")
        print(lines[-1], flush=True)
    return int(any(" status 0 " not in line for line in lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
