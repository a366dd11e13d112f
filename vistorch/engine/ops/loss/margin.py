"""Multi-class hinge losses: how far other classes come within a margin of the right ones.

Invariant: both rows see their input as a matrix, a sample per line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors
from ...core.op_factory import op
from ...core.tensor import Tensor
from ..elementwise.division import undifferentiable
from ..elementwise.dtype_checks import missing
from ..index.add_at import add_at
from .frame import MEAN, NONE, label_of, no_gradient, part, real, same_type, tensors, whole

_MATRIX = "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "


def _ended(xp: Any, lines: Any, reduction: int, shape: tuple) -> Any:
    """The loss of each line in `shape`, or their mean or sum."""
    if reduction == NONE:
        return lines.reshape(shape)
    total = lines.sum()
    return xp.asarray(total / lines.dtype.type(lines.size) if reduction == MEAN else total)


def _of_lines(g: Any, reduction: int, lines: int) -> Any:
    """The gradient of each line's loss: a column, or a number for all."""
    return part(g, reduction, (lines,)) if reduction != NONE else g.reshape(-1, 1)


# ---- one right class ---------------------------------------------------------------------------------------------
def _gaps(xp: Any, input: Any, target: Any, margin: float) -> tuple[Any, Any, Any]:
    """Each class's part of the margin (0 for the right one), and where the right ones stand."""
    x = input.reshape(-1, input.shape[-1]) if input.ndim else input.reshape(1, 1)
    right = (xp.arange(x.shape[0]), target.reshape(-1))
    z = x - x[right][:, None]
    z += margin
    z[right] = 0
    return x, xp.maximum(z, 0), right


def _multi_margin(xp, input, target, weight, p, margin, reduction):
    x, z, right = _gaps(xp, input, target, margin)
    lines = (z if p == 1 else z * z).sum(1)
    lines = lines * weight[right[1]] if weight.ndim else lines
    return _ended(xp, lines / x.dtype.type(x.shape[1]), reduction, target.shape)


def _multi_margin_backward(xp, grad, input, target, weight, p, margin, reduction):
    x, z, right = _gaps(xp, input, target, margin)
    d = (z > 0).astype(x.dtype) if p == 1 else z * 2
    d *= _of_lines(grad, reduction, x.shape[0]) / x.dtype.type(x.shape[1])
    if weight.ndim:
        d *= weight[right[1]][:, None]
    d[right] = -d.sum(1)
    return d.reshape(input.shape)


_multi_margin_row = op(
    "multi_margin_loss",
    _multi_margin,
    inputs="input target weight",
    formula=r"\bar x_j = \tfrac{\bar z}{n C}\, w_y\, p\, \max(0, m - x_y + x_j)^{p - 1}, \bar x_y = -\sum_j \bar x_j",
    input=lambda F, g, input, target, weight, p, margin, reduction: F.multi_margin_loss_backward(
        g, input, target, weight, p, margin, reduction
    ),
)
op(
    "multi_margin_loss_backward",
    _multi_margin_backward,
    inputs="grad input target weight",
    name_in_graph="NotImplemented",
    grad=undifferentiable("multi_margin_loss_backward"),
    input=undifferentiable("multi_margin_loss_backward"),
)
_no_multi_margin = missing("multi_margin_loss_cpu_kernel", "ibc")


def _no_half(kernel: str, t: Tensor) -> None:
    if t._data.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{label_of(t)}'")


def _check_matrix(shape: tuple) -> None:
    if len(shape) > 2 or (shape and not shape[-1]):
        raise RuntimeError(_MATRIX + errors.sizes(shape))


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int, margin: float, weight: Tensor | None, reduction: int
) -> Tensor:
    """The hinge loss of one right class per sample."""
    name = "multi_margin_loss"
    tensors(name, input=input, target=target)
    p, margin = whole(name, "p", 3, p), real(name, "margin", 4, margin, "Number")
    shape, given = input._data.shape, target._data.shape
    _check_matrix(shape)
    lines = shape[0] if len(shape) == 2 else 1
    if len(given) > 1 or target._data.size != lines:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size {errors.sizes((lines,))}, but got {errors.sizes(given)}. "
            f"Input has shape {errors.sizes(shape)}."
        )
    classes = shape[-1] if shape else 1
    if weight is not None and weight._data.shape != (classes,):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {errors.sizes(weight._data.shape)}"
        )
    _no_multi_margin(input._data.dtype)
    _no_half("multi_margin_loss_cpu_kernel", input)
    if target._data.dtype != np.dtype("i8"):
        raise RuntimeError(f"expected scalar type Long but found {label_of(target)}")
    t = target._data
    if t.size and not (t.min() >= 0 and t.max() < classes):
        raise RuntimeError("target out of range")
    if weight is None:
        weight = input.new_ones(())
    else:
        same_type(input, weight)
        no_gradient(name, "weight", weight)
    return _multi_margin_row(input, target, weight, p, margin, reduction)


# ---- several right classes ---------------------------------------------------------------------------------------
def _labels(xp: Any, input: Any, target: Any) -> tuple[Any, Any, Any, Any]:
    """Matrices of the input and its labels, which of those count (up to the first -1), and what is a label."""
    classes = input.shape[-1] if input.ndim else 1
    x, y = input.reshape(-1, classes), target.reshape(-1, classes)
    counts = xp.logical_and.accumulate(y >= 0, 1) if xp is np else xp.cumprod(y >= 0, 1).astype(bool)
    longest = int(counts.sum(1).max()) if counts.size else 0
    y, counts = y[:, :longest], counts[:, :longest]
    is_label = xp.zeros(x.shape, bool)
    lines = xp.broadcast_to(xp.arange(x.shape[0])[:, None], y.shape)
    is_label[lines[counts], y[counts]] = True
    return x, xp.where(counts, y, 0), counts, is_label


def _hinges(xp: Any, x: Any, y: Any, counts: Any, is_label: Any) -> Any:
    """1 - x[label] + x[other] for every pair (label, other) of a line that counts, else 0."""
    z = 1 - xp.take_along_axis(x, y, 1)[:, :, None] + x[:, None, :]
    return xp.maximum(xp.where(counts[:, :, None] & ~is_label[:, None, :], z, 0), 0)


def _multilabel(xp, input, target, reduction):
    x, y, counts, is_label = _labels(xp, input, target)
    lines = _hinges(xp, x, y, counts, is_label).sum((1, 2)) / x.dtype.type(x.shape[1])
    return _ended(xp, lines, reduction, target.shape[:-1])


def _multilabel_backward(xp, grad, input, target, reduction):
    x, y, counts, is_label = _labels(xp, input, target)
    inside = (_hinges(xp, x, y, counts, is_label) > 0).astype(x.dtype)
    out = inside.sum(1)
    lines = xp.broadcast_to(xp.arange(x.shape[0])[:, None], y.shape)
    add_at(xp, out.reshape(-1), (lines * x.shape[1] + y).reshape(-1), -inside.sum(2).reshape(-1))
    out *= _of_lines(grad, reduction, x.shape[0]) / x.dtype.type(x.shape[1])
    return out.reshape(input.shape)


_multilabel_row = op(
    "multilabel_margin_loss",
    _multilabel,
    inputs="input target",
    formula=r"\bar x_j = \tfrac{\bar z}{n C} \sum_y [1 - x_y + x_j > 0],"
    r" \bar x_y = -\tfrac{\bar z}{n C} \sum_j [1 - x_y + x_j > 0]",
    input=lambda F, g, input, target, reduction: F.multilabel_margin_loss_backward(
        g, input, target, reduction
    ),
)
op(
    "multilabel_margin_loss_backward",
    _multilabel_backward,
    inputs="grad input target",
    name_in_graph="NotImplemented",
    grad=undifferentiable("multilabel_margin_loss_backward"),
    input=undifferentiable("multilabel_margin_loss_backward"),
)
_no_multilabel = missing("multilabel_margin_loss_forward_out_frame", "ibc")


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The hinge loss of several right classes per sample, given as indices up to the first -1."""
    tensors("multilabel_margin_loss", input=input, target=target)
    shape, given = input._data.shape, target._data.shape
    _check_matrix(shape)
    if given != shape:
        raise RuntimeError(
            f"inconsistent target size: {errors.sizes(given)} for input of size: {errors.sizes(shape)}"
        )
    t = target._data
    classes = shape[-1] if shape else 1
    if t.dtype.kind == "c":
        raise NotImplementedError(f"\"min_all\" not implemented for '{label_of(target)}'")
    if t.size and not (t.min() >= -1 and t.max() < classes):
        raise RuntimeError("argument #2 'target' is out of range")
    _no_multilabel(input._data.dtype)
    _no_half("multilabel_margin_loss_forward_out_frame", input)
    if t.dtype != np.dtype("i8"):
        raise RuntimeError(f"expected scalar type Long but found {label_of(target)}")
    return _multilabel_row(input, target, reduction)
