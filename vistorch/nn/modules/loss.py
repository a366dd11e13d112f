"""Losses as modules: of values, of classes and probabilities, and with a margin.

Invariant: a module holds options and weights, and computes nothing that its function does not; a weight is a buffer,
so it moves and is saved with the module.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.core.tensor import Tensor
from .. import _reduction as _Reduction
from .. import functional as F
from .distance import PairwiseDistance
from .linear import Linear
from .module import Module

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

ARGUMENTS = {
    "weight": "what each class counts.",
    "size_average": "deprecated, see `reduction`.",
    "reduce": "deprecated, see `reduction`.",
    "reduction": '"mean", "sum" or "none".',
    "ignore_index": "a class index that does not count.",
    "label_smoothing": "how much of the target is spread over all classes, 0 to 1.",
    "swap": "take the positive's distance from the negative where that is smaller.",
}


class _Loss(Module):
    """A loss with a reduction."""

    reduction: str

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            self.reduction = _Reduction.legacy_get_string(size_average, reduce)
        else:
            self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a weight too."""

    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


@arguments(ARGUMENTS)
class L1Loss(_Loss):
    """The absolute difference; see `nn.functional.l1_loss`.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.L1Loss()
        >>> loss(vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 4.0]))
        tensor(1.5000)
    """

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.l1_loss(input, target, reduction=self.reduction)


@arguments(ARGUMENTS)
class MSELoss(_Loss):
    """The squared difference; see `nn.functional.mse_loss`.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.MSELoss()
        >>> loss(vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 4.0]))
        tensor(2.5000)
    """

    __constants__ = ("reduction",)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


@arguments(ARGUMENTS, beta="below which difference it is squared.")
class SmoothL1Loss(_Loss):
    """The absolute difference, squared where it is small; see `nn.functional.smooth_l1_loss`.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.SmoothL1Loss()
        >>> loss(vistorch.tensor([0.5, 2.0]), vistorch.zeros(2))
        tensor(0.8125)
    """

    __constants__ = ("reduction",)

    def __init__(
        self,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


@arguments(ARGUMENTS, delta="from which difference it goes straight on.")
class HuberLoss(_Loss):
    """Half the squared difference where it is small, and straight on; see `nn.functional.huber_loss`.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.HuberLoss(delta=2.0)
        >>> loss(vistorch.tensor([0.5, 4.0]), vistorch.zeros(2))
        tensor(3.0625)
    """

    __constants__ = ("reduction", "delta")

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
    ) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


@arguments(
    ARGUMENTS,
    log_input="whether the input holds logarithms of rates.",
    full="add Stirling's approximation of log(target!).",
    eps="added to rates before their logarithm is taken.",
)
class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts; see `nn.functional.poisson_nll_loss`.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.PoissonNLLLoss()
        >>> loss(vistorch.tensor([0.0, 1.0]), vistorch.tensor([1.0, 2.0]))
        tensor(0.8591)
    """

    __constants__ = ("log_input", "full", "eps", "reduction")
    log_input: bool
    full: bool
    eps: float

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average=None,
        eps: float = 1e-8,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


@arguments(ARGUMENTS, full="add the constant term.", eps="the least variance.")
class GaussianNLLLoss(_Loss):
    """The negative log likelihood of values under normal distributions; see `nn.functional.gaussian_nll_loss`.

    Example:
        >>> import vistorch
        >>> loss = vistorch.nn.GaussianNLLLoss()
        >>> loss(vistorch.tensor([0.0, 1.0]), vistorch.tensor([1.0, 1.0]), vistorch.ones(2))
        tensor(0.2500)
    """

    __constants__ = ("full", "eps", "reduction")
    full: bool
    eps: float

    def __init__(
        self,
        *,
        full: bool = False,
        eps: float = 1e-6,
        reduction: str = "mean",
    ) -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """The loss."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


@arguments(ARGUMENTS)
class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy between logits and the classes they should have given; see `nn.functional.cross_entropy`.

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


@arguments(ARGUMENTS)
class NLLLoss(_WeightedLoss):
    """The negative log likelihood of class indices; see `nn.functional.nll_loss`.

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


@arguments(ARGUMENTS)
class NLLLoss2d(NLLLoss):
    """The name that older programs use for `NLLLoss`.

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


@arguments(
    ARGUMENTS,
    in_features="size of each input.",
    num_classes="how many classes there are.",
    out_features="more dims of what the map gives.",
    bias="whether the map adds a learned number.",
    device="where the parameters are.",
    dtype="their type.",
    options="how PyTorch cuts a large batch into pieces; nothing is cut here.",
)
class LinearCrossEntropyLoss(_WeightedLoss):
    """An affine map and the cross entropy of what it gives; see `nn.functional.linear_cross_entropy`.

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


@arguments(
    ARGUMENTS,
    reduction='"batchmean" (what mathematics calls it), "mean", "sum" or "none".',
    log_target="whether the target is given as logarithms.",
)
class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence; see `nn.functional.kl_div`.

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


@arguments(ARGUMENTS, weight="what each element counts.")
class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities with yes-or-no targets; see `nn.functional.binary_cross_entropy`.

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


@arguments(ARGUMENTS, weight="what each element counts.", pos_weight="what each yes counts.")
class BCEWithLogitsLoss(_Loss):
    """The same with logits; see `nn.functional.binary_cross_entropy_with_logits`.

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


@arguments(
    ARGUMENTS,
    blank="the class that stands for no label.",
    reduction='"mean" (of the losses per label), "sum" or "none".',
    zero_infinity="count samples that no alignment fits as nothing.",
)
class CTCLoss(_Loss):
    """The loss of label sequences over all their alignments; see `nn.functional.ctc_loss`.

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


@arguments(ARGUMENTS, margin="by how much one score should lead.")
class MarginRankingLoss(_Loss):
    """How far pairs of scores are from being ranked as the target says; see `nn.functional.margin_ranking_loss`.

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


@arguments(ARGUMENTS, margin="how far apart dissimilar ones should be.")
class HingeEmbeddingLoss(_Loss):
    """The loss of distances of similar and dissimilar pairs; see `nn.functional.hinge_embedding_loss`.

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


@arguments(ARGUMENTS, margin="the cosine that dissimilar ones may have.")
class CosineEmbeddingLoss(_Loss):
    """The loss of the angle between vectors; see `nn.functional.cosine_embedding_loss`.

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


@arguments(ARGUMENTS)
class SoftMarginLoss(_Loss):
    """The logistic loss of scores with labels of 1 and -1; see `nn.functional.soft_margin_loss`.

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


@arguments(ARGUMENTS)
class MultiLabelMarginLoss(_Loss):
    """The hinge loss of several right classes per sample; see `nn.functional.multilabel_margin_loss`.

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


@arguments(ARGUMENTS)
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross entropy of each class on its own; see `nn.functional.multilabel_soft_margin_loss`.

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


@arguments(
    ARGUMENTS, p="the power of what is missing, 1 or 2.", margin="by how much the right class should lead."
)
class MultiMarginLoss(_WeightedLoss):
    """The hinge loss of one right class per sample; see `nn.functional.multi_margin_loss`.

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


@arguments(
    ARGUMENTS, margin="by how much.", p="the norm that measures distances.", eps="added to every difference."
)
class TripletMarginLoss(_Loss):
    """How far the positive is from being nearer than the negative; see `nn.functional.triplet_margin_loss`.

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


@arguments(
    ARGUMENTS,
    distance_function="the distance of two tensors; that of Euclid by default.",
    margin="by how much the positive should be nearer.",
)
class TripletMarginWithDistanceLoss(_Loss):
    """As `TripletMarginLoss`, with a distance of one's own.

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
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
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
