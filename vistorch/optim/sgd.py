"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from .argument_table import ARGUMENTS
from .checks import check, fused_or_not
from .per_parameter import COMMON, Rule, pulled

__all__ = ["SGD"]


@arguments(
    ARGUMENTS,
    dampening="how much less the gradient counts beside the momentum.",
    nesterov="look ahead by the momentum.",
)
class SGD(Rule):
    """Gradient descent, optionally with momentum.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.SGD([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.8000, 1.6000], requires_grad=True)
    """

    counts = False
    as_real = False
    options: ClassVar[dict[str, Any]] = {**COMMON, "nesterov": False, "fused": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check(lr=lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        fused_or_not(self, fused, foreach, differentiable)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """The momentum, if there is one."""
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """The options, and whether this is the first step."""
        names = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
        return (count, *map(get, names))

    @staticmethod
    def _update(F: Any, p: Any, g: Any, *more: Any) -> None:
        """One step of one parameter."""
        *kept, first, lr, momentum, dampening, weight_decay, nesterov, maximize = more
        g = pulled(F, p, g, weight_decay, None, maximize)
        if kept:
            (buffer,) = kept
            if first:
                F.copy_(buffer, g)
            else:
                F.average_(buffer, momentum, g, value=1 - dampening)
            g = F.added(g, buffer, momentum) if nesterov else buffer
        F.add_(p, g, -lr)
