"""Losses with a margin as modules.

Invariant: a module holds options and weights, and computes nothing that its function does not.
"""

from __future__ import annotations

from collections.abc import Callable

from ...engine.tensor import Tensor
from .. import functional as F
from . import distance
from .loss_base import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class MarginRankingLoss(_Loss):
    """How far pairs of scores are from being ranked as the target says; see `nn.functional.margin_ranking_loss`.

    Args:
        margin: by how much one score should lead.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.MarginRankingLoss()
        >>> a, b = vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 3.0])
        >>> loss(a, b, vistorch.tensor([1, 1]))
        tensor(0.5000)
    """

    __constants__ = ("margin", "reduction")
    margin: float

    def __init__(
        self,
        margin: float = 0.0,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    """The loss of distances of similar and dissimilar pairs; see `nn.functional.hinge_embedding_loss`.

    Args:
        margin: how far apart dissimilar ones should be.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.HingeEmbeddingLoss()
        >>> loss(vistorch.tensor([0.5, 0.2]), vistorch.tensor([1, -1]))
        tensor(0.6500)
    """

    __constants__ = ("margin", "reduction")
    margin: float

    def __init__(
        self,
        margin: float = 1.0,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """The loss of the angle between vectors; see `nn.functional.cosine_embedding_loss`.

    Args:
        margin: the cosine that dissimilar ones may have.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.CosineEmbeddingLoss()
        >>> a, b = vistorch.tensor([[1.0, 0.0]]), vistorch.tensor([[1.0, 1.0]])
        >>> loss(a, b, vistorch.tensor([1]))
        tensor(0.2929)
    """

    __constants__ = ("margin", "reduction")
    margin: float

    def __init__(
        self,
        margin: float = 0.0,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """The logistic loss of scores with labels of 1 and -1; see `nn.functional.soft_margin_loss`.

    Args:
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.SoftMarginLoss()
        >>> loss(vistorch.zeros(2), vistorch.tensor([1.0, -1.0]))
        tensor(0.6931)
    """

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The hinge loss of several right classes per sample; see `nn.functional.multilabel_margin_loss`.

    Args:
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.MultiLabelMarginLoss()
        >>> loss(vistorch.tensor([[0.5, 0.0, 1.0]]), vistorch.tensor([[0, 2, -1]]))
        tensor(0.1667)
    """

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross entropy of each class on its own; see `nn.functional.multilabel_soft_margin_loss`.

    Args:
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.MultiLabelSoftMarginLoss()
        >>> loss(vistorch.zeros(1, 2), vistorch.tensor([[1.0, 0.0]]))
        tensor(0.6931)
    """

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The hinge loss of one right class per sample; see `nn.functional.multi_margin_loss`.

    Args:
        p: the power of what is missing, 1 or 2.
        margin: by how much the right class should lead.
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.MultiMarginLoss()
        >>> loss(vistorch.tensor([[0.5, 0.0, 2.0]]), vistorch.tensor([0]))
        tensor(1.)
    """

    __constants__ = ("p", "margin", "reduction")
    margin: float
    p: int

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p != 1 and p != 2:
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """How far the positive is from being nearer than the negative; see `nn.functional.triplet_margin_loss`.

    Args:
        margin: by how much.
        p: the norm that measures distances.
        eps: added to every difference.
        swap: take the positive's distance from the negative where that is smaller.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.TripletMarginLoss()
        >>> a, p, n = (vistorch.tensor([[v]]) for v in (0.0, 1.0, 1.5))
        >>> loss(a, p, n)
        tensor(0.5000)
    """

    __constants__ = ("margin", "p", "eps", "swap", "reduction")
    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """As `TripletMarginLoss`, with a distance of one's own.

    Args:
        distance_function: the distance of two tensors; that of Euclid by default.
        margin: by how much the positive should be nearer.
        swap: take the positive's distance from the negative where that is smaller.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs())
        >>> a, p, n = (vistorch.tensor([v]) for v in (0.0, 1.0, 1.5))
        >>> loss(a, p, n)
        tensor(0.5000)
    """

    __constants__ = ("margin", "swap", "reduction")
    margin: float
    swap: bool

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average=None, reduce=None, reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = (
            distance.PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
