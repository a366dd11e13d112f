"""How wrong a prediction of classes or probabilities is, as one number.

Invariant: what a loss is called on reaches its row unchanged, so a listener to ops finds predictions and targets
there. The losses of values are in `loss_values`, those with a margin in `loss_margins`.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...engine.base import dims as _dims
from ...engine.base.casting import casting
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.loss import binary
from ...engine.ops.loss.entropy import cross_entropy_loss
from ...engine.ops.loss.nll import nll_loss_nd
from .. import _reduction as _Reduction
from .linear import linear

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "ctc_loss",
    "kl_div",
    "linear_cross_entropy",
    "nll_loss",
]


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy between logits and the classes they should have given.

    Args:
        input: logits.
        target: class indices, or probabilities of the classes.
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        ignore_index: a class index that does not count.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        label_smoothing: how much of the target is spread over all classes, 0 to 1.

    Shape:
        input (C), (N, C) or (N, C, d1, ...); target the same without C, or like input for probabilities.

    Example:
        >>> import vistorch
        >>> logits, labels = vistorch.tensor([[2.0, 0.0], [0.0, 0.0]]), vistorch.tensor([0, 1])
        >>> vistorch.nn.functional.cross_entropy(logits, labels)
        tensor(0.4100)
    """
    if casting.on and (recast := casting.ask(cross_entropy, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    return cross_entropy_loss(
        input, target, weight, _Reduction.get_enum(reduction), ignore_index, label_smoothing
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of class indices.

    Args:
        input: log-probabilities.
        target: class indices.
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        ignore_index: a class index that does not count.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        input (C), (N, C) or (N, C, d1, ...); target the same without C.

    Example:
        >>> import vistorch
        >>> log_probs = vistorch.tensor([[-1.0, -2.0], [-3.0, -4.0]])
        >>> vistorch.nn.functional.nll_loss(log_probs, vistorch.tensor([0, 1]))
        tensor(2.5000)
    """
    if casting.on and (recast := casting.ask(nll_loss, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    return nll_loss_nd(input, target, weight, _Reduction.get_enum(reduction), ignore_index)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of a distribution from the one a network gives.

    Args:
        input: log-probabilities.
        target: probabilities, or their logarithms.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "batchmean" (what mathematics calls it), "mean", "sum" or "none".
        log_target: whether `target` is given as logarithms.

    Example:
        >>> import vistorch
        >>> log_q, p = vistorch.tensor([[0.25, 0.75]]).log(), vistorch.tensor([[0.5, 0.5]])
        >>> vistorch.nn.functional.kl_div(log_q, p, reduction="batchmean")
        tensor(0.1438)
    """
    if casting.on and (recast := casting.ask(kl_div, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        number = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed "
                "to behave the same as 'batchmean' in the next major release.",
                stacklevel=2,
            )
        number = _Reduction.get_enum("sum" if reduction == "batchmean" else reduction)
    _dims.flag(log_target, "kl_div", "log_target")
    loss = FUNCTIONS["kl_div"](input, target, number, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        loss = loss / input.size()[0]
    return loss


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy of probabilities with yes-or-no targets.

    Args:
        input: probabilities of any shape.
        target: a tensor of the same shape, values from 0 to 1.
        weight: what each element counts; broadcast to the target.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> p, y = vistorch.tensor([0.9, 0.2]), vistorch.tensor([1.0, 0.0])
        >>> vistorch.nn.functional.binary_cross_entropy(p, y)
        tensor(0.1643)
    """
    if casting.on and (recast := casting.ask(binary_cross_entropy, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        number = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        number = _Reduction.get_enum(reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(FUNCTIONS["broadcast_shapes"](target.size(), weight.size()))
    return binary.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of yes-or-no targets, the probabilities given as logits.

    Args:
        input: logits of any shape.
        target: a tensor of the same shape, values from 0 to 1.
        weight: what each element counts; broadcast to the target.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        pos_weight: what each yes counts; broadcast to the target.

    Example:
        >>> import vistorch
        >>> logits, y = vistorch.tensor([0.0, 4.0]), vistorch.tensor([1.0, 1.0])
        >>> vistorch.nn.functional.binary_cross_entropy_with_logits(logits, y)
        tensor(0.3556)
    """
    if casting.on and (recast := casting.ask(binary_cross_entropy_with_logits, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        number = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        number = _Reduction.get_enum(reduction)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return binary.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log-likelihood of label sequences, summed over all their alignments with the input.

    Args:
        log_probs: log-probabilities of classes.
        targets: labels, with padding, or all of them one after another.
        input_lengths: how many time steps of each sample count.
        target_lengths: how many labels each sample has.
        blank: the class that stands for no label.
        reduction: "mean" (of the losses per label), "sum" or "none".
        zero_infinity: count samples that no alignment fits as nothing.

    Shape:
        log_probs (T, N, C) or (T, C); targets (N, S), (sum of target_lengths) or, for one sample, (S).

    Example:
        >>> import vistorch
        >>> log_probs = vistorch.zeros(4, 1, 3).log_softmax(2)
        >>> vistorch.nn.functional.ctc_loss(log_probs, vistorch.tensor([[1, 2]]), (4,), (2,))
        tensor(0.8432)
    """
    if casting.on and (recast := casting.ask(ctc_loss, locals())):
        return recast[0]
    return FUNCTIONS["ctc_loss"](
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        _Reduction.get_enum(reduction),
        zero_infinity,
    )


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """The cross entropy of the logits that an affine map gives.

    Args:
        input: what the map takes.
        linear_weight: its matrix, a row per class.
        target: class indices, or probabilities of the classes.
        linear_bias: what it adds, a number per class.
        weight: what each class counts.
        reduction: "mean", "sum" or "none".
        ignore_index: a class index that does not count.
        label_smoothing: how much of the target is spread over all classes, 0 to 1.
        options: how PyTorch cuts a large batch into pieces; the result is the same, and nothing is cut here.

    Shape:
        input (in_features) or (N, in_features); linear_weight (C, d1, ..., in_features).

    Example:
        >>> import vistorch
        >>> x, w = vistorch.tensor([[1.0, 2.0]]), vistorch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> vistorch.nn.functional.linear_cross_entropy(x, w, vistorch.tensor([1]))
        tensor(0.3133)
    """
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}"
        )
    features, shape = input.shape[-1], tuple(linear_weight.shape)
    if features != shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {shape[-1]}, respectively"
        )
    classes, inner = shape[0], shape[1:-1]
    if linear_bias is not None and tuple(linear_bias.shape) != (classes, *inner):
        raise RuntimeError(f"expected linear_bias shape {(classes, *inner)}, got {tuple(linear_bias.shape)}")
    batch = tuple(input.shape[:-1])
    if inner and not batch:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {shape} requires batched input, (N, {features}), "
            f"got unbatched input with shape {tuple(input.shape)}"
        )
    logits_shape = (*batch, classes, *inner)
    if ignore_index is not None and tuple(target.shape) == logits_shape:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if inner:
        lines = math.prod(inner, start=classes)
        linear_weight = linear_weight.reshape((lines, features))
        if linear_bias is not None:
            linear_bias = linear_bias.reshape(lines)
    return cross_entropy(
        linear(input, linear_weight, linear_bias).reshape(logits_shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
