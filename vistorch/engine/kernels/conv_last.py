"""Convolution by columns with channels last: a window is a few stretches of all channels.

For many channels and small images this is where copies are longest and matrices largest: all positions of a block of
images are rows of one matrix. Invariant: one group, any rank.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from .conv_columns import block
from .strides import laid

_CACHE = 1 << 22


def pack(xp: Any, x: Any, target: Any) -> None:
    """Copy [channels, *size] to `target` [*size, channels], in pieces that stay in the cache."""
    moved = x.transpose((*range(1, x.ndim), 0))
    if xp is not np or x.shape[0] <= 64 or prod(x.shape[1:]) <= 16:
        target[...] = moved
        return
    for c in range(0, x.shape[0], 64):
        target[..., c : c + 64] = moved[..., c : c + 64]


def unpack(y: Any, target: Any) -> None:
    """Copy [*size, channels] to `target` [channels, *size]."""
    target[...] = y.transpose((y.ndim - 1, *range(y.ndim - 1)))


class Windows:
    """Padded images with channels last, and their windows as rows of a matrix."""

    def __init__(self, xp, images, channels, size, kernel, out, stride, padding, dilation, dtype):
        self.xp, self.kernel, self.out, self.channels = xp, kernel, out, channels
        last = [(o - 1) * s + (k - 1) * d for o, s, k, d in zip(out, stride, kernel, dilation, strict=True)]
        self.padded = xp.zeros(
            (images, *[max(n + p, m + 1) for n, p, m in zip(size, padding, last, strict=True)], channels),
            dtype,
        )
        self.inner = tuple([slice(p, p + n) for n, p in zip(size, padding, strict=True)])
        steps = self.padded.strides
        self.shape = (*out, *kernel, channels)
        self.steps = (
            steps[0],
            *[t * s for t, s in zip(steps[1:-1], stride, strict=True)],
            *[t * d for t, d in zip(steps[1:-1], dilation, strict=True)],
            steps[-1],
        )
        self.slices = [
            tuple(
                [
                    slice(i * d, i * d + (o - 1) * s + 1, s)
                    for i, d, o, s in zip(at, dilation, out, stride, strict=True)
                ]
            )
            for at in itertools.product(*[range(k) for k in kernel])
        ]

    def put(self, x: Any) -> None:
        """Take a block of images."""
        for image, target in zip(x, self.padded, strict=False):
            pack(self.xp, image, target[self.inner])

    def rows(self, images: int, columns: Any) -> Any:
        """Their windows as a matrix [positions, taps x channels], in `columns`."""
        columns = columns[:images]
        columns[...] = laid(self.xp, self.padded, columns.shape, self.steps)
        return columns.reshape((-1, prod(self.kernel) * self.channels))

    def add_rows(self, columns: Any) -> None:
        """The reverse: add windows [images, *out, taps, channels] to where they came from."""
        images = len(columns)
        for tap, where in enumerate(self.slices):
            target = self.padded[(slice(images), *where)]
            target += columns[..., tap, :]

    def take(self, result: Any) -> None:
        """Write the inner parts to a block of images."""
        for target, image in zip(result, self.padded, strict=False):
            unpack(image[self.inner], target)


def _step(xp: Any, images: int, positions: int, window: int) -> int:
    """How many images at a time: their windows fit the cache, but no product of fewer than 512 rows."""
    return min(images, max(block(xp, images, positions * window, _CACHE), -(-512 // positions)))


def _filters(w: Any) -> Any:
    """[O, C, *kernel] as [O, taps x C]."""
    o, c = w.shape[:2]
    return w.reshape((o, c, -1)).transpose((0, 2, 1)).reshape((o, -1))


def forward(xp, x, w, bias, out, stride, padding, dilation):
    """The convolution."""
    n, c = x.shape[:2]
    o, kernel = w.shape[0], w.shape[2:]
    positions, width = prod(out), prod(kernel) * c
    step = _step(xp, n, positions, width * x.itemsize)
    at = Windows(xp, step, c, x.shape[2:], kernel, out, stride, padding, dilation, x.dtype)
    columns = xp.empty((step, *at.shape), x.dtype)
    filters = _filters(w).T
    y = xp.empty((n, o, *out), x.dtype)
    found = xp.empty((step * positions, o), x.dtype)
    for start in range(0, n, step):
        part = x[start : start + step]
        at.put(part)
        rows = xp.matmul(at.rows(len(part), columns), filters, out=found[: len(part) * positions])
        if bias is not None:
            rows += bias
        for image, target in zip(rows.reshape((-1, *out, o)), y[start : start + step], strict=True):
            unpack(image, target)
    return y


def weight_grad(xp, g, x, kernel, stride, padding, dilation):
    """The gradient of the kernel."""
    n, c = x.shape[:2]
    o, out = g.shape[1], g.shape[2:]
    positions, width = prod(out), prod(kernel) * c
    step = _step(xp, n, positions, width * x.itemsize)
    at = Windows(xp, step, c, x.shape[2:], kernel, out, stride, padding, dilation, x.dtype)
    columns = xp.empty((step, *at.shape), x.dtype)
    total = None
    for start in range(0, n, step):
        part = x[start : start + step]
        at.put(part)
        seen = at.rows(len(part), columns)
        # as [O, positions], the way the product reads it
        down = g[start : start + step].reshape((len(part), o, positions)).swapaxes(0, 1).reshape((o, -1))
        found = xp.matmul(down, seen)
        total = found if total is None else xp.add(total, found, out=total)
    return xp.asarray(total).reshape((o, -1, c)).swapaxes(1, 2).reshape((o, c, *kernel))


def input_grad(xp, g, w, size, stride, padding, dilation):
    """The gradient of the input."""
    n, o = g.shape[:2]
    c, kernel, out = w.shape[1], w.shape[2:], g.shape[2:]
    positions, width = prod(out), prod(kernel) * c
    step = _step(xp, n, positions, width * g.itemsize)
    filters = _filters(w)
    result = xp.empty((n, c, *size), g.dtype)
    at = Windows(xp, step, c, size, kernel, out, stride, padding, dilation, g.dtype)
    for start in range(0, n, step):
        part = g[start : start + step]
        if start:
            at.padded[...] = 0
        down = part.reshape((len(part), o, positions)).swapaxes(0, 1).reshape((o, -1))
        columns = xp.matmul(down.T, filters)
        at.add_rows(columns.reshape((len(part), *out, -1, c)))
        at.take(result[start : start + step])
    return result
