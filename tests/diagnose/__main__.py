"""`python -m tests.diagnose`: every program, and the table of causes found, places found and healthy ones accused.

`python -m tests.diagnose NAME` shows what is said of the programs whose name holds NAME; `--markdown` puts the table of
parts and tools, with costs, into `docs/diagnose.md`.
"""

from __future__ import annotations

import datetime
import statistics
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

from .harness import either, judge, run
from .parts import PARTS, Part
from .published import TOOLS, published

BEGIN = "<!-- bench: made by `python -m tests.diagnose --markdown` -->"
END = "<!-- bench ends -->"


def shown(part: Part, asked: list[str]) -> None:
    """Run a part of the bench, and print what is missed and what is accused."""
    clean = [(n, t) for n, t in part.healthy.items() if not asked or any(w in n for w in asked)]
    accused = 0
    for name, text in clean:
        said = run(name, text)
        if said.findings or said.error or said.failures:
            accused += 1
            print(
                f"ACCUSED {name}: {[f'{o.rule}: {o.text}' for o in said.findings]} {said.error} {said.failures}",
                flush=True,
            )
    rows: dict[str, list] = {}
    for one in part.faulty:
        if asked and not any(w in one.name for w in asked):
            continue
        said = run(one.name, one.text)
        cause, place = judge(said, one.rules, one.lines)
        named = either(said, one.rules, one.lines)
        rows.setdefault(one.cause, []).append((cause, place, named))
        if not place or asked:
            mark = "ok  " if place else "also" if named else "MISS"
            print(f"{mark} {one.name} (lines {one.lines}) {said.error} {said.failures}")
            for o in said.findings[:4]:
                print(f"       {o.rule} [{o.where}] {o.text}")
            sys.stdout.flush()
    every = [one for found in rows.values() for one in found]
    if not every:
        return
    print(f"\n{'cause':<50} {'n':>3} {'cause':>6} {'place':>6} {'either':>6}")
    for cause, found in rows.items():
        print(
            f"{cause:<50} {len(found):>3} "
            + " ".join(f"{sum(column):>6}" for column in zip(*found, strict=True))
        )
    causes, places, share = (sum(column) / len(every) for column in zip(*every, strict=True))
    bad = accused / max(1, len(clean))
    print(
        f"{part.name}: {len(every)} faulty: cause {causes:.1%}, place {places:.1%}, either {share:.1%};"
        f" {accused} of {len(clean)} clean programs accused; figure {100 * share * (1 - bad):.1f}\n"
    )


COLUMNS = ("a diagnosis", "anomaly mode", *TOOLS)


@dataclass
class Row:
    """What one tool says of one part: programs placed, causes found, healthy ones accused, times as long as without."""

    causes: int = 0
    places: int = 0
    either: int = 0
    accused: int = 0
    costs: list[float] = field(default_factory=list)

    def add(self, other: Row) -> None:
        """Count what another part found as well."""
        self.causes += other.causes
        self.places += other.places
        self.either += other.either
        self.accused += other.accused
        self.costs += other.costs

    def cells(self, n: int, clean: int) -> list[str]:
        """As a row of the table, of `n` faulty programs and `clean` healthy ones."""
        figure = 100 * self.either / n * (1 - self.accused / clean)
        cost = f"{statistics.median(self.costs):.1f}" if self.costs else ""
        return [
            f"{100 * self.causes / n:.0f} %",
            f"{100 * self.places / n:.0f} %",
            f"{100 * self.either / n:.0f} %",
            f"{self.accused} of {clean}",
            f"**{figure:.0f}**",
            cost,
        ]


def compared(part: Part) -> dict[str, Row]:
    """A part of the bench under each tool, and the time it takes beside that of the program alone."""
    rows = {tool: Row() for tool in COLUMNS}
    every = [(one.name, one.text, one) for one in part.faulty] + [
        (n, t, None) for n, t in part.healthy.items()
    ]
    for name, text, fault in every:
        plain = run(name, text, watch=False)
        for tool, row in rows.items():
            start = time.perf_counter()
            said = run(name, text) if tool == COLUMNS[0] else published(tool, name, text)
            took = said.seconds or time.perf_counter() - start
            if fault is None:
                row.accused += bool(said.findings)
            else:
                cause, place = judge(said, fault.rules, fault.lines)
                row.causes += cause
                row.places += place
                row.either += either(said, fault.rules, fault.lines)
            if not plain.error and plain.seconds > 0.02:
                row.costs.append(took / plain.seconds)
    return rows


def markdown() -> str:
    """The table of all tools over all parts, with the date."""
    day = datetime.date.today().strftime("%d %B %Y").lstrip("0")
    said = (
        f"Measured on {day} by `python -m tests.diagnose --markdown`. A program is *placed* if the line that a "
        "finding is placed at is within 2 of the guilty one, among the first three findings. Where the line that "
        "writes a value and the one that uses it are equally fair, a finding names both; *either line* counts the "
        "second line of the first finding as well. The *figure* is that share times the share of healthy programs "
        "that nothing is said of; the *cost* is the median of times as long as without. The published tools are "
        "their rules over vistorch's events, each symptom counted for every cause it may mean; they name a layer, "
        "which counts where it was made in the guilty line."
    )
    text = "\n".join(textwrap.wrap(said, 118)) + "\n"
    whole = {tool: Row() for tool in COLUMNS}
    for part in PARTS:
        rows = compared(part)
        text += table(part.title, rows, len(part.faulty), len(part.healthy))
        for tool, row in rows.items():
            whole[tool].add(row)
    every = sum(len(part.faulty) for part in PARTS), sum(len(part.healthy) for part in PARTS)
    return text + table("The whole bench", whole, *every)


def table(title: str, rows: dict[str, Row], n: int, clean: int) -> str:
    """What each tool found in `n` faulty programs and `clean` healthy ones."""
    text = f"\n{title}: {n} faulty programs, {clean} healthy ones.\n\n"
    text += "| | cause found | placed | either line | healthy ones accused | figure | cost |\n"
    text += "|:--|--:|--:|--:|--:|--:|--:|\n"
    for tool, row in rows.items():
        text += f"| {tool} | {' | '.join(row.cells(n, clean))} |\n"
    return text


def written() -> None:
    """Put the table on its page."""
    table = markdown()
    page = Path(__file__).parents[2] / "docs" / "diagnose.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{table}\n{END}{after}", encoding="utf-8")


def main(words: list[str]) -> int:
    """Run them."""
    if "--markdown" in words:
        written()
        return 0
    for part in PARTS:
        shown(part, [w for w in words if not w.startswith("-")])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
