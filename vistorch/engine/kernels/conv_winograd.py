"""Convolution with a 3 by 3 kernel by Winograd's F(2x2, 3x3): 2.25 times fewer multiplications than the definition.

Two neighbouring outputs of three taps need four products instead of six; in two dimensions a tile of 4 x 4 inputs gives
2 x 2 outputs with 16 products instead of 36, and each of the 16 is a matrix product over channels. The tiles lie as
[row, column, image, channel], so that every sum in the transforms runs over long stretches.
Invariant: only for float32, stride and dilation 1, one group; all numbers in the transforms are 0, 1, 1/2 and 1/4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .conv_columns import block
from .conv_last import pack, unpack

_ONE = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
# from the 9 taps to the 16 products [column, row], both dimensions at once
_KERNEL = np.einsum("ai,bj->baij", _ONE, _ONE).reshape(16, 9)
_TURNED = np.ascontiguousarray(_KERNEL[:, ::-1])  # of the kernel rotated by half a turn
_CACHE = 1 << 22  # bytes of the factors of a block of images


def _ahead(xp: Any, at: tuple, target: Any) -> None:
    """Four neighbouring values to the four factors of their products; along the axis of `at`."""
    a, b, c, d = at
    xp.subtract(a, c, out=target[0])
    xp.add(b, c, out=target[1])
    xp.subtract(c, b, out=target[2])
    xp.subtract(b, d, out=target[3])


class Tiles:
    """The tiles of one block of images, and room for their transforms."""

    def __init__(self, xp: Any, images: int, channels: int, rows: int, cols: int, dtype: Any) -> None:
        self.xp, self.channels = xp, channels
        wide = images * channels
        self.padded = xp.zeros((2 * rows + 2, 2 * cols + 2, wide), dtype)
        self.half = xp.empty((4, rows, 2 * cols + 2, wide), dtype)
        self.full = xp.empty((4, 4, rows, cols, wide), dtype)

    def of(self, x: Any, padding: tuple) -> Any:
        """The factors [16, tiles, channels] of a block of images; the 16 are [column, row]."""
        xp, (p, q), (h, w) = self.xp, padding, x.shape[2:]
        pack(xp, x.reshape((-1, h, w)), self.padded[p : p + h, q : q + w])
        x = self.padded
        _ahead(xp, (x[:-2:2], x[1:-1:2], x[2::2], x[3::2]), self.half)
        x = self.half
        _ahead(xp, (x[:, :, :-2:2], x[:, :, 1:-1:2], x[:, :, 2::2], x[:, :, 3::2]), self.full)
        return self.full.reshape((16, -1, self.channels))


def _back(xp: Any, m: Any, y: Any, scratch: Any) -> None:
    """The products [4, 4, rows, cols, wide] to outputs [rows, 2, cols, 2, wide]; overwrites them."""
    first, second, third, fourth = m
    xp.add(first, second, out=first)
    xp.add(first, third, out=first)
    xp.subtract(second, third, out=second)
    xp.subtract(second, fourth, out=second)
    for q in (0, 1):
        a, b, c, d = m[q]
        xp.add(b, c, out=scratch)
        xp.add(scratch, a, out=y[:, 0, :, q])
        xp.subtract(b, c, out=scratch)
        xp.subtract(scratch, d, out=y[:, 1, :, q])


def _tiling(out: tuple) -> tuple[int, int]:
    return -(-out[0] // 2), -(-out[1] // 2)


def _step(xp: Any, images: int, tiles: int, channels: int) -> int:
    """How many images at a time: their factors fit the cache, but no product of fewer than 128 rows."""
    return min(images, max(block(xp, images, 64 * tiles * channels, _CACHE), -(-128 // tiles)))


def _run(xp: Any, x: Any, filters: Any, bias: Any, out: tuple, padding: tuple, channels: int) -> Any:
    """Convolve with transformed filters [16, C, O]."""
    n, c = x.shape[:2]
    rows, cols = _tiling(out)
    step = _step(xp, n, rows * cols, max(c, channels))
    y = xp.empty((n, channels, *out), x.dtype)
    held = 0
    for start in range(0, n, step):
        part = x[start : start + step]
        if len(part) != held:
            held = len(part)
            tiles = Tiles(xp, held, c, rows, cols, x.dtype)
            wide = held * channels
            products = xp.empty((4, 4, rows, cols, wide), x.dtype)
            result = xp.empty((rows, 2, cols, 2, wide), x.dtype)
            scratch = xp.empty((rows, cols, wide), x.dtype)
        xp.matmul(tiles.of(part, padding), filters, out=products.reshape((16, -1, channels)))
        _back(xp, products, result, scratch)
        target = y[start : start + step]
        unpack(result.reshape((2 * rows, 2 * cols, wide))[: out[0], : out[1]], target.reshape((wide, *out)))
        if bias is not None:
            target += bias[:, None, None]
    return y


def forward(xp, x, w, bias, out, padding):
    """The convolution."""
    o, c = w.shape[:2]
    filters = xp.matmul(xp.asarray(_KERNEL), w.reshape((-1, 9)).T).reshape((16, o, c))
    return _run(xp, x, filters.swapaxes(1, 2), bias, out, padding, o)


def input_grad(xp, g, w, size, padding):
    """The gradient of the input: a convolution with the kernel turned and its channels exchanged."""
    o, c = w.shape[:2]
    filters = xp.matmul(xp.asarray(_TURNED), w.reshape((-1, 9)).T).reshape((16, o, c))
    return _run(xp, g, filters, None, size, (2 - padding[0], 2 - padding[1]), c)


def weight_grad(xp, g, x, padding):
    """The gradient of the kernel: the same products, summed over tiles."""
    n, c = x.shape[:2]
    o, out = g.shape[1], g.shape[2:]
    rows, cols = _tiling(out)
    step = _step(xp, n, rows * cols, max(c, o))
    total = None
    held = 0
    for start in range(0, n, step):
        part = x[start : start + step]
        if len(part) != held:
            held = len(part)
            tiles = Tiles(xp, held, c, rows, cols, x.dtype)
            whole = xp.zeros((2 * rows, 2 * cols, held * o), x.dtype)
            half = xp.empty((4, rows, 2 * cols, held * o), x.dtype)
            full = xp.empty((4, 4, rows, cols, held * o), x.dtype)
        pack(xp, g[start : start + step].reshape((-1, *out)), whole[: out[0], : out[1]])
        _spread(xp, whole[::2], whole[1::2], half)
        _spread(xp, half[:, :, ::2], half[:, :, 1::2], full)
        found = xp.matmul(full.reshape((16, -1, o)).swapaxes(1, 2), tiles.of(part, padding))
        total = found if total is None else xp.add(total, found, out=total)
    return xp.matmul(xp.asarray(total).reshape((16, -1)).T, xp.asarray(_KERNEL)).reshape((o, c, 3, 3))


def _spread(xp: Any, a: Any, b: Any, target: Any) -> None:
    """The reverse of `_back` along one axis."""
    target[0] = a
    xp.add(a, b, out=target[1])
    xp.subtract(a, b, out=target[2])
    xp.negative(b, out=target[3])
