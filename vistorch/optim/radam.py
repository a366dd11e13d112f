"""Adam that trusts its averages only when they have seen enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, pulled, shrinking

__all__ = ["RAdam"]


@arguments(ARGUMENTS)
class RAdam(Rule):
    """Adam with a rectified step while the average of squares is young (Liu et al., 2019).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.RAdam([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.8000, 1.6000], requires_grad=True)
    """

    options: ClassVar[dict[str, Any]] = {**COMMON, "capturable": False, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("exp_avg", "exp_avg_sq")

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        beta1, beta2 = get("betas")
        correction = 1 - beta2**count
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * count * beta2**count / correction  # of the plain average that varies as much
        size = get("lr") / (1 - beta1**count)
        if length > 5.0:
            size *= ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            size *= correction**0.5
        pull = get("weight_decay"), shrinking(get), get("maximize")
        return beta1, beta2, get("eps"), *pull, length > 5.0, size

    @staticmethod
    def _update(F: Any, p: Any, g: Any, mean: Any, square: Any, *more: Any) -> None:
        """One step of one parameter."""
        beta1, beta2, eps, decay, shrink, maximize, adaptive, size = more
        g = pulled(F, p, g, decay, shrink, maximize)
        F.lerp_(mean, g, 1 - beta1)
        F.average_(square, beta2, g, g, 1 - beta2)
        if adaptive:
            F.addcdiv_(p, mean, F.root(square, 1, eps), -size)
        else:
            F.add_(p, mean, -size)
