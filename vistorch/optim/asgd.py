"""Gradient descent, and the average of where it has been."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, pulled, step_count

__all__ = ["ASGD"]


@arguments(
    ARGUMENTS,
    lambd="pull towards zero beside the step.",
    alpha="the power with which the step falls.",
    t0="the step at which averaging begins.",
)
class ASGD(Rule):
    """Averaged gradient descent (Polyak and Juditsky, 1992): the average is in the state, under "ax".

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.ASGD([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.8000, 1.6000], requires_grad=True)
    """

    by_count = False  # the size of the step is in each parameter's state
    options: ClassVar[dict[str, Any]] = {**COMMON, "capturable": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _begin(self, p: Tensor, state: dict, group: dict) -> None:
        """The size of the next step and the weight of what is averaged."""
        state.setdefault("step", step_count())
        state.setdefault("eta", step_count() + float(group["lr"]))
        state.setdefault("mu", step_count() + 1)
        super()._begin(p, state, group)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("ax",)

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        eta, mu = state["eta"].item(), state["mu"].item()
        lr, lambd = get("lr"), get("lambd")
        state["eta"].fill_(lr / (1 + lambd * lr * count) ** get("alpha"))
        state["mu"].fill_(1 / max(1, count - get("t0")))
        return eta, mu, lambd, get("weight_decay"), get("maximize")

    @staticmethod
    def _update(F: Any, p: Any, g: Any, average: Any, *more: Any) -> None:
        """One step of one parameter."""
        eta, mu, lambd, decay, maximize = more
        g = pulled(F, p, g, decay, None, maximize)
        F.mul_(p, 1 - lambd * eta)
        F.add_(p, g, -eta)
        if mu == 1:
            F.copy_(average, p)
        else:
            F.lerp_(average, p, mu)
