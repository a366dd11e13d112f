"""Layer, RMS, group and batch normalisation on a device, with their gradients.

Invariant: results and what they say of themselves (means, inverse deviations) have the plain kernels' shapes and types.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import launch

Kernel = Any
STRIP = 64  # rows that one thread adds up for a column
FULL = 264  # blocks that keep a large device busy


def _wide(dtype: Any) -> Any:
    return np.dtype("f8" if dtype.itemsize == 8 else "f4")


def _there(w: Any) -> Any:
    """A weight, or None: a row gets an array without elements for one that is not there."""
    return w if w.shape != (0,) else None


def _ready(xp: Any, x: Any, *weights: Any) -> tuple | None:
    """The input and its weights as the kernels take them; a weight that is missing is 0. None: not for us."""
    if not x.size or not launch.known(x):
        return None
    found: list = [xp.ascontiguousarray(x)]
    for w in weights:
        w = _there(w)
        if w is None:
            found.append(0)
        else:
            found.append(xp.ascontiguousarray(w.astype(x.dtype, copy=False)).reshape(-1))
    return tuple(found)


def _normalise(xp: Any, ready: tuple, sizes: tuple, eps: float, centred: bool) -> tuple:
    """The result, means and inverse deviations of rows; `sizes`: rows, n, groups, members, inner."""
    x, weight, bias = ready
    rows, n = sizes[:2]
    wide = _wide(x.dtype)
    out = xp.empty(x.shape, x.dtype)
    mean, inverse = (xp.empty(rows, wide) if centred else 0), xp.empty(rows, wide)
    args = (x, weight, bias, out, mean, inverse, *sizes, float(eps), int(centred))
    launch.launch("norms", "normalise_rows", x.dtype, launch.rows(rows), launch.threads(n), args)
    return out, mean, inverse


def _of_rows(
    xp: Any, g: Any, x: Any, weight: Any, mean: Any, inverse: Any, sizes: tuple, centred: bool
) -> Any:
    """The gradient of the input; `sizes` as above."""
    rows, n = sizes[:2]
    out = xp.empty(x.shape, x.dtype)
    args = (g, x, weight, mean, inverse, out, *sizes, int(centred))
    launch.launch("norms", "rows_gradient", x.dtype, launch.rows(rows), launch.threads(n), args)
    return out


def _columns(xp, g, x, mean, inverse, rows, n, centred):
    parts = max(1, min(-(-rows // STRIP), 1024))
    along, total = [xp.empty((parts, n), _wide(x.dtype)) for _ in range(2)]
    args = (g, x, mean, inverse, along, total, rows, n, parts, int(centred))
    launch.launch("norms", "column_sums", x.dtype, launch.each(parts * n), launch.BLOCK, args)
    return along.sum(0), total.sum(0)


def _planes(xp, g, x, mean, inverse, planes, inner, members, rows):
    along, total = [xp.empty(planes, _wide(x.dtype)) for _ in range(2)]
    args = (g, x, mean, inverse, along, total, planes, inner, members, rows)
    launch.launch("norms", "plane_sums", x.dtype, launch.rows(planes), launch.threads(inner), args)
    return along, total


def _sizes(x: Any, count: int) -> tuple[int, int]:
    return prod(x.shape[: x.ndim - count]), prod(x.shape[x.ndim - count :])


# ---- layer and RMS -------------------------------------------------------------------------------------------------
def layer_norm(plain: Kernel, xp: Any) -> Kernel:
    """`native_layer_norm`: the result, means and inverse deviations."""

    def kernel(input: Any, weight: Any, bias: Any, count: int, eps: float) -> tuple:
        ready = _ready(xp, input, weight, bias)
        if ready is None:
            return plain(input, weight, bias, count, eps)
        rows, n = _sizes(input, count)
        return _normalise(xp, ready, (rows, n, 1, n, 1), eps, True)

    return kernel


def rms_norm(plain: Kernel, xp: Any) -> Kernel:
    """`rms_norm`: the result and inverse deviations."""

    def kernel(input: Any, weight: Any, count: int, eps: float) -> tuple:
        ready = _ready(xp, input, weight)
        if ready is None:
            return plain(input, weight, count, eps)
        rows, n = _sizes(input, count)
        out, _, inverse = _normalise(xp, (*ready, 0), (rows, n, 1, n, 1), eps, False)
        return out, inverse

    return kernel


def _layer_gradients(xp, g, wants, ready, mean, inverse, shapes, count, centred):
    x, weight = ready
    rows, n = _sizes(x, count)
    g = xp.ascontiguousarray(g)
    grads: list = [None] * len(wants)
    if wants[0]:
        grads[0] = _of_rows(xp, g, x, weight, mean, inverse, (rows, n, 1, n, 1), centred)
    if any(wants[1:]):
        sums = _columns(xp, g, x, mean, inverse, rows, n, centred)
        for i, (wanted, total) in enumerate(zip(wants[1:], sums, strict=False), 1):
            if wanted:
                grads[i] = total.astype(g.dtype, copy=False).reshape(shapes[i - 1])
    return grads


def layer_gradients(plain: Any) -> Any:
    """All gradients of `native_layer_norm`."""

    def together(xp, g, wants, input, weight, out1, out2, weight_shape, bias_shape, count):
        ready = _ready(xp, input, weight) if g.dtype == input.dtype else None
        if ready is None:
            return plain(xp, g, wants, input, weight, out1, out2, weight_shape, bias_shape, count)
        return _layer_gradients(xp, g, wants, ready, out1, out2, (weight_shape, bias_shape), count, True)

    return together


def rms_gradients(plain: Any) -> Any:
    """All gradients of `rms_norm`."""

    def together(xp, g, wants, input, weight, out1, weight_shape, count):
        ready = _ready(xp, input, weight) if g.dtype == input.dtype else None
        if ready is None:
            return plain(xp, g, wants, input, weight, out1, weight_shape, count)
        return _layer_gradients(xp, g, wants, ready, 0, out1, (weight_shape,), count, False)

    return together


# ---- groups --------------------------------------------------------------------------------------------------------
def _groups(x: Any, groups: int) -> tuple:
    """(rows, n, groups, members, inner)."""
    members, inner = x.shape[1] // groups, prod(x.shape[2:])
    return x.shape[0] * groups, members * inner, groups, members, inner


def group_norm(plain: Kernel, xp: Any) -> Kernel:
    """`group_norm`: the result, and a mean and an inverse deviation for each group of each sample."""

    def kernel(input: Any, weight: Any, bias: Any, groups: int, eps: float) -> tuple:
        ready = _ready(xp, input, weight, bias)
        if ready is None:
            return plain(input, weight, bias, groups, eps)
        out, mean, inverse = _normalise(xp, ready, _groups(input, groups), eps, True)
        shape = (input.shape[0], groups)
        return out, mean.reshape(shape), inverse.reshape(shape)

    return kernel


def group_gradients(plain: Any) -> Any:
    """All gradients of `group_norm`."""

    def together(xp, g, wants, input, weight, out1, out2, groups):
        ready = _ready(xp, input, weight) if g.dtype == input.dtype else None
        if ready is None:
            return plain(xp, g, wants, input, weight, out1, out2, groups)
        x, w = ready
        g, grads = xp.ascontiguousarray(g), [None] * 3
        rows, _, _, members, inner = _groups(x, groups)
        mean, inverse = xp.ascontiguousarray(out1), xp.ascontiguousarray(out2)
        if wants[0]:
            grads[0] = _of_rows(xp, g, x, w, mean, inverse, _groups(x, groups), True)
        if wants[1] or wants[2]:
            planes = x.shape[0] * x.shape[1]
            sums = _planes(xp, g, x, mean, inverse, planes, inner, members, rows)
            for i, total in enumerate(sums, 1):
                if wants[i]:
                    grads[i] = total.reshape(x.shape[:2]).sum(0).astype(g.dtype, copy=False)
        return grads

    return together


# ---- channels ------------------------------------------------------------------------------------------------------
def _moments(xp: Any, x: Any, eps: float) -> tuple:
    batch, channels, inner = x.shape[0], x.shape[1], prod(x.shape[2:])
    wide = _wide(x.dtype)
    parts = max(1, min(batch, -(-FULL // channels)))
    part_mean, square = [xp.empty(channels * parts, wide) for _ in range(2)]
    sizes = batch, channels, inner, parts
    block = launch.threads(-(-batch // parts) * inner)
    args = (x, part_mean, square, *sizes)
    launch.launch("norms", "channel_moments", x.dtype, channels * parts, block, args)
    mean, inverse, var = xp.empty(channels, wide), xp.empty(channels, wide), xp.empty(channels, np.float64)
    args = (part_mean, square, mean, inverse, var, *sizes, float(eps))
    launch.launch("norms", "channel_join", x.dtype, launch.each(channels), launch.BLOCK, args)
    return mean, inverse, var


def batch_norm(plain: Kernel, xp: Any) -> Kernel:
    """`native_batch_norm`: the result, means, inverse deviations and variances of the channels."""

    def kernel(input, weight, bias, running_mean, running_var, training, eps):
        ready = _ready(xp, input, weight, bias)
        if ready is None:
            return plain(input, weight, bias, running_mean, running_var, training, eps)
        x, w, b = ready
        wide = _wide(x.dtype)
        if training:
            mean, inverse, var = _moments(xp, x, eps)
        else:
            var = running_var.astype(np.float64)
            mean, inverse = running_mean.astype(wide), (1 / xp.sqrt(var + eps)).astype(wide)
        out = xp.empty(x.shape, x.dtype)
        args = (x, w, b, mean, inverse, out, x.size, x.shape[1], prod(x.shape[2:]))
        launch.launch("norms", "channel_apply", x.dtype, launch.each(x.size), launch.BLOCK, args)
        return out, mean, inverse, var

    return kernel


def batch_gradients(plain: Any) -> Any:
    """All gradients of `native_batch_norm`."""

    def together(xp, g, wants, input, weight, out1, out2, training):
        ready = _ready(xp, input, weight) if g.dtype == input.dtype else None
        if ready is None:
            return plain(xp, g, wants, input, weight, out1, out2, training)
        x, w = ready
        g = xp.ascontiguousarray(g)
        batch, channels, inner = x.shape[0], x.shape[1], prod(x.shape[2:])
        grads: list = [None] * 5
        along: Any = 0
        total: Any = 0
        if (training and wants[0]) or wants[1] or wants[2]:
            sums = _planes(xp, g, x, out1, out2, batch * channels, inner, 1, channels)
            along, total = [s.reshape(batch, channels).sum(0) for s in sums]
            for i, found in ((1, along), (2, total)):
                if wants[i]:
                    grads[i] = found.astype(g.dtype, copy=False)
        if wants[0]:
            grads[0] = xp.empty(x.shape, g.dtype)
            n = batch * inner if training else 0
            args = (g, x, w, out1, out2, along, total, grads[0], x.size, channels, inner, n)
            launch.launch("norms", "channel_gradient", x.dtype, launch.each(x.size), launch.BLOCK, args)
        return grads

    return together
