"""Where a loss that is not finite was made: the first op of its graph that was given finite values and gave others.

The graph keeps what its formulas need, and what follows from that is computed again, on copies.
Invariant: what is not known is not guessed: an op is named if all that it was given is known and finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...engine.base.numpy_warnings import without_warnings
from ...engine.core.graph import Leaf, Out
from ..diagnose.rules.finite import ADVICE, facts
from ..line_lookup import Line
from ..lineage import Value
from ..numbers import finite, host
from ..steps.forward import Forward

MOST = 1 << 22  # elements of an input with which an op is computed again
MASKS = ("masked_fill", "full", "where", "triu")  # an infinity that these give is meant
SHOWN = 10  # values that are shown


@dataclass
class Origin:
    """The op that a bad value comes from.

    Args:
        op: its name.
        index: which node of the pass, the oldest first.
        fact: what of its inputs explains it: (what, number), None where nothing does.
        given: the values around the first bad one, in and out: (index, in, out).
        line: where it was called; None where that was not noted.
        module: the innermost module it ran in, as a person writes it.
    """

    op: str
    index: int
    fact: tuple[str, str] | None = None
    given: list[tuple[str, str, str]] = field(default_factory=list)
    line: Line | None = None
    module: str = ""

    def say(self) -> str:
        """A sentence: the op, the line, what went in."""
        line = self.line
        where = f" in {self.module}" if self.module and line is None else ""
        if line is not None:
            file = f"cell [{line.cell}]" if line.cell is not None else line.path
            where = f" in line {line.line} of {file}"
        fact = ""
        if self.fact is not None:
            what, number = self.fact
            fact = (
                f": the {what.replace('input', 'value')} was {number}"
                if what.startswith("largest")
                else f": {number} values were {what.removeprefix('inputs ').removeprefix('that are ')}"
            )
        return f"Made at {self.op}{where}{fact}."

    @property
    def advice(self) -> str:
        """What keeps that op from giving such values."""
        return ADVICE.get(
            self.op, "Keep what goes into it away from its edge, as by clamp or a small constant."
        )


def ops_of(order: list) -> list:
    """The nodes of a pass that are ops, the oldest first.

    Args:
        order: its nodes, the newest first.
    """
    return [n for n in reversed(order) if n.__class__ is not Leaf]


def origin_of(order: list, outputs: tuple) -> Origin | None:
    """The first op that made a value that is not finite; None where the graph does not tell.

    Args:
        order: the nodes of a pass that has not run, the newest first.
        outputs: the tensors it starts from.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch.origin import origin_of
        >>> from vistorch.engine.backward.backward_pass import order_of
        >>> p = vistorch.tensor([0.5, 0.0], requires_grad=True)
        >>> loss = (p * p.log()).sum()
        >>> origin_of(order_of([loss.grad_fn]), (loss,)).say()
        'Made at log: 1 of 2 values were 0.'
    """
    with without_warnings():
        forward = Forward(order, outputs, MOST)
        for i, n in enumerate(ops_of(order)):
            out = forward.of(n)
            if out is None or finite(out):
                continue
            if n.rule is None:
                return None
            if n.rule.name in MASKS and not np.isnan(host(out)).any():
                continue
            known = forward.inputs(n)
            if not all(map(_finite, known.values())) or _hidden(forward, n):
                return None
            ins = [known.get(name) for name in n.rule.inputs]
            value = Value(0, n.rule.name, [_entry(v) for v in ins], (), None, host(out), True)
            return Origin(n.rule.name, i, facts(value), _around(host(out), ins))
    return None


def _finite(v: Any) -> bool:
    return finite(v) if hasattr(v, "dtype") else not isinstance(v, float) or math.isfinite(v)


def _hidden(forward: Forward, n: Any) -> bool:
    """Whether an input came from an op whose result is not known."""
    for e in n.edges:
        target, nr = (e.node, e.nr) if e.__class__ is Out else (e, 0)
        if target is not None and target.__class__ is not Leaf and forward.of(target, nr) is None:
            return True
    return False


def _entry(v: Any) -> Any:
    return Value(0, "source", [], (), None, host(v), False) if hasattr(v, "dtype") else v


def _around(out: Any, ins: list) -> list[tuple[str, str, str]]:
    """Values around the first bad one, with what they were made from where that has the same shape."""
    flat = out.reshape(-1)
    first = next((host(v).reshape(-1) for v in ins if hasattr(v, "dtype") and v.shape == out.shape), None)
    at = int(np.flatnonzero(~np.isfinite(flat))[0])
    start = max(0, min(at - SHOWN // 2, flat.size - SHOWN))
    found = []
    for i in range(start, min(start + SHOWN, flat.size)):
        index = ", ".join(map(str, np.unravel_index(i, out.shape)))
        found.append((f"[{index}]", "" if first is None else f"{first[i]:.3g}", f"{flat[i]:.3g}"))
    return found
