"""Convolution with a kernel of one tap: a matrix product over channels.

Invariant: one group, no padding; images stay where they lie, but for what a stride leaves out and for images too small
for a product each.
"""

from __future__ import annotations

from math import prod
from typing import Any

_THIN = 64  # positions of an image below which the images of a batch become one matrix


def _rows(xp: Any, x: Any) -> Any:
    """Images as [images, channels, positions], contiguous: for other strides numpy has no fast product."""
    return xp.ascontiguousarray(x).reshape((*x.shape[:2], -1))


def _seen(xp: Any, x: Any, out: tuple, stride: tuple) -> Any:
    """The positions that the tap sees, as [images, channels, positions]."""
    if any(s != 1 for s in stride) or x.shape[2:] != out:
        x = x[(..., *[slice(0, (o - 1) * s + 1, s) for o, s in zip(out, stride, strict=True)])]
    return _rows(xp, x)


def _joined(x: Any) -> Any:
    """[images, channels, positions] as one matrix [channels, images x positions]."""
    return x.swapaxes(0, 1).reshape((x.shape[1], -1))


def forward(xp, x, w, bias, out, stride):
    """The convolution."""
    n, o = x.shape[0], w.shape[0]
    filters = w.reshape((o, -1))
    seen = _seen(xp, x, out, stride)
    if n > 1 and prod(out) < _THIN:
        y = xp.matmul(filters, _joined(seen))
        if bias is not None:
            y += bias[:, None]
        y = xp.ascontiguousarray(y.reshape((o, n, -1)).swapaxes(0, 1))
    else:
        y = xp.matmul(filters, seen)
        if bias is not None:
            y += bias[:, None]
    return y.reshape((n, o, *out))


def input_grad(xp, g, w, size, stride):
    """The gradient of the input: the product with the kernel's transpose."""
    n, o = g.shape[:2]
    out, filters = g.shape[2:], w.reshape((o, -1)).T
    found = _rows(xp, g)
    if n > 1 and prod(out) < _THIN:
        found = xp.matmul(filters, _joined(found)).reshape((-1, n, prod(out))).swapaxes(0, 1)
    else:
        found = xp.matmul(filters, found)
    shape = (n, found.shape[1], *out)
    if size == out:
        return xp.ascontiguousarray(found).reshape(shape)
    result = xp.zeros((*shape[:2], *size), g.dtype)
    result[(..., *[slice(0, (o - 1) * s + 1, s) for o, s in zip(out, stride, strict=True)])] = found.reshape(
        shape
    )
    return result


def weight_grad(xp, g, x, stride):
    """The gradient of the kernel: the product of the gradient with the images, summed over both."""
    (n, o), out, c = g.shape[:2], g.shape[2:], x.shape[1]
    seen, g = _seen(xp, x, out, stride), _rows(xp, g)
    if n > 1 and 2 * prod(out) < max(o, c):
        total = xp.matmul(_joined(g), _joined(seen).T)
    else:
        total = xp.matmul(g, seen.swapaxes(1, 2)).sum(0)
    return total.reshape((o, c) + (1,) * len(out))
