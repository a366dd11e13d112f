"""`out=`: put a finished result where the user wants it, after every check, so that a refusal changes nothing."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np

from ..base import dtypes, errors
from ..base.events import listeners
from ..base.modes import mode
from ..kernels.strides import extent, owner, start
from .graph import version
from .tensor import Tensor
from .views import aliased, overlaps, shares


def resize(out: Tensor, like: Any) -> None:
    """Give `out` the sizes of an array within its storage; `ops/shape/writes.py`, which stands above, says how."""
    raise NotImplementedError


def refuse_grad(name: str, tensors: tuple) -> None:
    """`out=` is not differentiable: refuse operands that require grad."""
    if mode.on:
        for t in tensors:
            if isinstance(t, Tensor) and t.requires_grad:
                raise RuntimeError(
                    f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                    "the arguments requires grad."
                )


def check_out(name: str, out: Any, operands: tuple = (), overwrites: bool = False) -> None:
    """Refuse an `out` that is no Tensor, or operands whose gradient would be lost.

    `overwrites`: the op has no gradient, and PyTorch lets it overwrite a leaf.
    """
    if not isinstance(out, Tensor):
        raise TypeError(
            f"{name.removeprefix('aten::')}(): argument 'out' must be Tensor, not {type(out).__name__}"
        )
    refuse_grad(name, operands if overwrites and out.is_leaf else (*operands, out))


def refuse_overlap(out: Tensor, operands: tuple) -> None:
    """Refuse an `out` that lies in part of an operand's memory; the very same elements are fine."""
    for t in operands:
        if isinstance(t, Tensor) and overlaps(out, t):
            raise RuntimeError(errors.WRITE_OVERLAP)


def refuse_shared(out: Tensor, operands: tuple) -> None:
    """Refuse an `out` that shares memory with an operand, be it element for element."""
    for t in operands:
        if isinstance(t, Tensor) and shares(out, t):
            raise RuntimeError(errors.WRITE_OVERLAP)


def refuse_grown(out: Tensor, shape: tuple, operands: tuple) -> None:
    """Refuse an `out` that takes memory of an operand when it gets its sizes."""
    d = out._data
    if d.shape == shape or out._place.kind:
        return
    first = start(d)
    last = first + prod(shape) * d.itemsize
    for t in operands:
        a = t._data
        if a.size and owner(a) is owner(d) and start(a) < last and first < start(a) + extent_of(a):
            raise RuntimeError(errors.WRITE_OVERLAP)


def extent_of(a: Any) -> int:
    """How many bytes lie between the beginning of the first element of an array and the end of its last."""
    return extent(a.shape, a.strides) + a.itemsize


def outgrown(shape: tuple, result: tuple) -> str:
    """The sentence for a result that is larger than what it is written to."""
    return f"output with shape {errors.sizes(shape)} doesn't match the broadcast shape {errors.sizes(result)}"


def check_memory(out: Tensor, operands: tuple) -> None:
    """What a pointwise op asks of `out` before it looks at types: memory that may be written, and an operand's shape.

    An `out` that is an operand itself is never resized.
    """
    if aliased(out._data):
        raise RuntimeError(errors.WRITE_ALIASED)
    refuse_overlap(out, operands)
    if any(t is out for t in operands):
        try:
            shape = np.broadcast_shapes(*[t._data.shape for t in operands if isinstance(t, Tensor)])
        except ValueError:
            return  # the op itself says what does not fit
        if shape != out._data.shape:
            raise RuntimeError(outgrown(out._data.shape, shape))


def check_outs(name: str, out: Any, operands: tuple = (), count: int = 2) -> None:
    """As `check_out`, where `out` must be a tuple of so many Tensors."""
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    for at, o in enumerate(out):
        if not isinstance(o, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 'out', but got {type(o).__name__}")
    if len(out) != count:
        raise TypeError(f"{name}() expected {count} tensors in out, got {len(out)}")
    refuse_grad(name, (*operands, *out))


def check_cast(given: Any, target: Any) -> None:
    """Refuse a result type that `out` or `self` cannot hold."""
    if given != target:
        dtypes.check_cast(given, target)


def put(out: Tensor, d: Any) -> None:
    """Write an array into an `out` of another shape, which takes this one in its own storage."""
    before = version(out).n
    resize(out, d)
    version(out).n = before
    out._data[...] = d


def deliver(out: Tensor, result: Tensor) -> Tensor:
    """Write `result` into `out`, resizing as PyTorch does (with its warning), and return `out`."""
    d, r = out._data, result._data
    check_cast(r.dtype, d.dtype)
    if result._place is not out._place:
        raise RuntimeError(errors.devices(result._place, out._place))
    if d.shape != r.shape:
        if d.size:
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {errors.sizes(d.shape)}, which "
                f"does not match the required output shape {errors.sizes(r.shape)}. This behavior is deprecated, and "
                "in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                UserWarning,
                stacklevel=3,
            )
        put(out, r)
    else:
        if aliased(d):
            raise RuntimeError(errors.WRITE_ALIASED)
        if (emit := listeners.overwrite) is not None:
            emit(out)
        d[...] = r
    version(out).n += 1
    if (emit := listeners.write) is not None:
        emit(out, None)
    return out
