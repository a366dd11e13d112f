"""Where a loss that is not finite was made: the first op of its graph that was given finite values and gave others.

The graph, of either library, keeps what its formulas need, and what follows from that is computed again, on copies.
Invariant: what is not known is not guessed: an op is named if all that it was given is known and finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...engine.base.numpy_warnings import without_warnings
from ..diagnose.op_lines import ops_of
from ..diagnose.rules.finite import ADVICE, facts
from ..line_lookup import Line
from ..lineage import Value
from ..numbers import finite, host, plain
from ..source import Nodes, Source, is_torch

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
        names: of all ops of the pass, the oldest first.
    """

    op: str
    index: int
    fact: tuple[str, str] | None = None
    given: list[tuple[str, str, str]] = field(default_factory=list)
    line: Line | None = None
    module: str = ""
    names: tuple[str, ...] = ()

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


def origin_of(order: list, outputs: tuple, source: Source) -> Origin | None:
    """The first op that made a value that is not finite; None where the graph does not tell.

    Args:
        order: the nodes of a pass that has not run, the newest first.
        outputs: the tensors it starts from.
        source: the library that they are of.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.source import own
        >>> from vistorch.debug.watch.origin import origin_of
        >>> p = vistorch.tensor([0.5, 0.0], requires_grad=True)
        >>> loss = (p * p.log()).sum()
        >>> origin_of(own().order([loss]), (loss,), own()).say()
        'Made at log: 1 of 2 values were 0.'
    """
    nodes = source.nodes
    with without_warnings():
        forward = source.forward(order, outputs, MOST)
        for i, n in enumerate(ops_of(order, nodes)):
            out = _read(forward.of(n))
            if out is None or finite(out):
                continue
            op = nodes.op(n)
            if op in MASKS and not np.isnan(plain(host(out))).any():
                continue
            known = {name: _read(v) for name, v in forward.inputs(n).items()}
            if not op or not all(map(_finite, known.values())) or _hidden(forward, n, nodes):
                return None
            ins = [known.get(name) for name in nodes.arguments(n)]
            value = Value(0, op, [_entry(v) for v in ins], (), None, plain(host(out)), True)
            return Origin(op, i, facts(value), _around(plain(host(out)), ins))
    return None


def _read(v: Any) -> Any:
    """A value that the graph knows, as an array; of PyTorch's on another device only what is small."""
    if not is_torch(v):
        return v
    return host(v) if v.device.type == "cpu" or v.numel() <= MOST else None


def _finite(v: Any) -> bool:
    return finite(v) if hasattr(v, "dtype") else not isinstance(v, float) or math.isfinite(v)


def _hidden(forward: Any, n: Any, nodes: Nodes) -> bool:
    """Whether an input came from an op whose result is not known."""
    return any(
        e is not None and not nodes.is_leaf(e.node) and forward.of(e.node, e.output) is None
        for e in nodes.edges(n)
    )


def _entry(v: Any) -> Any:
    return Value(0, "source", [], (), None, plain(host(v)), False) if hasattr(v, "dtype") else v


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
