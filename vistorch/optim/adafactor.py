"""Adafactor: Adam's sizes of steps from sums over rows and columns instead of an average for each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.base.argument_docs import arguments
from ..engine.base.finfo import finfo
from ..engine.base.modes import no_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .optimizer import Optimizer, with_loss
from .per_parameter import step_count

__all__ = ["Adafactor"]

zeros_like = FUNCTIONS["zeros_like"]


@arguments(
    ARGUMENTS,
    lr="the greatest step relative to the size of a parameter.",
    beta2_decay="how fast the averages become slower: the power of the number of steps.",
    eps="the least divisor, the type's own precision if None; and the least size that a parameter counts as.",
    d="how much the root mean square of an update may be.",
    weight_decay="by how much of the learning rate the parameters shrink at each step.",
)
class Adafactor(Optimizer):
    """Steps relative to the size of the parameters, with little memory (Shazeer and Stern, 2018).

    The average of the squared gradients of a matrix is kept as one column and one row, whose product stands for it.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([[1.0, 2.0]]))
        >>> opt = vistorch.optim.Adafactor([p], lr=0.1)
        >>> (p * p).sum().backward()
        >>> opt.step()
        >>> p
        Parameter containing:
        tensor([[0.8419, 1.8419]], requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for holds, said in (
            (lr >= 0.0, f"Learning rate should be >= 0 but is: {lr}"),
            (beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}"),
            (weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        ):
            if not holds:
                raise ValueError(said)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)
            for p in group["params"]:
                old = self.state.get(p, {})
                if old and not isinstance(old["step"], Tensor):
                    old["step"] = step_count() + float(old["step"])

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
                    raise RuntimeError("Adafactor does not support complex parameters")
            given, smallest = group["eps"]
            # of the first parameter's type, for all: as PyTorch's
            least = finfo(having[0].dtype).eps if given is None and having else given
            for p in having:
                _step(p, self._state_of(p), group, least, smallest)
        return loss

    def _state_of(self, p: Tensor) -> dict:
        """The state of a parameter, begun at its first step."""
        state = self.state[p]
        if not state:
            g: Any = p.grad
            state["step"] = step_count()
            if g.dim() > 1:
                shape = list(g.shape)
                state["row_var"] = g.new_zeros([*shape[:-1], 1])
                state["col_var"] = g.new_zeros([*shape[:-2], 1, shape[-1]])
            else:
                state["variance"] = zeros_like(g)
        return state


def _step(p: Tensor, state: dict, group: dict, least: Any, smallest: float) -> None:
    """One step of one parameter."""
    g: Any = p.grad
    g = -g if group["maximize"] else g
    lr = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
    state["step"] += 1
    count = state["step"].item()
    weight = count ** group["beta2_decay"]
    alpha = max(smallest, _root_mean_square(p)) * min(lr, 1 / count**0.5)
    if group["weight_decay"] != 0:
        p.mul_(1 - lr * group["weight_decay"])
    if g.dim() > 1:
        row, column = state["row_var"], state["col_var"]
        row.lerp_(_mean_of_squares(g, -1), weight)
        column.lerp_(_mean_of_squares(g, -2), weight)
        estimate = row @ column
        estimate.div_(row.mean(dim=-2, keepdim=True).clamp_(min=least))
    else:
        state["variance"].lerp_(g * g, weight)
        estimate = state["variance"].clone()
    update = estimate.clamp_(min=least * least).rsqrt_().mul_(g)
    p.add_(update, alpha=-alpha / max(1.0, _root_mean_square(update) / group["d"]))


def _mean_of_squares(g: Tensor, dim: int) -> Tensor:
    return g.norm(dim=dim, keepdim=True).square_().div_(g.size(dim))


def _root_mean_square(x: Tensor) -> float:
    return x.norm(2).item() / x.numel() ** 0.5
