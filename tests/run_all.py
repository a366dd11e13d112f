"""`make test`: every part by its own target, each to its end, and one summary that closes the run.

Two parts run at a time: most of what a browser does is wait. What a part prints is shown whole when it ends.

A part that runs tests leaves a JUnit report, and counts as the tests in it; any other part counts as one check.

Invariant: the summary names what failed, and the last line says how many passed, failed and were skipped, and of those
that were skipped, what they lacked; the exit code is 0 only if every part that was to run ended well.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# What each checks, in the order of the summary.
PARTS = {
    "lint": "style and format",
    "type": "types, Python's and TypeScript's",
    "docs": "the site builds without a warning",
    "fuzz": "random programs beside PyTorch",
    "notebooks": "the tutorials print what they printed",
    "speed": "a few ratios to PyTorch stay within their limits",
    "vitest": "the front end without a browser",
    "ui": "what a person does, in JupyterLab and Notebook 7 in a browser",
    "pytest": "everything else, and the examples in the docstrings",
}
# Each row runs from left to right, beside the other row; the browser's tests take as long as all the others.
LANES = (("ui",), ("pytest", "notebooks", "fuzz", "speed", "docs", "vitest", "type", "lint"))
REPORTING = ("notebooks", "vitest", "ui", "pytest")
REPORTS = Path(__file__).resolve().parents[1] / "build" / "reports"
MOST, WIDEST = 20, 240  # failures of a part that the summary names, and the length of such a line
_NEEDS = re.compile(r"needs (\w.*?):")
_PERCENT = re.compile(r"\[ *(\d+)%\]")


@dataclass
class Part:
    """What became of one part."""

    name: str
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0
    failures: list = field(default_factory=list)
    reasons: Counter = field(default_factory=Counter)

    @property
    def skipped(self):
        """How many of its tests did not run."""
        return sum(self.reasons.values())

    def line(self):
        """Return its row of the table."""
        verdict = "FAILED" if self.failed else "ok" if self.passed else "not run"
        return (
            f"{self.name:<10} {verdict:<8}{self.passed:>7} passed{self.failed:>5} failed{self.skipped:>6} skipped"
            f"{self.seconds:>8.1f} s"
        )


class Run:
    """The parts that run, ran and wait; what they print comes out one part at a time."""

    def __init__(self, make, folder):
        self.make, self.folder = make, folder
        self.parts, self.running = {}, {}
        self.interrupted = threading.Event()
        self._printing = threading.Lock()

    def say(self, *lines):
        """Print lines that no other part's lines come between."""
        with self._printing:
            print(*lines, sep="\n", flush=True)

    def lane(self, names):
        """Run parts one after the other, until an interrupt."""
        for name in names:
            if self.interrupted.is_set():
                return
            self.part(name)

    def part(self, name):
        """Run one part to its end."""
        report = self.folder / f"{name}.xml"
        report.unlink(missing_ok=True)
        log = self.folder / f"{name}.log"
        environment = {**os.environ, "REPORTS": str(self.folder)}
        # The jobs of the make that called are not for this one, which would warn that it cannot reach them.
        environment["MAKEFLAGS"] = re.sub(
            r"(?:^| )(?:-j\d*|--jobserver\S*)", "", environment.get("MAKEFLAGS", "")
        )
        began = time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*self.make, "--no-print-directory", name],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a group of its own, which an interrupt is sent to
            )
        self.running[name] = process, began, log
        if self.interrupted.is_set():  # while it was started
            end(process)
        code = process.wait()
        del self.running[name]
        if self.interrupted.is_set():
            return
        part = Part(name, seconds=time.monotonic() - began)
        found = read(report) if name in REPORTING else None
        if found is not None:
            part.passed, part.failures, part.reasons = found
            part.failed = len(part.failures)
        if code and not part.failed:
            part.failed = 1
            part.failures = last_lines(log)
        elif not code and found is None:
            part.passed = 1
        self.parts[name] = part
        self.say(f"---- {name} ----", log.read_text(encoding="utf-8", errors="replace").rstrip(), part.line())

    def progress(self):
        """Return one line on the parts that run."""
        words = []
        for name, (_, began, log) in list(self.running.items()):
            found = _PERCENT.findall(log.read_text(encoding="utf-8", errors="replace"))
            done = f"{found[-1]} %" if found else "running"
            words.append(f"{name} {done} after {(time.monotonic() - began) / 60:.0f} min")
        return "... " + ", ".join(words)

    def interrupt(self):
        """End what runs; nothing is started any more."""
        self.interrupted.set()
        for process, _, _ in list(self.running.values()):
            end(process)


def end(process):
    """Interrupt a part with all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)


def last_lines(log, number=4):
    """Return the last lines of a log that say something."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.strip() for line in lines if line.strip()][-number:]


def named(case, problem):
    """Return the name of a test that failed and the first line of what it said."""
    said = (problem.get("message") or problem.text or "").strip().partition("\n")[0]
    return f"{case.get('classname', '')}::{case.get('name', '')} {said}"[:WIDEST].rstrip()


def read(path):
    """Return of a JUnit report how many passed, which failed, and why some were skipped; None if there is none."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    passed, failures = 0, []
    reasons = Counter()
    for case in cases:
        skip = case.find("skipped")
        problems = [*case.findall("failure"), *case.findall("error")]
        if problems:
            failures.append(named(case, problems[0]))
        elif skip is None or skip.get("type") == "pytest.xfail":  # an expected failure did what it was to do
            passed += 1
        else:
            reasons[(skip.get("message") or "no reason is given").removeprefix("Skipped: ")] += 1
    return passed, failures, reasons


def plan(folder=""):
    """Return the lines that come before everything else, the environment included.

    Args:
        folder: the only folder whose tests run, if not all do.
    """
    if folder:
        return [
            f"The tests of {folder} and the examples of its docstrings: less than a minute for most folders.",
            "`make test` runs everything.",
        ]
    return [
        "Everything that must be green before a merge:",
        *(f"  {name:<10} {what}" for name, what in PARTS.items()),
        "About 20 minutes on two cores. `make test ROOM=optim` runs the tests of one folder, mostly within a minute.",
    ]


FIRST = "First the environment, once: a download of some hundred MB (PyTorch, JupyterLab), which takes some minutes."


def summary(parts, seconds, left=()):
    """Return the lines that close the run.

    Args:
        parts: those that ran.
        seconds: how long the run took.
        left: the names of those that did not end, because the run was interrupted.
    """
    lines = [part.line() for part in parts]
    lines += [f"{name:<10} not run: interrupted" for name in left]
    for part in parts:
        lines += [f"  {part.name}: {count} skipped: {why}" for why, count in sorted(part.reasons.items())]
    for part in parts:
        lines += [f"  {part.name}: {what}" for what in part.failures[:MOST]]
        if len(part.failures) > MOST:
            lines.append(f"  {part.name}: and {len(part.failures) - MOST} more")
    lacking = Counter()
    for part in parts:
        for why, count in part.reasons.items():
            needs = _NEEDS.match(why)
            lacking["lack " + needs[1] if needs else "for other reasons"] += count
    notes = [f"{count} {what}" for what, count in sorted(lacking.items())]
    if failed := [part.name for part in parts if part.failed]:
        notes.append("failed: " + ", ".join(failed))
    if left:
        notes.append("interrupted: " + ", ".join(left))
    counts = ", ".join(
        f"{sum(getattr(part, what) for part in parts)} {what}" for what in ("passed", "failed", "skipped")
    )
    lines.append(f"{counts} in {seconds:.1f}s" + (f" ({'; '.join(notes)})" if notes else ""))
    return lines


def main(arguments):
    """Run every part with the command that is given, `make` if none is; return the exit code.

    `--plan ENVIRONMENT [ROOM]` only says what will run, and whether the environment is still to be made.
    """
    if arguments[:1] == ["--plan"]:
        print(
            *plan("".join(arguments[2:])),
            *([] if Path(arguments[1]).exists() else [FIRST]),
            sep="\n",
            flush=True,
        )
        return 0
    folder = Path(os.environ.get("REPORTS") or REPORTS)
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(arguments or ["make"], folder)
    began = time.monotonic()
    lanes = [threading.Thread(target=run.lane, args=(names,), name=names[0]) for names in LANES]
    for lane in lanes:
        lane.start()
    said = began
    # As Ctrl-C: the parts have groups of their own, and would live on.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    while any(lane.is_alive() for lane in lanes):
        try:
            lanes[0 if lanes[0].is_alive() else 1].join(0.2)
            if time.monotonic() - said > 60:
                said = time.monotonic()
                run.say(run.progress())
        except KeyboardInterrupt:
            run.interrupt()
    parts = [run.parts[name] for name in PARTS if name in run.parts]
    left = [name for name in PARTS if name not in run.parts]
    run.say("---- summary ----", *summary(parts, time.monotonic() - began, left))
    return 130 if left else int(any(part.failed for part in parts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
