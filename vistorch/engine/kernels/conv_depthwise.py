"""Convolution of each channel with a kernel of its own: a sum of shifted images, each times a number.

The images of a block lie end to end for each channel, so that a shift is one long run, and `einsum` adds a multiple of
each run in one pass. Its loops run over the last axis only where no other has the same stride; therefore each column
of the kernel has a shifted copy of the images. Invariant: two dimensions, stride 1, one filter for each channel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .strides import laid

_RUN = 2048  # values in a run, at least
_CACHE = 1 << 19


class Runs:
    """Blocks of channels and images, padded and shifted."""

    def __init__(self, x: Any, kernel: tuple, padding: tuple, dilation: tuple) -> None:
        n, c, h, w = x.shape
        (p, q), (a, b), (d, e) = padding, kernel, dilation
        self.wide, self.high = w + 2 * q, h + 2 * p
        self.out = (self.high - (a - 1) * d, self.wide - (b - 1) * e)
        plane = self.high * self.wide
        self.images = min(n, -(-_RUN // plane))
        self.length = self.images * plane
        self.channels = max(1, min(c, _CACHE // (b * self.length * x.itemsize)))
        slack = (a - 1) * d * self.wide + (b - 1) * e
        self.memory = np.zeros((self.channels, b, self.length + slack), x.dtype)
        self.shifts = [j * e for j in range(b)]
        self.inner = (slice(p, p + h), slice(q, q + w))
        steps = self.memory.strides
        self.seen = laid(
            np,
            self.memory,
            (self.channels, b, a, self.length),
            (*steps[:2], d * self.wide * x.itemsize, x.itemsize),
        )

    def blocks(self, x: Any) -> Any:
        """(images, channels) of each block."""
        n, c = x.shape[:2]
        for i in range(0, c, self.channels):
            for j in range(0, n, self.images):
                yield slice(j, j + self.images), slice(i, i + self.channels)

    def planes(self, runs: Any, images: int) -> Any:
        """Runs [channels, length] as images [images, channels, high, wide]."""
        return (
            runs[:, : self.length].reshape((-1, self.images, self.high, self.wide))[:, :images].swapaxes(0, 1)
        )

    def of(self, x: Any) -> Any:
        """What every tap sees of a block: [channels, columns, rows, length]."""
        memory, length = self.memory[: x.shape[1]], self.length
        self.planes(memory[:, 0], len(x))[(..., *self.inner)] = x
        for j, shift in enumerate(self.shifts[1:], 1):
            memory[:, j, :length] = memory[:, 0, shift : shift + length]
        return self.seen[: x.shape[1]]


def forward(x: Any, w: Any, bias: Any, padding: tuple, dilation: tuple) -> Any:
    """The convolution of [N, C, H, W] with [C, 1, h, w]."""
    at = Runs(x, w.shape[2:], padding, dilation)
    h, wide = at.out
    y = np.empty((*x.shape[:2], h, wide), x.dtype)
    filters = w[:, 0].swapaxes(-1, -2)
    found = np.empty((at.channels, at.length), x.dtype)
    for images, channels in at.blocks(x):
        part = x[images, channels]
        runs = found[: part.shape[1]]
        np.einsum("cjil,cji->cl", at.of(part), filters[channels], out=runs)
        if bias is not None:
            runs += bias[channels, None]
        y[images, channels] = at.planes(runs, len(part))[..., :h, :wide]
    return y


def input_grad(g: Any, w: Any, padding: tuple, dilation: tuple) -> Any:
    """The gradient of the input: the same with the kernel turned."""
    rest = tuple([d * (k - 1) - p for d, k, p in zip(dilation, w.shape[2:], padding, strict=True)])
    return forward(g, w[:, :, ::-1, ::-1], None, rest, dilation)


def weight_grad(g: Any, x: Any, kernel: tuple, padding: tuple, dilation: tuple) -> Any:
    """The gradient of the kernel."""
    at = Runs(x, kernel, padding, dilation)
    h, wide = at.out
    total = np.zeros((x.shape[1], kernel[1], kernel[0]), x.dtype)
    memory = np.zeros((at.channels, at.length), x.dtype)
    for images, channels in at.blocks(x):
        part = x[images, channels]
        runs = memory[: part.shape[1]]
        if len(part) < at.images:
            runs[...] = 0
        at.planes(runs, len(part))[..., :h, :wide] = g[images, channels]
        total[channels] += np.einsum("cjil,cl->cji", at.of(part), runs)
    return total.swapaxes(-1, -2)[:, None]
