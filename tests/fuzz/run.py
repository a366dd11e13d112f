"""The fuzz: `python -m tests.fuzz.run --programs 20000 --seed 0 --jobs 2`.

Invariant: exit status 1 exactly when a program behaved differently from torch.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import importlib
import multiprocessing
import sys
import time
from typing import Any

import torch

from tests.fuzz.devices import On
from tests.fuzz.machine import BAD, judge, shrink
from tests.fuzz.program import program

Failure = tuple[int, str, list[str], str]


def library(name: str) -> Any:
    """A library by its name; "planted:forgetful" is one with a bug, "device:cuda" vistorch on a device."""
    module, _, maker = name.partition(":")
    if module == "device":
        return On(maker)
    if module == "planted":
        return getattr(importlib.import_module("tests.fuzz.planted"), maker)()
    return importlib.import_module(module)


def work(job: tuple[str, int, int, int]) -> tuple[dict[str, list[int]], list[Failure]]:
    """Run programs with the seeds start .. stop; return the seeds by verdict and the first shrunk failures."""
    name, start, stop, keep = job
    torch.set_num_threads(1)
    lib = library(name)
    seeds: dict[str, list[int]] = collections.defaultdict(list)
    failures: list[Failure] = []
    for seed in range(start, stop):
        lines = program(seed)
        verdict, _ = judge(lines, lib)
        seeds[verdict].append(seed)
        if verdict in BAD and len(failures) < keep:
            short = shrink(lines, lib)
            failures.append((seed, verdict, short, judge(short, lib)[1]))
    return dict(seeds), failures


def fuzz(
    name: str, programs: int, seed: int = 0, jobs: int = 1, keep: int = 5
) -> tuple[dict[str, list[int]], list[Failure]]:
    """Run many programs: the seeds by verdict, and failures; the result does not depend on the number of jobs."""
    step = max(1, min(500, -(-programs // jobs)))
    end = seed + programs
    chunks = [(name, start, min(start + step, end), keep) for start in range(seed, end, step)]
    seeds: dict[str, list[int]] = collections.defaultdict(list)
    failures: list[Failure] = []
    with contextlib.ExitStack() as stack:
        results = map(work, chunks)
        if jobs > 1:
            # not multiprocessing.Pool: it waits for ever for a worker that crashed
            context = multiprocessing.get_context("spawn")
            pool = stack.enter_context(concurrent.futures.ProcessPoolExecutor(jobs, context))
            results = pool.map(work, chunks)
        for some, bad in results:
            for verdict, found in some.items():
                seeds[verdict] += found
            failures += bad
    return seeds, failures


def show(failure: Failure, name: str) -> str:
    """A failing program as text that runs."""
    seed, verdict, lines, difference = failure
    comment = difference.replace("\n", "\n#")
    module, _, device = name.partition(":")
    begin = (
        "import vistorch as L\nL.set_default_device('" + device + "')"
        if module == "device"
        else f"import {name} as L"
    )
    return "\n".join([f"# seed {seed}: {verdict}", begin, *lines, f"# {comment}"])


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("--programs", type=int, default=20000)
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first program; the next has the next seed"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=5, help="how many failing programs to print")
    parser.add_argument("--lib", default="vistorch")
    parser.add_argument("--device", help="run vistorch's programs there: cuda")
    parser.add_argument("--seeds", action="store_true", help="list the seeds of every rare verdict")
    options = parser.parse_args(arguments)
    if options.device:
        options.lib = f"device:{options.device}"
    start = time.perf_counter()
    seeds, failures = fuzz(options.lib, options.programs, options.seed, options.jobs, options.show)
    for failure in failures[: options.show]:
        print(show(failure, options.lib), end="\n\n")
    seconds = time.perf_counter() - start
    counts = {verdict: len(found) for verdict, found in seeds.items()}
    if options.seeds:
        for verdict, found in sorted(seeds.items()):
            if counts[verdict] * 1000 < options.programs:
                print(f"{verdict}:", *found)
    print(", ".join(f"{verdict}: {count}" for verdict, count in sorted(counts.items())), f"({seconds:.0f} s)")
    return int(any(verdict in counts for verdict in BAD))


if __name__ == "__main__":
    sys.exit(main())
