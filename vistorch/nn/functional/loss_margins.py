"""Losses that are content once the right answer leads by a margin, as one number.

Invariant: labels of 1 and -1 say which way a pair belongs; class indices say which one should lead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.base.casting import casting
from ...engine.base.events import listeners
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.activation.logistic import logsigmoid
from ...engine.ops.loss import distance
from ...engine.ops.loss import margin as _margin
from ...engine.ops.loss.frame import tensors
from ...engine.ops.loss.ranking import check_dims, pair_distance
from .. import _reduction as _Reduction

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def _number(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    if size_average is not None or reduce is not None:
        return _Reduction.legacy_get_enum(size_average, reduce)
    return _Reduction.get_enum(reduction)


def _signed(name: str, target: Any) -> None:
    """Listeners learn of a loss whose targets are 1 and -1, which its ops do not say."""
    if (emit := listeners.phase) is not None:
        emit("signs", name, target)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far pairs of scores are from being ranked as the target says.

    Args:
        input1: scores.
        input2: scores of the same shape.
        target: 1 where the first should be higher, -1 where the second should.
        margin: by how much.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> a, b = vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 3.0])
        >>> vistorch.nn.functional.margin_ranking_loss(a, b, vistorch.tensor([1, 1]))
        tensor(0.5000)
    """
    if casting.on and (recast := casting.ask(margin_ranking_loss, locals())):
        return recast[0]
    number = _number(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    _signed("margin_ranking_loss", target)
    return FUNCTIONS["margin_ranking_loss"](input1, input2, target, margin, number)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances themselves where the target is 1, what is missing to a margin where it is -1.

    Args:
        input: distances.
        target: 1 for similar, -1 for dissimilar.
        margin: how far apart dissimilar ones should be.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> d, y = vistorch.tensor([0.5, 0.2]), vistorch.tensor([1, -1])
        >>> vistorch.nn.functional.hinge_embedding_loss(d, y)
        tensor(0.6500)
    """
    if casting.on and (recast := casting.ask(hinge_embedding_loss, locals())):
        return recast[0]
    _signed("hinge_embedding_loss", target)
    return FUNCTIONS["hinge_embedding_loss"](input, target, margin, _number(size_average, reduce, reduction))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos of the angle of vectors that belong together, cos over a margin of those that do not.

    Args:
        input1: vectors, one or a batch.
        input2: as many.
        target: 1 for similar, -1 for dissimilar.
        margin: the cosine that dissimilar ones may have.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        inputs (N, D) or (D); target (N) or ().

    Example:
        >>> import vistorch
        >>> a, b = vistorch.tensor([[1.0, 0.0]]), vistorch.tensor([[1.0, 1.0]])
        >>> vistorch.nn.functional.cosine_embedding_loss(a, b, vistorch.tensor([1]))
        tensor(0.2929)
    """
    if casting.on and (recast := casting.ask(cosine_embedding_loss, locals())):
        return recast[0]
    _signed("cosine_embedding_loss", target)
    return FUNCTIONS["cosine_embedding_loss"](
        input1, input2, target, margin, _number(size_average, reduce, reduction)
    )


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The logistic loss log(1 + exp(-xy)) of scores with labels of 1 and -1.

    Args:
        input: scores of any shape.
        target: 1 or -1 for each.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.soft_margin_loss(vistorch.zeros(2), vistorch.tensor([1.0, -1.0]))
        tensor(0.6931)
    """
    if casting.on and (recast := casting.ask(soft_margin_loss, locals())):
        return recast[0]
    number = _number(size_average, reduce, reduction)
    tensors("soft_margin_loss", input=input, target=target)
    _signed("soft_margin_loss", target)
    return distance.soft_margin_loss(input, target, number)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes come within a margin of the right one.

    Args:
        input: scores of the classes.
        target: class indices.
        p: the power of what is missing, 1 or 2.
        margin: by how much the right class should lead.
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        input (N, C) or (C); target (N) or ().

    Example:
        >>> import vistorch
        >>> scores = vistorch.tensor([[0.5, 0.0, 2.0]])
        >>> vistorch.nn.functional.multi_margin_loss(scores, vistorch.tensor([0]))
        tensor(1.)
    """
    if casting.on and (recast := casting.ask(multi_margin_loss, locals())):
        return recast[0]
    number = _number(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _margin.multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far wrong classes come within 1 of the right ones, where several are right.

    Args:
        input: scores of the classes.
        target: for each sample the indices of its classes, up to the first -1.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target (N, C) or (C).

    Example:
        >>> import vistorch
        >>> scores, classes = vistorch.tensor([[0.5, 0.0, 1.0]]), vistorch.tensor([[0, 2, -1]])
        >>> vistorch.nn.functional.multilabel_margin_loss(scores, classes)
        tensor(0.1667)
    """
    if casting.on and (recast := casting.ask(multilabel_margin_loss, locals())):
        return recast[0]
    return _margin.multilabel_margin_loss(input, target, _number(size_average, reduce, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross entropy of each class on its own, averaged over classes.

    Args:
        input: logits.
        target: 1 for each class that is right, 0 for the others.
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        input and target (N, C).

    Example:
        >>> import vistorch
        >>> logits, y = vistorch.zeros(1, 2), vistorch.tensor([[1.0, 0.0]])
        >>> vistorch.nn.functional.multilabel_soft_margin_loss(logits, y)
        tensor(0.6931)
    """
    if casting.on and (recast := casting.ask(multilabel_soft_margin_loss, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    yes: Any = target
    loss: Any = -(yes * logsigmoid(input) + (1 - yes) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    classes = input.dim() - 1
    loss = loss.sum(dim=classes) / input.size(classes)
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(reduction + " is not valid")


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far the positive is from being nearer to the anchor than the negative is, by a margin.

    Args:
        anchor: vectors along the last dim.
        positive: what should be near.
        negative: what should be far.
        margin: by how much.
        p: the norm that measures distances.
        eps: added to every difference.
        swap: where the positive is nearer to the negative than the anchor is, take that distance.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        all (N, D) or (D).

    Example:
        >>> import vistorch
        >>> a, p, n = (vistorch.tensor([[v]]) for v in (0.0, 1.0, 1.5))
        >>> vistorch.nn.functional.triplet_margin_loss(a, p, n)
        tensor(0.5000)
    """
    if casting.on and (recast := casting.ask(triplet_margin_loss, locals())):
        return recast[0]
    number = _number(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return FUNCTIONS["triplet_margin_loss"](anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """As `triplet_margin_loss`, with a distance of one's own.

    Args:
        anchor: what the others are compared with.
        positive: what should be near.
        negative: what should be far.
        distance_function: the distance of two tensors; that of Euclid by default.
        margin: by how much.
        swap: where the positive is nearer to the negative than the anchor is, take that distance.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> a, p, n = (vistorch.tensor([v]) for v in (0.0, 1.0, 1.5))
        >>> far = lambda x, y: (x - y).abs()
        >>> vistorch.nn.functional.triplet_margin_with_distance_loss(a, p, n, distance_function=far)
        tensor(0.5000)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    check_dims(anchor, positive, negative)
    measure = pair_distance if distance_function is None else distance_function
    near, far = measure(anchor, positive), measure(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, measure(positive, negative))
    loss = (near + margin - far).clamp_min(0)
    return loss.sum() if reduction == "sum" else loss.mean() if reduction == "mean" else loss
