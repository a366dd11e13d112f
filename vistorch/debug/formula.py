"""The formula of a node's vjp, as text a person reads and as LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Formula:
    r"""How one input's gradient follows from the output's: `latex` is None where the row has none.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import formulas_of
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> print(formulas_of(x.exp().grad_fn)[0])
        grad input = \bar x = \bar y\, e^x
    """

    input: str
    latex: str | None
    reads: tuple[str, ...]

    def __str__(self) -> str:
        what = ", ".join(("g", *self.reads))
        return f"grad {self.input} = {self.latex}" if self.latex else f"grad {self.input} = vjp({what})"


def formulas_of(node: Any) -> list[Formula]:
    """One formula per input of a node, in the order of its edges.

    Args:
        node: a recorded node, such as a tensor's `grad_fn`.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import formulas_of
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> [(formula.input, formula.reads) for formula in formulas_of((x * x).grad_fn)]
        [('input', ('other',)), ('other', ('input',))]
    """
    rule = node.rule
    if rule is None:
        return [Formula(f"input {i}", None, ()) for i in range(len(node.edges))]
    # an op of a list of tensors has one formula for all of them
    common = None if len(rule.formula) != 1 else next(iter(rule.formula.items()))
    same = common[1] if common is not None and common[0] not in rule.inputs else None
    return [
        Formula(name, rule.formula.get(name, same), tuple(rule.saved_names[p] for p in pick))
        for name, pick in zip(rule.inputs, rule.picks, strict=True)
    ]
