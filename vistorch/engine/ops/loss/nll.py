"""The negative log likelihood of class indices: one number picked per row, and put back by the gradient.

A listener finds the log-probabilities and the classes as the row's first two inputs, and what each class counts, if
that was said, as the third. Invariant: `total`, the second output, is what the mean was divided by, never rounded to
half precision.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...base import errors
from ...core.op_factory import HALVES, op
from ...core.sparse_gradient import placed
from ...core.tensor import Tensor
from ..elementwise.dtype_checks import missing
from .frame import MEAN, NONE, label_of, no_gradient, optional, same_type, tensors, whole

_INT64, _UINT8 = np.dtype("i8"), np.dtype("u1")
_FEW = 4096
_add: Any = np.add.reduce
_largest: Any = np.maximum.reduce


@lru_cache(maxsize=64)
def _starts(rows: int, classes: int, inner: int) -> Any:
    """Where the first class of each target stands in a flat (rows, classes, inner)."""
    return _begin(np, rows, classes, inner)


def _begin(xp: Any, rows: int, classes: int, inner: int) -> Any:
    start = xp.arange(0, rows * classes * inner, classes * inner or 1)[:rows]
    return start if inner == 1 else (start[:, None] + xp.arange(inner)).reshape(-1)


def _frame(shape: tuple) -> tuple[int, int, int]:
    """A shape as (rows, classes, inner)."""
    if len(shape) == 1:
        return 1, shape[0], 1
    return shape[0], shape[1], prod(shape[2:]) if len(shape) > 2 else 1


def _places(xp: Any, target: Any, shape: tuple) -> Any:
    """Where the targets (flat, in range) point in a flat array of `shape`."""
    rows, classes, inner = _frame(shape)
    small = xp is np and rows * inner <= _FEW
    starts = _starts(rows, classes, inner) if small else _begin(xp, rows, classes, inner)
    return starts + (target if inner == 1 else target * inner)


def _valid(xp: Any, target: Any, classes: int, ignore_index: int) -> Any:
    """Which targets count, None for all; PyTorch's IndexError for a class that is not there."""
    if not target.size:
        return None
    # as unsigned numbers negative ones are the largest
    unsigned = target.view("u8")
    if not 0 <= ignore_index < classes and int(_largest(unsigned) if xp is np else unsigned.max()) < classes:
        return None
    counts = target != ignore_index
    bad = counts & (unsigned >= classes)
    if bad.any():
        raise IndexError(f"Target {int(target[bad][0])} is out of bounds.")
    return counts


def _nll(xp, input, target, ignore_index, reduction):
    return _picked(xp, input, target, None, ignore_index, reduction)


def _nll_weighted(xp, input, target, weight, ignore_index, reduction):
    return _picked(xp, input, target, weight, ignore_index, reduction)


def _picked(xp, input, target, weight, ignore_index, reduction):
    shape, dtype = input.shape, input.dtype
    wide = np.dtype("f4") if dtype in HALVES else dtype
    classes = shape[0] if len(shape) == 1 else shape[1]
    flat = target.reshape(-1)
    counts = _valid(xp, flat, classes, ignore_index)
    if counts is not None:
        flat = flat * counts
    if len(shape) == 2 and not input.flags.c_contiguous:
        picked = input[xp.arange(shape[0]), flat]
    elif not flat.size:
        picked = xp.zeros(0, dtype)
    else:
        picked = input.reshape(-1).take(_places(xp, flat, shape))
    if dtype is not wide:
        picked = picked.astype(wide)
    if weight is not None:
        each = weight[flat].astype(wide, copy=False)
        if counts is not None:
            each = each * counts
        total = each.sum()
        picked = picked * each
    else:
        total = wide.type(flat.size) if counts is None else counts.sum(dtype=wide)
    picked = xp.negative(picked)
    if counts is not None:  # an ignored element may be infinite
        picked = xp.where(counts, picked, wide.type(0))
    if reduction == NONE:
        loss = picked.reshape(target.shape if len(shape) > 1 else ())
    else:
        loss = (_add(picked) if xp is np else picked.sum()) + wide.type(0)  # so that no zero has a sign
        if reduction == MEAN:
            loss = loss / total
    return xp.asarray(loss).astype(dtype, copy=False), xp.asarray(total)


def _put(xp, grad, target, total, shape, ignore_index, reduction):
    return _put_back(xp, grad, target, total, None, shape, ignore_index, reduction)


def _put_weighted(xp, grad, target, total, weight, shape, ignore_index, reduction):
    return _put_back(xp, grad, target, total, weight, shape, ignore_index, reduction)


def _put_back(xp, grad, target, total, weight, shape, ignore_index, reduction):
    """The gradient of `_picked`: zero except at the targets."""
    flat = target if target.ndim == 1 else target.reshape(-1)
    value = xp.negative(grad)
    if reduction == MEAN:
        value = value / total
    elif reduction == NONE:
        value = value.reshape(-1)
    if weight is not None or xp is not np or total != flat.size:
        counts = flat != ignore_index
        flat = flat * counts
        if weight is not None:
            value = value * weight[flat]
        value = xp.where(counts, value, grad.dtype.type(0))
    if xp is np and len(shape) == 2:
        return placed(shape, grad.dtype, _places(np, flat, shape), value)
    out = xp.zeros(prod(shape), grad.dtype)
    if flat.size:
        out[_places(xp, flat, shape)] = value
    return out.reshape(shape)


def _rows(suffix: str, name: str) -> tuple:
    """The rows of one of PyTorch's two kernels, without and with weights."""
    plain, weighted = f"nll_loss{suffix}", f"nll_loss{suffix}_weighted"
    row = op(
        plain,
        _nll,
        inputs="input target",
        name_in_graph=f"{name}Backward0",
        widen=False,
        formula=r"\bar x_{i, y_i} = -\tfrac{1}{n}\, \bar z",
        input=lambda F, g, target, out1, input_shape, ignore_index, reduction: getattr(
            F, plain + "_backward"
        )(g, target, out1, input_shape, ignore_index, reduction),
    )
    op(
        plain + "_backward",
        _put,
        inputs="grad target total",
        name_in_graph=f"{name}BackwardBackward0",
        widen=False,
        formula=r"\bar g = -\tfrac{1}{n} \sum_i \bar z_{i, y_i}",
        grad=lambda F, g, target, ignore_index, reduction: getattr(F, plain)(
            g, target, ignore_index, reduction
        )[0],
    )
    weighted_row = op(
        weighted,
        _nll_weighted,
        inputs="input target weight",
        name_in_graph=f"{name}Backward0",
        widen=False,
        formula=r"\bar x_{i, y_i} = -\tfrac{w_{y_i}}{\sum_j w_{y_j}}\, \bar z",
        input=lambda F, g, target, out1, weight, input_shape, ignore_index, reduction: getattr(
            F, weighted + "_backward"
        )(g, target, out1, weight, input_shape, ignore_index, reduction),
    )
    op(
        weighted + "_backward",
        _put_weighted,
        inputs="grad target total weight",
        name_in_graph=f"{name}BackwardBackward0",
        widen=False,
        formula=r"\bar g = -\sum_i \tfrac{w_{y_i}}{\sum_j w_{y_j}}\, \bar z_{i, y_i}",
        grad=lambda F, g, target, weight, ignore_index, reduction: getattr(F, weighted)(
            g, target, weight, ignore_index, reduction
        )[0],
    )
    return row, weighted_row


_one = _rows("", "NllLoss")
one_rows = _one[0]  # the row of a matrix without weights
_two = _rows("2d", "NllLoss2D")
_no_kernel = missing("nll_loss_out_frame", "ibc"), missing("nll_loss2d_forward_out_frame", "ibc")


def _target_type(target: Tensor) -> Tensor:
    kind = target._data.dtype
    if kind == _INT64:
        return target
    if kind != _UINT8:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {label_of(target)}")
    return target.long()


def nll_loss_nd(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int = -100
) -> Tensor:
    """The loss of log-probabilities of any number of dims, the classes along the second one."""
    if weight is None and input.__class__ is target.__class__ is Tensor and ignore_index.__class__ is int:
        a, t = input._data, target._data
        if a.ndim == 2 and t.ndim == 1 and len(a) == len(t) and t.dtype is _INT64 and a.dtype.kind == "f":
            return _one[0](input, target, ignore_index, reduction)[0]
    name = "nll_loss_nd"
    tensors(name, input=input, target=target)
    optional(name, "weight", 3, weight)
    ignore_index = whole(name, "ignore_index", 5, ignore_index)
    shape, given = input._data.shape, target._data.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1:
        if len(given) == 1 and given[0] != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {given[0]}")
    elif not given or shape[0] != given[0]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({given[0] if given else 0})."
        )
    if len(shape) <= 2:
        if len(given) > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        return _of_rows(input, target, weight, reduction, ignore_index)
    if len(shape) == 4:
        return _of_images(input, target, weight, reduction, ignore_index)
    rest = (shape[0], *shape[2:])
    if given != rest:
        raise RuntimeError(f"Expected target size {errors.sizes(rest)}, got {errors.sizes(given)}")
    inner = prod(shape[2:])
    # PyTorch's own way to the kernel for images, seen in its graph
    image = input.contiguous().view(shape[0], shape[1], 1, inner)
    loss = _of_images(image, target.contiguous().view(shape[0], 1, inner), weight, reduction, ignore_index)
    return loss.view(rest) if reduction == NONE else loss


def _of_rows(input: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int) -> Tensor:
    classes = input._data.shape[-1]
    if weight is not None and weight._data.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor "
            f"of shape: {errors.sizes(weight._data.shape)}"
        )
    target = _target_type(target)
    return _run(_one, _no_kernel[0], input, target, weight, reduction, ignore_index)


def _of_images(input: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int) -> Tensor:
    shape, given = input._data.shape, target._data.shape
    if len(given) != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(given)}"
        )
    if (shape[0], *shape[2:]) != given:
        raise RuntimeError(f"size mismatch (got input: {errors.sizes(shape)} , target: {errors.sizes(given)}")
    if weight is not None and weight._data.size != shape[1]:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    _no_kernel[1](input._data.dtype)
    if target._data.dtype == _UINT8:
        raise RuntimeError("expected scalar type Long but found Byte")
    target = _target_type(target)
    return _run(_two, _no_kernel[1], input, target, weight, reduction, ignore_index)


def _run(
    rows: tuple, refuse: Any, input: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int
) -> Tensor:
    refuse(input._data.dtype)
    if weight is None:
        return rows[0](input, target, ignore_index, reduction)[0]
    same_type(input, weight)
    no_gradient("nll_loss2d_forward" if rows is _two else "nll_loss_forward", "weight", weight)
    if weight._data.ndim > 1:
        weight = weight.reshape(-1)
    return rows[1](input, target, weight, ignore_index, reduction)[0]
