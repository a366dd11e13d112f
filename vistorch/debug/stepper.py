"""Walk a backward pass one node at a time, both ways.

The stepper drives `Pass.steps()` with a journal, so a step back is re-assignment: pending gradients and every `.grad`
are then exactly what they were, down to the same object. No display here: a Frame is what widgets and texts show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..autograd.run import prepare
from ..engine.backward import Pass
from ..engine.graph import FREED, Leaf, Out
from ..engine.modes import mode, recording
from ..engine.quiet import quiet
from ..engine.tensor import Tensor, wrap
from .check import Check, check_node
from .formula import Formula, formulas_of
from .source import Line, line_of


@dataclass
class Flow:
    """What one step sent along one edge: from input `input` of the node to node number `to`."""

    input: str
    to: int
    gradient: Any
    before: Any  # what already waited there, or None
    after: Any


@dataclass
class Frame:
    """One step: node `index` of `count`, what came in, what went out, what was accumulated."""

    index: int
    count: int
    name: str
    node: Any
    incoming: Any
    outgoing: list[Flow] = field(default_factory=list)
    accumulated: tuple[Any, Any] | None = None  # `.grad` before and after, for a leaf
    formulas: list[Formula] = field(default_factory=list)
    line: Line | None = None

    def __str__(self) -> str:
        text = f"{self.index + 1} of {self.count}: {self.name}"
        return f"{text}  ({self.line})" if self.line is not None else text


class Stepper:
    """A backward pass that stands still until it is told to move.

    Args:
        tensors: one tensor, or a sequence, to start from.
        gradient: their gradients; may be left out for scalars.
        retain_graph: keep what the graph saved when the pass is finished.
        create_graph: record the pass.
        inputs: only these leaves get a gradient.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> s = Stepper(x * x)
        >>> print(s.step())
        1 of 2: MulBackward0
        >>> print(s.step().name, x.grad)
        AccumulateGrad tensor(6.)
        >>> _ = s.back()
        >>> print(x.grad)
        None
        >>> s.finish()
        >>> x.grad
        tensor(6.)
    """

    def __init__(
        self,
        tensors: Any,
        gradient: Any = None,
        *,
        retain_graph: bool = False,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        self.run: Pass = prepare(
            tensors, gradient, retain_graph=True, create_graph=create_graph, inputs=inputs, journal=True
        )
        self.retain_graph = retain_graph or create_graph
        self.nodes = [n for n in self.run.order if n.__class__ is not Out]
        self.number = {n: i for i, n in enumerate(self.nodes)}
        self._steps: Iterator[Any] | None = None
        self._taken: list[tuple[int, tuple]] = []  # per step: the journal's length before it, and its own entry
        self._done = False

    # ---- where it stands --------------------------------------------------------------------------------------
    @property
    def count(self) -> int:
        """How many nodes the pass has."""
        return len(self.nodes)

    @property
    def position(self) -> int:
        """How many steps have been taken."""
        return len(self._taken)

    @property
    def next_node(self) -> Any:
        """The node that the next step will run, or None at the end."""
        for n in self.run.order[self.run.at :]:
            if n.__class__ is not Out and (n in self.run.pending or self._fed(n)):
                return n
        return None

    def _fed(self, n: Any) -> bool:
        # an Out that still waits will hand its gradient to this node
        return any(out.__class__ is Out and out.node is n for out in self.run.pending)

    @property
    def frame(self) -> Frame | None:
        """The newest step, or None at the beginning."""
        return self._frame(self._taken[-1][1]) if self._taken else None

    def pending(self) -> dict:
        """The gradients that wait now, by node number."""
        return {
            self.number[n]: self._tensor(g, n) for n, g in self.run.pending.items() if n.__class__ is not Out
        }

    # ---- moving -----------------------------------------------------------------------------------------------
    def step(self) -> Frame | None:
        """Run one node; None when the pass has come to its end."""
        self._open()
        if self._steps is None:
            self._steps = self.run.steps()
        journal = self.run.journal
        assert journal is not None
        before, mode.on = mode.on, recording() if self.run.create_graph else False
        at, length = self.run.at, len(journal)
        try:
            with quiet():
                node = next(self._steps, None)
        except BaseException:
            self._rewind(length)  # the step that failed leaves nothing half done
            self.run.at = at
            raise
        finally:
            mode.on = before
        if node is None:
            return None
        self._taken.append((length, journal[-1]))
        return self.frame

    def back(self) -> Frame | None:
        """Take the newest step back; returns the frame before it, or None at the beginning."""
        self._open()
        if self._taken:
            self._rewind(self._taken.pop()[0])
        return self.frame

    def _rewind(self, length: int) -> None:
        """Undo journal entries down to a length (a step may have several: the plumbing of outputs before its node)."""
        self._steps = None  # a generator cannot go back: the next step starts a new one from here
        while len(self.run.journal or ()) > length:
            self.run.undo()

    def first(self) -> None:
        """Take all steps back."""
        while self._taken:
            self.back()

    def last(self) -> Frame | None:
        """Run all nodes that are left, still able to go back."""
        while self.step() is not None:
            pass
        return self.frame

    def run_to(self, node: Any) -> Frame | None:
        """Move, forwards or backwards, until `node` (or its number, or a tensor's grad_fn) is the newest step."""
        if isinstance(node, Tensor):
            node = node.grad_fn
        number = node if isinstance(node, int) else self.number.get(node)
        if number is None or not -self.count <= number < self.count:
            raise ValueError(f"no such node in this pass: {node!r}; it has nodes 0 to {self.count - 1}")
        number %= self.count
        while (f := self.frame) is not None and f.index > number:
            self.back()
        while (f := self.frame) is None or f.index < number:
            if self.step() is None:
                break
        return self.frame

    def run_until(self, condition: Callable[[Frame], bool]) -> Frame | None:
        """Step until `condition(frame)` holds; None if the pass ends first."""
        while (f := self.step()) is not None:
            if condition(f):
                return f
        return None

    def finish(self) -> None:
        """Run to the end and let go of the way back, as a plain `backward()` would have left things."""
        self.last()
        self._close()
        if not self.retain_graph:
            for n in self.nodes:
                if n.__class__ is not Leaf and n.saved and (n.rule is None or n.rule.saves_tensors):
                    n.saved = FREED

    def undo(self) -> None:
        """Take everything back: no `.grad` has changed, and the graph can be used again."""
        self.first()
        self._close()

    def _open(self) -> None:
        if self._done:
            raise RuntimeError("this stepper was finished or undone; make a new one to walk again")

    def _close(self) -> None:
        self._done, self._steps = True, None
        self.run.journal = []
        self.run.pending.clear()

    def __enter__(self) -> Stepper:
        return self

    def __exit__(self, kind: Any, *exc: object) -> None:
        """Leave: finish the pass, or undo it after an exception."""
        if not self._done:
            self.finish() if kind is None else self.undo()

    # ---- looking ----------------------------------------------------------------------------------------------
    def check(self, node: Any = None, *, seed: int = 0) -> Check:
        """Compare one node's vjp with finite differences; by default the newest step's."""
        if node is None:
            f = self.frame
            if f is None:
                raise ValueError("no step has been taken yet: name a node")
            node = f.node
        return check_node(self.nodes[node] if isinstance(node, int) else node, seed=seed)

    def _frame(self, entry: tuple) -> Frame:
        _, n, g, undo = entry
        made = Frame(self.number[n], self.count, type(n).__name__, n, self._tensor(g, n))
        made.line = line_of(_note(n).get("line"))
        if n.__class__ is Leaf:
            for change in undo:
                if change[1] == "_grad" and change[0] is n.variable:
                    made.accumulated = (change[2], n.variable._grad)
            return made
        made.formulas = formulas_of(n)
        sent = [c for c in undo if len(c) == 4]
        at = 0
        for e, formula in zip(n.edges, made.formulas, strict=True):
            if e is None or at >= len(sent) or sent[at][1] is not e:
                continue
            _, _, before, gi = sent[at]
            at += 1
            target = e.node if e.__class__ is Out else e
            total = gi if before is None else before + gi
            made.outgoing.append(
                Flow(
                    formula.input,
                    self.number[target],
                    self._tensor(gi, e),
                    self._tensor(before, e),
                    self._tensor(total, e),
                )
            )
        return made

    def _tensor(self, g: Any, n: Any) -> Any:
        if g is None or isinstance(g, Tensor):
            return g
        if isinstance(g, list):
            return [self._tensor(x, n) for x in g]
        return wrap(g, n.place)


def _note(n: Any) -> dict:
    try:
        return n.note
    except AttributeError:
        return {}
