"""What every op of a run on torch computed, forward and backward, as a `debug.compare.Recording`.

A dispatch mode sees ops as the dispatcher has them, which is as fine as the engine's own ops; they are called as our
rows are, so that a run on torch can be compared with one on vistorch op by op. What a node is given and sends is taken
by a hook at it.

Invariant: a recording holds copies; hooks stay at nodes of the run alone, and go with them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..debug.compare.recording import Op, Recording
from ..debug.line_lookup import line_of
from ..debug.trace.row import Row
from ..engine.core.rules import TABLE
from . import notes, passes, private, values
from .real import ready, torch
from .tracing import CALLED, SILENT, UNWRITTEN

# Ops of torch under the names of our rows, where they are called otherwise.
OURS = {
    "max_pool2d_with_indices.default": "max_pool2d",
    "_unsafe_view.default": "view",
    "_reshape_alias.default": "view",
}
PASSED = frozenset((*SILENT, "fill_", "zero_", "set_", "resize_"))


class TorchRecord:
    """Records a run on torch with all its values; as `debug.compare.Record`.

    Args:
        title: what the run is called.
        names: what leaves are called: a function of a tensor.
    """

    def __init__(self, title: str = "", names: Callable[[Any], str | None] | None = None) -> None:
        ready()
        self.title, self.names = title, names
        self._ops: list[tuple[Op, Row]] = []
        self._leaves: list[tuple[Any, np.ndarray]] = []
        self._made: dict[int, tuple[Any, int, int]] = {}  # by tensor: (it, weakly, its op, which output)
        self._last: tuple[Op, list] | None = None  # whose node is known when the next op runs
        self._hooked: set[Any] = set()
        self._handles: list[Any] = []
        self._count = 0  # nodes that went backward
        self._modules = notes.Modules()
        self._mode = _Recorded(self)
        self._muted = 0
        self._starting = False  # a pass was asked for: torch makes the gradient of its loss

    def __enter__(self) -> TorchRecord:
        """Start to record."""
        self._modules.start()
        self._steps = private.on_optimizer_step(self._step, self._stepped)
        self._end = passes.listen(self._backward)
        self._mode.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        """Stop."""
        self._mode.__exit__(None, None, None)
        self._settle()
        self._end()
        for handle in (*self._steps, *self._handles):
            handle.remove()
        self._modules.stop()
        self._made.clear()
        self._hooked.clear()

    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        self._settle()
        self._starting = True
        return False

    def _step(self, *details: Any) -> None:
        self._muted += 1

    def _stepped(self, *details: Any) -> None:
        self._muted = max(0, self._muted - 1)

    @property
    def rows(self) -> list:
        """What was recorded so far."""
        return self._ops

    def recording(self) -> Recording:
        """What was recorded so far, as a recording."""
        ops = []
        for op, row in self._ops:
            op.module = row.module or ""
            op.called, op.layer, op.line = row.called, row.layer, str(line_of(row.place) or "")
            ops.append(op)
        leaves = {}
        for i, (t, g) in enumerate(self._leaves):
            leaves[(self.names(t) if self.names is not None else None) or f"leaf {i}"] = g
        return Recording(self.title, ops, leaves, "torch")

    def wanted(self, schema: private.Schema) -> bool:
        """Whether an op is recorded here and now.

        Args:
            schema: the op.
        """
        if self._muted or schema.name in PASSED or schema.name.startswith(UNWRITTEN):
            return False
        starting, self._starting = self._starting, False
        if starting and schema.name == "ones_like":
            return False
        return private.CURRENT_NODE() is None and not private.in_backward() and any(schema.inputs)

    def taken(self, schema: private.Schema, args: tuple, kwargs: dict) -> list[tuple]:
        """The inputs of an op that is about to run.

        Args:
            schema: the op.
            args: what it is given.
            kwargs: the same, by name.
        """
        self._settle()
        found: list[tuple] = []
        for i, (name, wanted) in enumerate(zip(schema.names, schema.inputs, strict=True)):
            value = args[i] if i < len(args) else kwargs.get(name)
            if wanted and value is not None and name != "out":
                found += [self._input(v) for v in (value if isinstance(value, (tuple, list)) else [value])]
        return found

    def _input(self, value: Any) -> tuple:
        if not isinstance(value, torch.Tensor):
            return "number", value
        known = self._made.get(private.key_of(value))
        if known is not None and known[0]() is value:
            return "row", known[1], known[2]
        return "array", values.host(value).copy()

    def ran(self, func: Any, schema: private.Schema, args: tuple, kwargs: dict, ins: list, out: Any) -> None:
        """An op has run.

        Args:
            func: the op of the dispatcher.
            schema: what it says of itself.
            args: what it was given.
            kwargs: the same, by name.
            ins: its inputs, as they were before.
            out: what it gave.
        """
        outs = [t for t in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(t, torch.Tensor)]
        if not outs or not any(kind != "number" for kind, *_ in ins):
            return
        call = self._modules.call
        inside = None if call is None else (call.around()[0].module(), call.module())
        name = name_of(func, schema, ins)
        row = Row(len(self._ops), SimpleNamespace(name=name), name, notes.where(), inside)
        op = Op(name, "", "", [values.host(t).copy() for t in outs], ins, None)
        if not schema.written:
            op.again = _Again(func, schema, args, kwargs)
        for nr, t in enumerate(outs):
            self._made[private.key_of(t)] = weakref.ref(t), row.index, nr
        self._ops.append((op, row))
        self._last = op, outs

    def _settle(self) -> None:
        """The newest op has its node now."""
        if self._last is None:
            return
        (op, outs), self._last = self._last, None
        node = next((t.grad_fn for t in outs if t.grad_fn is not None), None)
        if node is None or node in self._hooked:
            return
        self._hooked.add(node)
        self._handles.append(node.register_hook(_Passed(self, op)))
        for target, _ in node.next_functions:
            if target is not None and hasattr(target, "variable") and target not in self._hooked:
                self._hooked.add(target)
                self._handles.append(target.register_prehook(_Received(self, target.variable)))

    def passed(self, op: Op, sent: tuple, came: tuple) -> None:
        """A node has run backward.

        Args:
            op: its op.
            sent: what it sends, by input.
            came: what came in.
        """
        op.given = [None if g is None else values.host(g).copy() for g in came]
        op.sent = [(i, values.host(g).copy()) for i, g in enumerate(sent) if g is not None]
        op.order, self._count = self._count, self._count + 1

    def received(self, leaf: Any, came: tuple) -> None:
        """A leaf has received a gradient.

        Args:
            leaf: its tensor.
            came: the gradient.
        """
        if came[0] is not None:
            self._leaves = [(t, g) for t, g in self._leaves if t is not leaf]
            self._leaves.append((leaf, values.host(came[0]).copy()))


def name_of(func: Any, schema: private.Schema, ins: list) -> str:
    """What an op of the dispatcher is called, as our rows are.

    Args:
        func: the op.
        schema: what it says of itself.
        ins: its inputs.
    """
    full = private.name_of_op(func)
    if full in OURS:
        return OURS[full]
    name = schema.name
    if name == "convolution" and len(ins) > 2:
        return "convolution_with_bias"
    short = name.removeprefix("_").removesuffix("_forward")
    ends = ("_dims", "_dim") if "dim" in full.partition(".")[2] else ("_all", "_dims")
    known = name, short, name.removesuffix("_"), *[short + end for end in ends], CALLED.get(short, short)
    return next((one for one in known if one in TABLE), known[-1])


class _Passed:
    """A hook behind a node."""

    def __init__(self, record: TorchRecord, op: Op) -> None:
        self.record, self.op = record, op

    def __call__(self, sent: tuple, came: tuple) -> None:
        with torch.no_grad(), private.without_modes(), private.without_dispatch_modes():
            self.record.passed(self.op, sent, came)


class _Received:
    """A hook before a leaf."""

    def __init__(self, record: TorchRecord, leaf: Any) -> None:
        self.record, self.leaf = record, leaf

    def __call__(self, came: tuple) -> None:
        with torch.no_grad(), private.without_modes(), private.without_dispatch_modes():
            self.record.received(self.leaf, came)


class _Again:
    """Runs an op again on other inputs; its tensors are not kept, only where they stood.

    Args:
        func: the op.
        schema: what it says of itself.
        args: what it was given.
        kwargs: the same, by name.
    """

    def __init__(self, func: Any, schema: private.Schema, args: tuple, kwargs: dict) -> None:
        self.func, self.fits = func, True
        self.args, self.kwargs = tuple(map(self._bare, args)), {k: self._bare(v) for k, v in kwargs.items()}
        self.at = [
            i for i, wanted in enumerate(schema.inputs) if wanted and i < len(args) and args[i] is not None
        ]
        self.fits = all(not isinstance(self.args[i], (list, tuple)) for i in self.at) and not any(
            isinstance(v, torch.Tensor) for v in kwargs.values()
        )
        self.kinds = [
            (args[i].dtype, args[i].device, args[i].requires_grad)
            if isinstance(args[i], torch.Tensor)
            else None
            for i in self.at
        ]

    @staticmethod
    def _bare(value: Any) -> Any:
        return None if isinstance(value, torch.Tensor) else value

    def _filled(self, ins: list, grad: bool = False) -> list:
        """The arguments with these inputs."""
        args = list(self.args)
        for i, value, kind in zip(self.at, ins, self.kinds, strict=True):
            if kind is None:
                args[i] = value
                continue
            args[i] = torch.as_tensor(np.array(value)).to(dtype=kind[0], device=kind[1])
            args[i].requires_grad_(grad and kind[2])
        return args

    def backward(self, ins: list, given: list) -> dict[int, np.ndarray] | None:
        """What it sends back, by input, from these inputs and gradients; None where that cannot be said."""
        if not self.fits or len(ins) != len(self.at) or private.in_backward():
            return None
        with private.without_modes(), torch.enable_grad():
            out = self.func(*self._filled(ins, True), **self.kwargs)
            outs = out if isinstance(out, (tuple, list)) else [out]
            node = next((t.grad_fn for t in outs if t.grad_fn is not None), None)
        came = [None if g is None else np.array(g) for g in given]
        sent = None if node is None else private.call_node(node, came)
        if sent is None:
            return None
        return {i: values.host(g).copy() for i, g in enumerate(sent) if g is not None}

    def __call__(self, ins: list) -> list[np.ndarray] | None:
        """What it computes from these inputs; None where that cannot be said."""
        if not self.fits or len(ins) != len(self.at):
            return None
        with torch.no_grad(), private.without_modes():
            out = self.func(*self._filled(ins), **self.kwargs)
        return [values.host(t).copy() for t in (out if isinstance(out, (tuple, list)) else [out])]


class _Recorded(private.DispatchMode):
    """Sees each op of the dispatcher.

    Args:
        record: what records it.
    """

    def __init__(self, record: TorchRecord) -> None:
        super().__init__()
        self.record = record

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        schema = _schemas.get(func)
        if schema is None:
            schema = _schemas[func] = private.Schema(func)
        if not self.record.wanted(schema):
            return func(*args, **kwargs)
        ins = self.record.taken(schema, args, kwargs)
        out = func(*args, **kwargs)
        self.record.ran(func, schema, args, kwargs, ins, out)
        return out


_schemas: dict[Any, private.Schema] = {}
