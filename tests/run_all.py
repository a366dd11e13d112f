"""`make test`: every part by its own target, each to its end, and one summary that closes the run.

A part that runs tests leaves a JUnit report, and counts as the tests in it; any other part counts as one check.

Invariant: the last line says how many passed, failed and were skipped, and of those that were skipped, what they
lacked; the exit code is 0 only if every part that was to run ended well.
"""

import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

PARTS = ("lint", "type", "docs", "fuzz", "notebooks", "vitest", "ui", "pytest")
REPORTING = ("notebooks", "vitest", "ui", "pytest")
REPORTS = Path(__file__).resolve().parents[1] / "build" / "reports"
_NEEDS = re.compile(r"needs (\w.*?):")


@dataclass
class Part:
    """What became of one part."""

    name: str
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0
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


def read(path):
    """Return the numbers passed and failed, and the reasons for skips, of a JUnit report; None if there is none."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    passed = failed = 0
    reasons = Counter()
    for case in cases:
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif skip is None or skip.get("type") == "pytest.xfail":  # an expected failure did what it was to do
            passed += 1
        else:
            reasons[(skip.get("message") or "no reason is given").removeprefix("Skipped: ")] += 1
    return passed, failed, reasons


def run(name, make, folder):
    """Run one part.

    Args:
        name: of its target.
        make: the command that makes a target.
        folder: where it may leave its report.
    """
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "REPORTS": str(folder)}
    # The jobs of the make that called are not for this one, which would warn that it cannot reach them.
    environment["MAKEFLAGS"] = re.sub(
        r"(?:^| )(?:-j\d*|--jobserver\S*)", "", environment.get("MAKEFLAGS", "")
    )
    print(f"---- {name} ----", flush=True)
    began = time.monotonic()
    code = subprocess.run([*make, "--no-print-directory", name], env=environment).returncode
    part = Part(name, seconds=time.monotonic() - began)
    found = read(report) if name in REPORTING else None
    if found is not None:
        part.passed, part.failed, part.reasons = found
    if code and not part.failed:
        part.failed = 1
    elif not code and found is None:
        part.passed = 1
    return part


def summary(parts, left=()):
    """Return the lines that close the run.

    Args:
        parts: those that ran.
        left: the names of those that did not, because the run was interrupted.
    """
    lines = [part.line() for part in parts]
    lines += [f"{name:<10} not run: interrupted" for name in left]
    for part in parts:
        lines += [f"  {part.name}: {count} skipped: {why}" for why, count in sorted(part.reasons.items())]
    lacking = Counter()
    for part in parts:
        for why, count in part.reasons.items():
            needs = _NEEDS.match(why)
            lacking["lack " + needs[1] if needs else "for other reasons"] += count
    notes = [f"{count} {what}" for what, count in sorted(lacking.items())]
    if failed := [part.name for part in parts if part.failed]:
        notes.append("failed: " + ", ".join(failed))
    if left:
        notes.append("interrupted before: " + ", ".join(left))
    counts = ", ".join(
        f"{sum(getattr(part, what) for part in parts)} {what}" for what in ("passed", "failed", "skipped")
    )
    seconds = sum(part.seconds for part in parts)
    lines.append(f"{counts} in {seconds:.1f}s" + (f" ({'; '.join(notes)})" if notes else ""))
    return lines


def main(arguments):
    """Run every part with the command that is given, `make` if none is; return the exit code."""
    make = arguments or ["make"]
    folder = Path(os.environ.get("REPORTS") or REPORTS)
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    try:
        for name in PARTS:
            parts.append(run(name, make, folder))
    except KeyboardInterrupt:
        print()
    left = PARTS[len(parts) :]
    print("---- summary ----", *summary(parts, left), sep="\n", flush=True)
    return 130 if left else int(any(part.failed for part in parts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
