"""The formulas of a function's gradient, from the row of its op.

Invariant: a formula is shown only where the op is the function itself: one that only begins with another op has none.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from vistorch.engine.core.rules import REC, Rule

# How the row of an op is called whose function is called NAME.
NAMES = ("{}", "{}_dims", "{}_dim", "linalg_{}", "fft_{}")
# What docutils' MathML does not know, and how it is written there.
SPELLED = (("\\textstyle", ""), ("\\mathrel{+}=", "+="))


def gradient(name: str, thing: Any) -> str:
    """Return the gradient of each input as a list in Markdown; nothing where the function's op has no formulas.

    Args:
        name: the function's name, with its module.
        thing: the function.
    """
    rule = _rule(name.rpartition(".")[2], inspect.unwrap(thing))
    if rule is None or not rule.formula:
        return ""
    rows = [f"- `{given}`: ${_spelled(formula)}$" for given, formula in rule.formula.items()]
    return "\n".join(["**Gradient**, where $\\bar y$ is that of the result", "", *rows])


def _spelled(formula: str) -> str:
    for theirs, ours in SPELLED:
        formula = formula.replace(theirs, ours)
    return formula.strip()


def _rule(name: str, function: Any) -> Rule | None:
    """Return the row of the op that a function is, or that it calls under a name made from its own."""
    if isinstance(found := getattr(function, "rule", None), Rule):
        return found
    importlib.import_module("vistorch.nn.functional")  # its rows are entered too
    code = getattr(function, "__code__", None)
    around = getattr(function, "__globals__", {})
    called = {getattr(around.get(one), "rule", None) for one in (code.co_names if code else ())}
    for form in NAMES:
        made = getattr(getattr(REC, form.format(name), None), "rule", None)
        if isinstance(made, Rule) and (form == "{}" or made in called):
            return made
    return None
