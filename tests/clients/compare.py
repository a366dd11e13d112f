"""Runs one program under both libraries and compares what it said.

Invariant: a result that only one of the two runs has is a difference.
"""

import json
import math
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .install import FOLDER

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
REFERENCE = Path(__file__).with_name("reference.py")
MARK = "RESULT "
SECONDS = 900


@dataclass
class Run:
    """What one process said, and how it ended."""

    results: dict[str, Any]
    error: str
    seconds: float


@dataclass
class Outcome:
    """How far two runs of a program differ."""

    results: int = 0
    numbers: int = 0
    largest: float = 0.0
    wrong: list[str] = field(default_factory=list)
    theirs: float = 0.0
    ours: float = 0.0


def parsed(text: str) -> dict[str, Any]:
    """The results among the lines of a program; a name that is used twice is an error of the program."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith(MARK):
            name, value = json.loads(line[len(MARK) :])
            if name in found:
                raise ValueError(f"two results are called {name!r}")
            found[name] = value
    return found


def run(program: Path, ours: bool, libraries: Path = FOLDER, limit: float = SECONDS) -> Run:
    """Run a program in a process of its own.

    Args:
        program: the file.
        ours: under vistorch in the place of torch; otherwise under PyTorch.
        libraries: the folder they are in.
        limit: seconds after which it is stopped.
    """
    paths = [str(ROOT), str(libraries)] if ours else [str(libraries)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    env.pop("VISTORCH_ALIAS", None)
    command = [sys.executable, *(["-m", "vistorch", "run"] if ours else [str(REFERENCE)]), str(program)]
    begun = time.perf_counter()
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit)
        error = "" if done.returncode == 0 else _last(done.stderr, done.returncode)
        out = done.stdout
    except subprocess.TimeoutExpired as late:
        out = late.stdout.decode() if isinstance(late.stdout, bytes) else (late.stdout or "")
        error = f"stopped after {limit:.0f} seconds"
    return Run(parsed(out), error, time.perf_counter() - begun)


def _last(text: str, status: int) -> str:
    """The sentence of a traceback, with the last line of a file before it."""
    lines = text.strip().splitlines() or [f"exit status {status}"]
    ends = [
        i for i, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception|Interrupt|Warning)\b", line)
    ]
    where = [line.strip() for line in lines if line.lstrip().startswith("File ")]
    return lines[ends[-1] if ends else -1] + (f" ({where[-1]})" if where else "")


def difference(theirs: Any, ours: Any) -> float:
    """How far two results differ: relative to the largest number, infinite for another text, kind or length."""
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return math.inf
        sizes = [abs(a) for a in theirs if isinstance(a, float)]
        scale = max(sizes, default=0.0) or 1.0
        return max((_apart(a, b, scale) for a, b in zip(theirs, ours, strict=True)), default=0.0)
    scale = abs(theirs) if isinstance(theirs, float) and theirs else 1.0
    return _apart(theirs, ours, scale)


def _apart(a: Any, b: Any, scale: float) -> float:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) / scale
    return 0.0 if a == b else math.inf


def outcome(theirs: Run, ours: Run, close: float) -> Outcome:
    """Compare two runs.

    Args:
        theirs: the run under PyTorch.
        ours: the run under vistorch.
        close: the largest difference of numbers that is none.
    """
    found = Outcome(theirs=theirs.seconds, ours=ours.seconds)
    if theirs.error:
        found.wrong.append(f"under PyTorch: {theirs.error}")
    if ours.error:
        found.wrong.append(ours.error)
    if not theirs.results:
        found.wrong.append("the program has no results under PyTorch")
    for name in [*theirs.results, *[n for n in ours.results if n not in theirs.results]]:
        if name not in theirs.results or name not in ours.results:
            found.wrong.append(f"{name}: only {'PyTorch' if name in theirs.results else 'vistorch'} has it")
            continue
        a, b = theirs.results[name], ours.results[name]
        apart = difference(a, b)
        found.results += 1
        found.numbers += len(a) if isinstance(a, list) else isinstance(a, float)
        if apart <= close:
            found.largest = max(found.largest, apart)
        else:
            found.wrong.append(f"{name}: {_said(a, b, apart)}")
    return found


def _said(a: Any, b: Any, apart: float) -> str:
    if isinstance(a, str) and isinstance(b, str):
        pairs = zip(a.splitlines(), b.splitlines(), strict=False)
        first = next(((x, y) for x, y in pairs if x != y), (a[-80:], b[-80:]))
        return f"{first[1]!r} where PyTorch has {first[0]!r}"
    if math.isinf(apart):
        return f"{_short(b)} where PyTorch has {_short(a)}"
    return f"differs by {apart:.0e}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} numbers"
    return repr(value)[:300]
