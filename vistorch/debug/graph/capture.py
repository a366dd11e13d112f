"""From the engine's graph to a record: `capture`.

Invariant: nothing is computed and nothing of the graph is changed; what was freed is simply not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...engine.backward.backward_pass import order_of
from ...engine.base import dtypes
from ...engine.base.numpy_warnings import without_warnings
from ...engine.core.graph import FREED, Leaf, Out, edge
from ...engine.core.tensor import Tensor
from ..device_reads import Answer, Batch
from ..engine_nodes import NODES
from ..formula import formulas_of
from ..lines import note_of
from ..meaning import short
from .build import Builder
from .groups import Groups
from .module_calls import Call, Found
from .names import Names, line_text
from .norms import waiting_of
from .record import GraphRecord
from .saved import inputs_without_gradient, kept_by
from .words import MARKS, number_text, shape_text

NO_GRAPH = (
    "this tensor has no graph: it does not require grad. What made it ran under no_grad or on a detached tensor, or no "
    "parameter took part in it"
)
ONLY_A_LEAF = "this tensor is a leaf: nothing was recorded that leads to it, so there is no graph to show"
FREED_SAYS = "The graph was freed by a backward pass: what its nodes had saved is gone."


def capture(
    outputs: Any,
    names: Any = None,
    modules: Any = None,
    namespace: Mapping[str, Any] | None = None,
    *,
    constants: bool = False,
    title: str = "",
) -> GraphRecord:
    """The graph that a backward pass from these tensors would run, as a record.

    Args:
        outputs: a tensor with history, or several.
        names: names of tensors: a dict of names and tensors, either way round.
        modules: the modules that took part: one, several, or a dict by name. Those that were called while `Calls`
            listened are known anyway.
        namespace: variables by name, to find tensors and modules in.
        constants: also show tensors without gradient that ops kept, named or not.
        title: what is shown above; by default the name of the first output, with ".backward()".

    Example:
        >>> import vistorch
        >>> from vistorch.debug.graph import capture
        >>> x = vistorch.ones(2, 2, requires_grad=True)
        >>> z = 3 * (x + 2) ** 2
        >>> print(capture(z.mean(), namespace={"x": x, "z": z}).text())
        backward(): 4 ops, saved 16 B
        step  op             output  saved
           1  Mean           scalar
           2  z  Mul         2 × 2
           3  Pow            2 × 2    16 B
           4  Add            2 × 2
                  x (input)  2 × 2
    """
    tensors = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    if not tensors:
        raise ValueError("no tensor was given whose graph could be shown")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"expected tensors, but got {type(t).__name__}")
        if not t.requires_grad:
            raise ValueError(NO_GRAPH)
    if all(t.grad_fn is None for t in tensors):
        raise ValueError(ONLY_A_LEAF)
    known = Names(names, modules, namespace)
    name = known.leaves.get(id(tensors[0]), "")
    edges = [edge(t) for t in tensors]
    made = Source(
        order_of(list(dict.fromkeys(edges))),
        known,
        title or (f"{name}.backward()" if name else "backward()"),
        constants,
        outputs=tensors,
    )
    for t, e in zip(tensors, edges, strict=True):
        made.root(t, e)
    return made.builder.record()


class Source:
    """Fills a builder from the engine's nodes; `number` says which node of the record each one became.

    Args:
        order: the nodes in the order of the pass.
        names: what tensors and modules are called.
        title: what is shown.
        constants: also show what has neither name nor gradient.
        lead: makes a node that comes before all, given the builder and the groups.
        outputs: the tensors that the pass starts from, of which scalars are read.
    """

    def __init__(
        self,
        order: list,
        names: Names,
        title: str,
        constants: bool = False,
        lead: Callable | None = None,
        outputs: Sequence[Tensor] = (),
    ) -> None:
        self.names, self.constants = names, constants
        self.builder = Builder(title)
        nodes = list(dict.fromkeys(n for n in order if n.__class__ is not Out))
        calls = self._calls(nodes)
        for call in {id(c): c for c in calls.values()}.values():
            self._learn(call)
        self.groups = Groups(self.builder, names, nodes, calls, NODES)
        self.kept = kept_by(nodes)
        self.number: dict[Any, int] = {}
        self.wanted = self._variables()
        if lead is not None:
            lead(self.builder, self.groups)
        self._ask(nodes, outputs)
        for n in nodes:
            self.number[n] = self._leaf(n) if n.__class__ is Leaf else self._op(n, calls.get(n))
        for n in nodes:
            if n.__class__ is not Leaf:
                self._edges(n)
        if any(getattr(n, "saved", None) is FREED for n in nodes):
            self.builder.says.append(FREED_SAYS)

    def _ask(self, nodes: list, outputs: Sequence[Tensor]) -> None:
        """Ask for all numbers that the picture has: norms on edges, those of gradients, and scalars."""
        batch = Batch()
        self.sizes, self.values, self.noted = {}, {}, {}
        for n in nodes:
            if n.__class__ is not Leaf:
                self.noted[n] = [
                    size if size is None or isinstance(size, float) else batch.ask(size, [size], first)
                    for size in waiting_of(n)
                ]
            elif n.variable._grad is not None:
                grad = n.variable._grad
                with grad._place:
                    self.sizes[n] = batch.ask(grad._data, [_square(grad._data)], _root)
                if _is_number(grad):
                    self.values[id(grad)] = batch.ask(grad._data, [grad._data], first)
        for t in outputs:
            if t._data.size == 1:
                self.values[id(t)] = batch.ask(t._data, [t._data], first)
        batch.send()

    def _calls(self, nodes: list) -> dict[Any, Call]:
        ops = [n for n in nodes if n.__class__ is not Leaf]
        log = Found(min([n.seq for n in ops], default=0))
        found = {}
        for n in ops if log.threads else ():
            call = log.call(n.seq)
            if call is not None:
                found[n] = call
        return found

    def _learn(self, call: Call) -> None:
        """The module of an outermost call that no variable holds is known by its class."""
        module = call.around()[0].module()
        if module is not None and self.names.path_of(module) is None:
            self.names.modules([(type(module).__name__, module)])

    def _variables(self) -> dict[Any, str]:
        """Nodes by the variables that hold their results; an output of several counts for its node."""
        found: dict[Any, str] = {}
        for n, name in self.names.nodes.items():
            found.setdefault(n.node if n.__class__ is Out else n, name)
        return found

    def _leaf(self, n: Any) -> int:
        t = n.variable
        is_parameter = id(t) in self.names.parameters or type(t).__name__ == "Parameter"
        return self.builder.node(
            "parameter" if is_parameter else "input",
            "AccumulateGrad",
            name=n.name(),
            label=self.names.leaves.get(id(t), ""),
            group=self.groups.of_leaf(n),
            grad=self.sizes[n].value if n in self.sizes else None,
            value=float(self.values[id(t._grad)].value) if id(t._grad) in self.values else None,
            **_facts(t),
        )

    def _op(self, n: Any, call: Call | None) -> int:
        kept = self.kept.get(n, ())
        place = note_of(n).get("line")
        if place is None and call is not None:
            place = call.around()[0].place  # at least where the outermost module was called
        latex_of = [(f.input, f.latex) for f in formulas_of(n)]
        name = n.name()
        row = note_of(n).get("row")  # of a trace that looked at it
        found = () if row is None else [m for m in (row.state, row.back) if m in MARKS]
        return self.builder.node(
            "op",
            short(name),
            name=name,
            label=self.wanted.get(n, ""),
            shape=tuple(n.shape),
            dtype=dtypes.of(n.dtype).name,
            device=str(n.place.device),
            group=self.groups.of_op(n),
            saved=sum([k.bytes for k in kept if not k.alias]),
            shared=sum([k.bytes for k in kept if k.alias]),
            line=line_text(place),
            formulas=tuple([(i, latex) for i, latex in latex_of if latex]),
            kept=kept,
            mark=max(found, key=MARKS.index, default=""),
            row=-1 if row is None else row.index,
        )

    def _edges(self, n: Any) -> None:
        inputs = n.rule.inputs if n.rule is not None else ()
        sizes = [float(size.value) if isinstance(size, Answer) else size for size in self.noted[n]]
        source = self.number[n]
        for i, (e, size) in enumerate(zip(n.edges, sizes, strict=True)):
            if e is None:
                continue
            target, output = (e.node, e.nr) if e.__class__ is Out else (e, 0)
            name = inputs[i] if i < len(inputs) else f"input {i}"
            alone = size is not None and math.prod(e.shape) == 1 and e.dtype.kind != "c"
            self.builder.edge(
                source,
                self.number[target],
                shape=tuple(e.shape),
                input=name,
                output=output,
                norm=None if size is None else abs(size),
                value=size if alone else None,
            )
        self._without_gradient(n, source)

    def _without_gradient(self, n: Any, source: int) -> None:
        """Inputs that no gradient reaches: those with a name where the way of the data begins, or all on request."""
        below = [e for e in n.edges if e is not None and not self._is_parameter(e)]
        for name, t in inputs_without_gradient(n):
            label = self.names.leaves.get(id(t), "")
            begins = label and (t._data.dtype.kind == "f" or not below)
            if not (begins or self.constants):
                continue
            target = self.unreached(t, "input" if begins else "constant")
            self.builder.edge(source, target, shape=tuple(t._data.shape), input=name, dead=True)

    def unreached(self, t: Tensor, kind: str = "input") -> int:
        """The number of a tensor that no gradient reaches."""
        if id(t) not in self.number:
            self.number[id(t)] = self.builder.node(
                kind,
                kind.capitalize(),
                label=self.names.leaves.get(id(t), ""),
                says="it does not require grad: no gradient reaches it",
                **_facts(t),
            )
        return self.number[id(t)]

    def _is_parameter(self, e: Any) -> bool:
        while e.__class__ is not Leaf:  # through views
            if e.__class__ is Out or len(e.edges) != 1 or e.edges[0] is None:
                return False
            e = e.edges[0]
        return id(e.variable) in self.names.parameters or type(e.variable).__name__ == "Parameter"

    def root(self, t: Tensor, e: Any) -> None:
        """Say what the pass starts from."""
        node = self.number[e.node if e.__class__ is Out else e]
        name = self.names.leaves.get(id(t), "")
        if id(t) in self.values:
            value = self.values[id(t)].value
            what = number_text(float(value)) if t._data.dtype.kind != "c" else f"{complex(value):.4g}"
        else:
            what = shape_text(tuple(t._data.shape))
        self.builder.roots.append((node, f"{name} = {what}" if name else what))


def _facts(t: Tensor) -> dict[str, Any]:
    return {
        "shape": tuple(t._data.shape),
        "dtype": dtypes.of(t._data.dtype).name,
        "device": str(t._place.device),
    }


def _square(data: Any) -> Any:
    """The sum of squares of a gradient, where it is."""
    if data.dtype.kind not in "fc" or data.dtype.itemsize < 4:
        data = data.astype("float32")
    flat = data.reshape(-1)
    with without_warnings():  # squares may overflow
        return abs((flat * flat.conj()).sum()) if data.dtype.kind == "c" else flat @ flat


def _root(parts: list) -> float:
    """The norm of a gradient whose sum of squares came over."""
    found = float(parts[0]) ** 0.5
    return found if not math.isnan(found) else math.nan


def first(parts: list) -> Any:
    """The one number that came over."""
    return parts[0].reshape(-1)[0] if parts[0].shape else parts[0][()]


def _is_number(grad: Any) -> bool:
    """Whether a gradient is one real number."""
    return grad._data.size == 1 and grad._data.dtype.kind != "c"


def tensors_in(values: Iterable[Any], depth: int = 2) -> list[Tensor]:
    """The tensors among some values, also in lists, tuples and dicts of them."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif depth and isinstance(value, (list, tuple)) and len(value) <= 1000:
            found += tensors_in(value, depth - 1)
        elif depth and isinstance(value, dict) and len(value) <= 1000:
            found += tensors_in(list(value.values()), depth - 1)
    return found
