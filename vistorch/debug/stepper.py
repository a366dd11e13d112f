"""Walk a backward pass one node at a time, both ways.

The stepper drives `Pass.steps()` with a journal, so a step back is re-assignment: pending gradients and every `.grad`
are then exactly what they were, down to the same object. No display here: a Frame is what widgets and texts show.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from ..autograd.run import prepare
from ..engine.backward.backward_pass import Pass
from ..engine.base.modes import mode, recording
from ..engine.base.numpy_warnings import without_warnings
from ..engine.core.graph import FREED, Leaf, Out, edge
from ..engine.core.tensor import Tensor
from .backward_driver import settle
from .breaks.moment import Moment, Whereabouts, moment_of
from .check import Check, check_node
from .engine_nodes import NODES
from .source import Nodes, own, source_of
from .step_record import Frame, as_tensor, frame_of
from .walked_pass import WalkedPass


class Stepper(WalkedPass):
    """A backward pass that stands still until it is moved.

    Hooks run in their step, again each time it is taken; what a hook changes besides `.grad` is not taken back.

    Args:
        tensors: one tensor, or a sequence, to start from; of the real PyTorch, too: its stepper does the same.
        gradient: their gradients; may be left out for scalars.
        retain_graph: keep what the graph saved when the pass is finished.
        create_graph: record the pass.
        inputs: only these tensors get a gradient.
        names: what leaves are called, such as the names of parameters.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> x, w = (vistorch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
        >>> s = Stepper((w * x) ** 2, names={x: "x", w: "w"})
        >>> s.count, s.next_node.name()
        (4, 'PowBackward0')
        >>> print(s.step())
        1 of 4: PowBackward0
        >>> s.position, s.pending()  # by number of the node that a gradient waits for
        (1, {1: tensor(12.)})
        >>> [(flow.input, flow.gradient) for flow in s.step().outgoing]  # 12 · x and 12 · w
        [('input', tensor(36.)), ('other', tensor(24.))]
        >>> s.frame.name, s.incoming(s.ran[-1]), s.check().ok  # against finite differences
        ('MulBackward0', tensor(12.), True)
        >>> print(s.run_to(x), x.grad)  # to a tensor, a node or a number, forwards or backwards
        4 of 4: AccumulateGrad (x) tensor(24.)
        >>> print(s.back(), x.grad, w.grad)
        3 of 4: AccumulateGrad (w) None tensor(36.)
        >>> s.take_back_to(1)  # as many steps are left; `first()` takes all back, `last()` runs the rest
        >>> print(s.run_until(lambda frame: frame.label is not None), s.last().label)
        3 of 4: AccumulateGrad (w) x
        >>> s.first()
        >>> s.undo()  # as if there had been no pass
        >>> s.closed, x.grad
        (True, None)
        >>> Stepper((w * x) ** 2).finish()  # as a plain `backward()` leaves things
        >>> x.grad, w.grad
        (tensor(24.), tensor(36.))
    """

    def __new__(cls, tensors: Any = None, gradient: Any = None, **options: Any) -> Any:
        """A stepper; for tensors of another library, such as the real PyTorch's, that library's own."""
        source = source_of(tensors) if cls is Stepper else None
        if source is not None and source is not own():
            return source.stepper(tensors, gradient=gradient, **options)
        return super().__new__(cls)

    def __init__(
        self,
        tensors: Any,
        gradient: Any = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
        names: dict[Tensor, str] | None = None,
    ) -> None:
        run = prepare(
            tensors, gradient, retain_graph=True, create_graph=create_graph, inputs=inputs, journal=True
        )
        self.retain_graph = create_graph if retain_graph is None else retain_graph
        self._start(run, names, (tensors,) if isinstance(tensors, Tensor) else tuple(tensors))

    @classmethod
    def of(cls, run: Pass, *, names: dict[Tensor, str] | None = None, outputs: tuple = ()) -> Stepper:
        """A stepper for a pass that was prepared elsewhere and that has not begun; finished, it is as if run.

        Args:
            run: the pass.
            names: what leaves are called.
            outputs: what it starts from.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Stepper
            >>> from vistorch.engine.base.events import Listener
            >>> class Starts(Listener):  # of each pass that is about to start
            ...     def backward(self, run, outputs):
            ...         with Stepper.of(run, outputs=outputs) as stepper:
            ...             print([node.name() for node in stepper.nodes])
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> with Starts():
            ...     x.exp().sum().backward()
            ['SumBackward0', 'ExpBackward0', 'vistorch::autograd::AccumulateGrad']
        """
        self = cls.__new__(cls)
        self.retain_graph, run.free, run.journal = not run.free, False, []
        self._start(run, names, outputs)
        return self

    def _start(self, run: Pass, names: dict[Tensor, str] | None, outputs: tuple) -> None:
        self.run = run
        self.outputs = outputs
        self.names = names or {}
        self.modules = Whereabouts(self.names)
        # a tensor given twice as a root stands twice in the order, and runs once
        self.nodes = list(dict.fromkeys(n for n in run.order if self._runs(n)))
        self.number = {n: i for i, n in enumerate(self.nodes)}
        self._journal: list = run.journal  # type: ignore[assignment]
        self._steps: Iterator[Any] | None = None
        # per step: the journal's length and the place in the order before it, and its own entry
        self._taken: list[tuple] = []

    def _runs(self, n: Any) -> bool:
        """Whether a node is a step of this pass (if a gradient reaches it)."""
        run = self.run
        if n.__class__ is Out:
            return False
        return run.targets is None or n in (run.targets if n.__class__ is Leaf else run.needed)

    # ---- where it stands --------------------------------------------------------------------------------------
    @property
    def source(self) -> Any:
        """Vistorch's own engine.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Stepper
            >>> Stepper(vistorch.ones(3, requires_grad=True).sum()).source.name
            'vistorch'
        """
        return own()

    reads: Nodes = NODES

    @property
    def position(self) -> int:
        """How many steps have been taken."""
        return len(self._taken)

    @property
    def ran(self) -> list:
        """The nodes of the steps taken, oldest first."""
        return [entry[1] for _, _, entry in self._taken]

    @property
    def has_hooks(self) -> bool:
        """Whether hooks run at a node of the pass.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Stepper
            >>> x = vistorch.ones(3, requires_grad=True)
            >>> handle = x.register_hook(print)
            >>> Stepper(x.sum()).has_hooks
            True
        """
        return any(getattr(n, "hooks", None) is not None for n in self.nodes)

    @property
    def next_node(self) -> Any:
        """The node that the next step will run, or None at the end."""
        run = self.run
        pending, fed = run.pending, None
        for i in range(run.at, len(run.order)):
            n = run.order[i]
            if not self._runs(n):
                continue
            if n in pending:
                return n
            if fed is None:  # an output that still waits will hand its gradient to its node
                fed = {out.node for out in pending if out.__class__ is Out}
            if n in fed:
                return n
        return None

    @property
    def _newest(self) -> Any:
        """The node of the newest step."""
        return self._taken[-1][2][1]

    def _frame(self) -> Frame:
        return frame_of(self._taken[-1][2], self.run.pending, self.number, self.names)

    def _moment(self) -> Moment:
        return moment_of(self._taken[-1][2], self.run.pending, self.modules)

    def _visited(self) -> tuple:
        entry = self._taken[-1][2]
        return entry[1], entry, self.run.pending

    def pending(self) -> dict:
        """The gradients that wait now, by node number; a list for a node with several outputs."""
        found: dict = {}
        for n, g in self.run.pending.items():
            node = n.node if n.__class__ is Out else n
            if node not in self.number:
                continue
            if n.__class__ is not Out:
                found[self.number[n]] = as_tensor(g, n)
        for out, g in self.run.pending.items():
            if out.__class__ is Out and out.node in self.number:
                gs = found.setdefault(self.number[out.node], [None] * out.node.outs)
                gs[out.nr] = as_tensor(g, out)
        return found

    def incoming(self, node: Any) -> Any:
        """The gradient that came into a node, or that waits for it; None if none has come yet."""
        for _, _, entry in self._taken:
            if entry[1] is node:
                return as_tensor(entry[2], node)
        return self.pending().get(self.number.get(node))

    # ---- moving -----------------------------------------------------------------------------------------------
    def _advance(self) -> bool:
        self._open()
        run, length, at = self.run, len(self._journal), self.run.at
        before, outer = mode.on, mode.run
        mode.on, mode.run = recording() if run.create_graph else False, run
        try:
            with without_warnings():
                if self._steps is None:
                    self._steps = run.steps()
                if next(self._steps, None) is None:
                    return False
                entry = self._journal[-1]
                if self.next_node is None:  # targets that end the pass without a step belong to the last one
                    deque(self._steps, maxlen=0)
        except BaseException:
            self._rewind(length, at)
            raise
        finally:
            mode.on, mode.run = before, outer
        self._taken.append((length, at, entry))
        return True

    def take_back_to(self, position: int) -> None:
        """Take steps back until so many are left, without looking at them."""
        self._open()
        self._stopped = None
        if position <= 0:
            self._taken.clear()
            self._rewind(0, 0)
        elif position < len(self._taken):
            length, at, _ = self._taken[position]
            del self._taken[position:]
            self._rewind(length, at)

    def _rewind(self, length: int, at: int) -> None:
        """Undo journal entries down to a length (a step may have several: the plumbing of outputs before its node)."""
        self._steps = None  # a generator cannot go back: the next step starts a new one from here
        while len(self._journal) > length:
            self.run.undo()
        self.run.at = at  # before the nodes that were passed over, too

    def _node_asked(self, node: Any) -> Any:
        if not isinstance(node, Tensor):
            return node
        asked = edge(node) if node.requires_grad else None
        return asked.node if isinstance(asked, Out) else asked

    def _settle(self) -> None:
        for _, _, (_, n, _, undo, *_) in self._taken:
            if n.__class__ is Leaf:
                settle(undo, self.run.create_graph)
            elif not self.retain_graph and n.saved and (n.rule is None or n.rule.saves_tensors):
                n.saved = FREED

    def _close(self) -> None:
        self._steps = None
        self._journal.clear()
        self.run.pending.clear()

    def check(self, node: Any = None, *, seed: int = 0) -> Check:
        """Compare one node's vjp with finite differences; by default the newest step's."""
        if node is None:
            if not self._taken:
                raise ValueError("no step has been taken yet: name a node")
            node = self._newest
        return check_node(self.nodes[self._number_of(node)], seed=seed)
