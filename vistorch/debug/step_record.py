"""What one step of a backward pass did, as a plain record.

Invariant: a frame holds references to what the pass held, never to what it will overwrite: with a journal nothing is
accumulated in place, so a frame stays true after later steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..engine.core.graph import Leaf, Out
from ..engine.core.tensor import Tensor, wrap
from .formula import Formula, formulas_of
from .line_lookup import Line, line_of
from .lines import note_of


@dataclass
class Flow:
    """What one step sent along one edge: from input `input` of its node to node number `to`, output `output`.

    `before` is what already waited there, or None; `to` is None for a node that this pass does not run.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> frame = Stepper(x * 2).step()
        >>> frame.outgoing[0].input, frame.outgoing[0].gradient
        ('input', tensor(2.))
    """

    input: str
    to: int | None
    output: int
    gradient: Any
    before: Any
    after: Any


@dataclass
class Frame:
    """One step: node `index` of `count`, what came in, what went out, what was accumulated.

    `hooked` is what hooks made of `incoming`, None where there are none. For a node with several outputs both are
    lists. `accumulated` is a leaf's `.grad` before and after. `label` is a leaf's name, if one is known.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> frame = Stepper(x * 2).step()
        >>> frame.index, frame.count, frame.name, frame.incoming
        (0, 2, 'MulBackward0', tensor(1.))
    """

    index: int
    count: int
    name: str
    node: Any
    incoming: Any
    hooked: Any = None
    outgoing: list[Flow] = field(default_factory=list)
    accumulated: tuple[Any, Any] | None = None
    formulas: list[Formula] = field(default_factory=list)
    line: Line | None = None
    label: str | None = None

    def __str__(self) -> str:
        text = f"{self.index + 1} of {self.count}: {self.name}"
        if self.label is not None:
            text += f" ({self.label})"
        return f"{text}  ({self.line})" if self.line is not None else text


def frame_of(entry: tuple, pending: dict, number: dict, names: dict) -> Frame:
    """The frame of a step.

    Args:
        entry: the step's own entry in the journal, the newest one taken.
        pending: the gradients that wait after it.
        number: the number of each node that the pass runs.
        names: what leaves are called.
    """
    _, n, g, undo, *hooked = entry
    made = Frame(number[n], len(number), type(n).__name__, n, as_tensor(g, n))
    if hooked:
        made.hooked = as_tensor(hooked[-1], n)
    if n.__class__ is Leaf:
        made.label = names.get(n.variable)
        made.accumulated = next(((c[2], c[3]) for c in undo if len(c) == 4 and c[0] is n.variable), None)
        return made
    made.line = line_of(note_of(n).get("line"))
    made.formulas = formulas_of(n)
    sent = [c for c in undo if len(c) == 4 and c[0] is pending]
    at = 0
    for e, formula in zip(n.edges, made.formulas, strict=True):
        # a formula that gave None sent nothing
        if e is None or at >= len(sent) or sent[at][1] is not e:
            continue
        _, _, before, gi = sent[at]
        at += 1
        after = next((c[2] for c in sent[at:] if c[1] is e), pending.get(e))
        if after is None:  # a target that ends here took it at once
            after = gi if before is None else before + gi
        target, output = (e.node, e.nr) if e.__class__ is Out else (e, 0)
        flow = (as_tensor(gi, e), as_tensor(before, e), as_tensor(after, e))
        made.outgoing.append(Flow(formula.input, number.get(target), output, *flow))
    return made


def as_tensor(g: Any, n: Any) -> Any:
    """A waiting gradient (an array, a Tensor, None, a list of these) as Tensors."""
    if g is None or isinstance(g, Tensor):
        return g
    if isinstance(g, list):
        return [as_tensor(x, n) for x in g]
    return wrap(g, n.place)
