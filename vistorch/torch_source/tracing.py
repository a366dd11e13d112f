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
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
from . import notes, passes, private, rows, threads, values
from .forward import Forward
from .graph import capture
from .nodes import NODES
from .real import chip, ready, torch

WHOLE = frozenset((torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))
UNSEEN = (
    "A backward pass ran in a thread that was there before: what runs in it is not seen, only threads that begin "
    "inside of what is traced are"
)
CLOSED = 1 << 30  # a mode of a trace that is over
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


class _Here:
    """What is known of one thread: its newest op and module, the pass that it runs, the node that runs in it.

    Args:
        number: of the next node that the thread makes.
        elsewhere: it is not the thread that the trace began in.
    """

    def __init__(self, number: int, elsewhere: bool) -> None:
        self.begun = self.number = number
        self.elsewhere = elsewhere
        self.made: tuple[Row, list] | None = None  # elsewhere: the newest op, and what it gave
        self.call: Any = None  # the call of a module that runs, and (the outermost module, the module)
        self.inside: Any = None
        self.node: Any = None  # the node that runs, its row, and what its first op was given
        self.row: Row | None = None
        self.given: list = []
        self.held: dict[Any, _Pending] = {}
        self.hooked: dict[Any, list[tuple[_Pending, int, int]]] = {}
        self.hooks: list[Any] = []  # at nodes of the pass that runs
        self.came: dict[Any, list] = {}
        self.outputs: tuple = ()  # of the pass that runs
        self.starting = False  # a pass was asked for: torch makes the gradient of its loss

    def over(self) -> None:
        """The pass is over: nothing of it is kept."""
        for hook in self.hooks:
            hook.remove()
        self.hooks = []
        self.held, self.hooked, self.came = {}, {}, {}
        self.node, self.row, self.given = None, None, []


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
        self.lock = threading.RLock()  # one op of all threads at a time
        self._modes: list[_Seen] = []  # of each thread that was seen, first that of this one
        self._thread = threading.local()
        self._several = False  # other threads make nodes, too
        self._unseen = False  # a pass ran in a thread that was there before
        self._handles: list[Any] = []  # of optimizers
        self._ends: list[Callable[[], None]] = []
        # rows by the number of the node that they made in this thread; nodes of others have a mark
        self._by_number: dict[int, Row] = {}
        self._mark = object()
        self._bad: dict[int, bool] = {}  # memory that holds something bad: whether it was put there
        self._looked: set[int] = set()
        self._stepped: dict[int, Any] = {}  # what an optimizer changes, by id

    # ---- begin and end -----------------------------------------------------------------------------------------
    def __enter__(self) -> TorchTrace:
        """Start to record."""
        self._began = time.perf_counter()
        self._modules.start()
        self._handles = private.on_optimizer_step(self._step, self._stepped_now)
        mode = self._mode_of_thread()
        self._ends = [passes.listen(self._backward), threads.follow(self._elsewhere)]
        mode.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        """Stop; an exception goes on its way, and what ran before it is in the record."""
        self.seconds += time.perf_counter() - self._began
        self._modes[0].__exit__(None, None, None)
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._modules.stop()
        for end in self._ends:
            end()
        self._ends = []
        with self.lock:
            for mode in self._modes:
                self._settle(mode.here)
                mode.close()
        self._modes = []
        self.failed(exc[1] if exc else None)

    def failed(self, error: BaseException | None) -> None:
        """Note the exception that ended what was recorded."""
        if error is not None:
            self.error = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.ended = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]

    def record(self) -> TraceRecord:
        """What was found, as a record."""
        from ..debug.trace.build import build

        made = build(self)
        if self._unseen:
            made.says.append(UNSEEN)
        return made

    def called(self, tensor: Any) -> str:
        """What a leaf is called."""
        name = self.names(tensor) if self.names is not None else None
        return name or f"a leaf of shape {shape(private.shape_of(tensor))}"

    # ---- threads -----------------------------------------------------------------------------------------------
    def _mode_of_thread(self) -> _Seen:
        """A mode for this thread."""
        with self.lock:
            self._several = bool(self._modes)
            mode = _Seen(self, _Here(private.next_sequence(), self._several))
            self._modes.append(mode)
        self._thread.mode = mode
        return mode

    @contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """A thread that begins is followed until it, or the trace, is over."""
        mode = self._mode_of_thread()
        with mode:
            try:
                yield
            finally:
                with self.lock:
                    self._settle(mode.here)
                    mode.close()
                    if mode in self._modes:
                        self._modes.remove(mode)
                    self._thread.mode = None

    def _settle(self, here: _Here) -> None:
        """The nodes of another thread's newest op exist now: they get a mark, as numbers are those of a thread."""
        if here.made is None:
            return
        row, outs = here.made
        waiting = [t.grad_fn for t in outs if t.grad_fn is not None]
        if waiting:
            here.made = None
        while waiting:
            n = waiting.pop()
            if hasattr(n, "variable") or private.sequence(n) < here.begun or self._mark in n.metadata:
                continue
            n.metadata[self._mark] = row
            waiting += [below for below, _ in n.next_functions if below is not None]

    # ---- the loop ----------------------------------------------------------------------------------------------
    def _step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        mode = getattr(self._thread, "mode", None)
        if mode is not None:
            mode.muted += 1

    def _stepped_now(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        mode = getattr(self._thread, "mode", None)
        if mode is not None:
            mode.muted = max(0, mode.muted - 1)
        for group in optimizer.param_groups:
            self._stepped.update((id(p), p) for p in group["params"])

    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        mode = getattr(self._thread, "mode", None)
        if mode is None:
            self._unseen = True
            return False
        with self.lock:
            for one in self._modes:
                self._settle(one.here)
            self._pass_begins(mode.here, (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors))
        return False

    def _pass_begins(self, here: _Here, given: tuple) -> None:
        here.over()
        here.outputs, here.starting = given, True
        if self._course is not None and len(given) == 1:
            size = values.number(given[0])
            if size is not None:
                self._course.add(notes.where(), size)

    def _stop_course(self) -> None:
        """Something is bad: what the losses did before is what counts."""
        if self._course is not None:
            self.growth, self._course = self._course.growth(), None

    # ---- an op -------------------------------------------------------------------------------------------------
    def before(self, op: _Op, args: tuple, kwargs: dict) -> bool:
        """Before a write: whether its target holds something bad that it will read.

        Args:
            op: what is known of the op.
            args: what it is given.
            kwargs: the same, by name.
        """
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

    def ran(self, here: _Here, op: _Op, args: tuple, kwargs: dict, out: Any, target_bad: bool) -> None:
        """An op has run.

        Args:
            here: its thread.
            op: what is known of it.
            args: what it was given.
            kwargs: the same, by name.
            out: what it gave.
            target_bad: what `before` said.
        """
        node = private.CURRENT_NODE()
        if node is not None and not torch.is_grad_enabled():
            self._ran_in(here, node, op, args, kwargs, out)
            return
        if node is None and private.in_backward():
            return  # gradients that meet were added, outside of all nodes
        if here.node is not None:
            here.over()
        if here.starting:
            here.starting = False
            if op.schema.name == "ones_like":
                return
        number = private.NEXT_SEQUENCE()
        call = self._modules.call
        if call is not here.call:
            here.call = call
            here.inside = None if call is None else (call.around()[0].module(), call.module())
        row = Row(len(self.rows), op.rule, op.rule.name, notes.where(), here.inside)
        self.rows.append(row)
        if here.elsewhere:
            self._settle(here)
            here.made = row, _tensors(out)
        elif number > here.number:
            for made in range(here.number, number):
                self._by_number[made] = row
        here.number = number
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
    def _ran_in(self, here: _Here, node: Any, op: _Op, args: tuple, kwargs: dict, out: Any) -> None:
        """An op has run inside of a node."""
        if node is not here.node:
            here.node, here.row, here.given = node, self._row_of(node), []
        here.given.append((args, out))
        if op.schema.views or op.unwritten or here.row is None:
            return
        if isinstance(out, torch.Tensor):
            bad = is_bad(out, self.bound)
        else:
            bad = any(is_bad(t, self.bound) for t in _tensors(out))
        if bad and node not in here.held:
            self._suspect(here, node, here.row)

    def _row_of(self, node: Any) -> Row | None:
        """The row of a node whose backward begins; None for a leaf."""
        row = self._known(node)
        if row is None:
            if NODES.is_leaf(node):
                return None
            name = NODES.name(node).removesuffix("0").removesuffix("Backward")
            row = Row(len(self.rows), None, name.lower(), notes.place_of(node), None)
            row.state = ""
            self.rows.append(row)
            if self._several:
                node.metadata[self._mark] = row
            else:
                self._by_number[private.sequence(node)] = row
        if not row.back:
            row.back = "clean"
            self.back_order.append(row)
        return row

    def _known(self, node: Any) -> Row | None:
        """The row that made a node."""
        number = private.sequence(node)
        if self._several and number < private.FIRST_SEQUENCE_OF_LEAVES:
            marked = node.metadata.get(self._mark)
            return self._by_number.get(number) if marked is None else marked
        return self._by_number.get(number)

    def _suspect(self, here: _Here, node: Any, row: Row) -> None:
        """Something bad was made in a node, or has come to it: hooks at what comes next tell what it sends."""
        self._stop_course()
        came = here.came.get(node)
        bad_in = came is not None
        if came is None:
            came = self._incoming(here, node)
            bad_in = any(self._is_bad(t) for t in came)
        known = None
        if came and len(came) == 1 and came[0] is not None:
            known = Forward([node]).known(node, came[0])
        held = here.held[node] = _Pending(node, row, came, bad_in, known)
        if bad_in:
            row.back, row.back_bad = "healed", (0, 0, 0, 0, 0)  # until something bad is seen to leave it
        if self.graph is None and here.outputs:
            try:
                self.graph = capture(
                    list(here.outputs),
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
            waiting = here.hooked.get(target)
            if waiting is None:
                waiting = here.hooked[target] = []
                here.hooks.append(target.register_prehook(_Arrival(self, here, target)))
            waiting.append((held, edge, output))

    def _row_number(self, node: Any) -> int:
        """The row of a node, -1 where it has none."""
        row = self._known(node)
        return -1 if row is None else row.index

    def _incoming(self, here: _Here, node: Any) -> list:
        """The gradient that came into the node that runs: what its ops were given, but neither saved nor made there."""
        known = {s.memory for s in NODES.saved(node) if s.memory is not None}
        shape = NODES.shape(node)
        for args, out in here.given:
            for t in _tensors(args):
                if private.shape_of(t) == shape and private.memory_of(t) not in known:
                    return [t]
            known.update(private.memory_of(t) for t in _tensors(out))
        return []

    def arrived(self, here: _Here, target: Any, grads: tuple) -> None:
        """A node that follows a suspect begins.

        Args:
            here: the thread that asked for the pass.
            target: the node.
            grads: what comes in.
        """
        bad = [g is not None and self._is_bad(g) for g in grads]
        for held, edge, output in here.hooked.get(target, ()):
            if output < len(bad) and bad[output]:
                self._sent(held, edge, grads[output])
        if not any(bad):
            return
        if NODES.is_leaf(target):
            d = _host(grads[0])
            self.leaves[id(target.variable)] = (target.variable, d.copy(), True)
            return
        here.came[target] = list(grads)
        here.node, here.row = target, self._row_of(target)
        if here.row is not None:
            self._suspect(here, target, here.row)

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


class _Arrival:
    """A hook before a node: it changes nothing."""

    def __init__(self, trace: TorchTrace, here: _Here, node: Any) -> None:
        self.trace, self.here, self.node = trace, here, node

    def __call__(self, grads: tuple) -> None:
        with torch.no_grad(), private.without_modes(), private.without_dispatch_modes(), self.trace.lock:
            self.trace.arrived(self.here, self.node, grads)


class _Seen(private.DispatchMode):
    """Sees each op of the dispatcher in one thread.

    Args:
        trace: what is asked before an op that writes, and called after each.
        here: what is known of the thread.
    """

    def __init__(self, trace: TorchTrace, here: _Here) -> None:
        super().__init__()
        self.trace: Any = trace
        self.here, self.muted = here, 0

    def close(self) -> None:
        """See nothing more, also in a thread that goes on."""
        self.here.over()
        self.here = _Here(0, True)
        self.trace, self.muted = None, CLOSED

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.muted:
            return func(*args, **kwargs)
        op = _ops.get(func)
        if op is None:
            op = _ops[func] = _Op(func)
        if op.silent:
            return func(*args, **kwargs)
        trace = self.trace
        target_bad = False
        if op.schema.written:
            with trace.lock:
                target_bad = trace.before(op, args, kwargs)
        out = func(*args, **kwargs)
        with trace.lock:
            if self.trace is not None:
                trace.ran(self.here, op, args, kwargs, out, target_bad)
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
