"""Where values come from: every op, recorded or not, with its inputs, its line and its module, for one turn of a loop.

The graph of the backward pass knows only what has a gradient. A lineage also knows targets, masks, measures and what
was cut off, so it can be asked what a target was computed from, or where the history of a parameter ends.
Invariant: an array is known as long as its value stands in the table, so no other array can have its number; `forget`
lets go of all that is not older than the loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..engine.base.events import Listener, where
from ..engine.base.modes import mode
from ..engine.core.graph import NUMBERS
from .lines import Cut  # noqa: F401  (the same kinds of cuts)

MOST = 20_000  # values that are kept
BYTES = 1 << 28  # of arrays without a gradient
SETUP = 4_000  # values from before the loop that are kept
COPY = SimpleNamespace(name="copy")
MATCHED = 16  # cuts that a new tensor is compared with
COMPARED = 1 << 16  # elements of them

# what only moves, repeats or renames elements
SHAPED = frozenset(
    "view reshape reshape_alias squeeze squeeze_dim unsqueeze flatten clone contiguous alias cast to_place "
    "expand t transpose permute "
    "select slice view_as unflatten movedim narrow copy".split()
)


class Value:
    """One result: its op, what it was computed from, where, and the array as long as it is known.

    Slots:
        seq: a number that grows.
        op: the row's name; "source" for what no op made, "detach" and other kinds of cuts.
        ins: values and plain numbers. consts: the op's constants.
        place: raw, for `line_of`. module: the innermost that ran. call: the outermost call it belongs to.
        shape, needs: of the tensor, `needs` whether it has a gradient.
        data: the array. tensor: of a source.
    """

    __slots__ = (
        "call",
        "consts",
        "data",
        "grad",
        "ins",
        "module",
        "needs",
        "op",
        "place",
        "seq",
        "shape",
        "tensor",
    )

    def __init__(
        self, seq: int, op: str, ins: Any, consts: tuple, place: Any, data: Any, needs: bool
    ) -> None:
        self.seq, self.op, self.ins, self.consts, self.place = seq, op, ins, consts, place
        self.data, self.shape, self.needs = data, data.shape, needs
        self.module = self.call = self.tensor = None
        self.grad = False

    def __repr__(self) -> str:
        return f"<{self.op} {self.shape}>"

    @property
    def model(self) -> Call | None:
        """The call of a model that it is part of; a loss function is no model."""
        return self.call if self.call is not None and self.call.owns else None

    @property
    def parents(self) -> list[Value]:
        """The values among its inputs."""
        return [v for v in self.ins if v.__class__ is Value]


class Call:
    """One call of an outermost module.

    Slots:
        module, place: what was called, where. grad: whether its ops were recorded.
        training: of the module. inputs: its first tensor. drew: dropouts and norms that ran as in training, did not:
            lists of (name, innermost module, place, chance).
        owns: whether the module has parameters: a loss function, called as a module, has none.
        trained: whether a backward pass came from it. measured: where a number was taken out of it.
    """

    __slots__ = (
        "drew",
        "grad",
        "inputs",
        "kept",
        "measured",
        "module",
        "owns",
        "place",
        "trained",
        "training",
    )

    def __init__(self, module: Any, place: Any) -> None:
        self.module, self.place = module, place
        self.grad, self.training = bool(mode.on), bool(getattr(module, "training", True))
        ask = getattr(module, "parameters", None)
        self.owns = ask is None or next(iter(ask()), None) is not None
        self.inputs: Any = None
        self.drew: list = []
        self.kept: list = []
        self.trained = False
        self.measured: Any = None


class Running(threading.local):
    """The modules that run in this thread."""

    def __init__(self) -> None:
        self.stack: list = []
        self.call: Any = None


class Lineage(Listener):
    """Listens to all ops and knows where each value came from.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.lineage import Lineage, ancestors
        >>> w = vistorch.ones(2, requires_grad=True)
        >>> with Lineage() as lineage:
        ...     y = (w * 3).detach().exp()
        >>> [v.op for v in ancestors(lineage.of(y))]
        ['exp', 'detach', 'mul', 'source']
    """

    def __init__(self) -> None:
        self.table: dict[int, Value] = {}
        self.values: list[Value] = []
        self.here = Running()
        self.seq = 0
        self.held = 0  # bytes of arrays without a gradient
        self.setup: list[Value] | None = None  # from before the first pass; None until then
        self.cuts: list[tuple[str, Any, Value, Any]] = []  # kind, place, value, what it gave
        self.cut_at: dict[int, tuple[str, Any, Any]] = {}  # by array: the newest detach or data of it

    # ---- what happens ------------------------------------------------------------------------------------------
    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Enter what came out of an op."""
        run = mode.run
        if run is not None and not run.create_graph:
            return
        place = where(2)
        table, here = self.table, self.here
        parents = []
        for t in ins:
            if t.__class__ in NUMBERS:
                parents.append(t)
                continue
            d = t._data
            v = table.get(id(d))
            if v is None or v.data is not d:
                v = self._source(t, d)
            elif v.needs and not t._rg:
                v = self._cut_off(v, d)
            parents.append(v)
        stack, on = here.stack, mode.on
        for t in outs:
            d = t._data
            self.seq += 1
            v = Value(self.seq, rule.name, parents, consts, place, d, t._rg)
            if stack:
                v.module, v.call = stack[-1], here.call
            if on:
                v.grad = True
            else:
                self.held += d.nbytes
            table[id(d)] = v
            self.values.append(v)
        if len(self.values) > MOST or self.held > BYTES:
            self.forget()

    def write(self, tensor: Any, rule: Any) -> None:
        """An op's result was written into a tensor: it comes from there now."""
        if rule is None or (mode.run is not None and not mode.run.create_graph):
            return
        last = self.values[-1] if self.values else None
        if last is not None and last.op == rule.name and last.shape == tensor._data.shape:
            v = Value(last.seq, last.op, last.ins, last.consts, last.place, tensor._data, tensor._rg)
            v.module, v.call, v.grad = last.module, last.call, last.grad
            self.table[id(tensor._data)] = v

    def cut(self, kind: str, tensor: Any) -> None:
        """A history ends; what comes of it later is known as its continuation."""
        if tensor is None or kind == "requires_grad_(False)":
            return
        v = self.of(tensor)
        place = where(2)
        if kind in ("detach", "data"):
            self.cut_at[id(tensor._data)] = (kind, place, tensor._data)
        else:
            self.cuts.append((kind, place, v, tensor._data))
            if len(self.cuts) > 4 * MATCHED:
                del self.cuts[: 2 * MATCHED]
            self.taken_out(kind, v, place)

    def taken_out(self, kind: str, value: Value, place: Any) -> None:
        """Numbers were taken out of a tensor, by `item()` and its like."""

    def data(self, tensor: Any, name: str) -> None:
        """A tensor was made of outside data; of what was taken out of another, it is the continuation."""
        d = tensor._data
        v = Value(self._next(), "source", [], (name,), where(2), d, tensor._rg)
        v.tensor = tensor
        if d.dtype.kind == "f" and self.cuts:
            for kind, place, old, was in reversed(self.cuts[-MATCHED:]):
                if was.size == d.size and d.size <= COMPARED and _alike(was, d):
                    v.op, v.ins, v.consts = kind, [old], (name, place)
                    break
        self._enter(v, d)

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow modules as they begin and end."""
        here = self.here
        if name == "forward":
            if not here.stack:
                here.call = Call(subject, where(2))
                here.call.inputs = next((a for a in details[0] if hasattr(a, "_data")), None)
                self.call_begins(here.call)
            here.stack.append(subject)
        elif name == "forward_end" and here.stack:
            here.stack.pop()
            if not here.stack:
                call, here.call = here.call, None
                self.call_ends(call)
        elif name == "copied":
            self.op(COPY, (subject, details[0]), (), (subject,))
        elif name == "settled":
            v = self.table.pop(id(details[0]), None)
            if v is not None and v.data is details[0]:
                v.data = subject._data
                self.table[id(v.data)] = v

    def call_begins(self, call: Call) -> None:
        """An outermost module is called."""

    def call_ends(self, call: Call) -> None:
        """That call is over."""

    # ---- asking ------------------------------------------------------------------------------------------------
    def of(self, tensor: Any) -> Value:
        """The value of a tensor, as it is used now."""
        d = tensor._data
        v = self.table.get(id(d))
        if v is None or v.data is not d:
            return self._source(tensor, d)
        return self._cut_off(v, d) if v.needs and not tensor._rg else v

    def begin_loop(self) -> None:
        """The first pass begins: what was made so far is older than the loop."""
        if self.setup is None:
            table = self.table  # what was written over since, as initial values are, is no longer that value
            self.setup = [v for v in self.values if not v.needs and table.get(id(v.data)) is v][-SETUP:]

    def forget(self) -> None:
        """Let go of all values but those from before the loop."""
        kept = self.setup or []
        known = {id(v) for v in kept}
        for v in self.values:
            if id(v) not in known:
                v.data = v.tensor = None
        self.values = []
        self.table = {id(v.data): v for v in kept}
        self.cuts, self.cut_at, self.held = [], {}, 0

    # ---- within ------------------------------------------------------------------------------------------------
    def _next(self) -> int:
        self.seq += 1
        return self.seq

    def _enter(self, v: Value, d: Any) -> Value:
        if self.here.stack:
            v.module, v.call = self.here.stack[-1], self.here.call
        self.table[id(d)] = v
        self.values.append(v)
        return v

    def _source(self, t: Any, d: Any) -> Value:
        v = Value(self._next(), "source", [], (), None, d, t._rg)
        v.tensor = t
        base = d.base
        if base is not None and (known := self.table.get(id(base))) is not None and known.data is base:
            v.op, v.ins = "alias", [known]
        return self._enter(v, d)

    def _cut_off(self, v: Value, d: Any) -> Value:
        """The same memory without history: an own value, which is not entered, as the array has its value."""
        kind, place, was = self.cut_at.get(id(d), ("detach", None, None))
        if was is not d:
            kind, place = "no history", None
        out = Value(self._next(), kind, [v], (), place, d, False)
        out.call = v.call
        return out


def _alike(a: Any, b: Any) -> bool:
    if np.shares_memory(a, b):
        return True
    with np.errstate(all="ignore"):
        return bool(np.allclose(a.reshape(-1), b.reshape(-1), equal_nan=True))


def ancestors(value: Value, into: Callable[[Value], bool] = lambda v: True) -> Iterator[Value]:
    """A value and all it came from, each once, the newest first among those that wait.

    Args:
        value: where to begin.
        into: whether to go beyond a value.
    """
    seen, waiting = {id(value)}, [value]
    while waiting:
        v = waiting.pop()
        yield v
        if not into(v):
            continue
        for parent in v.ins:
            if parent.__class__ is Value and id(parent) not in seen:
                seen.add(id(parent))
                waiting.append(parent)


def beyond(value: Value, names: frozenset[str] = SHAPED) -> Value:
    """The value behind ops that only move elements.

    Args:
        value: where to begin.
        names: of those ops.
    """
    while value.op in names and value.ins and value.ins[0].__class__ is Value:
        value = value.ins[0]
    return value
