"""Adam with the greatest gradient in place of the average of squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, pulled

__all__ = ["Adamax"]


@arguments(ARGUMENTS)
class Adamax(Rule):
    """Adam with the infinity norm of past gradients (Kingma and Ba, 2014).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.Adamax([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.9000, 1.9000], requires_grad=True)
    """

    options: ClassVar[dict[str, Any]] = {**COMMON, "capturable": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check(lr=lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("exp_avg", "exp_inf")

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        beta1, beta2 = get("betas")
        step_size = get("lr") / (1 - beta1**count)
        return beta1, beta2, get("eps"), get("weight_decay"), get("maximize"), step_size

    @staticmethod
    def _update(F: Any, p: Any, g: Any, mean: Any, greatest: Any, *more: Any) -> None:
        """One step of one parameter."""
        beta1, beta2, eps, decay, maximize, step_size = more
        g = pulled(F, p, g, decay, None, maximize)
        F.lerp_(mean, g, 1 - beta1)
        F.mul_(greatest, beta2)
        F.maximum_(greatest, F.shift(F.abs(g), eps))
        F.addcdiv_(p, mean, greatest, -step_size)
