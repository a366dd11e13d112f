"""Steps that shrink with all gradients so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.base.argument_docs import arguments
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import check, fused_or_not
from .per_parameter import COMMON, Rule, pulled, step_count

__all__ = ["Adagrad"]


@arguments(
    ARGUMENTS,
    lr_decay="how fast the learning rate falls.",
    initial_accumulator_value="what the sum begins with.",
)
class Adagrad(Rule):
    """Steps divided by the root of the sum of all squared gradients (Duchi et al., 2011).

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([1.0, 2.0]))
        >>> opt = vistorch.optim.Adagrad([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([0.9000, 1.9000], requires_grad=True)
        >>> opt.share_memory()
        >>> opt.state[p]["sum"].is_shared()
        True
    """

    options: ClassVar[dict[str, Any]] = {**COMMON, "fused": None}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        fused_or_not(self, fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(p, self.state[p], group)

    def _begin(self, p: Tensor, state: dict, group: dict) -> None:
        """The sum, which there is from the start."""
        state.setdefault("step", step_count())
        if state.get("sum") is None:
            value = self.defaults["initial_accumulator_value"]
            state["sum"] = FUNCTIONS["full_like"](
                p.detach(), complex(value, value) if p.is_complex() else value
            )

    def share_memory(self) -> None:
        """Move the sums to memory that other processes can share."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """What the state of a parameter holds."""
        return ("sum",)

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """What the options amount to at this step."""
        size = get("lr") / (1 + (count - 1) * get("lr_decay"))
        return get("eps"), get("weight_decay"), get("maximize"), size

    @staticmethod
    def _update(F: Any, p: Any, g: Any, total: Any, *more: Any) -> None:
        """One step of one parameter."""
        eps, decay, maximize, size = more
        g = pulled(F, p, g, decay, None, maximize)
        F.addcmul_(total, g, g)
        F.addcdiv_(p, g, F.root(total, 1, eps), -size)
