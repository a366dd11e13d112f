"""`name_`: any out-of-place function as an in-place one.

The general way computes the new value with a stand-in for `self` (its old value and history), checks that it fits,
writes it, and lets `self` take over the new history. Pointwise ops on plain floats that record nothing write straight
into the memory. Invariant: whatever raises, raises before the first element is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import errors
from ..base.events import listeners
from ..base.modes import mode
from ..base.numpy_warnings import aside, hushed, silently
from ..kernels.fast.spread import MANY, write
from ..memory.placement import CPU
from . import out_argument, type_promotion, views
from .base_ops import to_dtype
from .graph import OUT, UNTRACKED, Out, sync_rg, version
from .private_order import POINTWISE, Elsewhere, through
from .tensor import Tensor, wrap
from .type_promotion import FLOATS

F4, F8 = np.dtype("f4"), np.dtype("f8")


BLOCK = 2**15  # elements at a time, so that what is computed on the way stays in the cache


def replace(
    x: Tensor, fn: Callable, args: tuple, kwargs: dict, rule: Any = None, repeated: bool = False
) -> Tensor:
    """`x` becomes `fn(x, *args, **kwargs)`, in its own memory.

    `repeated`: every element gets the same value, so an expanded tensor may be written too.
    """
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(getattr(fn, "__name__", "op") + "_", "self", 1, x)
    operands = args if not kwargs else (*args, *kwargs.values())
    records = False
    if mode.on:
        views.before_sync(x)
        records = sync_rg(x)
        for t in operands:
            if isinstance(t, Tensor) and sync_rg(t):
                records = True
    views.before_write(x, records)
    # a pack hook may keep the memory of what it is given, and this memory is about to be written
    old = wrap(x._data.copy() if records and mode.packers else x._data, x._place)
    if records and x._rg:
        old._node, old._rg = views.origin_of(x), True
    for t in operands:
        if isinstance(t, Tensor) and t is not x and views.overlaps(x, t):
            raise RuntimeError(errors.WRITE_OVERLAP)
    d = x._data
    aliased = not repeated and views.aliased(d)
    try:
        o = fn(old, *args, **kwargs)
    except (NotImplementedError, RuntimeError) as refusal:
        late = isinstance(refusal, NotImplementedError) or str(refusal) == "ZeroDivisionError"
        if not late and not (aliased and str(refusal).startswith("The size of tensor")):
            raise
        said = errors.WRITE_ALIASED if aliased else _sooner(x, operands, getattr(fn, "kind", "") != "compare")
        if said is not None:
            raise RuntimeError(said) from None
        raise
    if aliased:
        raise RuntimeError(errors.WRITE_ALIASED)
    r = o._data
    if o._place is not x._place and o._place.kind == errors.BATCHED:
        if any(n > 1 for n in r.lanes):
            raise RuntimeError(errors.VMAP_IN_PLACE)
        raise errors.Unbatchable("a write into a tensor without batch dims")
    if r.shape != d.shape:
        raise RuntimeError(out_argument.outgrown(d.shape, r.shape))
    if r.dtype != d.dtype:
        out_argument.check_cast(r.dtype, d.dtype)
        if o._rg:
            n = o._node
            if n.__class__ is Out or n is old._node:
                o = to_dtype(o, d.dtype)
                r = o._data
            else:
                n.dtype = (
                    d.dtype
                )  # there is no cast in PyTorch's graph: the op's own node gives the type of `x`
    if o._rg and sys.getrefcount(old) > 2:
        old._data = d.copy()  # the graph keeps the old value: it must survive the write
    if r is not d:
        d[...] = r
    v = version(x)
    v.n += 1
    if o._rg and records:
        n = o._node
        if n.rule is not None and n.rule.saves_out:
            n.saved = tuple(
                [
                    (d, v, v.n) if kind == OUT and s.__class__ is tuple and s[0] is r else s
                    for s, (kind, _, _) in zip(n.saved, n.rule.saves, strict=True)
                ]
            )
        views.rebase(x, o)
    if (emit := listeners.write) is not None:
        emit(x, rule)
    return x


def _sooner(x: Tensor, args: tuple, casts: bool) -> str | None:
    """What PyTorch notices before a missing kernel or a zero divisor: operands that do not fit into `x`."""
    tensors = [t for t in args if isinstance(t, Tensor)]
    try:
        shape = np.broadcast_shapes(x._data.shape, *[t._data.shape for t in tensors])
    except ValueError:
        return None
    if shape != x._data.shape:
        return out_argument.outgrown(x._data.shape, shape)
    try:
        if casts:
            out_argument.check_cast(type_promotion.result_type(x, *tensors), x._data.dtype)
    except RuntimeError as refusal:
        return str(refusal)
    return None


def pointwise(fn: Any) -> Callable:
    """The in-place variant of a pointwise op of one or two operands."""
    rule = fn.rule
    direct = isinstance(rule.kernel, (str, np.ufunc)) and isinstance(rule.kernels[0], np.ufunc)
    run = rule.kernels[0]
    # a type no array has stands for "never direct"
    f4, f8 = (fn.plain_types and direct and (F4, F8)) or (None, None)

    if len(rule.inputs) == 1:

        def one(input):
            try:
                d, v = input._data, input._ver
            except Elsewhere:
                return through(one, input)
            except AttributeError:
                return replace(input, fn, (), {}, rule)
            dt = d.dtype
            if (
                (dt is not f4 and dt is not f8)
                or input._view is not None
                or v is UNTRACKED
                or input._place is not CPU
                or (input._rg and mode.on)
            ):
                return replace(input, fn, (), {}, rule)
            if (emit := listeners.overwrite) is not None:
                emit(input)
            if d.size < MANY:
                hushed(run, d, d)
            else:
                hushed(write, run, d, d)
            if v is None:
                v = version(input)
            v.n += 1
            if (emit := listeners.write) is not None:
                emit(input, rule)
            return input

        POINTWISE.add(one.__code__)
        return _named(one, rule)

    takes_number = len(rule.inputs) == 2 and "other" in fn.takes

    def two(input, other):
        # A tensor that is no view has memory of its own without repeated elements, so two tensors that are no views
        # and share no version cell cannot overlap, and numpy itself refuses shapes that do not fit before it writes.
        kind = other.__class__
        try:
            d, v, wants = input._data, input._ver, input._rg
            if kind is float or kind is int:
                b, free = other, takes_number and -1e18 < other < 1e18
            else:
                b = other._data
                wants = wants or other._rg
                free = (
                    b.dtype is d.dtype
                    and other._view is None
                    and other._place is CPU
                    and (v is None or v is not other._ver or other is input)
                )
        except Elsewhere:
            return through(two, input, other)
        except AttributeError:
            return replace(input, fn, (other,), {}, rule)
        dt = d.dtype
        if (
            not free
            or (dt is not f4 and dt is not f8)
            or input._view is not None
            or v is UNTRACKED
            or input._place is not CPU
            or (wants and mode.on)
        ):
            return replace(input, fn, (other,), {}, rule)
        if (emit := listeners.overwrite) is not None:
            emit(input)
        try:
            if d.size < MANY:
                silently(run, d, b, d)
            else:
                silently(write, run, d, d, b)
        except ValueError:
            return replace(input, fn, (other,), {}, rule)  # says what does not fit
        except RuntimeError as exc:
            aside(exc, run, d, b, d)
        if v is None:
            v = version(input)
        v.n += 1
        if (emit := listeners.write) is not None:
            emit(input, rule)
        return input

    POINTWISE.add(two.__code__)
    return _named(two, rule)


def direct(rule: Any, x: Any, others: tuple, consts: tuple, write: Any = None) -> bool:
    """Overwrite `x` by a row's kernel at once, if everything is plain; False if nothing was done.

    `write`, if given, does to the first array in place what the kernel returns.
    """
    if x.__class__ is not Tensor:
        return False
    d, v, place = x._data, x._ver, x._place
    if d.dtype not in FLOATS or x._view is not None or v is UNTRACKED or (x._rg and mode.on):
        return False
    arrays = [d]
    for t in others:
        if t.__class__ is not Tensor or t._place is not place:
            return False
        b = t._data
        if (
            b.dtype is not d.dtype
            or (b.shape != d.shape and b.ndim)
            or (mode.on and sync_rg(t))
            or (v is not None and t._ver is v and t is not x)
        ):
            return False
        arrays.append(b)
    if (emit := listeners.overwrite) is not None:
        emit(x)
    if write is None or place.kind:
        d[...] = hushed(rule.kernels[place.kind], *arrays, *consts)
    elif d.size > BLOCK and all(a.flags.c_contiguous and a.shape == d.shape for a in arrays):
        flat = [a.reshape(-1) for a in arrays]
        for start in range(0, d.size, BLOCK):
            hushed(write, *[a[start : start + BLOCK] for a in flat], *consts)
    else:
        hushed(write, *arrays, *consts)
    version(x).n += 1
    if (emit := listeners.write) is not None:
        emit(x, rule)
    return True


def general(fn: Callable, name: str) -> Callable:
    """The in-place variant of any public function whose first argument is `input`."""

    def call(input, *args, **kwargs):
        return replace(input, fn, args, kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def _named(fn: Any, rule: Any) -> Any:
    fn.__name__ = fn.__qualname__ = rule.name + "_"
    return fn
