"""The formula of a node's vjp, as text a person reads and as LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Formula:
    """How one input's gradient follows from the output's: `latex` is None where the row has none."""

    input: str
    latex: str | None
    reads: tuple[str, ...]

    def __str__(self) -> str:
        what = ", ".join(("g", *self.reads))
        return f"grad {self.input} = {self.latex}" if self.latex else f"grad {self.input} = vjp({what})"


def formulas_of(node: Any) -> list[Formula]:
    """One formula per input of a node, in the order of its edges."""
    rule = node.rule
    if rule is None:
        return [Formula(f"input {i}", None, ()) for i in range(len(node.edges))]
    # an op of a list of tensors has one formula for all of them
    common = None if len(rule.formula) != 1 else next(iter(rule.formula.items()))
    same = common[1] if common is not None and common[0] not in rule.inputs else None
    picks = rule.picks or (range(len(rule.saved_names)),) * len(rule.inputs)
    return [
        Formula(name, rule.formula.get(name, same), tuple(rule.saved_names[p] for p in pick))
        for name, pick in zip(rule.inputs, picks, strict=True)
    ]
