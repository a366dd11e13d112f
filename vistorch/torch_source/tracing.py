"""Where the first bad value of a cell comes from that runs on torch: the rows of `debug.trace`, from one dispatch mode.

The mode sees each op of forward and of backward after it has run. While all is finite an op costs one sum; what went in
is looked at when something bad has come out. A node says nothing of what it sends, so where an op inside of one gives
something bad, hooks at the nodes that come next tell what arrives: what a node makes and puts right by itself is none
of its results. A forward op is found again in backward by the number of its node.

Invariant: no value, no gradient and no version of the program changes; where nothing is bad nothing is kept but names
and shapes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from traceback import extract_tb
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..debug.graph.record import GraphRecord
from ..debug.numbers import plain
from ..debug.source import named
from ..debug.steps.words import shape
from ..debug.trace.bad_value import counts
from ..debug.trace.course import Course, Growth
from ..debug.trace.facts import backward_facts, forward_facts
from ..debug.trace.reads import PASS_ON
from ..debug.trace.record import TraceRecord
from ..debug.trace.row import Row
from ..debug.trace.trace import ORIGINS
from . import notes, passes, private, rows, values
from .forward import Forward
from .graph import capture
from .nodes import NODES
from .real import chip, ready, torch

WHOLE = frozenset((torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))
RECENT = 100_000  # memories that are known to have been looked at
# What gives memory that may hold anything until it is written.
UNWRITTEN = ("empty", "new_empty", "resize", "set_")
# Writes whose target may hold anything before: none of it, or only what is not written, is in what they give.
OVERWRITES = frozenset(
    (
        "bernoulli_",
        "cauchy_",
        "copy_",
        "exponential_",
        "fill_",
        "geometric_",
        "log_normal_",
        "normal_",
        "random_",
        "uniform_",
        "zero_",
    )
)
KEEPS = frozenset(
    (
        "index_copy_",
        "index_fill_",
        "index_put_",
        "_index_put_impl_",
        "masked_fill_",
        "masked_scatter_",
        "put_",
        "scatter_",
    )
)
# What computes nothing, or nothing that is looked at.
SILENT = frozenset(("_local_scalar_dense", "detach", "equal", "is_same_size", "lift_fresh", "record_stream"))
# What may give something good where something bad went in, so that its inputs are always looked at.
HIDES = frozenset(("where", "nan_to_num", "nan_to_num_", "masked_fill", "masked_fill_", "nansum"))
# Ops of torch under the names that a person knows.
CALLED = {
    "linalg_vector_norm": "norm",
    "native_layer_norm": "layer_norm",
    "native_batch_norm": "batch_norm",
    "native_group_norm": "group_norm",
    "native_dropout": "dropout",
    "max_pool2d_with_indices": "max_pool2d",
    "convolution_overrideable": "convolution",
}


class _Op:
    """What is known of one op of the dispatcher."""

    __slots__ = ("always", "keeps", "passes_on", "rule", "schema", "silent", "unwritten")

    def __init__(self, op: Any) -> None:
        self.schema = schema = private.Schema(op)
        name = schema.name
        self.silent = name in SILENT or name.startswith("record_function")
        self.unwritten = name.startswith(UNWRITTEN)
        self.always, self.keeps = name in HIDES, name in KEEPS
        short = name.removeprefix("_").removesuffix("_forward")
        short = CALLED.get(short, short)
        self.passes_on = short.removesuffix("_") in PASS_ON
        inputs = tuple(
            [
                rows.own_name(n)
                for n, wanted in zip(schema.names, schema.inputs, strict=True)
                if wanted and n != "out"
            ]
        )
        self.rule = SimpleNamespace(name=short, inputs=inputs, consts=())


class _Pending:
    """A node that has made something bad: what came in, and what its formulas may name."""

    def __init__(self, node: Any, row: Row, came: list, bad_in: bool, known: Any) -> None:
        self.node, self.row, self.came, self.bad_in, self.known = node, row, came, bad_in, known
        self.inputs, self.worst = rows.inputs_of(node), (0, 0)


class TorchTrace:
    """Records what runs on torch and finds where the first bad value came from; as `debug.trace.Trace`.

    Args:
        bound: also an absolute value above this is bad.
        names: what leaves are called: a function of a tensor.
        namespace: variables by name, for the names on the graph.
    """

    def __init__(
        self,
        *,
        bound: float | None = None,
        names: Callable[[Any], str | None] | None = None,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        ready()
        self.bound, self.names, self.namespace, self.library = bound, names, namespace, chip()
        self.rows: list[Row] = []
        self.back_order: list[Row] = []
        self.leaves: dict[Any, tuple] = {}
        self.graph: GraphRecord | None = None
        self.growth: Growth | None = None
        self.seconds, self.origins = 0.0, 0
        self.error: str | None = None
        self.ended: list[tuple[str, int | None]] = []
        self._course: Course | None = Course()
        self._modules = notes.Modules()
        self._call: Any = None  # the call of a module that runs, and (the outermost module, the module)
        self._inside: Any = None
        self._mode = _Seen(self._ran, self._before)
        self._handles: list[Any] = []  # of optimizers
        self._hooks: list[Any] = []  # at nodes of the pass that runs
        self._end: Callable[[], None] | None = None
        self._by_number: dict[int, Row] = {}  # rows by the number of the node that they made
        self._number = 0
        self._node: Any = None  # the node that runs, its row, and what its first op was given
        self._row: Row | None = None
        self._given: list = []
        self._held: dict[Any, _Pending] = {}
        self._hooked: dict[Any, list[tuple[_Pending, int, int]]] = {}
        self._came: dict[Any, list] = {}
        self._outputs: tuple = ()  # of the pass that runs
        self._bad: dict[int, bool] = {}  # memory that holds something bad: whether it was put there
        self._looked: set[int] = set()
        self._stepped: dict[int, Any] = {}  # what an optimizer changes, by id
        self._starting = False  # a pass was asked for: torch makes the gradient of its loss

    # ---- begin and end -----------------------------------------------------------------------------------------
    def __enter__(self) -> TorchTrace:
        """Start to record."""
        self._began = time.perf_counter()
        self._number = private.next_sequence()
        self._modules.start()
        self._end = passes.listen(self._backward)
        self._handles = private.on_optimizer_step(self._step, self._stepped_now)
        self._mode.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        """Stop; an exception goes on its way, and what ran before it is in the record."""
        self.seconds += time.perf_counter() - self._began
        self._mode.__exit__(None, None, None)
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._modules.stop()
        if self._end is not None:
            self._end()
            self._end = None
        self._over()
        self._outputs = ()
        self.failed(exc[1] if exc else None)

    def failed(self, error: BaseException | None) -> None:
        """Note the exception that ended what was recorded."""
        if error is not None:
            self.error = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.ended = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]

    def record(self) -> TraceRecord:
        """What was found, as a record."""
        from ..debug.trace.build import build

        return build(self)

    def called(self, tensor: Any) -> str:
        """What a leaf is called."""
        name = self.names(tensor) if self.names is not None else None
        return name or f"a leaf of shape {shape(tuple(tensor.shape))}"

    # ---- the loop ----------------------------------------------------------------------------------------------
    def _step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._mode.muted += 1

    def _stepped_now(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._mode.muted = max(0, self._mode.muted - 1)
        for group in optimizer.param_groups:
            self._stepped.update((id(p), p) for p in group["params"])

    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        self._over()
        given = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        self._outputs, self._starting = given, True
        if self._course is not None and len(given) == 1:
            size = values.number(given[0])
            if size is not None:
                self._course.add(notes.where(), size)
        return False

    def _stop_course(self) -> None:
        """Something is bad: what the losses did before is what counts."""
        if self._course is not None:
            self.growth, self._course = self._course.growth(), None

    # ---- an op -------------------------------------------------------------------------------------------------
    def _before(self, op: _Op, args: tuple, kwargs: dict) -> bool:
        """Before a write: whether its target holds something bad that it will read."""
        if op.schema.name in OVERWRITES or op.unwritten:
            return False
        for i, name in op.schema.written:
            t = args[i] if i < len(args) else kwargs.get(name)
            if not isinstance(t, torch.Tensor) or name.startswith("out"):
                continue
            known = self._bad and private.key_of_memory(t) in self._bad
            if known or (private.key_of(t) not in self._looked and not op.keeps):
                if self._is_bad(t):
                    return True
        return False

    def _ran(self, op: _Op, args: tuple, kwargs: dict, out: Any, target_bad: bool) -> None:
        node = private.CURRENT_NODE()
        if node is not None and not torch.is_grad_enabled():
            self._ran_in(node, op, args, kwargs, out)
            return
        if node is None and private.in_backward():
            self._summed(args, out)
            return
        if self._node is not None:
            self._over()
        if self._starting:
            self._starting = False
            if op.schema.name == "ones_like":
                return
        number = private.NEXT_SEQUENCE()
        call = self._modules.call
        if call is not self._call:
            self._call = call
            self._inside = None if call is None else (call.around()[0].module(), call.module())
        row = Row(len(self.rows), op.rule, op.rule.name, notes.where(), self._inside)
        self.rows.append(row)
        if number > self._number:
            for made in range(self._number, number):
                self._by_number[made] = row
        self._number = number
        if op.schema.views and not self._bad:
            return
        bad_out = False
        if not op.unwritten:
            if isinstance(out, torch.Tensor):
                bad_out = self._looked_at(out, row)
            else:
                bad_out = True in [self._looked_at(t, row) for t in _tensors(out)]  # all of them
        if not (bad_out or self._bad or target_bad or op.always):
            return
        outs = _tensors(out)
        row.shapes = [t.shape for t in outs]
        ins = _inputs(op, args, kwargs)
        bad_in = target_bad or any(isinstance(t, torch.Tensor) and self._was_bad(t, outs) for t in ins)
        if op.keeps and bad_out and not bad_in and not _given(ins[1:]):
            return  # the rest of its target holds anything: it was written in part
        if bad_in or bad_out:
            self._forward_bad(row, ins, (*_flat(args), *kwargs.values()), outs, bad_in, bad_out)

    def _looked_at(self, t: Any, row: Row) -> bool:
        """Whether a result is bad; its memory is known from now on."""
        looked = self._looked
        looked.add(private.key_of(t))
        if len(looked) > RECENT:
            looked.clear()
        if not t.dim():
            row.made = made = _number(t)
            bad = made is not None and not np.isfinite(made)
            if not bad and self.bound is not None:
                bad = self._is_bad(t)
        else:
            bad = is_bad(t, self.bound)
        if bad:
            return True
        if self._bad:
            self._bad.pop(private.key_of_memory(t), None)
        return False

    def _was_bad(self, t: Any, outs: list) -> bool:
        """Whether an input is bad; one that was written was looked at before."""
        return all(t is not o for o in outs) and self._is_bad(t)

    def _is_bad(self, t: Any) -> bool:
        return is_bad(t, self.bound)

    def _forward_bad(self, row: Row, ins: list, args: tuple, outs: list, bad_in: bool, bad_out: bool) -> None:
        """Distinguish a new bad value from one that was put there."""
        self._stop_course()
        found = [_host(t) for t in outs]
        counted = [counts(d, self.bound) for d in found]
        nan, plus, minus, beyond = (sum(c[i] for c in counted) for i in range(4))
        row.bad = (nan, plus, minus, beyond, sum(d.size for d in found))
        given = _given(args)
        wrong = [t for t in ins if isinstance(t, torch.Tensor) and self._is_bad(t)]
        placed = bool(given or wrong) and all(self._is_placed(t) for t in wrong)
        nan_came = any(np.isnan(plain(_host(t))).any() for t in wrong if all(t is not o for o in outs))
        row.came = "placed" if placed else "nan" if nan_came else "inf"
        if not bad_out:
            row.state = "healed"
            return
        row.state = "propagated" if bad_in or given else "origin"
        if placed and nan and not nan_came:
            row.state, placed = "origin", False
        for t in outs:
            self._bad[private.key_of_memory(t)] = placed
        if row.state == "origin" or self.origins == 0:
            if row.state == "origin":
                self.origins += 1
            if self.origins <= ORIGINS:
                read = [t for t in ins if all(t is not o for o in outs)]
                row.facts = forward_facts(
                    row, [_host(t) if isinstance(t, torch.Tensor) else t for t in read], found, self.bound
                )

    def _is_placed(self, t: Any) -> bool:
        """Whether what is bad in a tensor was put there: infinities that no op made, or made from such."""
        known = self._bad.get(private.key_of_memory(t))
        if known is not None:
            return known
        if id(t) in self._stepped:
            return False
        return not np.isnan(plain(_host(t))).any()

    # ---- backward ----------------------------------------------------------------------------------------------
    def _ran_in(self, node: Any, op: _Op, args: tuple, kwargs: dict, out: Any) -> None:
        """An op has run inside of a node."""
        if node is not self._node:
            self._node, self._row, self._given = node, self._row_of(node), []
        self._given.append((args, out))
        if op.schema.views or op.unwritten or self._row is None:
            return
        if isinstance(out, torch.Tensor):
            bad = is_bad(out, self.bound)
        else:
            bad = any(is_bad(t, self.bound) for t in _tensors(out))
        if bad and node not in self._held:
            self._suspect(node, self._row)

    def _row_of(self, node: Any) -> Row | None:
        """The row of a node whose backward begins; None for a leaf."""
        row = self._by_number.get(private.sequence(node))
        if row is None:
            if NODES.is_leaf(node):
                return None
            name = NODES.name(node).removesuffix("0").removesuffix("Backward")
            row = Row(len(self.rows), None, name.lower(), notes.place_of(node), None)
            row.state = ""
            self.rows.append(row)
            self._by_number[private.sequence(node)] = row
        if not row.back:
            row.back = "clean"
            self.back_order.append(row)
        return row

    def _summed(self, args: tuple, out: Any) -> None:
        """Gradients that meet were added, outside of all nodes."""

    def _suspect(self, node: Any, row: Row) -> None:
        """Something bad was made in a node, or has come to it: hooks at what comes next tell what it sends."""
        self._stop_course()
        came = self._came.get(node)
        bad_in = came is not None
        if came is None:
            came = self._incoming(node)
            bad_in = any(self._is_bad(t) for t in came)
        known = None
        if came and len(came) == 1 and came[0] is not None:
            known = Forward([node]).known(node, came[0])
        held = self._held[node] = _Pending(node, row, came, bad_in, known)
        if bad_in:
            row.back, row.back_bad = "healed", (0, 0, 0, 0, 0)  # until something bad is seen to leave it
        if self.graph is None and self._outputs:
            try:
                self.graph = capture(
                    list(self._outputs),
                    namespace=self.namespace,
                    source=named("torch"),
                    title="backward()",
                    rows_of=self._row_number,
                )
            except (ValueError, RuntimeError, TypeError):
                pass
        for edge, (target, output) in enumerate(node.next_functions):
            if target is None:
                continue
            waiting = self._hooked.get(target)
            if waiting is None:
                waiting = self._hooked[target] = []
                self._hooks.append(target.register_prehook(_Arrival(self, target)))
            waiting.append((held, edge, output))

    def _row_number(self, node: Any) -> int:
        """The row of a node, -1 where it has none."""
        row = self._by_number.get(private.sequence(node))
        return -1 if row is None else row.index

    def _incoming(self, node: Any) -> list:
        """The gradient that came into the node that runs: what its ops were given, but neither saved nor made there."""
        known = {s.memory for s in NODES.saved(node) if s.memory is not None}
        shape = NODES.shape(node)
        for args, out in self._given:
            for t in _tensors(args):
                if tuple(t.shape) == shape and private.memory_of(t) not in known:
                    return [t]
            known.update(private.memory_of(t) for t in _tensors(out))
        return []

    def arrived(self, target: Any, grads: tuple) -> None:
        """A node that follows a suspect begins.

        Args:
            target: the node.
            grads: what comes in.
        """
        bad = [g is not None and self._is_bad(g) for g in grads]
        for held, edge, output in self._hooked.get(target, ()):
            if output < len(bad) and bad[output]:
                self._sent(held, edge, grads[output])
        if not any(bad):
            return
        if NODES.is_leaf(target):
            d = _host(grads[0])
            self.leaves[id(target.variable)] = (target.variable, d.copy(), True)
            return
        self._came[target] = list(grads)
        self._node, self._row = target, self._row_of(target)
        if self._row is not None:
            self._suspect(target, self._row)

    def _sent(self, held: _Pending, edge: int, g: Any) -> None:
        """A node has sent something bad along an edge."""
        row, d = held.row, _host(g)
        counted = counts(d, self.bound)
        size = (sum(counted), -edge)
        if size <= held.worst:  # what is worst is shown, as where several inputs got something bad
            return
        held.worst = size
        row.back_bad = (*counted, d.size)
        known = row.back == "origin"
        row.back = "propagated" if held.bad_in else "origin"
        if row.back == "origin" and row.state == "propagated" and row.came != "placed":
            if row.came == "nan" or not counted[0]:  # it is what came in forward; a NaN of an infinity is new
                row.back = "propagated"
        if row.back != "origin":
            return
        self.origins += not known
        if self.origins <= ORIGINS:
            row.back_facts = backward_facts(
                row,
                held.inputs,
                len(held.node.next_functions),
                [g for g in held.came if g is not None],
                held.known,
                edge,
                d,
                self.bound,
            )

    def _over(self) -> None:
        """The pass is over: nothing of it is kept."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._held, self._hooked, self._came = {}, {}, {}
        self._node, self._row, self._given = None, None, []


class _Arrival:
    """A hook before a node: it changes nothing."""

    def __init__(self, trace: TorchTrace, node: Any) -> None:
        self.trace, self.node = trace, node

    def __call__(self, grads: tuple) -> None:
        with torch.no_grad(), private.without_modes(), private.without_dispatch_modes():
            self.trace.arrived(self.node, grads)


class _Seen(private.DispatchMode):
    """Sees each op of the dispatcher.

    Args:
        ran: called with the op, its arguments, its result, and what `before` said.
        before: called before an op that writes.
    """

    def __init__(self, ran: Callable, before: Callable) -> None:
        super().__init__()
        self.ran, self.before, self.muted = ran, before, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.muted:
            return func(*args, **kwargs)
        op = _ops.get(func)
        if op is None:
            op = _ops[func] = _Op(func)
        if op.silent:
            return func(*args, **kwargs)
        target_bad = self.before(op, args, kwargs) if op.schema.written else False
        out = func(*args, **kwargs)
        self.ran(op, args, kwargs, out, target_bad)
        return out


_ops: dict[Any, _Op] = {}


def is_bad(t: Any, bound: float | None = None) -> bool:
    """Whether a tensor holds something that is not finite, or larger than a bound.

    Args:
        t: the tensor; one that has no values, or none that could be bad, is good.
        bound: the bound.
    """
    if t.dtype in WHOLE:
        return False
    try:
        size = (t.detach() if t.requires_grad else t).sum().item()
    except (RuntimeError, NotImplementedError):  # it has no values: meta, fake, nested, inside of a transform
        return False
    if size - size != 0 and not _all_finite(t):
        return True
    return bound is not None and bool((t.abs() > bound).any())


def _number(t: Any) -> Any:
    """A result that is one number; None where it has no value."""
    try:
        return np.asarray(t.item())
    except (RuntimeError, NotImplementedError):
        return None


def _all_finite(t: Any) -> bool:
    try:
        return bool((t if t.layout is torch.strided else t.to_dense()).isfinite().all())
    except (RuntimeError, NotImplementedError):
        return True


def _host(t: Any) -> np.ndarray:
    return values.host(t)


def _tensors(out: Any) -> list:
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, (tuple, list)):
        return [t for t in _flat(out) if isinstance(t, torch.Tensor)]
    return []


def _flat(some: Any) -> list:
    found: list = []
    for one in some:
        if isinstance(one, (tuple, list)):
            found += one
        else:
            found.append(one)
    return found


def _inputs(op: _Op, args: tuple, kwargs: dict) -> list:
    """What goes into an op: tensors, and numbers that take part like one."""
    found: list = []
    for i, (name, wanted) in enumerate(zip(op.schema.names, op.schema.inputs, strict=True)):
        if not wanted or name == "out":
            continue
        value = args[i] if i < len(args) else kwargs.get(name)
        if value is None:
            continue
        found += value if isinstance(value, (tuple, list)) else [value]
    return found


def _given(ins: Any) -> bool:
    """Whether a number among the inputs of an op is not finite."""
    return any(isinstance(v, float) and not math.isfinite(v) for v in ins)
