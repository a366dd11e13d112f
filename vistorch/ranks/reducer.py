"""Gradients averaged over ranks while a backward pass runs: a bucket is sent when its last gradient has come.

Invariant: all ranks send the same buckets in the same order, whatever the order in which gradients come.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.backward.backward_pass import queue_callback
from ..engine.base.modes import no_grad
from ..engine.core.graph import Leaf, Out, edge, version
from ..engine.core.tensor import Tensor, wrap
from ..engine.library_name import named
from .buffers import Buffer
from .collectives import all_reduce, broadcast
from .grad_bucket import GradBucket, cut, value_of
from .reduce_op import ReduceOp

TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
    "module parameter outside the `forward` function. Please make sure model parameters are not shared across multiple "
    "concurrent forward-backward passes. or try to use _set_static_graph() as a workaround if this module graph does "
    "not change during training loop.2) Reused parameters in multiple reentrant backward passes. For example, if you "
    "use multiple `checkpoint` functions to wrap the same part of your model, it would result in the same set of "
    "parameters been used by different reentrant backward passes multiple times, and hence marking a variable ready "
    "multiple times. DDP does not support such use cases in default. You can try to use _set_static_graph() as a "
    "workaround if your module graph does not change over iterations."
)
UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
    "passing the keyword argument `find_unused_parameters=True` to `vistorch.nn.parallel.DistributedDataParallel`, and "
    "by making sure all `forward` function outputs participate in calculating loss. Parameters which did not receive "
    "grad for rank {}: {}"
)


class Reducer:
    """Averages the gradients of one model.

    Args:
        named: names and parameters, in the order of the model.
        group: the ranks.
        most: bytes of a bucket.
        first: bytes of the first bucket, which is small so that something moves early.
        find_unused: look in each pass for parameters that it does not reach.
        views: let `.grad` share the buckets' memory.
        static: each pass reaches the same parameters.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Any]],
        group: Any,
        most: int,
        first: int,
        find_unused: bool,
        views: bool,
        static: bool,
    ) -> None:
        self.names = [name for name, _ in named]
        self.parameters = [p for _, p in named]
        self.group, self.most, self.first = group, most, first
        self.find_unused, self.views, self.static = find_unused, views, static
        self.number = {id(p): i for i, p in enumerate(self.parameters)}
        self.hook: tuple[Any, Callable] | None = None
        self.divisor: int | None = None
        self.buckets: list[GradBucket] = []
        self.place: list[tuple[GradBucket, int]] = []
        self.order: list[int] = []  # as gradients came in the first pass
        self.rebuilt = False
        self.expecting = False
        self.unfinished = False
        self.counts: list[int] | None = None  # with a static graph: how often each gradient comes in a pass
        self._build(list(range(len(self.parameters)))[::-1])
        self._reset()
        self.handles = [
            p.register_post_accumulate_grad_hook(self._listener(i)) for i, p in enumerate(self.parameters)
        ]

    @property
    def alone(self) -> bool:
        """Whether there is nothing to send."""
        return self.group.size() == 1 and self.hook is None and not self.views

    def _listener(self, i: int) -> Callable[[Any], None]:
        def came(p: Any) -> None:
            if self.expecting:
                self._ready(i)

        return came

    def _build(self, order: Sequence[int]) -> None:
        """Make the buckets, for gradients that come in an order."""
        params = [self.parameters[i] for i in order]
        sizes = [((p._data.dtype.name, p.device), p._data.nbytes) for p in params]
        cuts = cut(sizes, self.first, self.most)
        self.buckets = []
        self.place = [None] * len(self.parameters)  # type: ignore[list-item]
        for number, positions in enumerate(cuts):
            numbers = [order[at] for at in positions]
            last = number == len(cuts) - 1
            bucket = GradBucket(number, [self.parameters[i] for i in numbers], numbers, last)
            self.buckets.append(bucket)
            for at, i in enumerate(numbers):
                self.place[i] = bucket, at

    def _reset(self) -> None:
        self.came = [0] * len(self.parameters)
        self.used = np.zeros(len(self.parameters), np.int32)
        self.next, self.queued = 0, False
        for bucket in self.buckets:
            bucket.missing, bucket.future = len(bucket.numbers), None

    # ---- before a pass ----------------------------------------------------------------------------------------
    def check_finished(self) -> None:
        """Raise if the pass before has left gradients that were not averaged."""
        if self.unfinished:
            missing = [name for name, count in zip(self.names, self.came, strict=True) if not count]
            raise RuntimeError(
                named(UNFINISHED).format(self.group.global_rank(self.group.rank()), ", ".join(missing))
            )

    def rebuild(self) -> None:
        """Once, after the first pass: the buckets in the order in which rank 0's gradients came."""
        if self.rebuilt or len(self.order) != len(self.parameters) or (self.find_unused and not self.static):
            return
        self.rebuilt = True
        order = wrap(np.array(self.order, np.int64))
        if self.group.size() > 1:
            broadcast(order, group=self.group, group_src=0)
        self._build(order.tolist())

    def prepare(self, outputs: Sequence[Tensor]) -> None:
        """Expect a pass from some outputs.

        Args:
            outputs: of the model.
        """
        self._reset()
        self.expecting = True
        self.unfinished = False
        if self.static:
            for i, count in enumerate(self.counts or ()):
                if not count:
                    self._mark(i)
        elif self.find_unused:
            reached = _leaves(outputs)
            for i, p in enumerate(self.parameters):
                if id(p) not in reached:
                    self._mark(i)

    # ---- during a pass ----------------------------------------------------------------------------------------
    def _ready(self, i: int) -> None:
        if not self.queued:
            self.queued, self.unfinished = True, True
            queue_callback(self._end)
        self.came[i] += 1
        self.used[i] = 1
        if self.static:
            if self.counts is None or self.came[i] < self.counts[i]:
                if self.came[i] == 1:
                    self._note(i)
                return
        elif self.came[i] > 1:
            raise RuntimeError(
                TWICE + f" Parameter at index {i} with name {self.names[i]} has been marked as ready twice."
            )
        self._note(i)
        self._mark(i)

    def _note(self, i: int) -> None:
        if not self.rebuilt and len(self.order) < len(self.parameters) and i not in self.order[-1:]:
            self.order.append(i)

    def _mark(self, i: int) -> None:
        bucket, at = self.place[i]
        if not self.alone:
            self._take(i, bucket, at)
        bucket.missing -= 1
        while self.next < len(self.buckets) and not self.buckets[self.next].missing:
            self._launch(self.buckets[self.next])
            self.next += 1

    def _take(self, i: int, bucket: GradBucket, at: int) -> None:
        """Put a gradient into its bucket, divided by the number of ranks."""
        part, grad = bucket.part(at), self.parameters[i]._grad
        if grad is None:
            part[...] = 0
            return
        scale = 1.0 if self.hook is not None else 1.0 / (self.divisor or self.group.size())
        if scale != 1.0:
            part[...] = grad._data * part.dtype.type(scale)
        elif not self._in_bucket(grad, part):
            part[...] = grad._data
        if self.views and self.used[i]:
            self.parameters[i]._grad = wrap(part, grad._place)

    @staticmethod
    def _in_bucket(grad: Tensor, part: Any) -> bool:
        if not isinstance(part, np.ndarray):
            return grad._data.data.ptr == part.data.ptr
        return grad._data.__array_interface__["data"] == part.__array_interface__["data"]

    def _launch(self, bucket: GradBucket) -> None:
        if self.alone:
            return
        with no_grad():
            if self.hook is not None:
                state, call = self.hook
                bucket.future = call(state, bucket)
            elif self.group.size() > 1:
                work = all_reduce(bucket.buffer(), ReduceOp.SUM, self.group, async_op=True)
                assert work is not None
                bucket.future = work.get_future()
            else:
                bucket.future = bucket.buffer()

    def _end(self) -> None:
        """The pass has come to its end: wait for the buckets, give the parameters their gradients."""
        if self.static and self.counts is None:
            self.counts = list(self.came)
            for i in range(len(self.parameters)):
                self._mark(i)
        if self.next < len(self.buckets):
            self.expecting = False
            return  # the next forward says which gradients are missing
        self.finish()

    def finish(self) -> None:
        """Wait for all buckets; write back."""
        self.expecting, self.unfinished = False, False
        used = self.used
        if (self.find_unused or self.static) and self.group.size() > 1:
            everywhere = wrap(used.copy())
            all_reduce(everywhere, ReduceOp.MAX, self.group)
            used = everywhere._data
        if self.alone:
            return
        for bucket in self.buckets:
            value = value_of(bucket.future)
            flat = bucket.buffer()
            if value._data is not flat._data:
                flat._data[...] = value._data.reshape(-1)
            for at, i in enumerate(bucket.numbers):
                if used[i] or not (self.find_unused or self.static):
                    self._give(self.parameters[i], bucket, at)

    def _give(self, p: Any, bucket: GradBucket, at: int) -> None:
        part, grad = bucket.part(at), p._grad
        if grad is None:
            p._grad = wrap(part if self.views else part.copy(), p._place)
        elif not self._in_bucket(grad, part):
            if self.views:
                p._grad = wrap(part, p._place)
            else:
                grad._data[...] = part
                version(grad).n += 1

    # ---- for ranks that have no more inputs -------------------------------------------------------------------
    def shadow(self) -> None:
        """Do what a pass of the other ranks does, with gradients of nothing."""
        for bucket in self.buckets:
            bucket.buffer()._data[...] = 0
            self._launch(bucket)
        self.used = np.zeros(len(self.parameters), np.int32)
        if (self.find_unused or self.static) and self.group.size() > 1:
            all_reduce(wrap(self.used.copy()), ReduceOp.MAX, self.group)
        for bucket in self.buckets:
            value_of(bucket.future)

    def remove(self) -> None:
        """Listen no more."""
        for handle in self.handles:
            with contextlib.suppress(KeyError):
                handle.remove()


def _leaves(outputs: Sequence[Tensor]) -> set[int]:
    """The parameters that a pass from some outputs reaches, by identity."""
    found: set[int] = set()
    stack = [e for t in outputs if t.requires_grad and (e := edge(t)) is not None]
    seen = set(stack)
    while stack:
        node: Any = stack.pop()
        if node.__class__ is Leaf:
            found.add(id(node.variable))
            continue
        below = [node.node] if node.__class__ is Out else node.edges
        for e in below:
            if e is not None and e not in seen:
                seen.add(e)
                stack.append(e)
    return found


def synchronise(tensors: Sequence[Tensor], group: Any, root: int) -> None:
    """Give all ranks the values that one has, in one message.

    Args:
        tensors: parameters and buffers.
        group: the ranks.
        root: whose values they are, by its number in the group.
    """
    if group.size() == 1 or not tensors:
        return
    held = [Buffer(t) for t in tensors]
    raw = np.concatenate([one.raw for one in held])
    flat = wrap(raw)
    broadcast(flat, group=group, group_src=root)
    if group.rank() != root:
        at = 0
        for one in held:
            part = one.raw
            part[...] = flat._data[at : at + part.size]
            at += part.size
            one.store()
