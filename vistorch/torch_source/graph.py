"""A torch graph as a record: `capture`.

Invariant: nothing is computed but norms of `.grad`, nothing of the graph is changed and no hook of the user's runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..debug.graph.build import Builder
from ..debug.graph.capture import FREED_SAYS
from ..debug.graph.groups import Groups
from ..debug.graph.module_calls import Call
from ..debug.graph.names import Names, line_text
from ..debug.graph.record import GraphRecord, Kept
from ..debug.graph.words import number_text, shape_text
from ..debug.meaning import short
from ..debug.source import Source
from . import notes, private, rows, values
from .nodes import NODES, made_by, memory_of, order_of
from .real import chip, torch
from .refusals import roots_of

OPAQUE = {
    "CompiledFunctionBackward": "a region that torch.compile has compiled: what is inside is one step",
    "CheckpointFunctionBackward": (
        "a checkpoint that runs a whole pass of its own (use_reentrant=True): what is inside is one step"
    ),
}


def capture(
    outputs: Any,
    names: Any = None,
    modules: Any = None,
    namespace: Mapping[str, Any] | None = None,
    *,
    source: Source,
    title: str = "",
    rows_of: Callable[[Any], int] | None = None,
) -> GraphRecord:
    """The graph that a backward pass from these tensors would run, as a record.

    Args:
        outputs: a tensor with history, or several.
        names: names of tensors: a dict of names and tensors, either way round.
        modules: the modules that took part, as for the engine's capture.
        namespace: variables by name, to find tensors and modules in.
        source: the source of torch.
        title: what is shown above; by default the name of the first output, with ".backward()".
        rows_of: the row of a node in the record that the graph goes with, -1 for none.
    """
    tensors = roots_of(outputs)
    known = Names(names, modules, namespace, source)
    name = known.leaves.get(id(tensors[0]), "")
    made = _Graph(tensors, known, title or (f"{name}.backward()" if name else "backward()"))
    if rows_of is not None:
        for n, number in made.number.items():
            made.builder.change(number, row=rows_of(n))
    return made.builder.record()


class _Graph:
    """Fills a builder from torch's nodes."""

    def __init__(self, tensors: list, names: Names, title: str) -> None:
        self.names, self.builder = names, Builder(title, chip())
        roots = [made_by(t) for t in tensors]
        nodes = order_of([found[0] for found in roots if found is not None])
        ops = [n for n in nodes if not NODES.is_leaf(n)]
        calls: dict[Any, Call] = {}
        for n in ops:
            found = notes.noted(n)
            if found is not None and found[1] is not None:
                calls[n] = found[1]
        for call in {id(c): c for c in calls.values()}.values():
            self._learn(call)
        self.groups = Groups(self.builder, names, nodes, calls, NODES)
        self.kept, self.freed = kept_by(nodes)
        self.number: dict[Any, int] = {}
        for n in nodes:
            self.number[n] = self._leaf(n) if NODES.is_leaf(n) else self._op(n, calls.get(n))
        for n in ops:
            self._edges(n)
        if self.freed:
            self.builder.says.append(FREED_SAYS)
        for t, found in zip(tensors, roots, strict=True):
            if found is not None:
                self._root(t, found[0])

    def _learn(self, call: Call) -> None:
        """The module of an outermost call that no variable holds is known by its class."""
        module = call.around()[0].module()
        if module is not None and self.names.path_of(module) is None:
            self.names.modules([(type(module).__name__, module)])

    def _leaf(self, n: Any) -> int:
        t = n.variable
        is_parameter = id(t) in self.names.parameters or isinstance(t, torch.nn.Parameter)
        return self.builder.node(
            "parameter" if is_parameter else "input",
            "AccumulateGrad",
            name=n.name(),
            label=self.names.leaves.get(id(t), ""),
            shape=private.shape_of(t),
            dtype=values.name_of(t.dtype),
            device=str(t.device),
            grad=values.norm(t.grad),
            value=values.number(t.grad),
        )

    def _op(self, n: Any, call: Call | None) -> int:
        place = notes.place_of(n)
        if place is None and call is not None:
            place = call.around()[0].place
        kept = self.kept.get(n, ())
        name = NODES.name(n)
        return self.builder.node(
            "op",
            short(name),
            name=n.name(),
            label=self.names.nodes.get(n, ""),
            shape=NODES.shape(n),
            dtype=NODES.dtype(n),
            device=NODES.device(n),
            group=self.groups.of_op(n),
            saved=sum([k.bytes for k in kept if not k.alias]),
            shared=sum([k.bytes for k in kept if k.alias]),
            line=line_text(place),
            formulas=tuple([(f.input, f.latex) for f in rows.formulas_of(n) if f.latex]),
            kept=kept,
            says=OPAQUE.get(name, ""),
        )

    def _edges(self, n: Any) -> None:
        norms = notes.norms_of(n)
        for i, e in enumerate(NODES.edges(n)):
            if e is None:
                continue
            size = norms[i] if i < len(norms) else None
            alone = size is not None and math.prod(e.shape) == 1 and "complex" not in NODES.dtype(e.node)
            self.builder.edge(
                self.number[n],
                self.number[e.node],
                shape=e.shape,
                input=e.input,
                output=e.output,
                norm=None if size is None else abs(size),
                value=size if alone else None,
            )

    def _root(self, t: Any, node: Any) -> None:
        """Say what the pass starts from."""
        name = self.names.leaves.get(id(t), "")
        value = values.number(t)
        what = shape_text(private.shape_of(t)) if value is None else number_text(value)
        self.builder.roots.append((self.number[node], f"{name} = {what}" if name else what))


def kept_by(nodes: list) -> tuple[dict[Any, tuple[Kept, ...]], bool]:
    """For each node what it keeps, memory that several keep counted once; and whether any node was freed.

    Args:
        nodes: in the order of the pass, so the last ones were made first.
    """
    counted = {memory_of(n.variable) for n in nodes if NODES.is_leaf(n)}
    found: dict[Any, tuple[Kept, ...]] = {}
    freed = False
    for n in reversed(nodes):
        if NODES.is_leaf(n):
            continue
        mine, here = [], set()
        for name, _, value, memory in NODES.saved(n):
            if memory is None:
                continue
            mine.append(
                Kept(
                    name,
                    private.shape_of(value),
                    private.bytes_of(value),
                    memory in counted or memory in here,
                )
            )
            here.add(memory)
        counted |= here
        if mine:
            found[n] = tuple(mine)
        elif not freed:
            freed = NODES.is_freed(n)
    return found, freed
