"""Steps by the sign of the gradient alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import check
from .per_parameter import COMMON, Rule, step_count

__all__ = ["Rprop"]


@arguments(
    ARGUMENTS,
    etas="by which a step shrinks, and by which it grows.",
    step_sizes="the least and the greatest step.",
)
class Rprop(Rule):
    """Steps that grow while a gradient keeps its sign and shrink where it turns (Riedmiller and Braun, 1993).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.Rprop([p], lr=0.1)
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
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _begin(self, p: Tensor, state: dict, group: dict) -> None:
        """Steps of the size of the learning rate."""
        state.setdefault("step", step_count())
        state.setdefault("prev", FUNCTIONS["zeros_like"](p.detach()))
        lr = float(group["lr"])
        full = FUNCTIONS["full_like"](p.detach(), complex(lr, lr) if p.is_complex() else lr)
        state.setdefault("step_size", full)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("prev", "step_size")

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        return *get("etas"), *get("step_sizes"), get("maximize")

    @staticmethod
    def _update(F: Any, p: Any, g: Any, before: Any, size: Any, *more: Any) -> None:
        """One step of one parameter."""
        smaller, larger, least, greatest, maximize = more
        if maximize:
            g = F.neg(g)
        sign = F.sign(F.times(g, before))
        turned = F.at_least(F.neg(sign), 0)  # 1 where the gradient changed its sign
        factor = F.shift(F.mul(F.at_least(sign, 0), larger - 1), 1)
        F.mul_(size, F.added(factor, turned, smaller - 1))
        F.clamp_(size, least, greatest)
        g = F.mul(F.shift(F.neg(turned), 1), g)  # where it did, this step is left out
        F.addcmul_(p, F.sign(g), size, -1)
        F.copy_(before, g)
