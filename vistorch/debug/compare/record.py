"""The record of a comparison, and how it reads.

Invariant: the text is the same for the same two recordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from ..layers import layer
from ..steps.words import columns, count, number
from .schema import State

SHOWN = 40
ROWS = 400  # that travel


@dataclass
class CompareRecord:
    r"""Where two runs differ.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.compare import Record, compare
        >>> x, runs = vistorch.ones(2, requires_grad=True), []
        >>> for factor in (3.0, 4.0):
        ...     with Record(f"times {factor}", {x: "x"}) as run:
        ...         (x * factor).sum().backward()
        ...     runs.append(run.recording())
        >>> record = compare(*runs)
        >>> record.names
        ('times 3.0', 'times 4.0')
        >>> [row["op"] for row in record.rows], record.first["values"]
        (['mul', 'sum_all'], ['3', '4'])
        >>> print(*record.text().splitlines()[-4:], sep="\n")
           op       forward                backward
        1  mul      own 1 in 2 of 2        own 1 in 2 of 2
        2  sum_all  inherited 2 in 1 of 1  same
        x.grad differs by 1
        >>> state = record.wire()  # dicts, lists, numbers and text: what a page shows
        >>> state["differing"], state["ops"], state["leaves"][0]["largest"]
        (2, 2, 1.0)
    """

    kind: ClassVar[str] = "compare"
    replaces_text: ClassVar[bool] = True  # the page says all of it, and copies it

    title: str
    a: str
    b: str
    rtol: float | None
    atol: float | None
    sentence: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    first: dict[str, Any] | None = None
    leaves: list[dict[str, Any]] = field(default_factory=list)
    libraries: list[str] = field(default_factory=lambda: ["vistorch"])

    @property
    def names(self) -> tuple[str, str]:
        """What the two runs are called, everywhere: their titles, where these tell them apart."""
        if self.a == self.b:
            return "the reference", "the other run"
        return self.a or "the reference", self.b or "the other run"

    def text(self) -> str:
        """The sentence, and the ops that differ."""
        out = [f"{self.title}: {count(len(self.rows), 'op')}", self.sentence]
        table: list[tuple[str, ...]] = [("", "layer", "op", "forward", "backward")]
        for r in self.rows:
            sides = [_side(r["forward"]), _side(r["backward"])]
            if r["a"] is None or r["b"] is None:
                sides[0] = f"only in {self.names[r['a'] is None]}"
            elif not any(s and s["state"] != "same" for s in (r["forward"], r["backward"])):
                continue
            table.append((str(r["id"] + 1), layer(r["module"], r["layer"]), r["op"], *sides))
        if len(table) > 1:
            out += ["", *columns(table, head=True)[: SHOWN + 1]]
            if len(table) > SHOWN + 1:
                out.append(f"… and {len(table) - SHOWN - 1} more")
        for leaf in self.leaves[:SHOWN]:
            amount = (
                f"only in {self.names[leaf['only'] == 'b']}"
                if leaf["only"]
                else leaf["shapes"] or f"differs by {number(leaf['largest'])}"
            )
            out.append(f"{leaf['name']}.grad {amount}")
        return "\n".join(out)

    def wire(self) -> State:
        """As it travels; `schema.py` says what is in it."""
        apart = [r for r in self.rows if differs(r)]
        rows = self.rows
        if len(rows) > ROWS:
            near = {r["id"] + d for r in apart[:40] for d in (-2, -1, 1, 2)}
            most = {r["id"] for r in apart[: ROWS - len(near)]}
            rows = [r for r in rows if r["id"] in most or r["id"] in near] or rows[:ROWS]
        state = {
            **vars(self),
            "rows": rows,
            "names": list(self.names),
            "ops": len(self.rows),
            "differing": len(apart),
            "report": self.text(),
        }
        return cast("State", state)


def differs(row: Mapping[str, Any]) -> bool:
    """Whether an op differs, or only one run has it."""
    if row["a"] is None or row["b"] is None:
        return True
    return any(side is not None and side["state"] != "same" for side in (row["forward"], row["backward"]))


def _side(side: Mapping[str, Any] | None) -> str:
    if side is None or side["state"] == "same":
        return "" if side is None else "same"
    far = side["shapes"] or f"{number(side['largest'])} in {side['beyond']:,} of {side['size']:,}"
    return f"{side['state']} {far}"
