"""Two worker processes that take turns, and what their times say.

One process can be a few per cent faster than its equal by the layout of its memory, so a full run uses several
pairs.
Invariant: a ratio is made of two chunks that ran one right after the other, so that a machine that slows down
slows both; the figure of a row is the median of these ratios, never a ratio of two distant medians.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# glibc moves these two as a program runs, and a large row is then 2x faster or slower by luck: whether a
# block comes back from the heap or as fresh pages. Fixed, and alike for both libraries.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**32)}
ENVIRONMENT = {**os.environ, **ALLOCATOR, "PYTHONHASHSEED": "0"}
REFERENCE = "torch"


@dataclass(frozen=True)
class Pace:
    """How long to measure: pairs of processes, rounds of one chunk a side, the seconds of a chunk."""

    pairs: int
    rounds: int
    seconds: float


FULL = Pace(pairs=3, rounds=15, seconds=0.02)
QUICK = Pace(pairs=1, rounds=5, seconds=0.005)


@dataclass
class Result:
    """One line of the table; times in microseconds, memory in MiB, None where nothing was measured."""

    key: str
    budget: str = ""
    torch_us: float | None = None
    other_us: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    torch_mib: float | None = None
    other_mib: float | None = None
    verdict: str = ""


class WorkerDied(RuntimeError):
    """A worker ended without an answer."""


class Worker:
    """A process that runs rows for one library.

    Args:
        library: its name.
        threads: how many it may use.
        more: what else its environment holds.
    """

    def __init__(self, library, threads=1, more=None):
        self.library, self.threads = library, threads
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**ENVIRONMENT, **dict.fromkeys(THREADS, str(threads)), **(more or {})},
        )

    def ask(self, **request):
        """Send a request and wait for its answer."""
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerDied(f"the {self.library} worker ended with status {self.process.wait()}")
        return json.loads(line)

    def keep_to(self, cores):
        """Run on these cores of the machine only (Linux), with the threads that it has by now too."""
        with contextlib.suppress(OSError):  # a thread, or the process, that has ended meanwhile
            for task in os.listdir(f"/proc/{self.process.pid}/task"):
                os.sched_setaffinity(int(task), cores)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        # Closing its input is what ends a worker; one that crashed has closed it first.
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self.process.wait()


def quartiles(values):
    """Return the lower quartile, the median and the upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def verdict(low, ratio, budget):
    """Say whether a ratio keeps its budget; where noise reaches the budget it is near, not over."""
    if budget is None or ratio <= budget:
        return ""
    return "OVER" if low > budget else "near"


def promise(row):
    """What a row may cost, as the table says it: a ratio, a time, a size."""
    parts = []
    if row.budget is not None:
        parts.append(f"{row.budget:.2f}x")
    if row.milliseconds is not None:
        parts.append(f"{row.milliseconds:g} ms")
    if row.kilobytes is not None:
        parts.append(f"{row.kilobytes:g} kB")
    return ", ".join(parts)


def size(row, pair, judged):
    """Say how many bytes both sides made, and whether the row's are too many."""
    base, made = (
        worker.ask(do="size", row=row.key, side=side)["bytes"] / 1000 for worker, side in sides(row, pair)
    )
    over = "OVER" if judged == "OVER" or made > row.kilobytes else judged
    return f"{over} {made:,.0f} kB, base {base:,.0f} kB".strip()


def sides(row, pair):
    """Who runs what: the row on both libraries, or its base and itself on the other one."""
    if row.base is None:
        return [(worker, "row") for worker in pair]
    return [(pair[1], "base"), (pair[1], "row")]


def share_a_core(groups, alone=True):
    """Let the workers of a group run on one core, each group on another; on all cores if not `alone`.

    Two cores of a rented machine are not equally fast at one moment: who runs on the other half of a core slows it down
    by up to a half, and the clock of a process does not see it.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    for i, workers in enumerate(groups):
        for worker in workers:
            if cores and worker.threads == 1:
                worker.keep_to({cores[i % len(cores)]} if alone else cores)


def compare(row, pairs, pace):
    """Time one row on both sides in turn, each round on the next pair of workers, and return its result."""
    times, ratios = ([], []), []
    share_a_core(pairs, alone=not row.waits)
    result = Result(row.key, budget=promise(row))
    for i in range(pace.rounds):
        for (worker, side), found in zip(sides(row, pairs[i % len(pairs)]), times, strict=True):
            reply = worker.ask(do="time", row=row.key, seconds=pace.seconds, side=side)
            if "error" in reply:
                result.verdict = f"not run: {worker.library}: {reply['error']}"
                return result
            found.append(reply["us"])
        ratios.append(times[1][-1] / times[0][-1])
    result.torch_us, result.other_us = (statistics.median(found) for found in times)
    result.low, result.ratio, result.high = quartiles(ratios)
    result.verdict = verdict(result.low, result.ratio, row.budget)
    if row.milliseconds is not None and result.other_us > row.milliseconds * 1000:
        result.verdict = "OVER"
    if row.kilobytes is not None:
        result.verdict = size(row, pairs[0], result.verdict)
    if row.memory and row.base is None:
        result.torch_mib, result.other_mib = (memory(row, worker.library) for worker in pairs[0])
    return result


def memory(row, library):
    """Measure the peak memory of a row in a fresh process: a peak once reached would hide all later ones."""
    with Worker(library) as worker:
        return worker.ask(do="memory", row=row.key).get("mib")
