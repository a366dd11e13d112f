"""Maximum and average pooling on a device: a thread to an output, backwards a thread to an input."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import launch

Kernel = Any
ONE = (1, 1, 1, 1, 0, 1)  # a dim that is not pooled: n, outputs, size, stride, padding, dilation


def _dims(shape: tuple, windows: tuple) -> list[tuple]:
    """(n, outputs, size, stride, padding, dilation) of three dims; adaptive windows are given by their number."""
    given = []
    for n, window in zip(shape[len(shape) - len(windows) :], windows, strict=True):
        if isinstance(window, (int, np.integer)):
            given.append((n, int(window), 0, 1, 0, 1))
        else:
            size, stride, padding, dilation, outputs = window
            given.append((n, outputs, size, stride, padding, dilation))
    return [ONE] * (3 - len(given)) + given


def _flat(dims: list[tuple]) -> list[int]:
    return [int(v) for dim in dims for v in dim]


def _out_shape(shape: tuple, windows: tuple, dims: list[tuple]) -> tuple:
    return (*shape[: len(shape) - len(windows)], *[dim[1] for dim in dims[3 - len(windows) :]])


def _run(name: str, dtype: Any, args: list, size: int, numbers: tuple, dims: list[tuple]) -> None:
    values = (*args, size, *numbers, *_flat(dims))
    launch.launch("pooling", name, dtype, launch.each(size), launch.BLOCK, values)


def _fits(x: Any, dims: list[tuple]) -> bool:
    return launch.known(x) and x.size > 0 and all(dim[0] and dim[1] for dim in dims)


def _largest(xp: Any, x: Any, windows: tuple, dims: list[tuple], value: bool, where: bool) -> tuple:
    x = xp.ascontiguousarray(x)
    shape = _out_shape(x.shape, windows, dims)
    y = xp.empty(shape, x.dtype) if value else 0
    index = xp.empty(shape, np.int64) if where else 0
    _run("max_pool", x.dtype, [x, y, index], prod(shape), (), dims)
    return y, index


def maximum(plain: Kernel, xp: Any) -> Kernel:
    """`max_pool*`."""

    def kernel(input: Any, windows: tuple) -> Any:
        dims = _dims(input.shape, windows)
        if not _fits(input, dims):
            return plain(input, windows)
        return _largest(xp, input, windows, dims, True, False)[0]

    return kernel


def maximum_with_indices(plain: Kernel, xp: Any) -> Kernel:
    """`max_pool*_with_indices`."""

    def kernel(input: Any, windows: tuple) -> Any:
        dims = _dims(input.shape, windows)
        if not _fits(input, dims):
            return plain(input, windows)
        return _largest(xp, input, windows, dims, True, True)

    return kernel


def maximum_gradient(plain: Kernel, xp: Any) -> Kernel:
    """`max_pool*_backward`: the places are found anew, then every input collects what is its own."""

    def kernel(g: Any, source: Any, windows: tuple) -> Any:
        dims = _dims(source.shape, windows)
        if not _fits(source, dims) or g.dtype != source.dtype:
            return plain(g, source, windows)
        index = _largest(xp, source, windows, dims, False, True)[1]
        out = xp.empty(source.shape, g.dtype)
        _run("max_pool_gradient", g.dtype, [xp.ascontiguousarray(g), index, out], out.size, (), dims)
        return out

    return kernel


def picked(plain: Kernel, xp: Any) -> Kernel:
    """`max_pool*_picked`: what stands in `input` where `source` has its maxima."""

    def kernel(input: Any, source: Any, windows: tuple) -> Any:
        dims = _dims(source.shape, windows)
        if not _fits(source, dims) or input.dtype != source.dtype or input.shape != source.shape:
            return plain(input, source, windows)
        index = _largest(xp, source, windows, dims, False, True)[1]
        y = xp.empty(index.shape, input.dtype)
        sizes = (y.size, prod([dim[1] for dim in dims]), prod([dim[0] for dim in dims]))
        args = (xp.ascontiguousarray(input), index, y, *sizes)
        launch.launch("pooling", "picked", y.dtype, launch.each(y.size), launch.BLOCK, args)
        return y

    return kernel


def _mean(xp: Any, x: Any, windows: tuple, dims: list[tuple], include: bool, override: Any) -> Any:
    y = xp.empty(_out_shape(x.shape, windows, dims), x.dtype)
    numbers = (int(include), int(override or 0))
    _run("avg_pool", x.dtype, [xp.ascontiguousarray(x), y], y.size, numbers, dims)
    return y


def _spread(xp: Any, g: Any, shape: tuple, dims: list[tuple], include: bool, override: Any) -> Any:
    out = xp.empty(shape, g.dtype)
    numbers = (int(include), int(override or 0))
    _run("avg_pool_gradient", g.dtype, [xp.ascontiguousarray(g), out], out.size, numbers, dims)
    return out


def average(plain: Kernel, xp: Any) -> Kernel:
    """`avg_pool*`."""

    def kernel(input: Any, windows: tuple, include: bool, override: Any) -> Any:
        dims = _dims(input.shape, windows)
        if not _fits(input, dims) or override == 0:
            return plain(input, windows, include, override)
        return _mean(xp, input, windows, dims, include, override)

    return kernel


def average_gradient(plain: Kernel, xp: Any) -> Kernel:
    """`avg_pool*_backward`."""

    def kernel(g: Any, shape: tuple, windows: tuple, include: bool, override: Any) -> Any:
        dims = _dims(shape, windows)
        if not _fits(g, dims) or override == 0:
            return plain(g, shape, windows, include, override)
        return _spread(xp, g, shape, dims, include, override)

    return kernel


def adaptive(plain: Kernel, xp: Any) -> Kernel:
    """`adaptive_avg_pool*`."""

    def kernel(input: Any, outputs: tuple) -> Any:
        dims = _dims(input.shape, outputs)
        return _mean(xp, input, outputs, dims, True, 0) if _fits(input, dims) else plain(input, outputs)

    return kernel


def adaptive_gradient(plain: Kernel, xp: Any) -> Kernel:
    """`adaptive_avg_pool*_backward`."""

    def kernel(g: Any, shape: tuple, outputs: tuple) -> Any:
        dims = _dims(shape, outputs)
        return _spread(xp, g, shape, dims, True, 0) if _fits(g, dims) else plain(g, shape, outputs)

    return kernel
