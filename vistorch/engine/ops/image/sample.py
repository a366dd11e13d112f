"""Sampling an input where a grid points to.

Invariant: what lies outside is one more element, number `prod(sizes)`, that is zero.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base import dims, errors
from ...base.casting import casting
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import threads
from ...kernels.row_sums import added_rows
from ..index.add_at import add_at
from ..linalg import checks
from . import grid_positions


def _flat(xp: Any, index: Any, size: int) -> Any:
    """Element numbers within all samples, laid one after the other."""
    first = xp.arange(index.shape[0]) * (size + 1)
    return index + first.reshape(-1, *([1] * (index.ndim - 1)))


def _spread(xp: Any, x: Any) -> Any:
    """(N, C, ...) as rows of C: N times the elements and one zero."""
    n, c = x.shape[:2]
    size = prod(x.shape[2:])
    rows = xp.zeros((n, size + 1, c), x.dtype)
    rows[:, :size] = x.reshape(n, c, size).swapaxes(1, 2)
    return rows.reshape(n * (size + 1), c)


def _points(xp, input, index):
    return xp.take(_spread(xp, input), _flat(xp, index, prod(input.shape[2:])), 0)


def _points_back(xp, g, index, shape):
    n, c, *sizes = shape
    size = prod(sizes)
    flat, g = _flat(xp, index, size).reshape(-1), g.reshape(index.size, c)
    count = n * (size + 1)
    if xp is np:
        rows = added_rows(flat, g, count)
    else:
        rows = xp.zeros((count, c), g.dtype)
        if g.size:
            add_at(xp, rows, flat, g)
    out = rows.reshape(n, size + 1, c)[:, :size].swapaxes(1, 2)
    return xp.ascontiguousarray(out).reshape(shape)


def _sample(xp, input, grid, mode, padding, align):
    n, c, *sizes = input.shape
    shape = grid.shape[1:-1]
    size, turned = prod(sizes), tuple(sizes[::-1])
    points = grid.reshape(n, prod(shape), len(sizes))
    if xp is np and c <= _FEW and points.size:
        out, read = _by_channel(input, points, turned, mode, padding, align)
        return out.reshape(n, c, *shape), read
    read, weight = _taps(xp, points, turned, mode, padding, align)
    index = _flat(xp, read, size)
    rows = _spread(xp, input)
    out = xp.zeros((n, prod(shape), c), input.dtype)
    for k in range(index.shape[-1]):
        part = xp.take(rows, index[..., k], 0)
        part *= weight[..., k, None]
        out += part
    return xp.ascontiguousarray(out.swapaxes(1, 2)).reshape(n, c, *shape), read


def _taps(xp, points, turned, mode, padding, align, into=None):
    """Which elements (N, P, K) are read for each point, kept in `into` (K, N, P), and with what weights."""
    at = grid_positions._place(xp, points, turned, mode, padding, align)
    read = grid_positions._index(xp, at, turned, mode, padding, align, into)
    return read, grid_positions._weights(xp, at, mode, (0,) * len(turned))


_FEW = 32  # channels, up to which each is read by itself rather than all of one place together
_POINTS = 1 << 14  # points that are sampled at a time: what is made of them stays in the cache
_READ, _PLACED = 1.2, 25.0  # nanoseconds for each number that is read, and for each point


def _by_channel(input, points, turned, mode, padding, align):
    """(N, C, P) of an input (N, C, ...) at points (N, P, D), and the elements (N, P, K) that were read."""
    n, c = input.shape[:2]
    size, count = prod(turned), points.shape[1]
    padded = np.empty((n, c, size + 1), input.dtype)
    padded[:, :, :size] = input.reshape(n, c, size)
    padded[:, :, size] = 0
    out = np.empty((n, c, count), input.dtype)
    taps = grid_positions.taps(mode) ** len(turned)
    read = np.empty((taps, n, count), np.int64)
    samples, parts = max(_POINTS // count, 1), -(-count // _POINTS)

    def some(start: int, stop: int, here: slice) -> None:
        into = read[:, start:stop, here]
        index, weight = _taps(np, points[start:stop, here], turned, mode, padding, align, into)
        for i in range(start, stop):
            _read(padded[i], index[i - start], weight[i - start], out[i, :, here])

    def blocks(start: int, stop: int) -> None:
        if parts == 1:
            for at in range(start, stop, samples):
                some(at, min(at + samples, stop), slice(None))
            return
        for block in range(start, stop):
            i, part = divmod(block, parts)
            some(i, i + 1, slice(part * _POINTS, (part + 1) * _POINTS))

    # two threads: with more, calls this short spend their time waiting for the interpreter's lock
    work = n * count * (_PLACED + taps * c * _READ)
    threads.split(blocks, n * parts, work, samples if parts == 1 else 1, 2)
    return out, np.moveaxis(read, 0, -1)


def _read(padded, index, weight, out):
    """Write to `out`, (C, P), the weighted sums of the elements (P, K) of each channel."""
    total = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    padded.take(index[:, 0], 1, out=total, mode="clip")
    total *= weight[:, 0]
    total += out.dtype.type(0)  # of -0 makes 0, as a sum that begins with 0 does
    part = np.empty_like(total) if index.shape[1] > 1 else total
    for k in range(1, index.shape[1]):
        padded.take(index[:, k], 1, out=part, mode="clip")
        part *= weight[:, k]
        total += part
    if total is not out:
        out[...] = total


def _parts(F: Any, g: Any, grid: Any, shape: tuple, mode: int, padding: int, align: bool) -> tuple:
    """The gradient as (N, P, 1, C), places (N, P, D), and no derivative along any dim."""
    n, c, *sizes = shape
    count, turned = prod(grid.shape[1:-1]), tuple(sizes[::-1])
    g = F.unsqueeze(F.transpose(F.reshape(g, (n, c, count)), 1, 2), 2)
    at = F.grid_place(F.reshape(grid, (n, count, len(sizes))), turned, mode, padding, align)
    return g, at, (0,) * len(sizes)


def _input_vjp(
    F: Any, g: Any, grid: Any, input_shape: Any, out1: Any, mode: int, padding: int, align: bool
) -> Any:
    shape = tuple(input_shape)
    g, at, orders = _parts(F, g, grid, shape, mode, padding, align)
    return F.points_back(g * F.unsqueeze(F.grid_weights(at, mode, orders), 3), out1, shape)


def _grid_vjp(F: Any, g: Any, input: Any, grid: Any, out1: Any, mode: int, padding: int, align: bool) -> Any:
    shape = tuple(input.shape)
    g, at, orders = _parts(F, g, grid, shape, mode, padding, align)
    read = tuple(out1.shape)
    score = F.reshape(F.sum_to(g * F.points(input, out1), (*read, 1)), read)
    out = F.reshape(grid_positions._of_place(F, score, at, mode, orders), tuple(grid.shape))
    return out * F.grid_slope(grid, shape[:1:-1], mode, padding, align)


op(
    "points",
    _points,
    inputs="input index",
    name_in_graph="TakeBackward0",
    formula=r"\bar x_i = \sum_{k: i_k = i} \bar y_k",
    input=lambda F, g, input_shape, index: F.points_back(g, index, tuple(input_shape)),
)
op(
    "points_back",
    _points_back,
    inputs="g index",
    name_in_graph="PutBackward0",
    formula={"g": r"\bar x_k = \bar y_{i_k}"},
    g=lambda F, g_, index: F.points(g_, index),
)
_ROWS = {
    n: op(
        f"grid_sample_{n}d",
        _sample,
        inputs="input grid",
        name_in_graph=f"GridSampler{n}DBackward0",
        formula={
            "input": r"\bar x_i = \sum_{p, k: i_{pk} = i} w_{pk}\, \bar z_p",
            "grid": r"\bar y_p = \sum_k \langle \bar z_p, x_{i_{pk}} \rangle\, \partial w_{pk}",
        },
        input=_input_vjp,
        grid=_grid_vjp,
    )
    for n in (2, 3)
}


@public(method=False)
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """Sample an input where a grid points to; `nn.functional.grid_sample` takes names for the modes.

    Args:
        input: (N, C, H, W) or (N, C, D, H, W).
        grid: (N, H', W', 2) or (N, D', H', W', 3): where to look, from -1 to 1, the fastest dim first.
        interpolation_mode: 0 for (bi)linear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros outside, 1 for the border's values, 2 for reflection.
        align_corners: whether -1 and 1 are the centres of the outermost elements, not their outer edges.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(4.).view(1, 1, 2, 2)
        >>> vistorch.grid_sampler(x, vistorch.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.5000]]]])
    """
    if casting.on and (recast := casting.ask(grid_sampler, locals())):
        return recast[0]
    return _sampled("grid_sampler", input, grid, interpolation_mode, padding_mode, align_corners)


def _sampled(name: str, input: Any, grid: Any, mode: Any, padding: Any, align: Any) -> Tensor:
    checks.tensors(name, input=input, grid=grid)
    mode = dims.whole(mode, name, "interpolation_mode", 3)
    padding = dims.whole(padding, name, "padding_mode", 4)
    align = dims.flag(align, name, "align_corners", 5)
    _check(input, grid, mode)
    return _ROWS[input._data.ndim - 2](input, grid, mode if mode in (1, 2) else 0, padding, align)[0]


def _of_dims(n: int) -> Any:
    def sampler(input, grid, interpolation_mode, padding_mode, align_corners):
        if casting.on and (recast := casting.ask(sampler, locals())):
            return recast[0]
        return _sampled(name, input, grid, interpolation_mode, padding_mode, align_corners)

    name = sampler.__name__ = sampler.__qualname__ = f"grid_sampler_{n}d"
    sampler.__doc__ = f"""`grid_sampler` of an input with {n} spatial dims.

    Args:
        input: what is sampled.
        grid: where.
        interpolation_mode: see `grid_sampler`.
        padding_mode: see `grid_sampler`.
        align_corners: see `grid_sampler`.

    Example:
        >>> import vistorch
        >>> x, grid = vistorch.ones({", ".join("11" + "2" * n)}), vistorch.zeros(1, {", ".join("1" * n)}, {n})
        >>> vistorch.grid_sampler_{n}d(x, grid, 0, 0, False).flatten()
        tensor([1.])
    """
    return public(method=False)(sampler)


grid_sampler_2d, grid_sampler_3d = _of_dims(2), _of_dims(3)


def _check(x: Any, grid: Any, mode: int) -> None:
    checks.same_place("grid_sampler", x, grid)
    a, b = x._data, grid._data
    both = f"but got input with sizes {errors.sizes(a.shape)} and grid with sizes {errors.sizes(b.shape)}"
    if not a.ndim or not b.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, {both}")
    if b.shape[-1] != a.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {a.ndim - 2} in last dimension, but got grid with sizes "
            f"{errors.sizes(b.shape)}"
        )
    for dim, n in enumerate(a.shape[2:], 2):
        if not n:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{errors.sizes(a.shape)} with dimension {dim} being empty"
            )
    if a.ndim not in (4, 5) or a.ndim != b.ndim:
        wanted = 4 if a.ndim == 4 else 5
        raise RuntimeError(
            f"grid_sampler(): expected {wanted}D input and grid with same number of dimensions, {both}"
        )
    if a.ndim == 5 and mode == grid_positions.BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if a.dtype.kind in "iubc":
        kernel = "grid_sampler_2d_cpu_kernel_impl" if a.ndim == 4 else "grid_sampler3d_cpu"
        raise checks.not_implemented(kernel, x)
    checks.same_scalar(x, grid)
