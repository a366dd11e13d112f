"""The record of a trace, and how it reads.

Invariant: what travels is stable: it holds no time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from ..graph.linked import travelling
from ..layers import layer
from ..steps.words import columns, count, number, shape
from .schema import State

SHOWN, BEFORE = 60, 20  # ops in the text, and those of them before the first bad value
STATES = {"clean": "clean", "origin": "ORIGIN", "propagated": "propagated", "healed": "healed", "": "-"}


@dataclass
class TraceRecord:
    r"""What was found of bad values.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Trace
        >>> x = vistorch.zeros(1, requires_grad=True)
        >>> with Trace() as trace:
        ...     y = x.log()
        >>> record = trace.record()
        >>> record.first["op"], record.first["pass"], record.first["at"].tolist()
        ('log', 'forward', [[0]])
        >>> record.cure.partition(",")[0]
        'take the log of a clamped value'
        >>> print(*record.text().splitlines()[-3:], sep="\n")  # what went in there, and what came out
          0
        out log (1 float32)
          -inf
        >>> [(row["op"], row["forward"]["state"]) for row in record.wire()["rows"]]
        [('log', 'origin')]
    """

    kind: ClassVar[str] = "trace"
    replaces_text: ClassVar[bool] = True  # the page says all of it, and copies it

    title: str
    sentence: str
    more: str
    cure: str
    forward: int
    backward: int
    seconds: float
    rows: list[dict[str, Any]]
    bound: float | None = None
    course: str = ""
    error: str | None = None
    source: dict[str, Any] | None = None
    first: dict[str, Any] | None = None
    origins: list[dict[str, Any]] = field(default_factory=list)
    leaves: list[dict[str, Any]] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    graph: Any = None
    library: str = "vistorch"

    def text(self) -> str:
        """The sentence, the lines with their marks, the ops, and the values around the first bad one."""
        out = [f"{self.title}: {count(self.forward, 'op')} forward, {self.backward} back"]
        out += [
            line
            for line in (self.sentence, self.course, self.more, self.cure and f"Cure: {self.cure}.")
            if line
        ]
        out += [*self.says, *([f"The cell ended with {self.error}"] if self.error else [])]
        if self.source is not None:
            out += ["", *self._lines(self.source["lines"])]
        if self.first is not None or any(
            r["forward"] and r["forward"]["state"] != "clean" for r in self.rows
        ):
            out += ["", *self._rows()]
        if self.first is not None:
            out += ["", f"{self.first['op']}, {self.first['pass']}, {self.first['where']}"]
            for name, tables in (("in ", self.first["inputs"]), ("out ", self.first["outputs"])):
                for t in tables:
                    out += _table(name, t)
        return "\n".join(out)

    def _lines(self, lines: list) -> list[str]:
        wide = max(len(line["text"]) for line in lines)
        out = []
        for line in lines:
            marks = ", ".join(words for words, _ in line["marks"])
            sign = ">" if any(state == "origin" for _, state in line["marks"]) else " "
            out.append(f"{sign} {line['number']:>3}  {line['text']:<{wide}}  {marks}".rstrip())
        return out

    def _rows(self) -> list[str]:
        table: list[tuple[str, ...]] = [("line", "layer", "op", "forward", "backward")]
        first = (
            0
            if self.first is None
            else next(i for i, r in enumerate(self.rows) if r["id"] == self.first["row"])
        )
        start = max(0, min(first - BEFORE, len(self.rows) - SHOWN))
        shown = self.rows[start : start + SHOWN]
        for r in shown:
            marks = [
                "-" if m is None else f"{STATES[m['state']]} {m['text']}".rstrip()
                for m in (r["forward"], r["backward"])
            ]
            table.append((str(r["line"] or ""), layer(r["module"], r["layer"]), r["op"], *marks))
        out = columns(table, head=True)
        if start:
            out.insert(1, f"… {count(start, 'op')} before")
        if (after := len(self.rows) - start - len(shown)) > 0:
            out.append(f"… {after} more")
        return out

    def wire(self) -> State:
        """As it travels; `schema.py` says what is in it."""
        state = {k: v for k, v in vars(self).items() if k != "seconds"}
        return cast("State", {**state, "graph": travelling(self.graph), "report": self.text()})


def _table(role: str, t: dict[str, Any]) -> list[str]:
    part = "" if t["whole"] else f", from {[*t['lead'], *t['start']]}"
    out = [f"{role}{t['name']} ({shape(t['shape'])} {t['dtype']}{part})"]
    cells = [[number(v) for v in row] for row in t["values"]]
    wide = max((len(c) for row in cells for c in row), default=0)
    return out + ["  " + " ".join(f"{c:>{wide}}" for c in row) for row in cells]
