"""What every op of a run on torch computed, forward and backward, as a `debug.compare.Recording`.

A dispatch mode sees ops as the dispatcher has them, which is as fine as the engine's own ops; they are called as our
rows are, so that a run on torch can be compared with one on vistorch op by op. What a node is given and sends is taken
by a hook at it.

Invariant: a recording holds copies; hooks stay at nodes of the run alone, and go with them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..debug.compare.recording import Op, Recording
from ..debug.line_lookup import line_of
from ..debug.numbers import plain
from ..debug.trace.row import Row
from ..engine.core.rules import TABLE
from . import notes, passes, private, threads, values
from .real import ready, torch
from .tracing import CALLED, SILENT, UNWRITTEN

# Ops of torch under the names of our rows, where they are called otherwise.
OURS = {
    "max_pool2d_with_indices.default": "max_pool2d",
    "_unsafe_view.default": "view",
    "_reshape_alias.default": "view",
}
# The same for ops that take their inputs in another order: (our name, where each of our inputs stands in torch's).
REORDERED = {"mkldnn_rnn_layer.default": ("lstm_layer", (0, 5, 6, 1, 2, 3, 4))}
FUSED = "_scaled_dot_product_"  # attention by one kernel, whichever torch has chosen
PASSED = frozenset((*SILENT, "fill_", "zero_", "set_", "resize_"))


class _Here:
    """What is known of one thread.

    Args:
        number: of the thread: 0 of the one that the recording began in.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.last: tuple[Op, list] | None = None  # whose node is known when the next op runs
        self.muted = 0
        self.starting = False  # a pass was asked for: torch makes the gradient of its loss


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
        self._threads: list[int] = []  # of the ops, by number
        self._leaves: list[tuple[int, Any, np.ndarray]] = []  # (number of the thread, leaf, gradient)
        self._made: dict[int, tuple[Any, int, int]] = {}  # by tensor: (it, weakly, its op, which output)
        self._hooked: set[Any] = set()
        self._handles: list[Any] = []
        self._count = 0  # nodes that went backward
        self._modules = notes.Modules()
        self.lock = threading.RLock()  # one op of all threads at a time
        self._modes: list[_Recorded] = []  # of each thread that was seen, first that of this one
        self._begun = 0  # threads that began
        self._thread = threading.local()

    def __enter__(self) -> TorchRecord:
        """Start to record."""
        self._modules.start()
        self._steps = private.on_optimizer_step(self._step, self._stepped)
        mode = self._mode_of_thread(0)
        self._ends = [passes.listen(self._backward), threads.follow(self._elsewhere)]
        mode.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        """Stop."""
        self._modes[0].__exit__(None, None, None)
        for end in self._ends:
            end()
        self._ends = []
        with self.lock:
            for mode in self._modes:
                self._close(mode)
            self._modes = []
        for handle in (*self._steps, *self._handles):
            handle.remove()
        self._modules.stop()
        self._made.clear()
        self._hooked.clear()

    def _mode_of_thread(self, number: int) -> _Recorded:
        """A mode for this thread."""
        mode = _Recorded(self, _Here(number))
        with self.lock:
            self._modes.append(mode)
        self._thread.mode = mode
        return mode

    def _elsewhere(self) -> AbstractContextManager[None]:
        """What a thread that is started now enters: it has its number from the one that starts it."""
        with self.lock:
            self._begun += 1
            return self._followed(self._begun)

    @contextmanager
    def _followed(self, number: int) -> Iterator[None]:
        """A thread is followed until it, or the recording, is over."""
        mode = self._mode_of_thread(number)
        with mode:
            try:
                yield
            finally:
                with self.lock:
                    self._close(mode)
                    self._thread.mode = None

    def _close(self, mode: _Recorded) -> None:
        self._settle(mode.here)
        mode.here.last, mode.record = None, None

    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        mode = getattr(self._thread, "mode", None)
        with self.lock:
            for one in self._modes:
                self._settle(one.here, one is not mode)
        if mode is not None:
            mode.here.starting = True
        return False

    def _step(self, *details: Any) -> None:
        mode = getattr(self._thread, "mode", None)
        if mode is not None:
            mode.here.muted += 1

    def _stepped(self, *details: Any) -> None:
        mode = getattr(self._thread, "mode", None)
        if mode is not None:
            mode.here.muted = max(0, mode.here.muted - 1)

    @property
    def rows(self) -> list:
        """What was recorded so far."""
        return self._ops

    def recording(self) -> Recording:
        """What was recorded so far, as a recording: the ops of each thread together, in the order the threads began."""
        ops = []
        for op, row in self._in_order():
            op.module = row.module or ""
            op.called, op.layer, op.line = row.called, row.layer, str(line_of(row.place) or "")
            ops.append(op)
        leaves = {}
        for i, (_, t, g) in enumerate(sorted(self._leaves, key=itemgetter(0))):
            leaves[(self.names(t) if self.names is not None else None) or f"leaf {i}"] = g
        return Recording(self.title, ops, leaves, "torch")

    def _in_order(self) -> list[tuple[Op, Row]]:
        """What ran, thread by thread: in which order threads take turns is chance."""
        order = sorted(range(len(self._ops)), key=lambda i: self._threads[i])
        if order == list(range(len(order))):
            return self._ops
        now = {before: i for i, before in enumerate(order)}
        found = []
        for op, row in (self._ops[i] for i in order):
            ins = [("row", now[one[1]], *one[2:]) if one[0] == "row" else one for one in op.ins]
            found.append((replace(op, ins=ins), row))
        return found

    def wanted(self, here: _Here, schema: private.Schema) -> bool:
        """Whether an op is recorded here and now.

        Args:
            here: its thread.
            schema: the op.
        """
        if here.muted or schema.name in PASSED or schema.name.startswith(UNWRITTEN):
            return False
        starting, here.starting = here.starting, False
        if starting and schema.name == "ones_like":
            return False
        return private.CURRENT_NODE() is None and not private.in_backward() and any(schema.inputs)

    def taken(self, here: _Here, schema: private.Schema, args: tuple, kwargs: dict) -> list[tuple]:
        """The inputs of an op that is about to run.

        Args:
            here: its thread.
            schema: the op.
            args: what it is given.
            kwargs: the same, by name.
        """
        self._settle(here)
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

    def ran(
        self, here: _Here, func: Any, schema: private.Schema, args: tuple, kwargs: dict, ins: list, out: Any
    ) -> None:
        """An op has run.

        Args:
            here: its thread.
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
        if schema.name == "slice" and _is_whole(args[0], outs[0]):  # torch 2.6 writes one for `x[:, 0]`
            known = self._made.get(private.key_of(args[0]))
            if known is not None:
                self._made[private.key_of(outs[0])] = weakref.ref(outs[0]), *known[1:]
            return
        call = self._modules.call
        inside = None if call is None else (call.around()[0].module(), call.module())
        name, order = name_of(func, schema, ins)
        if order is not None:
            ins = [ins[i] for i in order]
        row = Row(len(self._ops), SimpleNamespace(name=name), name, notes.where(), inside)
        op = Op(name, "", "", [values.host(t).copy() for t in outs], ins, None)
        if not schema.written or schema.written == [(0, schema.names[0])]:
            op.again = _Again(func, schema, args, kwargs, order)
        for nr, t in enumerate(outs):
            self._made[private.key_of(t)] = weakref.ref(t), row.index, nr
        self._ops.append((op, row))
        self._threads.append(here.number)
        here.last = op, outs

    def _settle(self, here: _Here, others: bool = False) -> None:
        """The newest op of a thread has its node now; that of another thread may not have it yet."""
        if here.last is None:
            return
        op, outs = here.last
        node = next((t.grad_fn for t in outs if t.grad_fn is not None), None)
        if node is not None or not others:
            here.last = None
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
        order = range(len(sent)) if op.again is None or op.again.order is None else op.again.order
        op.sent = [(i, values.host(sent[k]).copy()) for i, k in enumerate(order) if sent[k] is not None]
        op.order, self._count = self._count, self._count + 1

    def received(self, leaf: Any, came: tuple) -> None:
        """A leaf has received a gradient.

        Args:
            leaf: its tensor.
            came: the gradient.
        """
        if came[0] is not None:
            self._leaves = [one for one in self._leaves if one[1] is not leaf]
            mode = getattr(self._thread, "mode", None)
            number = 0 if mode is None else mode.here.number
            self._leaves.append((number, leaf, values.host(came[0]).copy()))


def _is_whole(tensor: Any, part: Any) -> bool:
    return (tensor.shape, tensor.stride(), tensor.storage_offset()) == (
        part.shape,
        part.stride(),
        part.storage_offset(),
    )


def name_of(func: Any, schema: private.Schema, ins: list) -> tuple[str, tuple[int, ...] | None]:
    """What an op of the dispatcher is called, as our rows are, and in which order our row takes its inputs.

    Args:
        func: the op.
        schema: what it says of itself.
        ins: its inputs.
    """
    full = private.name_of_op(func)
    if full in OURS:
        return OURS[full], None
    if full in REORDERED and len(REORDERED[full][1]) == len(ins):
        return REORDERED[full]
    name = schema.name
    if name == "convolution" and len(ins) > 2:
        return "convolution_with_bias", None
    if name.startswith(FUSED) and "attention" in name:
        return "attention" if len(ins) == 3 else "masked_attention", None
    short = name.removeprefix("_").removesuffix("_forward")
    ends = ("_dims", "_dim") if "dim" in full.partition(".")[2] else ("_all", "_dims")
    known = name, short, name.removesuffix("_"), *[short + end for end in ends], CALLED.get(short, short)
    return next((one for one in known if one in TABLE), known[-1]), None


class _Passed:
    """A hook behind a node."""

    def __init__(self, record: TorchRecord, op: Op) -> None:
        self.record, self.op = record, op

    def __call__(self, sent: tuple, came: tuple) -> None:
        with torch.no_grad(), private.without_modes(), private.without_dispatch_modes(), self.record.lock:
            self.record.passed(self.op, sent, came)


class _Received:
    """A hook before a leaf."""

    def __init__(self, record: TorchRecord, leaf: Any) -> None:
        self.record, self.leaf = record, leaf

    def __call__(self, came: tuple) -> None:
        with torch.no_grad(), private.without_modes(), private.without_dispatch_modes(), self.record.lock:
            self.record.received(self.leaf, came)


class _Again:
    """Runs an op again on other inputs; its tensors are not kept, only where they stood.

    Args:
        func: the op.
        schema: what it says of itself.
        args: what it was given.
        kwargs: the same, by name.
        order: where each input of our row stands among its own; None where they stand alike.
    """

    def __init__(
        self,
        func: Any,
        schema: private.Schema,
        args: tuple,
        kwargs: dict,
        order: tuple[int, ...] | None = None,
    ) -> None:
        self.func, self.order, self.writes = func, order, bool(schema.written)
        self.args, self.kwargs = tuple(map(self._bare, args)), {k: self._bare(v) for k, v in kwargs.items()}
        self.at = [
            i for i, wanted in enumerate(schema.inputs) if wanted and i < len(args) and args[i] is not None
        ]
        if order is not None:
            self.at = [self.at[i] for i in order]
        self.fits = not any(isinstance(v, torch.Tensor) for v in kwargs.values())
        self.sizes = [len(args[i]) if isinstance(args[i], (list, tuple)) else None for i in self.at]
        each = [
            one for i in self.at for one in (args[i] if isinstance(args[i], (list, tuple)) else [args[i]])
        ]
        self.kinds = [
            (one.dtype, one.device, one.requires_grad) if isinstance(one, torch.Tensor) else None
            for one in each
        ]

    @staticmethod
    def _bare(value: Any) -> Any:
        several = isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value)
        return None if several or isinstance(value, torch.Tensor) else value

    def _filled(self, ins: list, grad: bool = False) -> list:
        """The arguments with these inputs."""
        made = []
        for value, kind in zip(ins, self.kinds, strict=True):
            if kind is not None:
                value = torch.as_tensor(np.array(plain(value))).to(dtype=kind[0], device=kind[1])
                value.requires_grad_(grad and kind[2])
            made.append(value)
        args, rest = list(self.args), iter(made)
        for i, size in zip(self.at, self.sizes, strict=True):
            args[i] = next(rest) if size is None else [next(rest) for _ in range(size)]
        return args

    def backward(self, ins: list, given: list) -> dict[int, np.ndarray] | None:
        """What it sends back, by input, from these inputs and gradients; None where that cannot be said."""
        if not self.fits or len(ins) != len(self.kinds) or private.in_backward():
            return None
        with private.without_modes(), torch.enable_grad():
            args = self._filled(ins, True)
            if self.writes:  # into what an op has made, as it was
                args[0] = args[0].clone()
            out = self.func(*args, **self.kwargs)
            outs = out if isinstance(out, (tuple, list)) else [out]
            node = next((t.grad_fn for t in outs if t.grad_fn is not None), None)
        came = [None if g is None else np.array(plain(g)) for g in given]
        sent = None if node is None else private.call_node(node, came)
        if sent is None:
            return None
        order = range(len(sent)) if self.order is None else self.order
        return {i: values.host(g).copy() for i, k in enumerate(order) if (g := sent[k]) is not None}

    def __call__(self, ins: list) -> list[np.ndarray] | None:
        """What it computes from these inputs; None where that cannot be said."""
        if not self.fits or len(ins) != len(self.kinds):
            return None
        with torch.no_grad(), private.without_modes():
            out = self.func(*self._filled(ins), **self.kwargs)
        outs = out if isinstance(out, (tuple, list)) else [out]  # None: what only backward would need
        return [np.zeros(0, np.float32) if t is None else values.host(t).copy() for t in outs]


class _Recorded(private.DispatchMode):
    """Sees each op of the dispatcher in one thread.

    Args:
        record: what records it.
        here: what is known of the thread.
    """

    def __init__(self, record: TorchRecord, here: _Here) -> None:
        super().__init__()
        self.record: TorchRecord | None = record  # None when it is over, in a thread that goes on
        self.here = here

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        schema = _schemas.get(func)
        if schema is None:
            schema = _schemas[func] = private.Schema(func)
        record, here = self.record, self.here
        if record is None or not record.wanted(here, schema):
            return func(*args, **kwargs)
        with record.lock:
            ins = record.taken(here, schema, args, kwargs)
        out = func(*args, **kwargs)
        with record.lock:
            if self.record is not None:
                record.ran(here, func, schema, args, kwargs, ins, out)
        return out


_schemas: dict[Any, private.Schema] = {}
