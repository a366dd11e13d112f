"""Losses of values as modules: how far predictions are from their targets.

Invariant: a module holds options, and computes nothing that its function does not.
"""

from __future__ import annotations

from ...engine.tensor import Tensor
from .. import functional as F
from .loss_base import _Loss

__all__ = ["GaussianNLLLoss", "HuberLoss", "L1Loss", "MSELoss", "PoissonNLLLoss", "SmoothL1Loss"]


class L1Loss(_Loss):
    """The absolute difference; see `nn.functional.l1_loss`.

    Args:
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

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


class MSELoss(_Loss):
    """The squared difference; see `nn.functional.mse_loss`.

    Args:
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

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


class SmoothL1Loss(_Loss):
    """The absolute difference, squared where it is small; see `nn.functional.smooth_l1_loss`.

    Args:
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        beta: below which difference it is squared.

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


class HuberLoss(_Loss):
    """Half the squared difference where it is small, and straight on; see `nn.functional.huber_loss`.

    Args:
        reduction: "mean", "sum" or "none".
        delta: from which difference it goes straight on.

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


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts; see `nn.functional.poisson_nll_loss`.

    Args:
        log_input: whether the input holds logarithms of rates.
        full: add Stirling's approximation of log(target!).
        size_average: deprecated, see `reduction`.
        eps: added to rates before their logarithm is taken.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

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


class GaussianNLLLoss(_Loss):
    """The negative log likelihood of values under normal distributions; see `nn.functional.gaussian_nll_loss`.

    Args:
        full: add the constant term.
        eps: the least variance.
        reduction: "mean", "sum" or "none".

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
