"""Steps in the units of the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, pulled

__all__ = ["Adadelta"]


@arguments(
    ARGUMENTS, rho="how much of the running averages is kept at each step.", eps="added under the roots."
)
class Adadelta(Rule):
    """Steps whose size is the average of past steps (Zeiler, 2012).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.Adadelta([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.9997, 1.9997], requires_grad=True)
    """

    options: ClassVar[dict[str, Any]] = {**COMMON, "capturable": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check(epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("square_avg", "acc_delta")

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        return tuple(map(get, ("lr", "rho", "eps", "weight_decay", "maximize")))

    @staticmethod
    def _update(F: Any, p: Any, g: Any, square: Any, steps: Any, *more: Any) -> None:
        """One step of one parameter."""
        lr, rho, eps, decay, maximize = more
        g = pulled(F, p, g, decay, None, maximize)
        F.average_(square, rho, g, g, 1 - rho)
        delta = F.div(F.sqrt(F.shifted(steps, eps)), F.sqrt(F.shifted(square, eps)))
        delta = F.mul(delta, g)
        F.average_(steps, rho, delta, delta, 1 - rho)
        F.add_(p, delta, -lr)
