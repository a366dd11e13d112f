"""Views and in-place writes: PyTorch's semantics, written functionally.

A view remembers its base and the steps that lead from base to view. Writing through a view gives the base a new
history, `base' = put(base, view', steps)`; every other view of that base is then behind (its version is older than
the memory's) and rebuilds its history, `pick(base', steps)`, the next time someone asks.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..base import errors
from ..base.events import listeners
from ..base.modes import mode, recording
from ..kernels.strides import copied, extent, laid_out, owner, start, strides_of
from ..memory.array_memory import offset_of
from . import graph
from .record import record
from .rules import variant
from .tensor import Tensor, wrap

F4 = np.dtype("f4")


class View:
    """What a view knows of its origin.

    `steps` is a tuple of (rule, consts); `seen` the version its history belongs to; `meta` says why the history may
    not be rebuilt ("no_grad", "inference", "multi", "custom") or is None.
    """

    __slots__ = ("base", "meta", "seen", "steps")
    hidden = False

    def __init__(self, base: Tensor, steps: tuple, seen: int, meta: str | None) -> None:
        self.base, self.steps, self.seen, self.meta = base, steps, seen, meta

    def sync(self, t: Tensor, asked: bool = False) -> None:
        """Bring the history of `t`, whose `_view` this is, up to date with its memory's.

        An op that records nothing leaves it as it is; `asked`: someone wants to see it.
        """
        if not self.steps:
            return
        base = self.base
        if base._view is not None and base._view.steps:
            base = self.base = base._view.base  # the base became a view of its hidden self
        if t._node is None and not base._rg:
            if t._rg:
                t._rg = t._more is not None and t._more.own  # the base that it had it from has it no more
            return
        if self.seen != t._ver.n and t._ver is not graph.UNTRACKED:
            if isinstance(self, HiddenView) and self.root is base._node:
                self.seen = t._ver.n
                return
            if not (mode.on or asked):
                return
            if self.meta is not None:
                if not mode.on:
                    return  # nothing will be recorded
                raise RuntimeError(errors.view_written(self.meta, t._node, indirect=True))
            rebuild(t, self, base)
        if (base._rg and t._ver is not graph.UNTRACKED) or t._node is not None:
            t._rg = True

    def alias(self, o: Tensor) -> Tensor:
        """Prepare a fresh tensor `o` on the memory of the tensor whose `_view` this is (`.data`)."""
        return expanded(o) if 0 in o._data.strides else o


class HiddenView(View):
    """The view that a tensor is of its former self after `t_()` or another in-place view.

    `root` is the history of that former self when the tensor's own was made: a write that records nothing leaves both.
    """

    __slots__ = ("root",)
    root: Any
    hidden = True


class Repeats(HiddenView):
    """Marks a tensor that is no view, but some of whose elements share memory: a write must look at it first.

    It has no steps; views of such a tensor are views of it and of nothing before it.
    """

    __slots__ = ()


def mark(o: Tensor, x: Tensor, step: tuple, meta: str | None = None) -> None:
    """Make `o` (fresh from `wrap`) a view of `x`, one step away."""
    o._ver = v = graph.version(x)
    origin = x._view
    if meta is None and mode.on is not True:
        meta = _meta()
    if origin is None or not origin.steps:
        o._view = View(x, (step,), v.n if v is not graph.UNTRACKED else 0, meta)
    else:
        o._view = View(
            origin.base, (*origin.steps, step), v.n if v is not graph.UNTRACKED else 0, meta or origin.meta
        )


def _meta() -> str | None:
    return None if mode.on else ("inference" if mode.on is None else "no_grad")


def by_memory(t: Tensor, v: View) -> tuple:
    """The steps from a base to its view; where it got data that lie otherwise, one by where the view's elements lie."""
    base = v.base
    if base._more is None or not base._more.moved or base._place is not t._place:
        return v.steps
    d, of = t._data, base._data
    after, before = (start(a) - start(owner(a)) for a in (d, of))
    shift = (after - before) // d.itemsize
    strides, held = strides_of(d), extent(of.shape, strides_of(of))
    if shift < 0 or shift + extent(d.shape, strides) > held:
        return v.steps
    return ((AS_STRIDED, (d.shape, strides, shift, (of.strides, of.itemsize))),)


def rebuild(t: Tensor, v: View, base: Tensor) -> None:
    """Give a view the history `pick(base, steps)`."""
    v.seen, v.steps = t._ver.n, by_memory(t, v)
    before, mode.on = mode.on, recording()
    try:
        o = wrap(t._data, t._place)
        base = _before_reshape(base)
        record(RESHAPED if v.hidden else PICK, (base,), (v.steps, layout_of(base._data)), (o,))
    finally:
        mode.on = before
    if isinstance(v, HiddenView):
        v.root = base._node
    # of a base that was detached since, a node that leads nowhere, as in PyTorch
    t._node, t._rg = o._node, True
    if t._more is not None and t._more.retains:
        graph.follow(t)


def _before_reshape(base: Tensor) -> Tensor:
    """A hidden base that stands behind a leaf, with a history that ends at the leaf; any other base as it is."""
    extras = base._more
    leaf = None if extras is None or extras.shown is None or base._node is not None else extras.shown()
    if leaf is None or leaf._node is not None or leaf._view is None or leaf._view.base is not base:
        return base
    o = wrap(base._data, base._place)
    if leaf._rg:
        record(UNPICK, (leaf,), (leaf._view.steps, base._data.shape, layout_of(base._data)), (o,))
    return o


def walk(data: Any, steps: tuple, kind: int) -> Any:
    """Follow a view's steps on raw arrays."""
    for rule, consts in steps:
        data = rule.kernels[kind](data, *consts)
        if data.__class__ is tuple:
            raise AssertionError("a step of a view has one output")
    return data


PICK: Any = None
RESHAPED: Any = (
    None  # PICK, for a tensor that became a view of its former self: PyTorch still sees a base there
)
PUT: Any = None
UNPICK: Any = None
AS_STRIDED: Any = None


def define(op: Any) -> None:
    """Enter the two rows every in-place write through a view stands on (called by the op table)."""
    global PICK, PUT, RESHAPED, UNPICK

    # A step such as "view" or "as_strided" means the same only on memory laid out like the base's, so whatever the
    # steps are walked on is first given that layout.
    def put(xp, base, src, steps, layout):
        out = copied(xp, base)
        walk(out, steps, _kind(xp))[...] = src
        return out

    def pick(xp, input, steps, layout):
        return walk(_laid(xp, input, layout), steps, _kind(xp))

    def put_zero(xp, input, steps, layout):
        out = _laid(xp, input, layout)
        out = copied(xp, out) if out is input else out
        walk(out, steps, _kind(xp))[...] = 0
        return out

    def unpick(xp, input, steps, shape, layout):
        strides, dtype = layout
        dtype = F4 if dtype.itemsize == 2 and input.dtype == F4 else dtype
        if strides is None:
            out = xp.zeros(shape, dtype)
        else:
            out = laid_out(xp, shape, dtype, tuple([s * dtype.itemsize for s in strides]))
        there = walk(out, steps, _kind(xp))
        if folded(there):
            out = _folded(xp, out, input, steps)
        else:
            there[...] = input
        # elements of a base that share memory share what comes back to it, in equal parts as in PyTorch
        repeats = (
            1 if strides is None else prod(n for n, s in zip(shape, strides, strict=True) if not s and n)
        )
        return out if repeats == 1 else out / repeats

    put_ = op(
        "put_view",
        put,
        inputs="base src",
        name_in_graph="CopySlices",
        widen=False,
        formula={"base": r"\bar b = \bar y,\ 0\text{ where written}", "src": r"\bar v = \bar y_{v}"},
        base=lambda F, g, steps, layout: F.put_zero(g, steps, layout),
        src=lambda F, g, steps, layout: F.pick_view(g, steps, layout),
    )
    pick_ = op(
        "pick_view",
        pick,
        name_in_graph="AsStridedBackward0",
        widen=False,
        formula=r"\bar b_{v} = \bar y,\ 0\text{ elsewhere}",
        input=lambda F, g, steps, input_shape, layout: F.unpick_view(g, steps, input_shape, layout),
    )
    op(
        "put_zero",
        put_zero,
        name_in_graph="CopySlices",
        widen=False,
        formula=r"\bar b = \bar y,\ 0\text{ where written}",
        input=lambda F, g, steps, layout: F.put_zero(g, steps, layout),
    )
    unpick_ = op(
        "unpick_view",
        unpick,
        name_in_graph="AsStridedBackward0",
        widen=False,
        formula=r"\bar v = \bar b_{v}",
        input=lambda F, g, steps, layout: F.pick_view(g, steps, layout),
    )
    PUT, PICK, UNPICK = put_.rule, pick_.rule, unpick_.rule
    PUT.saves_tensors = True  # PyTorch's CopySlices lets go of the op it holds, and cannot run twice
    RESHAPED = variant(PICK, "CopySlices")


def folded(data: Any) -> bool:
    """Whether two elements of an array may share memory: an expanded dimension, or windows that overlap."""
    reach = 0
    for stride, n in sorted((abs(s), n) for s, n in zip(data.strides, data.shape, strict=True) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


def _folded(xp: Any, out: Any, input: Any, steps: tuple) -> Any:
    """Add up what lands on the same element: walk the steps with the elements' numbers, then count by number."""
    numbers = laid_out(xp, out.shape, np.dtype("i8"), tuple([s // out.itemsize * 8 for s in out.strides]))
    numbers[...] = xp.arange(out.size).reshape(out.shape)
    places = walk(numbers, steps, _kind(xp)).ravel()
    flat = xp.zeros(out.size, input.dtype)
    xp.add.at(flat, places, xp.asarray(input).ravel())
    out[...] = flat.reshape(out.shape)
    return out


def layout_of(data: Any) -> tuple:
    """How an array lies in memory: its strides in elements (None if contiguous) and its dtype."""
    return (None if data.flags.c_contiguous else strides_of(data)), data.dtype


def _laid(xp: Any, data: Any, layout: tuple) -> Any:
    """`data` in the memory layout of a base: itself if it already is."""
    strides = layout[0]
    if strides is None:
        return data if data.flags.c_contiguous else xp.array(data, order="C")
    if strides_of(data) == strides:
        return data
    return laid_out(xp, data.shape, data.dtype, tuple([s * data.itemsize for s in strides]), data)


def _kind(xp: Any) -> int:
    return 0 if xp.__name__ == "numpy" else 1


def origin_of(x: Tensor) -> Any:
    """The node that an in-place op on `x` takes its old value from.

    For a view that is the base itself, not the chain of views: hooks on those belong to reads through them.
    """
    v = x._view
    if v is None or v.hidden:
        return x._node
    o = wrap(x._data, x._place)
    v.steps = by_memory(x, v)
    consts = (v.steps, layout_of(v.base._data))
    record(PICK, (v.base,), consts, (o,))
    if (emit := listeners.op) is not None:
        emit(PICK, (v.base,), consts, (o,))
    return o._node


def before_sync(x: Tensor) -> None:
    """Refuse to write a view whose base got a history since, and that nobody asked for its own.

    PyTorch looks before it brings the view's history up to date; reading `.grad_fn` once helps there too.
    """
    v = x._view
    if v is not None and mode.on and x._node is None and v.meta is None and not v.hidden:
        if v.base._node is not None:
            raise RuntimeError(errors.LEAF_WRITTEN)


def before_write(x: Tensor, requires_grad: bool) -> None:
    """What must hold before `x` is overwritten; `requires_grad`: whether the write will be recorded."""
    if x._ver is graph.UNTRACKED and mode.on is not None and not (x._more is not None and x._more.loose):
        raise RuntimeError(errors.INFERENCE_WRITTEN)
    if x._view is not None:
        if requires_grad:
            v = x._view
            if v.meta is not None:
                raise RuntimeError(errors.view_written(v.meta, x._node, indirect=False))
            if v.hidden:
                if x._rg and x._node is None:
                    raise RuntimeError(errors.LEAF_WRITTEN)
            elif v.base._node is None and (x._rg or v.base._rg):
                raise RuntimeError(errors.LEAF_VIEW_WRITTEN)
    elif requires_grad and x._rg and x._node is None:
        raise RuntimeError(errors.LEAF_WRITTEN)
    if (emit := listeners.overwrite) is not None:
        emit(x)


def aliased(data: Any) -> bool:
    """Whether two elements of an array share memory (an expanded dimension)."""
    if 0 not in data.strides or not data.size:
        return False
    return any(n > 1 and s == 0 for n, s in zip(data.shape, data.strides, strict=True))


def overlaps(x: Tensor, y: Any) -> bool:
    """Whether writing `x` element by element could read a `y` already overwritten.

    Like PyTorch, only operands without gaps are judged: with gaps the answer is too hard, and is no.
    """
    if x._ver is None or x._ver is not y._ver or x is y or x._place.kind:
        return False  # only tensors that share a version cell share memory inside the engine
    p, q = x._data, y._data
    if not (dense(p) and dense(q)):
        return False
    if same_elements(x, y):
        return False
    return np.shares_memory(p, q)


def same_elements(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors are the very same elements of one memory, of whatever type."""
    p, q = x._data, y._data
    return x._place is y._place and p.shape == q.shape and start(p) == start(q) and _lies(p) == _lies(q)


def shares(x: Tensor, y: Any) -> bool:
    """Whether two dense tensors lie in the same memory, be it in the very same elements."""
    if x is y:
        return True
    if x._ver is None or x._ver is not y._ver or x._place.kind:
        return False
    p, q = x._data, y._data
    return dense(p) and dense(q) and np.shares_memory(p, q)


def expanded(o: Tensor) -> Tensor:
    """A fresh tensor whose elements may repeat, marked so that a write looks at it before it is made."""
    if aliased(o._data):
        v = o._view = Repeats(wrap(o._data, o._place), (), 0, None)
        v.root = None
    return o


def _lies(d: Any) -> list:
    """The strides of an array, but those of dims of length one, which say nothing."""
    return [s for s, n in zip(d.strides, d.shape, strict=True) if n != 1]


def begins(x: Tensor) -> int:
    """How many elements of the storage come before the first one, or before where a view without elements begins.

    numpy lets an empty slice begin where its operand does; what it left out is in the steps of the view.
    """
    d, v = x._data, x._view
    if v is None or d.__class__ is not np.ndarray or d.size:
        return offset_of(d)
    a, far = v.base._data, 0
    for rule, consts in v.steps:
        if rule.name == "slice":
            dim, *bounds = consts
            far += _left_out(a, (*[slice(None)] * dim, slice(*bounds)))
        elif rule.name == "basic":
            far += _left_out(a, consts[0])
        elif rule.name == "as_strided":  # which says where it begins
            far = 0
        a = rule.kernels[0](a, *consts)
    return offset_of(d) + far


def _left_out(a: Any, key: tuple) -> int:
    """How far the empty slices among a key's parts begin from where `a` does, in elements."""
    far = dim = 0
    for item in key:
        if item is Ellipsis:
            dim = a.ndim - sum(one is not None and one is not Ellipsis for one in key) + dim
        elif item is not None:
            if item.__class__ is slice:
                begin, end, step = item.indices(a.shape[dim])
                if begin >= end and step > 0:
                    far += begin * a.strides[dim]
            dim += 1
    return far // a.itemsize


def dense(d: Any) -> bool:
    """Whether an array covers its stretch of memory without a gap, in any order of dimensions."""
    if d.flags.c_contiguous:
        return True
    reach = d.itemsize
    for stride, n in sorted((s, n) for s, n in zip(d.strides, d.shape, strict=True) if n > 1):
        if stride != reach:
            return False
        reach *= n
    return True


def rebase(x: Tensor, o: Tensor) -> None:
    """After an in-place write: `x` takes over the history of `o` (a stand-in for its new value)."""
    v = x._view
    moved = [t for t in ((x,) if v is None else (x, v.base)) if t._more is not None and t._more.retains]
    if v is None:
        x._node, x._rg = o._node, True
    else:
        base, v.steps = v.base, by_memory(x, v)
        old = wrap(base._data, base._place)
        old._node, old._rg = base._node, base._rg
        out = wrap(base._data, base._place)
        record(PUT, (old, o), (v.steps, layout_of(base._data)), (out,))
        base._node, base._rg = out._node, True
        rebuild(x, v, base)
        if v.hidden:
            x._node = o._node  # the same value: PyTorch sees the op itself here
    for t in moved:
        graph.follow(t)
