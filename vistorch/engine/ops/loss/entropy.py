"""Cross entropy of logits, and the divergence of one distribution from another.

Invariant: the graph is PyTorch's: `log_softmax`, then the negative log likelihood of what it gives, so a listener
finds the logits as the only input of `log_softmax` and its output, with the targets, as inputs of what follows.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...base.numpy_warnings import hushed
from ...core import type_promotion
from ...core.registry import public
from ...core.rules import variant
from ...core.tensor import Tensor
from ..activation.soft import log_softmax_of
from ..elementwise.division import div_
from ..elementwise.special import xlogy
from .cross_entropy_fused import cross_entropy_together
from .frame import MEAN, NONE, finished, label_of, optional, real, tensors, whole
from .nll import nll_loss_nd


def cross_entropy_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of logits with class indices or class probabilities."""
    if (
        weight is None
        and input.__class__ is target.__class__ is Tensor
        and ignore_index.__class__ is int
        and not label_smoothing
    ):
        done = cross_entropy_together(input, target, ignore_index, reduction)
        if done is not None:
            return done
    name = "cross_entropy_loss"
    tensors(name, input=input, target=target)
    if weight is not None:
        optional(name, "weight", 3, weight)
    if ignore_index.__class__ is not int:
        ignore_index = whole(name, "ignore_index", 5, ignore_index)
    if label_smoothing.__class__ is not float:
        label_smoothing = real(name, "label_smoothing", 6, label_smoothing)
    shape = input._data.shape
    if target._data.shape == shape:
        return _of_probabilities(input, target, weight, reduction, ignore_index, label_smoothing)
    if label_smoothing > 0.0:
        return _smoothed(input, target, weight, reduction, ignore_index, label_smoothing)
    return nll_loss_nd(_log_softmax(input), target, weight, reduction, ignore_index)


def _log_softmax(input: Tensor) -> Tensor:
    return log_softmax_of(input, 0 if input._data.ndim == 1 else 1, None, 2)


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _along_classes(weight: Tensor, ndim: int) -> Tensor:
    """A weight per class, as it broadcasts against an input of so many dims."""
    shape = [1] * ndim
    shape[0 if ndim == 1 else 1] = weight._data.shape[0]
    return weight.view(shape)


def _of_probabilities(
    input: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int, label_smoothing: float
) -> Tensor:
    if not type_promotion.floating(target._data.dtype) or target._data.dtype.kind == "c":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {label_of(target)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    shape = input._data.shape
    if not shape:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    at = 0 if len(shape) == 1 else 1
    classes = shape[at]
    if weight is not None and weight._data.shape != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {errors.sizes(weight._data.shape)}"
        )
    log_p = _log_softmax(input)
    if label_smoothing > 0.0:
        _check_smoothing(label_smoothing)
        target = target * (1 - label_smoothing) + (label_smoothing / classes if classes else float("inf"))
    losses = log_p * target
    if weight is not None:
        losses = losses * _along_classes(weight, len(shape))
    if reduction == NONE:
        return -losses.sum(at)
    loss = losses.sum()
    if reduction != MEAN:
        return -loss
    if not losses._data.size:
        return -loss.fill_(float("nan"))
    return _divided(-loss, losses._data.size // classes)


def _smoothed(
    input: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int, label_smoothing: float
) -> Tensor:
    _check_smoothing(label_smoothing)
    shape = input._data.shape
    at = dims.one(0 if len(shape) == 1 else 1, len(shape))
    log_p = _log_softmax(input)
    nll = nll_loss_nd(log_p, target, weight, reduction, ignore_index)
    each = log_p if weight is None else log_p * _along_classes(weight, len(shape))
    spread: Any = -each.sum(at)
    ignored = target == ignore_index
    if len(target._data.shape) > len(spread._data.shape):
        raise RuntimeError(
            f"output with shape {errors.sizes(spread._data.shape)} doesn't match the broadcast shape "
            f"{errors.sizes(target._data.shape)}"
        )
    spread = spread.masked_fill(ignored, 0.0)
    if reduction == MEAN:
        counts: Any = ~ignored
        if weight is None:
            spread = spread.sum() / counts.sum()
        else:
            spread = spread.sum() / weight.gather(0, target.masked_select(counts).long()).sum()
    elif reduction != NONE:
        spread = spread.sum()
    classes = shape[at]
    return nll * (1 - label_smoothing) + spread * (label_smoothing / classes if classes else float("inf"))


_by_number = variant(div_.rule, "DivBackward1")


def _divided(t: Tensor, n: int) -> Tensor:
    """A quotient under the name that PyTorch's own code gives it in the graph."""
    d = hushed(_by_number.kernels[t._place.kind], t._data, n)
    return type_promotion.finish(_by_number, t._place, d, (t, n), None)


@public(method=False)
def kl_div(input, target, reduction=0, *, log_target=False):
    """The Kullback-Leibler divergence of each element: target (log target - input).

    Args:
        input: log-probabilities.
        target: probabilities, or their logarithms.
        reduction: 0 for every element, 1 for their mean, 2 for their sum.
        log_target: whether `target` is given as logarithms.

    Example:
        >>> import vistorch
        >>> p, q = vistorch.tensor([0.5, 0.5]), vistorch.tensor([0.25, 0.75])
        >>> vistorch.kl_div(q.log(), p, 2)
        tensor(0.1438)
    """
    if casting.on and (recast := casting.ask(kl_div, locals())):
        return recast[0]
    tensors("kl_div", input=input, target=target)
    reduction = whole("kl_div", "reduction", 3, reduction)
    log_target = dims.flag(log_target, "kl_div", "log_target")
    if any(t._data.dtype.kind == "c" for t in (input, target)):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    for t in (input, target):
        if not type_promotion.floating(t._data.dtype):
            raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = xlogy(target, target) - target * input
    return finished(losses, reduction)
