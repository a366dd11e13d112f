"""Walk a backward pass of torch one node at a time, both ways.

Each step lets torch's own engine run one node (`private.run_node`), so hooks, casts and sums are torch's; what lies
between nodes is done here as torch does it: gradients that meet are added in the order in which they arrive, and nodes
run in torch's order. Nothing that a step replaces is written over, so a step back puts references in place again.

Invariant: after as many steps as `position` says, every `.grad` is what torch's pass would have made of it there; after
`undo` it is the object that it was.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import Any

from ..debug.breaks.moment import Moment
from ..debug.line_lookup import line_of
from ..debug.source import Nodes, Source, named
from ..debug.step_record import Flow, Frame
from ..debug.walked_pass import WalkedPass
from . import notes, private, values
from .nodes import NODES, made_by, order_of
from .real import torch
from .refusals import GONE, Unsteppable, roots_of, unsteppable


@dataclass
class Step:
    """What one step did, and what was there before it."""

    node: Any
    came: list[Any]
    hooked: list[Any] | None = None
    sent: list[tuple[int, Any, int, Any, Any, Any]] = field(default_factory=list)
    before: Any = None  # a leaf's `.grad`, as an object
    accumulated: tuple[Any, Any] | None = None
    retained: list[tuple[Any, Any]] = field(default_factory=list)  # tensors and their `.grad` before


class TorchStepper(WalkedPass):
    """A backward pass of torch that stands still until it is moved.

    Hooks run in their step, again each time it is taken; what a hook changes besides `.grad` is not taken back.

    Args:
        tensors: one tensor, or a sequence, to start from.
        gradient: their gradients; may be left out for scalars.
        retain_graph: keep what the graph saved when the pass is finished.
        create_graph: record the pass.
        inputs: only these tensors get a gradient.
        names: what leaves are called, such as the names of parameters.
        search: look among all living tensors for those that keep their gradient inside of the graph, so that it can be
            taken back; else only those in `names` are.
        alone: nothing will be run here, so a pass that cannot be stepped will do.
    """

    reads: Nodes = NODES

    def __init__(
        self,
        tensors: Any,
        gradient: Any = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
        names: dict[Any, str] | None = None,
        search: bool = True,
        alone: bool = False,
    ) -> None:
        roots = roots_of(tensors)
        self.outputs = tuple(roots)
        self.names = names or {}
        self.create_graph = create_graph
        self.retain_graph = create_graph if retain_graph is None else retain_graph
        self.modules = Whereabouts(self.names)
        edges = [made_by(t) for t in roots]
        gradients = _gradients(roots, gradient)
        order = order_of([n for n, _ in edges])  # type: ignore[misc]
        self.nodes = order if inputs is None else _leading_to(order, inputs)
        why = None if alone else unsteppable(self.nodes)
        if why is not None:
            raise Unsteppable(why)
        if any(NODES.is_freed(n) for n in self.nodes if not NODES.is_leaf(n)):
            raise ValueError(GONE)
        self.number = {n: i for i, n in enumerate(self.nodes)}
        self.waiting: dict[Any, list[Any]] = {}
        for (n, nr), g in zip(edges, gradients, strict=True):  # type: ignore[misc]
            if n in self.number:
                self._put(n, nr, g)
        self._start = {n: list(gs) for n, gs in self.waiting.items()}
        self._taken: list[Step] = []
        self._retaining = _retaining(self.number, gc.get_objects() if search else list(self.names))

    # ---- where it stands ------------------------------------------------------------------------------------
    @property
    def source(self) -> Source:
        """PyTorch."""
        return named("torch")

    @property
    def position(self) -> int:
        """How many steps have been taken."""
        return len(self._taken)

    @property
    def ran(self) -> list:
        """The nodes of the steps taken, oldest first."""
        return [step.node for step in self._taken]

    @property
    def has_hooks(self) -> bool:
        """Whether hooks are known to run: those of leaves; of others torch does not say."""
        return any(private.has_hooks(n.variable) for n in self.nodes if NODES.is_leaf(n))

    @property
    def next_node(self) -> Any:
        """The node that the next step will run, or None at the end."""
        at = self._next()
        return None if at is None else self.nodes[at]

    def _next(self) -> int | None:
        begin = self.number[self._taken[-1].node] + 1 if self._taken else 0
        for i in range(begin, len(self.nodes)):
            n = self.nodes[i]
            if n in self.waiting or (not NODES.is_leaf(n) and private.fills_in_zeros(n)):
                return i
        return None

    @property
    def _newest(self) -> Any:
        return self._taken[-1].node

    def _frame(self) -> Frame:
        step = self._taken[-1]
        n = step.node
        many = len(step.came) > 1
        made = Frame(self.number[n], len(self.nodes), NODES.name(n), n, step.came if many else step.came[0])
        if step.hooked is not None:
            made.hooked = step.hooked if many else step.hooked[0]
        if NODES.is_leaf(n):
            made.label = self.names.get(n.variable)
            made.accumulated = step.accumulated
            return made
        made.line = line_of(notes.place_of(n))
        made.formulas = NODES.formulas(n)
        for i, target, output, gradient, before, after in step.sent:
            made.outgoing.append(
                Flow(made.formulas[i].input, self.number.get(target), output, gradient, before, after)
            )
        return made

    def _moment(self) -> Moment:
        step = self._taken[-1]
        if NODES.is_leaf(step.node):
            sent = step.came if step.hooked is None else step.hooked
        else:
            sent = [g for *_, g, _, _ in step.sent]
        return Moment(step.node, [None if g is None else values.host(g) for g in sent], NODES, self.modules)

    def pending(self) -> dict:
        """The gradients that wait now, by node number; a list for a node with several outputs."""
        return {self.number[n]: gs if len(gs) > 1 else gs[0] for n, gs in self.waiting.items()}

    def incoming(self, node: Any) -> Any:
        """The gradient that came into a node, or that waits for it; None if none has come yet."""
        for step in self._taken:
            if step.node is node:
                return step.came if len(step.came) > 1 else step.came[0]
        return self.pending().get(self.number.get(node, -1))

    def _node_asked(self, node: Any) -> Any:
        if not isinstance(node, torch.Tensor):
            return node
        found = made_by(node)
        return None if found is None else found[0]

    # ---- moving ---------------------------------------------------------------------------------------------
    def _advance(self) -> bool:
        self._open()
        at = self._next()
        if at is None:
            return False
        n = self.nodes[at]
        came = self.waiting.pop(n, None)
        step = Step(n, came if came is not None else [None] * _width(n))
        step.retained = [(t, t.grad) for t in self._retaining.get(n, ())]
        try:
            if NODES.is_leaf(n):
                self._receive(step)
            else:
                self._run(step)
        except BaseException:
            self._put_back(step)
            if came is None:
                self.waiting.pop(n, None)
            raise
        self._taken.append(step)
        return True

    def _run(self, step: Step) -> None:
        n = step.node
        given = step.came
        if all(g is None for g in given):  # zeros for a custom Function that nothing came to
            given = [_zeros(n, 0), *given[1:]]
        for t, grad in step.retained:
            t.grad = None if grad is None else grad.clone()
        with torch.set_grad_enabled(self.create_graph):
            sent, after_hooks = private.run_node(n, given, self.create_graph)
            step.hooked = changed(step.came, after_hooks)
            self._send(step, sent)

    def _send(self, step: Step, sent: Any) -> None:
        """Let what a node sends wait where it goes."""
        for i, ((target, output), g) in enumerate(zip(step.node.next_functions, sent, strict=False)):
            if target is None or g is None or target not in self.number:
                continue
            held = self.waiting.get(target)
            before = None if held is None else held[output]
            self._put(target, output, g)
            step.sent.append((i, target, output, g, before, self.waiting[target][output]))

    def _receive(self, step: Step) -> None:
        v = step.node.variable
        step.before = v.grad
        if v.grad is not None and not self.create_graph:  # torch adds in place: it gets a copy to add to
            v.grad = v.grad.clone()
        _, after_hooks = private.run_node(step.node, step.came, self.create_graph, leaf=True)
        step.hooked = changed(step.came, after_hooks)
        step.accumulated = (step.before, v.grad)

    def _put(self, node: Any, output: int, g: Any) -> None:
        """Let a gradient wait, added to what waits there: the lists of before stay as they are."""
        held = self.waiting.get(node)
        held = [None] * _width(node) if held is None else list(held)
        held[output] = g if held[output] is None else _added(held[output], g)
        self.waiting[node] = held

    def _put_back(self, step: Step) -> None:
        """What was there before a step."""
        n = step.node
        for _, target, output, _, before, _ in reversed(step.sent):
            held = list(self.waiting[target])
            held[output] = before
            if all(g is None for g in held):
                del self.waiting[target]
            else:
                self.waiting[target] = held
        self._restore(step)
        if any(g is not None for g in step.came):
            self.waiting[n] = step.came

    def _restore(self, step: Step) -> None:
        """Every `.grad` that a step has changed, as it was."""
        if NODES.is_leaf(step.node):
            step.node.variable.grad = step.before
        for t, grad in step.retained:
            t.grad = grad

    def take_back_to(self, position: int) -> None:
        """Take steps back until so many are left, without looking at them."""
        self._open()
        self._stopped = None
        while len(self._taken) > max(0, position):
            self._put_back(self._taken.pop())

    def _settle(self) -> None:
        if not self.create_graph:
            for step in self._taken:
                for t, before in ((step.node.variable, step.before),) if NODES.is_leaf(step.node) else ():
                    _in_place(t, before)
        if not self.retain_graph:
            self._free()

    def _free(self) -> None:
        """Free what the nodes saved, as a pass that retains no graph does."""
        for step in self._taken:
            if not NODES.is_leaf(step.node):
                private.free(step.node)

    def _close(self) -> None:
        self.waiting.clear()
        self._start.clear()
        self._taken.clear()
        self._retaining.clear()

    def check(self, node: Any = None) -> list[tuple[bool, str]]:
        """Compare one node's gradient with independent ones; by default the newest step's.

        Returns:
            What each witness says: whether it agrees, and a line.
        """
        if node is None:
            if not self._taken:
                raise ValueError("no step has been taken yet: name a node")
            node = self._newest
        return self.source.check(self.nodes[self._number_of(node)], self.nodes, self.outputs)


class Whereabouts:
    """Finds the module a node belongs to: as noted at it, or by its parameters' names.

    Args:
        names: what leaves are called.
    """

    def __init__(self, names: dict) -> None:
        self.names = names

    def __call__(self, node: Any) -> str | None:
        """The path, or None where nobody knows."""
        from ..debug.breaks.modules import path_of

        if NODES.is_leaf(node):
            name = self.names.get(node.variable)
            return None if name is None else name.rpartition(".")[0]
        found = notes.noted(node)
        if found is not None and found[1] is not None:
            call = found[1]
            root, module = call.around()[0].module(), call.module()
            return None if root is None or module is None else path_of(root, module)
        for e in NODES.edges(node):
            if e is not None and NODES.is_leaf(e.node):
                name = self.names.get(e.node.variable)
                if name is not None:
                    return name.rpartition(".")[0]
        return None


def _gradients(roots: list, gradient: Any) -> list:
    """What comes into each root; torch's own sentences where that cannot be."""
    given = (
        [None] * len(roots)
        if gradient is None
        else [gradient]
        if isinstance(gradient, torch.Tensor)
        else gradient
    )
    return list(private.make_gradients(tuple(given), tuple(roots)))


def _leading_to(order: list, inputs: Any) -> list:
    """The nodes that lead to some tensors; those of other leaves do not run."""
    wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    targets = {found[0] for t in wanted if (found := made_by(t)) is not None}
    needed = set(targets)
    for n in reversed(order):
        if any(target in needed for target, _ in n.next_functions):
            needed.add(n)
    return [n for n in order if n in needed]


def _width(node: Any) -> int:
    """How many gradients a node takes."""
    return max(1, len(private.outputs(node)))


def _zeros(node: Any, output: int) -> Any:
    shape, dtype, device = private.outputs(node)[output]
    return torch.zeros(shape, dtype=dtype, device=device)


def _added(held: Any, g: Any) -> Any:
    """The sum of two gradients, as torch's engine makes it: what is sparse is added to what is dense."""
    return g + held if held.layout is not torch.strided else held + g


def changed(came: list, after_hooks: tuple | None) -> list | None:
    """What hooks made of what came in; None where they left it alone."""
    if after_hooks is None:
        return None
    after = list(after_hooks)
    return None if all(a is b or b is None for a, b in zip(after, came, strict=False)) else after


def _in_place(tensor: Any, before: Any) -> None:
    """A plain pass adds to an existing `.grad` in place: other references to that tensor must see the sum."""
    after = tensor.grad
    if before is None or after is None or before is after:
        return
    if before.layout is not after.layout or before.shape != after.shape:
        return
    with torch.no_grad():
        before.copy_(after)
    tensor.grad = before


def _retaining(number: dict, among: list[Any]) -> dict[Any, list[Any]]:
    """Tensors inside of a graph that keep their gradient, by the node that made them: torch does not say which.

    Args:
        number: the nodes of the pass.
        among: objects to look at.
    """
    found: dict[Any, list[Any]] = {}
    for one in among:
        if not issubclass(type(one), torch.Tensor):
            continue
        try:
            node = one.grad_fn if one.retains_grad else None
        except (RuntimeError, AttributeError):
            continue
        if node is not None and node in number:
            found.setdefault(node, []).append(one)
    return found
