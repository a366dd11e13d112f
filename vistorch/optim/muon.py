"""Muon: momentum whose matrix is made orthogonal before it is a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..engine.base.argument_docs import arguments
from ..engine.base.modes import no_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import without_dims
from .optimizer import Optimizer, with_loss

__all__ = ["Muon"]

addmm, zeros_like = FUNCTIONS["addmm"], FUNCTIONS["zeros_like"]
QUINTIC = (3.4445, -4.7750, 2.0315)


@arguments(
    ARGUMENTS,
    params="parameters of two dims, or dicts of parameters with options of their own.",
    weight_decay="by how much of the learning rate the parameters shrink at each step.",
    momentum="how much of the running average of the gradient is kept at each step.",
    nesterov="look one step ahead.",
    ns_coefficients="of the polynomial that brings the singular values closer to one.",
    eps="the least norm that the average is divided by.",
    ns_steps="how often the polynomial is applied.",
    adjust_lr_fn='"original" or "match_rms_adamw": how the step\'s size follows the shape.',
)
class Muon(Optimizer):
    """Steps whose singular values are all about the same (Jordan et al., 2024); for matrices only.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.eye(2))
        >>> opt = vistorch.optim.Muon([p], lr=0.1, weight_decay=0)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> bool((p.diagonal() < 1).all())
        True
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = QUINTIC,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    @no_grad()
    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients.

        Args:
            closure: computes the loss anew and returns it.
        """
        loss = with_loss(closure)
        for group in self.param_groups:
            having = [p for p in group["params"] if p.grad is not None]
            for p in having:
                if p.is_complex():
                    raise RuntimeError("Muon does not support complex parameters")
            for p in having:
                state = self.state[p]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = zeros_like(p.grad)
                _step(p, state["momentum_buffer"], group)
        return loss


def _step(p: Tensor, average: Tensor, group: dict) -> None:
    """One step of one parameter."""
    g: Any = p.grad
    if g.ndim != 2:
        raise ValueError("Param gradient must be a 2D matrix")
    lr = without_dims(group["lr"])
    average.lerp_(g, 1 - group["momentum"])
    ahead = g.lerp(average, group["momentum"]) if group["nesterov"] else average
    update = _orthogonalized(ahead, group["ns_coefficients"], group["ns_steps"], group["eps"])
    p.mul_(1 - lr * group["weight_decay"])
    p.add_(update, alpha=-lr * _ratio(group["adjust_lr_fn"], *p.shape[:2]))


def _orthogonalized(g: Tensor, coefficients: tuple, steps: int, eps: float) -> Tensor:
    """A matrix with about the same singular vectors, and singular values about one: Newton and Schulz's iteration."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    high = g.size(0) > g.size(1)
    x = g.bfloat16()
    x = x.T if high else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if high else x


def _ratio(how: str | None, rows: int, columns: int) -> float:
    """By how much the shape makes a step longer."""
    if how == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
