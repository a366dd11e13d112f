"""Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, pulled, shrinking, step_count

__all__ = ["NAdam"]


@arguments(ARGUMENTS, momentum_decay="how fast the momentum grows to its full size.")
class NAdam(Rule):
    """Adam that looks ahead by its momentum (Dozat, 2016).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.NAdam([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.8944, 1.8944], requires_grad=True)
    """

    by_count = False  # the product of momenta is each parameter's own
    options: ClassVar[dict[str, Any]] = {**COMMON, "capturable": False, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr, epsilon=eps, betas=betas, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _begin(self, p: Tensor, state: dict, group: dict) -> None:
        """The product of all momenta so far, beside the averages."""
        state.setdefault("step", step_count())
        state.setdefault("mu_product", step_count() + 1)
        super()._begin(p, state, group)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for entry in self.state.values():
            if "mu_product" in entry and not isinstance(entry["mu_product"], Tensor):
                entry["mu_product"] = step_count() + float(entry["mu_product"])

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("exp_avg", "exp_avg_sq")

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        beta1, beta2 = get("betas")
        lr, decay = get("lr"), get("momentum_decay")
        mu, after = (beta1 * (1.0 - 0.5 * 0.96 ** (n * decay)) for n in (count, count + 1))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        now, later = -lr * (1.0 - mu) / (1.0 - product), -lr * after / (1.0 - product * after)
        pull = get("weight_decay"), shrinking(get), get("maximize")
        return beta1, beta2, get("eps"), *pull, 1 - beta2**count, now, later

    @staticmethod
    def _update(F: Any, p: Any, g: Any, mean: Any, square: Any, *more: Any) -> None:
        """One step of one parameter."""
        beta1, beta2, eps, decay, shrink, maximize, correction, now, later = more
        g = pulled(F, p, g, decay, shrink, maximize)
        F.lerp_(mean, g, 1 - beta1)
        F.average_(square, beta2, g, g, 1 - beta2)
        root = F.shift(F.sqrt(F.over(square, correction)), eps)
        F.addcdiv_(p, g, root, now)
        F.addcdiv_(p, mean, root, later)
