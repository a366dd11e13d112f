"""The time of `import vistorch` in a fresh process, and the heavy modules it must not bring along."""

import json
import statistics
import subprocess
import sys

from benchmarks.harness import ENVIRONMENT, REFERENCE, THREADS, Result

BUDGET_SECONDS = 0.35
HEAVY = ("cupy", "numba", "matplotlib", "IPython", "scipy", "torch")

PROGRAM = """
import json, sys, time
start = time.perf_counter()
import {library}
seconds = time.perf_counter() - start
print(json.dumps([seconds, [name for name in {heavy!r} if name in sys.modules]]))
"""


def import_once(library):
    """Import the library in a fresh process; return the seconds and the heavy modules found beside it."""
    heavy = [name for name in HEAVY if name != library]
    program = PROGRAM.format(library=library, heavy=heavy)
    reply = subprocess.run(
        [sys.executable, "-c", program],
        env={**ENVIRONMENT, **dict.fromkeys(THREADS, "1")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, found = json.loads(reply.stdout)
    return seconds, found


def compare(other, rounds):
    """Import torch and the other library in turn; the budget is in seconds, not a ratio."""
    import_once(REFERENCE), import_once(other)  # the first time compiles and reads from a cold disk
    pairs = [(import_once(REFERENCE)[0], *import_once(other)) for _ in range(rounds)]
    torch_seconds, other_seconds = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    ratios = [pair[1] / pair[0] for pair in pairs]
    result = Result(f"imports/import {other}", budget=f"{BUDGET_SECONDS} s")
    result.torch_us, result.other_us = torch_seconds * 1e6, other_seconds * 1e6
    result.low, result.ratio, result.high = min(ratios), statistics.median(ratios), max(ratios)
    heavy = pairs[0][2]
    if heavy:
        result.verdict = f"OVER: imports {', '.join(heavy)}"
    elif other_seconds > BUDGET_SECONDS:
        result.verdict = "OVER"
    return result
