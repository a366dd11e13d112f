"""Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import check, check_tensor_betas, check_tensor_lr, fused_or_not
from .per_parameter import COMMON, Rule, pulled, shrinking

__all__ = ["Adam", "AdamW"]


@arguments(
    ARGUMENTS,
    betas="how much of the running averages of the gradient and of its square is kept at each step.",
    amsgrad="use the greatest average of squares so far (Reddi et al., 2018).",
)
class Adam(Rule):
    """Steps of a size that the recent gradients of each element decide (Kingma and Ba, 2014).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.Adam([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.9000, 1.9000], requires_grad=True)
    """

    options: ClassVar[dict[str, Any]] = {
        **COMMON,
        "amsgrad": False,
        "capturable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_tensor_lr(lr, foreach, capturable)
        check(lr=lr, epsilon=eps, betas=betas, weight_decay=weight_decay)
        check_tensor_betas(betas, foreach, capturable)
        defaults = {
            "lr": lr,
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        fused_or_not(self, fused, foreach, differentiable)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """The running averages."""
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """The step's size and the corrections of averages that began at zero."""
        lr = get("lr")
        beta1, beta2 = (
            b if get("differentiable") or not isinstance(b, Tensor) else b.item() for b in get("betas")
        )
        step_size = lr / (1 - beta1**count)
        correction = (1 - beta2**count) ** 0.5
        pull = get("weight_decay"), shrinking(get), get("maximize")
        return beta1, beta2, get("eps"), *pull, step_size, correction

    @staticmethod
    def _update(F: Any, p: Any, g: Any, mean: Any, square: Any, *more: Any) -> None:
        """One step of one parameter."""
        *greatest, beta1, beta2, eps, decay, shrink, maximize, step_size, correction = more
        g = pulled(F, p, g, decay, shrink, maximize)
        F.lerp_(mean, g, 1 - beta1)
        F.average_(square, beta2, g, g, 1 - beta2)
        if greatest:
            F.maximum_(greatest[0], square)
            square = greatest[0]
        F.addcdiv_(p, mean, F.root(square, correction, eps), -step_size)


@arguments(
    ARGUMENTS,
    betas="how much of the running averages of the gradient and of its square is kept at each step.",
    weight_decay="by how much of the learning rate the parameters shrink at each step.",
    amsgrad="use the greatest average of squares so far.",
)
class AdamW(Adam):
    """Adam with weight decay that shrinks the parameters themselves (Loshchilov and Hutter, 2017).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.AdamW([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.8990, 1.8980], requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
