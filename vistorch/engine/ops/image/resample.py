"""Rows that resize: a sparse matrix along each of the last axes.

Along a short axis the matrix is multiplied as a dense one, which costs less than reading elements one by one; but zero
times infinity is nan, so only where all elements are finite. Invariant: a row is linear, and its gradient is the same
kernel with the matrices turned around.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.op_factory import op
from .resize_weights import Taps

SHORT = 256  # an axis this long is read tap by tap


def _axis(xp: Any, x: Any, axis: int, t: Taps, dense: bool) -> Any:
    """One axis resized."""
    shape = x.shape
    lead, size, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    new = (*shape[:axis], t.out, *shape[axis + 1 :])
    if t.repeats:
        x, out = x.reshape(lead, size, inner), xp.empty((lead, size, t.repeats, inner), x.dtype)
        for i in range(t.repeats):
            out[:, :, i] = x
        return out.reshape(new)
    if t.sums:
        x = x.reshape(lead, t.out, t.sums, inner)
        out = x[:, :, 0].copy()
        for i in range(1, t.sums):
            out += x[:, :, i]
        return out.reshape(new)
    if t.weight is None:
        return xp.take(x, xp.asarray(t.index[:, 0]), axis)
    if dense and size <= SHORT:
        matrix = t.matrix(x.dtype)
        if inner == 1:
            return (x.reshape(lead, size) @ matrix.T).reshape(new)
        return np.matmul(matrix, x.reshape(lead, size, inner)).reshape(new)
    x = x.reshape(lead, size, inner)
    out = xp.zeros((lead, t.out, inner), x.dtype)
    for i in range(t.index.shape[1]):
        part = xp.take(x, xp.asarray(t.index[:, i]), 1)
        weight = xp.asarray(t.weight[:, i].astype(x.dtype))[:, None]
        part *= weight
        # a tap that does not exist reads something nevertheless, which may be infinite
        out += part if t.weight[:, i].all() else xp.where(weight != 0, part, weight)
    return out.reshape(new)


def _bytes(xp: Any, x: Any, axes: tuple) -> Any:
    """Bytes resized with weights of 16 bits, rounded after each axis, the rows first."""
    for axis, t in ((x.ndim - 1, axes[1]), (x.ndim - 2, axes[0])):
        if t.same:
            continue
        weight, bits = t.short
        out: Any = 1 << (bits - 1)
        for i in range(t.index.shape[1]):
            part = xp.take(x, xp.asarray(t.index[:, i]), axis).astype(np.int64)
            out = out + part * xp.asarray(weight[:, i]).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        x = xp.clip(out >> bits, 0, 255).astype(np.uint8)
    return x if x.base is None else xp.array(x)


def _resample(xp: Any, input: Any, axes: tuple) -> Any:
    first = input.ndim - len(axes)
    x = xp.ascontiguousarray(input)
    pairs = [(first + i, t) for i, t in enumerate(axes)]
    smaller = [p for p in pairs if p[1].out < p[1].size]
    # first what makes smaller, the memory's fastest axis before the others; then what makes larger, the other way
    order = [*reversed(smaller), *(p for p in pairs if p[1].out >= p[1].size)]
    if all(t.repeats for t in axes):
        order.reverse()  # copying whole rows is faster than copying elements
    blend = any(t.weight is not None and not t.sums and not t.same for t in axes)
    if blend and x.dtype == np.uint8 and len(axes) == 2:
        return _bytes(xp, x, axes)
    whole = x.dtype.kind in "iub" and blend
    if whole:
        x = x.astype(np.float32)
    dense = blend and xp is np and bool(np.isfinite(x.sum()))
    for axis, t in order:
        if not t.same:
            x = _axis(xp, x, axis, t, dense)
    if whole:
        x = xp.clip(xp.floor(x + np.float32(0.5)), 0, 255).astype(input.dtype)
    return xp.array(x) if x is input else x


def _back(F: Any, g: Any, axes: tuple) -> Any:
    return F.resample(g, tuple([t.turned for t in axes]))


def _row(name: str, name_in_graph: str) -> Any:
    return op(
        name,
        _resample,
        inputs="input",
        name_in_graph=name_in_graph,
        formula=r"\bar x = W^T \bar y",
        input=_back,
    )


resample = _row("resample", "UpsampleBackwardBackward0")
ROWS = {
    (how, n): _row(f"upsample_{name.lower()}", f"Upsample{name}Backward0")
    for how, n, name in (
        ("nearest", 1, "Nearest1D"),
        ("nearest", 2, "Nearest2D"),
        ("nearest", 3, "Nearest3D"),
        ("nearest-exact", 1, "NearestExact1D"),
        ("nearest-exact", 2, "NearestExact2D"),
        ("nearest-exact", 3, "NearestExact3D"),
        ("linear", 1, "Linear1D"),
        ("linear", 2, "Bilinear2D"),
        ("linear", 3, "Trilinear3D"),
        ("cubic", 2, "Bicubic2D"),
        ("linear smooth", 2, "Bilinear2DAa"),
        ("cubic smooth", 2, "Bicubic2DAa"),
        ("lanczos smooth", 2, "Lanczos2DAa"),
    )
}
