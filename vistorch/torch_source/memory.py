"""What the nodes of torch keep for a backward pass: of a graph that stands, and over time while a program runs.

While it runs, a function mode sees which nodes each call has made, a hook at each node of a pass when it has run, and a
mark in a node's own `metadata` when it is gone. Bytes are those of the memory that is kept alive, shared memory once.

Invariant: marks and hooks hold no node and no tensor, so what a program frees is freed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import ref

from ..debug.breaks.modules import path_of
from ..debug.graph.linked import MOST
from ..debug.layers import about, spoken
from ..debug.line_lookup import line_of
from ..debug.source import Source
from ..debug.timeline import Account, MemoryRecord, name_layers
from . import notes, passes, private, threads
from .graph import capture
from .nodes import NODES, made_by, memory_of, order_of
from .real import chip, ready, torch
from .refusals import roots_of


def kept(outputs: Any, source: Source, namespace: Mapping[str, Any] | None = None) -> MemoryRecord:
    """What the graph below tensors keeps, as if it were made now and then run backward.

    Args:
        outputs: a tensor with history, or several.
        source: the source of torch.
        namespace: variables by name, for the names on the graph.
    """
    roots = roots_of(outputs)
    order = order_of([found[0] for t in roots if (found := made_by(t)) is not None])
    nodes = [n for n in order if not NODES.is_leaf(n)]
    account, number = Account(), {n: i for i, n in enumerate(nodes)}
    account.owned = {memory_of(n.variable) for n in order if NODES.is_leaf(n)}
    for n in reversed(nodes):
        account.tick += 1
        found = notes.noted(n)
        _hold(account, number[n], n, notes.place_of(n), None if found is None else found[1])
    first = account.tick + 1
    graph = _drawn(roots, source, namespace, lambda n: account.row_of(number.get(n)))
    for n in nodes:
        account.tick += 1
        account.release(number[n])
    made = account.record("memory", [[first, account.tick]])
    made.graph, made.source = graph, chip()
    if graph is not None:
        name_layers(made.rows, graph)
    return made


class TorchTimeline:
    """Accounts for what the nodes of a run on torch keep; as `debug.timeline.Timeline`.

    Args:
        source: the source of torch.
        namespace: variables by name, for the names on the graph.
    """

    def __init__(self, source: Source, namespace: Mapping[str, Any] | None = None) -> None:
        ready()
        self.source, self.namespace = source, namespace
        self.account = Account()
        self._mark = object()  # where the marks of this run lie in a node's metadata
        self._alive: dict[int, Any] = {}  # by number of a node: its mark, weakly
        self._owners: dict[
            int, Any
        ] = {}  # by id of a leaf: it, weakly, as its memory may be another's when it is gone
        self._modules = notes.Modules()
        self.lock = threading.RLock()  # nodes come and go in all threads
        self._handles: list[Any] = []
        self._passes: list[list[int]] = []
        self.over = False
        self._graph: Any = None
        self._drawn_at = 0
        self._count = 0

    def __enter__(self) -> TorchTimeline:
        """Start to account."""
        self._modules.start()
        self._mode = _Calls(self)
        self._ends = [passes.listen(self._backward), threads.follow(lambda: _Calls(self))]
        self._mode.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        """Stop."""
        self._mode.__exit__(None, None, None)
        for end in self._ends:
            end()
        self._ends = []
        self.over = True
        self._modules.stop()
        self._over()
        self._alive.clear()
        self._owners.clear()

    def record(self) -> MemoryRecord:
        """What was seen so far."""
        made = self.account.record("memory", [list(p) for p in self._passes])
        made.graph, made.source = self._graph, chip()
        return made

    # ---- forward -----------------------------------------------------------------------------------------------
    def made(self, out: Any, begun: int) -> None:
        """A call has made nodes.

        Args:
            out: what it gave.
            begun: the number of the first node of its thread that counts.
        """
        place = notes.where()
        with self.lock:
            for t in out if isinstance(out, (tuple, list)) else (out,):
                if isinstance(t, torch.Tensor) and not private.is_wrapped(t) and t.grad_fn is not None:
                    self._account_for([t.grad_fn], place, begun)

    def _account_for(self, waiting: list, place: Any, begun: int) -> None:
        """Account for the nodes below some that nobody has seen yet, the oldest first."""
        new: dict[Any, None] = {}
        while waiting:
            n = waiting.pop()
            if n in new or NODES.is_leaf(n) or self._mark in n.metadata or private.sequence(n) < begun:
                continue
            new[n] = None
            waiting += [below for below, _ in n.next_functions if below is not None]
        for n in sorted(new, key=private.sequence):
            for below, _ in n.next_functions:
                if below is not None and NODES.is_leaf(below):
                    self._own(below.variable)
            self.account.tick += 1
            self._count += 1
            key, mark = self._count, _Mark(self._count)
            n.metadata[self._mark] = mark
            self._alive[key] = ref(mark, lambda _, key=key: self._gone(key))
            _hold(self.account, key, n, place, self._modules.call)

    def _own(self, leaf: Any) -> None:
        """What a leaf's memory is counted as, while it lives."""
        if id(leaf) in self._owners:
            return
        memory, key = memory_of(leaf), id(leaf)

        def gone(_: Any) -> None:
            self._owners.pop(key, None)
            self.account.owned.discard(memory)

        self._owners[key] = ref(leaf, gone)
        self.account.owned.add(memory)

    def _gone(self, key: int) -> None:
        """A node is no more."""
        with self.lock:
            self._alive.pop(key, None)
            self.account.release(key)

    # ---- backward ----------------------------------------------------------------------------------------------
    def _backward(self, tensors: Any, gradient: Any, options: dict) -> bool:
        retain, again = options.get("retain_graph"), options.get("create_graph", False)
        self.begin(
            [tensors] if isinstance(tensors, torch.Tensor) else list(tensors),
            not (again if retain is None else retain),
        )
        return False

    def begin(self, roots: list, frees: bool) -> None:
        """A pass is about to run: its nodes say when they have.

        Args:
            roots: what it starts from.
            frees: whether each lets go of what it saved.
        """
        with self.lock:
            self._begin(roots, frees)

    def _begin(self, roots: list, frees: bool) -> None:
        self._over()
        first = [found[0] for t in roots if isinstance(t, torch.Tensor) and (found := made_by(t)) is not None]
        order = order_of(first)
        self._account_for(first, None, self._mode.begun)
        if self.account.top > self._drawn_at:  # the graph of the pass that begins where most is kept
            self._drawn_at = self.account.top
            self._graph = _drawn(roots, self.source, self.namespace, self._row_of)
        span = [self.account.tick + 1, self.account.tick + 1]
        self._passes.append(span)
        for n in order:
            mark = None if NODES.is_leaf(n) else n.metadata.get(self._mark)
            if not NODES.is_leaf(n):
                self._handles.append(
                    n.register_hook(_Ran(self, None if mark is None else mark.key, span, frees))
                )

    def _row_of(self, node: Any) -> int:
        mark = node.metadata.get(self._mark) if not NODES.is_leaf(node) else None
        return -1 if mark is None else self.account.row_of(mark.key)

    def ran(self, key: int | None, span: list[int], frees: bool) -> None:
        """A node of a pass has run.

        Args:
            key: its number; None if it was made before.
            span: the ticks of its pass.
            frees: whether it lets go of what it saved.
        """
        with self.lock:
            self.account.tick += 1
            span[1] = self.account.tick
            if frees and key is not None:
                self.account.release(key)

    def _over(self) -> None:
        """The hooks of the last pass are taken off nodes that were retained."""
        for handle in self._handles:
            handle.remove()
        self._handles = []


class _Mark:
    """Lies in a node's metadata, and goes with it."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: int) -> None:
        self.key = key


class _Ran:
    """A hook behind a node."""

    def __init__(self, timeline: TorchTimeline, *of: Any) -> None:
        self.timeline, self.of = timeline, of

    def __call__(self, sent: tuple, came: tuple) -> None:
        self.timeline.ran(*self.of)


class _Calls(torch.overrides.TorchFunctionMode):
    """Sees each call of a function of torch in one thread, and whether it has made nodes."""

    def __init__(self, timeline: TorchTimeline) -> None:
        super().__init__()
        self.timeline, self.begun = timeline, 0

    def __enter__(self) -> _Calls:
        """Start to see what this thread calls."""
        self.begun = private.next_sequence()
        super().__enter__()
        return self

    @private.uncompiled
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if private.compiling() or self.timeline.over:
            return func(*args, **kwargs)
        if func is torch.autograd.grad:
            self._grad(*args, **kwargs)
        begun = private.next_sequence()
        out = func(*args, **kwargs)
        if private.next_sequence() != begun:
            self.timeline.made(out if out is not None or not args else args[0], self.begun)
        return out

    def _grad(
        self,
        outputs: Any,
        inputs: Any = None,
        grad_outputs: Any = None,
        retain_graph: Any = None,
        create_graph: bool = False,
        *more: Any,
        **others: Any,
    ) -> None:
        roots = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        self.timeline.begin(roots, not (create_graph if retain_graph is None else retain_graph))


def _hold(account: Account, key: int, node: Any, place: Any, call: Any) -> None:
    """Account for a node."""
    saved = [
        (one.memory, private.bytes_of(one.value), private.shape_of(one.value))
        for one in NODES.saved(node)
        if one.memory is not None
    ]
    account.opaque += private.packed_count(node)
    module = layer = ""
    if call is not None:
        root, inner = call.around()[0].module(), call.module()
        if root is not None and inner is not None and (path := path_of(root, inner)):
            module, layer = spoken(path, root), about(inner)
    account.hold(key, NODES.name(node), NODES.device(node), saved, str(line_of(place) or ""), module, layer)


def _drawn(roots: Iterable[Any], source: Source, namespace: Any, rows_of: Any) -> Any:
    """The graph below some tensors, with the rows of its nodes; None where it is too large to go with that."""
    roots = list(roots)
    if len(order_of([found[0] for t in roots if (found := made_by(t)) is not None])) > MOST:
        return None
    try:
        return capture(roots, namespace=namespace, source=source, title="backward()", rows_of=rows_of)
    except (ValueError, RuntimeError, TypeError):  # a pass that torch refuses, too
        return None
