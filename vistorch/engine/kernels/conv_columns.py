"""Convolution by columns: the windows of each image side by side as a matrix, then one product per image.

The padded image lies as `stride` interleaved phases, each of them flat. Then what one tap of the kernel sees at all
positions is one contiguous stretch of a phase, `length` long, and gathering columns is copying long runs, whatever the
stride and the dilation. The price is that a stretch also covers positions past the end of a row.
Invariant: those positions are dropped from results and are zero in gradients.
"""

from __future__ import annotations

import functools
import itertools
from math import prod
from typing import Any

import numpy as np

from .strides import lay

_CACHE = 1 << 20  # bytes of columns that stay in the second-level cache beside the rest
_DEVICE = 1 << 28  # an accelerator wants as much as it can hold


def block(xp: Any, count: int, each: int, cache: int = _CACHE) -> int:
    """How many images to take at a time, so that `each` bytes for each of them fit the cache."""
    return max(1, min(count, (cache if xp is np else _DEVICE) // max(each, 1)))


class Flat:
    """Where the taps of a kernel find their values in flat, padded, interleaved images."""

    def __init__(
        self, size: tuple, kernel: tuple, out: tuple, stride: tuple, padding: tuple, dilation: tuple
    ) -> None:
        last = [(o - 1) * s + (k - 1) * d for o, s, k, d in zip(out, stride, kernel, dilation, strict=True)]
        self.kernel, self.out, self.phases = kernel, out, prod(stride)
        self.rows = rows = tuple([n // s + 1 for n, s in zip(last, stride, strict=True)])
        steps = [prod(rows[i + 1 :]) for i in range(len(size))]
        self.steps = [d * step for d, step in zip(dilation, steps, strict=True)]  # between taps, of one phase
        self.length = out[0] * steps[0]
        self.taps = []
        for at in itertools.product(*[range(0, k * d, d) for k, d in zip(kernel, dilation, strict=True)]):
            phase = shift = 0
            for i, s, step in zip(at, stride, steps, strict=True):
                phase = phase * s + i % s
                shift += i // s * step
            self.taps.append((phase, shift))
        self.size = prod(rows)
        self.padded = max(self.size, self.length + max(shift for _, shift in self.taps))
        self.exact = rows[1:] == out[1:]  # no position past the end of a row is covered
        self.plain = self.phases == 1 and not any(padding) and size == rows and self.padded == self.size
        self.inner = (..., *[slice(n) for n in out])
        self.pieces = list(self._pieces(size, stride, padding))

    def _pieces(self, size: tuple, stride: tuple, padding: tuple) -> Any:
        """(phase, where in its plane, what of the image belongs there)."""
        for phase, offsets in enumerate(itertools.product(*[range(s) for s in stride])):
            target, source = [], []
            for offset, s, p, n, q in zip(offsets, stride, padding, size, self.rows, strict=True):
                first = max(0, -((offset - p) // s))  # the first of this phase behind the padding
                start = first * s + offset - p
                count = max(0, min(q - first, -((start - n) // s)))
                target.append(slice(first, first + count))
                source.append(slice(start, start + count * s, s) if count else slice(0, 0))
            yield phase, (..., *target), (..., *source)

    def _plane(self, flat: Any, phase: int) -> Any:
        return flat[:, :, phase, : self.size].reshape((*flat.shape[:2], *self.rows))

    def spread(self, xp: Any, x: Any, scratch: Any) -> Any:
        """Images as flat phases: [images, channels, phases, padded]; in `scratch`, whose padding is zero."""
        if scratch is None:
            return xp.ascontiguousarray(x).reshape((*x.shape[:2], 1, self.size))
        held = scratch[: len(x)]
        for phase, target, source in self.pieces:
            self._plane(held, phase)[target] = x[source]
        return held

    def gather(self, flat: Any, result: Any) -> None:
        """The reverse of `spread`: flat phases to images."""
        for phase, source, target in self.pieces:
            result[target] = self._plane(flat, phase)[source]

    def scratch(self, xp: Any, images: int, channels: int, dtype: Any) -> Any:
        """Room for a block of images; None where they lie as they should."""
        return None if self.plain else xp.zeros((images, channels, self.phases, self.padded), dtype)

    def columns(self, xp: Any, flat: Any, out: Any) -> Any:
        """Columns [images, channels, taps, length] of flat images, written to `out`."""
        out = out[: len(flat)]
        if self.phases == 1:
            shape = (*flat.shape[:2], *self.kernel, self.length)
            size = flat.itemsize
            steps = (*flat.strides[:2], *[size * step for step in self.steps], size)
            out.reshape(shape)[...] = strided(xp, flat, shape, steps)
        else:
            for tap, (phase, shift) in enumerate(self.taps):
                out[:, :, tap] = flat[:, :, phase, shift : shift + self.length]
        return out

    def add_columns(self, columns: Any, flat: Any) -> None:
        """The reverse of `columns`: add each column to where it came from."""
        for tap, (phase, shift) in enumerate(self.taps):
            target = flat[:, :, phase, shift : shift + self.length]
            target += columns[:, :, tap]

    def add_multiples(self, xp: Any, filters: Any, wide: Any, flat: Any) -> None:
        """`add_columns` of filters [groups, channels, taps, 1] times [images, groups, 1, length]."""
        scratch = xp.empty((*wide.shape[:2], filters.shape[1], self.length), wide.dtype)
        for tap, (phase, shift) in enumerate(self.taps):
            xp.multiply(filters[:, :, tap], wide, out=scratch)
            target = flat[:, :, phase, shift : shift + self.length]
            target += scratch.reshape(target.shape)

    def wide(self, y: Any) -> Any:
        """The part of wide results [..., length] that is the result."""
        return y.reshape((*y.shape[:-1], self.out[0], *self.rows[1:]))[self.inner]

    def widened(self, xp: Any, g: Any) -> Any:
        """A gradient [images, channels, *out] as wide as the columns, zero past the ends of rows.

        It may come with strides of 0, for which numpy has no fast product.
        """
        shape = (*g.shape[:2], self.length)
        if self.exact:
            return xp.ascontiguousarray(g).reshape(shape)
        wide = xp.zeros(shape, g.dtype)
        self.wide(wide)[...] = g
        return wide


flat = functools.lru_cache(256)(Flat)
"""A `Flat`, made once for each geometry: it holds no arrays."""


def strided(xp: Any, a: Any, shape: tuple, steps: tuple) -> Any:
    """Memory of `a` from its first element on, seen with other strides (in bytes); `a` is contiguous."""
    if xp is np and a.flags.c_contiguous:
        return lay(a, shape, a.dtype, 0, steps)
    return xp.lib.stride_tricks.as_strided(a, shape, steps)


def _grouped(a: Any, groups: int) -> Any:
    """[images, channels, ...rest] as [images, groups, channels of one group x rest but the last, last]."""
    return a.reshape((a.shape[0], groups, -1, a.shape[-1]))


def forward(xp, x, w, bias, out, stride, padding, dilation, groups):
    """The convolution: [N, C, *size] and [O, C/groups, *kernel] to [N, O, *out]."""
    n, c = x.shape[:2]
    o = w.shape[0]
    at = flat(x.shape[2:], w.shape[2:], out, stride, padding, dilation)
    taps, length = len(at.taps), at.length
    step = block(xp, n, c * taps * length * x.itemsize)
    y = xp.empty((n, o, *out), x.dtype)
    filters = w.reshape((groups, o // groups, -1))
    columns = xp.empty((step, c, taps, length), x.dtype)
    scratch = at.scratch(xp, step, c, x.dtype)
    wide = None if at.exact else xp.empty((step, groups, o // groups, length), x.dtype)
    offset = None if bias is None else bias.reshape((o,) + (1,) * len(out))
    for start in range(0, n, step):
        part = y[start : start + step]
        seen = _grouped(at.columns(xp, at.spread(xp, x[start : start + step], scratch), columns), groups)
        if wide is None:
            xp.matmul(filters, seen, out=part.reshape((len(part), *filters.shape[:2], length)))
            found = part
        else:
            whole = xp.matmul(filters, seen, out=wide[: len(part)])
            found = at.wide(whole.reshape((len(part), o, length)))
        if offset is not None:
            xp.add(found, offset, out=part)
        elif wide is not None:
            part[...] = found
    return y


def weight_grad(xp, g, x, kernel, stride, padding, dilation, groups):
    """The gradient of the kernel: [O, C/groups, *kernel]."""
    n, c = x.shape[:2]
    o = g.shape[1]
    at = flat(x.shape[2:], kernel, g.shape[2:], stride, padding, dilation)
    taps = len(at.taps)
    step = block(xp, n, c * taps * at.length * x.itemsize)
    columns = xp.empty((step, c, taps, at.length), x.dtype)
    scratch = at.scratch(xp, step, c, x.dtype)
    total = xp.zeros((groups, o // groups, c // groups * taps), x.dtype)
    for start in range(0, n, step):
        seen = _grouped(at.columns(xp, at.spread(xp, x[start : start + step], scratch), columns), groups)
        wide = _grouped(at.widened(xp, g[start : start + step]), groups)
        total += xp.matmul(wide, seen.swapaxes(-1, -2)).sum(0)
    return total.reshape((o, c // groups, *kernel))


def input_grad(xp, g, w, size, stride, padding, dilation, groups):
    """The gradient of the input: [N, C, *size]."""
    n, o = g.shape[:2]
    c = w.shape[1] * groups
    at = flat(size, w.shape[2:], g.shape[2:], stride, padding, dilation)
    taps = len(at.taps)
    step = block(xp, n, c * at.length * g.itemsize * (3 if o == groups else taps))
    filters = w.reshape((groups, o // groups, -1)).swapaxes(-1, -2)
    result = xp.zeros((n, c, *size), g.dtype)
    for start in range(0, n, step):
        wide = _grouped(at.widened(xp, g[start : start + step]), groups)
        memory = xp.zeros((len(wide), c, at.phases, at.padded), g.dtype)
        if o == groups:  # an outer product is no work for BLAS, and columns need not be kept
            at.add_multiples(xp, w.reshape((groups, -1, taps, 1)), wide, memory)
        else:
            columns = xp.matmul(filters, wide)
            at.add_columns(columns.reshape((len(wide), c, taps, at.length)), memory)
        at.gather(memory, result[start : start + step])
    return result
