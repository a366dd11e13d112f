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

from . import errors, outs, promote, views
from .events import hear
from .graph import OUT, UNTRACKED, Out, version
from .modes import mode
from .promote import FLOATS, sync_rg
from .quiet import hush, speak
from .tensor import Tensor, wrap


def replace(x: Tensor, fn: Callable, args: tuple, kwargs: dict, rule: Any = None) -> Tensor:
    """`x` becomes `fn(x, *args, **kwargs)`, in its own memory."""
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(getattr(fn, "__name__", "op") + "_", "self", 1, x)
    operands = args if not kwargs else (*args, *kwargs.values())
    records = False
    if mode.on:
        records = sync_rg(x)
        for t in operands:
            if isinstance(t, Tensor) and sync_rg(t):
                records = True
    views.before_write(x, records)
    old = wrap(x._data, x._place)
    if records and x._rg:
        old._node, old._rg = x._node, True
    for t in operands:
        if isinstance(t, Tensor) and t is not x and views.overlaps(x, t):
            raise RuntimeError(errors.WRITE_OVERLAP)
    d = x._data
    aliased = views.aliased(d)
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
    if r.shape != d.shape:
        raise RuntimeError(_outgrown(d.shape, r.shape))
    if r.dtype != d.dtype:
        outs.check_cast(r.dtype, d.dtype)
        if o._rg:
            n = o._node
            if n.__class__ is Out or n is old._node:
                from .ops.core import to_dtype

                o = to_dtype(o, d.dtype)
                r = o._data
            else:
                n.dtype = (
                    d.dtype
                )  # the op's own node gives the type of `x`: there is no cast in PyTorch's graph
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
    if hear.write is not None:
        hear.write(x, rule)
    return x


def _outgrown(shape: tuple, result: tuple) -> str:
    return f"output with shape {errors.sizes(shape)} doesn't match the broadcast shape {errors.sizes(result)}"


def _sooner(x: Tensor, args: tuple, casts: bool) -> str | None:
    """What PyTorch notices before a missing kernel or a zero divisor: operands that do not fit into `x`."""
    tensors = [t for t in args if isinstance(t, Tensor)]
    try:
        shape = np.broadcast_shapes(x._data.shape, *[t._data.shape for t in tensors])
    except ValueError:
        return None
    if shape != x._data.shape:
        return _outgrown(x._data.shape, shape)
    try:
        if casts:
            outs.check_cast(promote.result_type(x, *tensors), x._data.dtype)
    except RuntimeError as refusal:
        return str(refusal)
    return None


def pointwise(fn: Any) -> Callable:
    """The in-place twin of a pointwise op of one or two operands."""
    rule = fn.rule
    kernels = rule.kernels
    direct = isinstance(rule.kernel, (str, np.ufunc)) and isinstance(rule.kernels[0], np.ufunc)
    plain_types = fn.plain_types

    if len(rule.inputs) == 1:

        def one(input):
            d = input._data if isinstance(input, Tensor) else None
            if (
                d is None
                or not direct
                or d.dtype not in plain_types
                or input._ver is UNTRACKED
                or (mode.on and sync_rg(input))
                or 0 in d.strides
            ):
                return replace(input, fn, (), {}, rule)
            token = hush()
            try:
                kernels[input._place.kind](d, out=d)
            finally:
                speak(token)
            version(input).n += 1
            if hear.write is not None:
                hear.write(input, rule)
            return input

        return _named(one, rule)

    takes_number = len(rule.inputs) == 2 and "other" in fn.takes

    def two(input, other):
        d = input._data if isinstance(input, Tensor) else None
        if d is None or not direct or d.dtype not in plain_types or 0 in d.strides:
            return replace(input, fn, (other,), {}, rule)
        if other.__class__ is float or other.__class__ is int:
            b = other
            if not takes_number or (mode.on and sync_rg(input)):
                return replace(input, fn, (other,), {}, rule)
        else:
            if not isinstance(other, Tensor):
                return replace(input, fn, (other,), {}, rule)
            b = other._data
            if (
                b.dtype is not d.dtype
                or other._place is not input._place
                or (b.shape != d.shape and b.ndim)
                or (mode.on and (sync_rg(input) or sync_rg(other)))
                or (other._ver is input._ver and other._ver is not None and other is not input)
            ):
                return replace(input, fn, (other,), {}, rule)
        v = input._ver
        if v is None:
            v = version(input)
        elif v is UNTRACKED:
            return replace(input, fn, (other,), {}, rule)
        token = hush()
        try:
            kernels[input._place.kind](d, b, out=d)
        finally:
            speak(token)
        v.n += 1
        if hear.write is not None:
            hear.write(input, rule)
        return input

    return _named(two, rule)


def direct(rule: Any, x: Any, others: tuple, consts: tuple) -> bool:
    """Overwrite `x` by a row's kernel at once, if everything is plain; False if nothing was done."""
    if x.__class__ is not Tensor:
        return False
    d, v, place = x._data, x._ver, x._place
    if d.dtype not in FLOATS or 0 in d.strides or v is UNTRACKED or (mode.on and sync_rg(x)):
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
    token = hush()
    try:
        d[...] = rule.kernels[place.kind](*arrays, *consts)
    finally:
        speak(token)
    version(x).n += 1
    if hear.write is not None:
        hear.write(x, rule)
    return True


def general(fn: Callable, name: str) -> Callable:
    """The in-place twin of any public function whose first argument is `input`."""

    def call(input, *args, **kwargs):
        return replace(input, fn, args, kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def _named(fn: Any, rule: Any) -> Any:
    fn.__name__ = fn.__qualname__ = rule.name + "_"
    return fn
