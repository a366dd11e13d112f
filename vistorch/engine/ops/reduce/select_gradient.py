"""Where a gradient goes when some elements were chosen: to an index, or shared among equals.

Invariant: `put_at` adds, so an index that names one place twice loses nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op
from .frame import back, kept


def _along(xp, input, index, dim):
    if input.ndim == 0:
        return input.reshape(index.shape)
    return xp.take_along_axis(input, index, axis=dim)


def _put(xp, input, index, dim, shape):
    """Zeros of a shape, with values added where the index points along an axis."""
    out = xp.zeros(shape, input.dtype)
    if not shape:
        return out + input.reshape(()) if input.size else out
    if input.size == 0:
        return out
    if index.shape[dim] == 1:
        xp.put_along_axis(out, index, input, axis=dim)
        return out
    where = list(xp.ogrid[tuple([slice(n) for n in index.shape])])
    where[dim] = index
    xp.add.at(out, tuple(where), input)
    return out


take_at = op(
    "take_at",
    _along,
    inputs="input index",
    widen=False,
    name_in_graph="GatherBackward0",
    formula=r"\bar x_{i_k} = \bar y_k",
    input=lambda F, g, index, dim, input_shape: F.put_at(g, index, dim, input_shape),
)
put_at = op(
    "put_at",
    _put,
    inputs="input index",
    name_in_graph="ValueSelectingReductionBackward0",
    formula=r"\bar x_k = \bar y_{i_k}",
    input=lambda F, g, index, dim: F.take_at(g, index, dim),
)


def selected(F: Any, g: Any, index: Any, dim: int, shape: tuple) -> Any:
    """The gradient of a value chosen by an index: all of it goes there."""
    if not shape:
        return g
    return F.put_at(back(F, g, dim, shape), back(F, index, dim, shape), dim, shape)


def _share(xp, input, out, dims, nans):
    """How the gradient of an extreme value is shared among those equal to it."""
    if xp is np and input.dtype.kind == "f" and 0 < input.ndim == len(dims):
        mask = input == out  # one number against all, whether its dims were kept or not
        n = np.count_nonzero(mask)
        if n:  # none: it is nan
            part = mask.astype(input.dtype)
            return part if n == 1 else part / input.dtype.type(n)
    if input.ndim:
        out = xp.asarray(out).reshape(kept(input.shape, dims))
    mask = input == out
    if nans and input.dtype.kind != "c":
        mask |= (input != input) & (out != out)
    kind = input.dtype if input.dtype.kind in "fc" else xp.dtype("f4")
    return mask.astype(kind) / mask.sum(dims if input.ndim else None, keepdims=True).astype(kind)


share = op("tie_share", _share, inputs="input out")
