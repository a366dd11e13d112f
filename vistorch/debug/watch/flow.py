"""Gradient flow: how large the gradient of each parameter was in the last backward pass.

Invariant: the record holds numbers; the model is only read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypedDict

import numpy as np

from ..numbers import host, norm_of, plain
from ..source import source_of
from ..steps.words import count, number, shape
from ..wire_types import Finite
from .advice import CURES, bounds_of
from .layers import owner_of


class Row(TypedDict):
    """The gradient of one parameter; what is not known without a gradient is None."""

    name: str
    layer: str
    shape: list[int]
    count: int
    norm: float | None
    mean: Finite | None  # of the sizes of what is finite, and the largest of them
    max: Finite | None
    zeros: Finite | None  # share of exact zeros
    bad: int  # how many are not finite
    weight: float | None  # norm of the parameter
    relative: float | None  # norm of the gradient / norm of the weight
    state: str
    cure: str


class State(TypedDict):
    """What travels: the table, and the scale its bars are drawn on."""

    title: str
    report: str
    verdict: str
    scale: tuple[int, int]  # the lowest and the highest decade
    bounds: tuple[
        float, float
    ]  # norms far below the largest, far above the middle one: beyond them a row is flagged
    rows: list[Row]
    says: list[str]


@dataclass
class FlowRecord:
    """The gradients of one pass, by parameter, from the input to the output.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import flow
        >>> net = vistorch.nn.Linear(2, 1)
        >>> net(vistorch.tensor([[3.0, 4.0]])).sum().backward()
        >>> record = flow(net)
        >>> [(row["name"], row["norm"], row["state"]) for row in record.rows]
        [('weight', 5.0, 'in range'), ('bias', 1.0, 'in range')]
        >>> record.wire()["verdict"], record.text().splitlines()[0]
        ('Every gradient of 2 parameters is in range.', 'Gradient flow of Linear')
    """

    kind: ClassVar[str] = "flow"
    replaces_text: ClassVar[bool] = True  # the page's table says all that the text does

    title: str
    rows: list[Row]
    says: list[str] = field(default_factory=list)

    def text(self) -> str:
        """A table: norm, largest entry, share of zeros, norm against the weight's."""
        table = [("parameter", "shape", "norm", "max", "zeros", "grad/weight", "")]
        for r in self.rows:
            if r["norm"] is None:
                table.append((r["name"], shape(r["shape"]), "–", "–", "–", "–", r["state"]))
                continue
            relative = "–" if r["relative"] is None else number(r["relative"])
            state = "" if r["state"] == "in range" else r["state"]
            zeros = f"{100 * (r['zeros'] or 0):.0f} %"
            table.append(
                (r["name"], shape(r["shape"]), number(r["norm"]), number(r["max"]), zeros, relative, state)
            )
        wide = [max(len(row[i]) for row in table) for i in range(7)]
        lines = [
            "  ".join(
                f"{c:<{w}}" if i in (0, 1, 6) else f"{c:>{w}}"
                for i, (c, w) in enumerate(zip(row, wide, strict=True))
            )
            for row in table
        ]
        cures = dict.fromkeys(f"{r['state']}: {r['cure']}" for r in self.rows if r["cure"])
        return "\n".join([self.title, *[line.rstrip() for line in lines], *cures, *self.says])

    def wire(self) -> State:
        """As it travels."""
        return {
            "title": self.title,
            "report": self.text(),
            "verdict": verdict_of(self.rows),
            "scale": scale_of(self.rows),
            "bounds": bounds_of(r["norm"] for r in self.rows),
            "rows": self.rows,
            "says": self.says,
        }


def flow(model: Any, title: str = "") -> FlowRecord:
    """The gradient flow of the last backward pass: one row a parameter, in the model's order.

    Args:
        model: a module whose parameters have gradients.
        title: what it is called.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import flow
        >>> net = vistorch.nn.Linear(2, 1, bias=False)
        >>> net(vistorch.tensor([[3.0, 4.0]])).sum().backward()
        >>> flow(net).rows[0]["norm"]
        5.0
    """
    named = getattr(model, "named_parameters", None)
    if named is None:
        raise TypeError(f"flow() takes a module, not {type(model).__name__}")
    rows: list[Row] = []
    for name, p in named():
        rows.append(_row(name, p))
    bounds = bounds_of(r["norm"] for r in rows)
    for row in rows:
        if row["norm"] is not None:
            row["state"] = _state(row["norm"], row["bad"], bounds)
            row["cure"] = CURES.get(row["state"], "")
    missing = sum(row["norm"] is None for row in rows)
    says = []
    if missing == len(rows):
        says.append("No parameter has a gradient: call backward() first, or before zero_grad().")
    elif missing:
        says.append(f"{count(missing, 'parameter')} without a gradient.")
    return FlowRecord(title or f"Gradient flow of {type(model).__name__}", rows, says)


def _row(name: str, p: Any) -> Row:
    """One parameter; how its gradient stands among the others is not known yet."""
    row: Row = {
        "name": name,
        "layer": owner_of(name),
        "shape": list(p.shape),
        "count": p.numel(),
        "norm": None,
        "mean": None,
        "max": None,
        "zeros": None,
        "bad": 0,
        "weight": None,
        "relative": None,
        "state": "no gradient" if p.requires_grad else "frozen",
        "cure": "",
    }
    source = source_of(p)
    g = None if source is None else source.gradient(p)
    if g is None:
        return row
    d = plain(host(g))
    with np.errstate(all="ignore"):
        sizes = np.abs(d)
        fine = np.isfinite(sizes)
        norm, weight = norm_of(d), norm_of(plain(host(p)))
        bad = int(fine.size - fine.sum())
        kept = sizes[fine] if bad else sizes
        row["norm"], row["weight"], row["bad"] = norm, weight, bad
        row["mean"] = float(kept.mean(dtype=np.float64)) if kept.size else 0.0
        row["max"] = float(kept.max()) if kept.size else 0.0
        row["zeros"] = float((d == 0).mean()) if d.size else 0.0
        row["relative"] = norm / weight if weight > 0 and math.isfinite(norm) else None
    return row


def _state(norm: float, bad: int, bounds: tuple[float, float]) -> str:
    if bad or not math.isfinite(norm):
        return "not finite"
    if norm == 0:
        return "exactly zero"
    if norm < bounds[0]:
        return "gradient vanishes"
    return "gradient explodes" if norm > bounds[1] else "in range"


def scale_of(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """The whole decades that hold every norm and every largest entry.

    Example:
        >>> from vistorch.debug.watch.flow import scale_of
        >>> scale_of([{"norm": 0.5, "max": 0.02}, {"norm": None, "max": None}])
        (-2, 0)
    """
    known = [v for r in rows for v in (r["norm"], r["max"]) if v is not None and math.isfinite(v) and v > 0]
    low = math.floor(math.log10(min(known))) if known else -1
    high = math.ceil(math.log10(max(known))) if known else 0
    return low, max(high, low + 1)


def verdict_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """One sentence: what is wrong with how many, or that nothing is."""
    states: dict[str, int] = {}
    for row in rows:
        if row["cure"]:
            states[row["state"]] = states.get(row["state"], 0) + 1
        elif row["state"] == "exactly zero":
            states["gradient is exactly zero"] = states.get("gradient is exactly zero", 0) + 1
    seen = sum(row["norm"] is not None for row in rows)
    if not seen:
        return "No parameter has a gradient."
    if not states:
        return f"Every gradient of {count(seen, 'parameter')} is in range."
    said = "; ".join(f"{state} in {n} of {len(rows)}" for state, n in states.items())
    return f"{said[0].upper()}{said[1:]}."
