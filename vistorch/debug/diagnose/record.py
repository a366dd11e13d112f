"""What a diagnosis found, as it is kept and as it reads in a terminal.

Invariant: numbers and text; no tensor.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from typing import ClassVar

from .finding import CERTAINTY, SIGNS, Finding
from .pictures import bars
from .schema import SCHEMA, Place, Shapes, State, Trial
from .schema import Finding as Wired

AROUND = 2  # lines around a guilty one


@dataclass
class DiagnoseRecord:
    """The findings of a run.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.diagnose import Diagnosis
        >>> with Diagnosis() as diagnosis:
        ...     _ = vistorch.ones(2) + 1
        >>> record = diagnosis.record()
        >>> record.findings, record.text().splitlines()[0]
        ([], 'diagnose: nothing found; no step was made, so most rules had nothing to look at')
    """

    kind: ClassVar[str] = "diagnose"

    title: str
    findings: list[Finding]
    count: int
    rules: list[tuple[str, str, bool]]
    steps: int
    passes: int
    losses: list[float]
    failures: list[str] = field(default_factory=list)

    @property
    def says(self) -> str:
        """The first line."""
        looked = sum(had for _, _, had in self.rules)
        if not self.findings:
            if not self.steps and self.passes:
                passes = f"{self.passes:,} pass{'es' if self.passes > 1 else ''}"
                return (
                    f"{self.title}: nothing found in {passes}; {looked} of {len(self.rules)} rules had something to "
                    "look at, as no optimizer stepped"
                )
            if not self.steps:
                return f"{self.title}: nothing found; no step was made, so most rules had nothing to look at"
            return (
                f"{self.title}: nothing found in {self.steps:,} steps; {looked} of {len(self.rules)} rules "
                "had something to look at"
            )
        n = len(self.findings)
        more = f" (of {self.count})" if self.count > n else ""
        return f"{n} finding{'s' if n > 1 else ''}{more} in {self.title}, {self.steps:,} steps, {len(self.rules)} rules"

    def text(self) -> str:
        """As it reads in a terminal."""
        out = [self.says]
        for i, one in enumerate(self.findings):
            out += [
                "",
                f" {SIGNS[one.severity]} {i + 1}  {one.where or 'no line'}",
                f"      {one.text}  {CERTAINTY[one.certainty]}",
            ]
            for place, label, guilty in places(one):
                mark = ">" if guilty else " "
                out.append(f"    {mark} {place.line:>4}  {place.text:<48} {label}".rstrip())
            out += [
                f"      {'proof' if not j else '':<8} {name}: {value}"
                for j, (name, value) in enumerate(one.proof)
            ]
            if one.confirm[0]:
                out.append(f"      confirm  {one.confirm[0]}  gives  {one.confirm[1]}")
            if one.unless:
                out.append(f"      unless   {one.unless}")
            for number, sign, text in one.cure:
                out.append(f"      cure     {sign} {number:>4}  {text}")
            if one.advice:
                out.append(f"      cure     {one.advice}")
            if one.tried is not None:
                out.append(f"      tried    {one.tried.text()}")
        out += [f"  a rule failed and was left out: {why}" for why in self.failures]
        return "\n".join(out)

    def wire(self) -> State:
        """As it travels."""
        return {
            "version": SCHEMA,
            "title": self.title,
            "says": self.says,
            "report": self.text(),
            "steps": self.steps,
            "passes": self.passes,
            "count": self.count,
            "losses": list(self.losses),
            "rules": [{"name": name, "title": title, "looked": had} for name, title, had in self.rules],
            "findings": [
                {
                    **wire_of(one),
                    "shapes": drawn(one),
                    "tried": tried(one),
                    "bars": bars(one),
                    "samples": list(one.samples),
                }
                for one in self.findings
            ],
        }


def drawn(finding: Finding) -> Shapes | None:
    """The boxes of operands that do not fit; None for other findings.

    Args:
        finding: which.
    """
    if finding.shapes is None:
        return None
    state = finding.shapes.wire()
    return Shapes(
        sentence=state["sentence"], op=state["op"], operands=state["operands"], drawing=state["drawing"]
    )


def tried(finding: Finding) -> Trial | None:
    """What came of trying a cure; None where that was not asked for.

    Args:
        finding: which.
    """
    one = finding.tried
    if one is None:
        return None
    return {
        "label": one.label,
        "with_it": list(one.with_it),
        "without": list(one.without),
        "after": one.after,
        "refused": one.refused,
    }


def wire_of(finding: Finding) -> Wired:
    """A finding as it travels.

    Args:
        finding: which.
    """
    place = finding.place
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "text": finding.text,
        "where": finding.where,
        "cell": None if place is None else place.cell,
        "line": None if place is None else place.line,
        "layer": finding.layer,
        "source": source(finding),
        "proof": [(name, str(value)) for name, value in finding.proof],
        "confirm": finding.confirm[0],
        "gives": finding.confirm[1],
        "unless": finding.unless,
        "cure": list(finding.cure),
        "advice": finding.advice,
        "tree": list(finding.tree),
    }


def places(finding: Finding) -> list:
    """The guilty lines and those related to it, in the order of the file: (line, label, whether guilty)."""
    found = [] if finding.place is None else [(finding.place, finding.label, True)]
    if finding.also is not None and finding.place is not None:
        line, label = finding.also
        if (line.file, line.line) != (finding.place.file, finding.place.line):
            found.append((line, label, True))
    for line, label in finding.related[:2]:
        if all((line.file, line.line) != (other.file, other.line) for other, _, _ in found):
            found.append((line, label, False))
    found.sort(key=lambda one: (one[0].file, one[0].line))
    return found


def source(finding: Finding) -> list[Place]:
    """The lines that are shown: the guilty one with its neighbours, and related ones."""
    shown: dict[tuple[str, int], Place] = {}
    marked = places(finding)
    for line, label, guilty in marked:
        near = range(line.line - (AROUND - 1), line.line + AROUND) if guilty else (line.line,)
        for number in near:
            text = linecache.getline(line.file, number).rstrip() if number > 0 else ""
            if text.strip() or number == line.line:
                shown.setdefault(
                    (line.file, number), {"line": number, "text": text or line.text, "role": "", "label": ""}
                )
        one = shown[(line.file, line.line)]
        one["role"], one["label"] = "guilty" if guilty else "related", label
    return [shown[key] for key in sorted(shown)]
