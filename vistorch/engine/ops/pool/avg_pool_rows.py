"""The rows of average pooling, with regular and with adaptive windows.

Invariant: sums run one dim at a time; what they are divided by is one number where all windows are alike, else an
array of the size of the last dims.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...core.op_factory import op
from .windows import BLOCK, Dim, adaptive, adaptive_back, bounds, dims_of, fold, folds, in_blocks, spread


def _total(xp: Any, a: Any, dims: list[Dim]) -> Any:
    """The sum over each window."""
    if xp is np and a.size > 4 * BLOCK and a.flags.c_contiguous:
        return in_blocks(_sum, dims, (*a.shape[: a.ndim - len(dims)], *[dim.outputs for dim in dims]), a)
    return _sum(xp, a, dims)


def _sum(xp: Any, a: Any, dims: list[Dim]) -> Any:
    out = folds(xp, xp.add, a, dims, 0)[-1]
    return a.copy() if out is a else out


def _product(lengths: list) -> Any:
    """The sizes of windows from those along each dim: a number if they are all the same."""
    if all(one.size and one.min() == one.max() for one in lengths):
        return int(np.prod([one[0] for one in lengths]))
    out = lengths[0]
    for one in lengths[1:]:
        out = out[..., None] * one
    return out


@lru_cache(4096)
def _sizes(sizes: tuple, windows: tuple, include: bool) -> Any:
    """How many elements each window has, padding included or not."""
    lengths = []
    for n, (size, stride, padding, _, outputs) in zip(sizes, windows, strict=True):
        start = np.arange(outputs) * stride - padding
        end = np.minimum(start + size, n + padding)
        if not include:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        lengths.append(np.maximum(end - start, 1))
    return _product(lengths)


@lru_cache(4096)
def _adaptive_sizes(sizes: tuple, outputs: tuple) -> Any:
    pairs = [bounds(n, o) for n, o in zip(sizes, outputs, strict=True)]
    return _product([end - start for start, end in pairs])


def _divided(xp: Any, a: Any, by: Any) -> Any:
    """`a / by`; integers are cut off towards zero."""
    if a.dtype.kind in "iu":
        by = xp.asarray(by)
        return xp.sign(a) * xp.sign(by) * (xp.abs(a) // xp.abs(by))
    return a / (by if isinstance(by, int) else xp.asarray(by, a.dtype))


def _divisor(shape: tuple, windows: tuple, include: bool, override: int | None) -> Any:
    return override if override is not None else _sizes(shape[len(shape) - len(windows) :], windows, include)


def _avg(xp, input, windows, include, override):
    by = _divisor(input.shape, windows, include, override)
    return _divided(xp, _total(xp, input, dims_of(input.shape, windows)), by)


def _avg_backward(xp, g, shape, windows, include, override):
    g = _divided(xp, g, _divisor(shape, windows, include, override))
    inner, dims = shape[len(shape) - len(windows) :], dims_of(shape, windows)

    def run(xp, g, dims):
        for axis, (n, dim) in enumerate(zip(inner, dims, strict=True), g.ndim - len(dims)):
            g = spread(xp, g, axis, n, dim)
        return g

    return in_blocks(run, dims, shape, g) if xp is np and prod(shape) > 4 * BLOCK else run(xp, g, dims)


def _adaptive_avg(xp, input, outputs):
    sizes = input.shape[input.ndim - len(outputs) :]
    dims = [adaptive(n, o) for n, o in zip(sizes, outputs, strict=True)]
    out = _total(xp, input, dims)
    return _divided(xp, out, _adaptive_sizes(sizes, outputs)) if out.size else out


def _adaptive_avg_backward(xp, g, shape, outputs):
    lead = len(shape) - len(outputs)
    g = _divided(xp, g, _adaptive_sizes(shape[lead:], outputs))
    for i, o in enumerate(outputs):
        n = shape[lead + i]
        if o and n % o == 0:
            g = spread(xp, g, lead + i, n, adaptive(n, o))
        else:
            g = fold(xp, xp.add, g, lead + i, adaptive_back(n, o), 0)
    return g


def _avg_rows(d: int) -> Any:
    name = f"avg_pool{d}d"
    row = op(
        name,
        _avg,
        name_in_graph=f"AvgPool{d}DBackward0",
        formula=r"\bar x_i = \textstyle\sum_{w \ni i} \bar y_w / n_w",
        input=lambda F, g, input_shape, windows, include, override: getattr(F, name + "_backward")(
            g, input_shape, windows, include, override
        ),
    )
    op(
        name + "_backward",
        _avg_backward,
        name_in_graph=f"AvgPool{d}DBackwardBackward0",
        formula=r"\bar x_w = \textstyle\sum_{i \in w} \bar y_i / n_w",
        g=lambda F, g, windows, include, override: getattr(F, name)(g, windows, include, override),
    )
    return row


def _adaptive_rows(d: int) -> Any:
    name = f"adaptive_avg_pool{d}d"
    row = op(
        name,
        _adaptive_avg,
        name_in_graph=f"AdaptiveAvgPool{d}DBackward0",
        formula=r"\bar x_i = \textstyle\sum_{w \ni i} \bar y_w / n_w",
        input=lambda F, g, input_shape, outputs: getattr(F, name + "_backward")(g, input_shape, outputs),
    )
    op(
        name + "_backward",
        _adaptive_avg_backward,
        name_in_graph=f"AdaptiveAvgPool{d}DBackwardBackward0",
        formula=r"\bar x_w = \textstyle\sum_{i \in w} \bar y_i / n_w",
        g=lambda F, g, outputs: getattr(F, name)(g, outputs),
    )
    return row


AVG = {d: _avg_rows(d) for d in (2, 3)}
ADAPTIVE_AVG = {d: _adaptive_rows(d) for d in (2, 3)}
