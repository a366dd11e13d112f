"""Gradients divided by their recent size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, pulled

__all__ = ["RMSprop"]


@arguments(
    ARGUMENTS,
    alpha="how much of the running averages is kept at each step.",
    centered="divide by the deviation from the average gradient.",
)
class RMSprop(Rule):
    """Steps divided by the root of the average of squared gradients (Tieleman and Hinton, 2012).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.RMSprop([p], lr=0.05)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.5000, 1.5000], requires_grad=True)
    """

    options: ClassVar[dict[str, Any]] = {**COMMON, "momentum": 0, "centered": False, "capturable": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return (
            "square_avg",
            *(["momentum_buffer"] if group["momentum"] > 0 else []),
            *(["grad_avg"] if group["centered"] else []),
        )

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        names = ("lr", "momentum", "alpha", "eps", "centered", "weight_decay", "maximize")
        return tuple(map(get, names))

    @staticmethod
    def _update(F: Any, p: Any, g: Any, square: Any, *more: Any) -> None:
        """One step of one parameter."""
        *kept, lr, momentum, alpha, eps, centered, decay, maximize = more
        g = pulled(F, p, g, decay, None, maximize)
        F.average_(square, alpha, g, g, 1 - alpha)
        if centered:
            mean = kept[-1]
            F.lerp_(mean, g, 1 - alpha)
            square = F.added(square, F.times(mean, mean), -1)
        root = F.root(square, 1, eps)
        if momentum > 0:
            F.mul_(kept[0], momentum)
            F.addcdiv_(kept[0], g, root)
            F.add_(p, kept[0], -lr)
        else:
            F.addcdiv_(p, g, root, -lr)
