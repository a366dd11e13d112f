"""Windows of images laid out as columns, and their sum back into images.

Invariant: [N, C, *size] and [N, C x taps, positions]; two spatial dims.
"""

from __future__ import annotations

import itertools
from typing import Any


def _grid(size: tuple, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple) -> tuple:
    """How many positions there are along each dim."""
    return tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
        ]
    )


def _windows(kernel: tuple, dilation: tuple, stride: tuple, grid: tuple) -> Any:
    """Each tap, with where it looks in padded images."""
    for at in itertools.product(*[range(k) for k in kernel]):
        yield (
            at,
            tuple(
                [
                    slice(i * d, i * d + (n - 1) * s + 1, s)
                    for i, d, n, s in zip(at, dilation, grid, stride, strict=True)
                ]
            ),
        )


def _inner(size: tuple, padding: tuple) -> tuple:
    return (..., *[slice(p, p + n) for n, p in zip(size, padding, strict=True)])


def im2col(xp, x, kernel, dilation, padding, stride):
    """Images to columns; one image without a batch dim is one matrix."""
    lead, size = x.shape[:-2], x.shape[-2:]
    grid = _grid(size, kernel, dilation, padding, stride)
    if any(padding):
        padded = xp.zeros((*lead, *[n + 2 * p for n, p in zip(size, padding, strict=True)]), x.dtype)
        padded[_inner(size, padding)] = x
        x = padded
    out = xp.empty((*lead, *kernel, *grid), x.dtype)
    for at, window in _windows(kernel, dilation, stride, grid):
        out[(slice(None),) * len(lead) + at] = x[(..., *window)]
    return out.reshape((*lead[:-1], lead[-1] * kernel[0] * kernel[1], grid[0] * grid[1]))


def col2im(xp, columns, size, kernel, dilation, padding, stride):
    """Columns to images: what windows share is added up."""
    lead = (*columns.shape[:-2], columns.shape[-2] // (kernel[0] * kernel[1]))
    grid = _grid(size, kernel, dilation, padding, stride)
    columns = columns.reshape((*lead, *kernel, *grid))
    padded = xp.zeros((*lead, *[n + 2 * p for n, p in zip(size, padding, strict=True)]), columns.dtype)
    for at, window in _windows(kernel, dilation, stride, grid):
        target = padded[(..., *window)]
        target += columns[(slice(None),) * len(lead) + at]
    return xp.ascontiguousarray(padded[_inner(size, padding)]) if any(padding) else padded
