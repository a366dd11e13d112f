"""Losses as modules: those of classes and probabilities, and the names of all others.

Invariant: a module holds options and weights, and computes nothing that its function does not. The losses of values
are in `loss_values`, those with a margin in `loss_margins`.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .linear import Linear
from .loss_base import _Loss, _WeightedLoss
from .loss_margins import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from .loss_values import GaussianNLLLoss, HuberLoss, L1Loss, MSELoss, PoissonNLLLoss, SmoothL1Loss

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy between logits and the classes they should have given; see `nn.functional.cross_entropy`.

    Args:
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
        >>> loss = vistorch.nn.CrossEntropyLoss()
        >>> loss(vistorch.tensor([[2.0, 0.0], [0.0, 0.0]]), vistorch.tensor([0, 1]))
        tensor(0.4100)
    """

    __constants__ = ("ignore_index", "reduction", "label_smoothing")
    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """The negative log likelihood of class indices; see `nn.functional.nll_loss`.

    Args:
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        ignore_index: a class index that does not count.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Shape:
        input (C), (N, C) or (N, C, d1, ...); target the same without C.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.NLLLoss()
        >>> loss(vistorch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), vistorch.tensor([0, 1]))
        tensor(2.5000)
    """

    __constants__ = ("ignore_index", "reduction")
    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """The name that older programs use for `NLLLoss`.

    Args:
        weight: what each class counts.
        size_average: deprecated, see `reduction`.
        ignore_index: a class index that does not count.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     loss = vistorch.nn.NLLLoss2d()
        >>> loss(vistorch.zeros(1, 2, 1, 1), vistorch.zeros(1, 1, 1, dtype=vistorch.int64))
        tensor(0.)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class LinearCrossEntropyLoss(_WeightedLoss):
    """An affine map and the cross entropy of what it gives; see `nn.functional.linear_cross_entropy`.

    Args:
        in_features: size of each input.
        num_classes: how many classes there are.
        out_features: more dims of what the map gives.
        bias: whether the map adds a learned number.
        device: where the parameters are.
        dtype: their type.
        reduction: "mean", "sum" or "none".
        weight: what each class counts.
        ignore_index: a class index that does not count.
        label_smoothing: how much of the target is spread over all classes, 0 to 1.
        options: how PyTorch cuts a large batch into pieces; nothing is cut here.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.LinearCrossEntropyLoss(4, 3)
        >>> loss(vistorch.zeros(2, 4), vistorch.tensor([0, 2]))
        tensor(1.0986, grad_fn=<NllLossBackward0>)
    """

    __constants__ = ("num_classes", "out_features", "reduction", "ignore_index", "label_smoothing")
    num_classes: int
    out_features: tuple[int, ...]
    reduction: str
    ignore_index: int | None
    label_smoothing: float

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device=None,
        dtype=None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1.0:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, size_average=None, reduce=None, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        lines = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, lines, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        lines = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*lines, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(lines),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """The options, as in PyTorch."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}"
        )


class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence; see `nn.functional.kl_div`.

    Args:
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "batchmean" (what mathematics calls it), "mean", "sum" or "none".
        log_target: whether the target is given as logarithms.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.KLDivLoss(reduction="batchmean")
        >>> loss(vistorch.tensor([[0.25, 0.75]]).log(), vistorch.tensor([[0.5, 0.5]]))
        tensor(0.1438)
    """

    __constants__ = ("reduction",)

    def __init__(
        self,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities with yes-or-no targets; see `nn.functional.binary_cross_entropy`.

    Args:
        weight: what each element counts.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.BCELoss()
        >>> loss(vistorch.tensor([0.9, 0.2]), vistorch.tensor([1.0, 0.0]))
        tensor(0.1643)
    """

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The same with logits; see `nn.functional.binary_cross_entropy_with_logits`.

    Args:
        weight: what each element counts.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        pos_weight: what each yes counts.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.BCEWithLogitsLoss()
        >>> loss(vistorch.tensor([0.0, 4.0]), vistorch.tensor([1.0, 1.0]))
        tensor(0.3556)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """The loss of label sequences over all their alignments; see `nn.functional.ctc_loss`.

    Args:
        blank: the class that stands for no label.
        reduction: "mean" (of the losses per label), "sum" or "none".
        zero_infinity: count samples that no alignment fits as nothing.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.CTCLoss()
        >>> log_probs = vistorch.zeros(4, 1, 3).log_softmax(2)
        >>> loss(log_probs, vistorch.tensor([[1, 2]]), (4,), (2,))
        tensor(0.8432)
    """

    __constants__ = ("blank", "reduction")
    blank: int
    zero_infinity: bool

    def __init__(
        self,
        blank: int = 0,
        reduction: str = "mean",
        zero_infinity: bool = False,
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """The loss."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
