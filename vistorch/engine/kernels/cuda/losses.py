"""The negative log likelihood on a device: nothing asks the device whether a class is there.

A class that is none is reported at the next synchronisation. Invariant: sums go by cupy's reductions, so a loss is the
same every time.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import faults, launch

Kernel = Any
NONE, MEAN = 0, 1


def _frame(shape: tuple) -> tuple[int, int]:
    """(classes, inner) of an input."""
    return (shape[0], 1) if len(shape) == 1 else (shape[1], prod(shape[2:]))


def _pick(xp, input, target, weight, ignore_index, reduction, name):
    dtype, wide = input.dtype, np.dtype("f8" if input.dtype.itemsize == 8 else "f4")
    classes, inner = _frame(input.shape)
    target = xp.ascontiguousarray(target)
    count = target.size
    each, share = xp.empty(count, wide), xp.empty(count, wide)
    w = 0 if weight is None else xp.ascontiguousarray(weight.astype(dtype, copy=False))
    where = (faults.flag(input.device.id), faults.number_of(name))
    args = (
        xp.ascontiguousarray(input),
        target,
        w,
        each,
        share,
        count,
        classes,
        inner,
        int(ignore_index),
        *where,
    )
    launch.launch("places", "nll_pick", dtype, launch.each(count), launch.BLOCK, args)
    total = share.sum()
    if reduction == NONE:
        loss = each.reshape(target.shape if input.ndim > 1 else ())
    else:
        loss = each.sum() + wide.type(0)  # so that no zero has a sign
        if reduction == MEAN:
            loss = loss / total
    return xp.asarray(loss).astype(dtype, copy=False), xp.asarray(total)


def _put(xp, grad, target, total, weight, shape, ignore_index, reduction):
    out = xp.empty(shape, grad.dtype)
    classes, inner = _frame(shape)
    wide = np.dtype("f8" if grad.dtype.itemsize == 8 else "f4")
    w = 0 if weight is None else xp.ascontiguousarray(weight.astype(grad.dtype, copy=False))
    whole = xp.ascontiguousarray(total.astype(wide, copy=False)) if reduction == MEAN else 0
    args = (xp.ascontiguousarray(grad), xp.ascontiguousarray(target), w, whole, out, out.size)
    numbers = (classes, inner, int(ignore_index), int(reduction == NONE))
    launch.launch(
        "places", "nll_gradient", grad.dtype, launch.each(out.size), launch.BLOCK, (*args, *numbers)
    )
    return out


def likelihood(plain: Kernel, xp: Any) -> Kernel:
    """`nll_loss` and `nll_loss2d`."""

    def kernel(input: Any, target: Any, ignore_index: int, reduction: int) -> tuple:
        if not launch.known(input) or not input.size or not target.size:
            return plain(input, target, ignore_index, reduction)
        return _pick(xp, input, target, None, ignore_index, reduction, "nll_loss")

    return kernel


def likelihood_weighted(plain: Kernel, xp: Any) -> Kernel:
    """The same with a weight for each class."""

    def kernel(input: Any, target: Any, weight: Any, ignore_index: int, reduction: int) -> tuple:
        if not launch.known(input) or not input.size or not target.size:
            return plain(input, target, weight, ignore_index, reduction)
        return _pick(xp, input, target, weight, ignore_index, reduction, "nll_loss")

    return kernel


def gradient(plain: Kernel, xp: Any) -> Kernel:
    """`nll_loss_backward`: zero except at the targets."""

    def kernel(grad: Any, target: Any, total: Any, shape: tuple, ignore_index: int, reduction: int) -> Any:
        if not launch.known(grad) or not prod(shape):
            return plain(grad, target, total, shape, ignore_index, reduction)
        return _put(xp, grad, target, total, None, shape, ignore_index, reduction)

    return kernel


def gradient_weighted(plain: Kernel, xp: Any) -> Kernel:
    """The same with a weight for each class."""

    def kernel(
        grad: Any, target: Any, total: Any, weight: Any, shape: tuple, ignore_index: int, reduction: int
    ) -> Any:
        if not launch.known(grad) or not prod(shape):
            return plain(grad, target, total, weight, shape, ignore_index, reduction)
        return _put(xp, grad, target, total, weight, shape, ignore_index, reduction)

    return kernel
