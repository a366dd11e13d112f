"""L-BFGS: steps along a direction that remembers how the gradient changed over the last steps.

Invariant: a step begins and ends with the parameters' gradients as the last call of the closure left them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.base.argument_docs import arguments
from ..engine.base.modes import enable_grad, no_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .argument_table import ARGUMENTS
from .checks import check_lr, without_dims
from .line_search import strong_wolfe
from .optimizer import Optimizer

__all__ = ["LBFGS"]

cat, view_as_real = FUNCTIONS["cat"], FUNCTIONS["view_as_real"]


def _number(loss: Any) -> float:
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


@arguments(
    ARGUMENTS,
    params="parameters.",
    lr="learning rate; with a line search, where it begins.",
    max_iter="how many directions a step tries at most.",
    max_eval="how often a step calls the closure at most; 1.25 times `max_iter` if None.",
    tolerance_grad="the greatest gradient at which a step ends.",
    tolerance_change="the least change of the parameters or the loss at which a step goes on.",
    history_size="how many steps are remembered.",
    line_search_fn='"strong_wolfe" or None.',
)
class LBFGS(Optimizer):
    """Quasi-Newton steps from the gradients of the last ones (Liu and Nocedal, 1989).

    The closure is called several times in a step. All parameters are one vector: there is one group.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.tensor([3.0, -2.0]))
        >>> opt = vistorch.optim.LBFGS([p], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     opt.zero_grad()
        ...     loss = ((p - 1) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> opt.step(closure)
        tensor(13., grad_fn=<SumBackward0>)
        >>> p
        Parameter containing:
        tensor([1.0000, 1.0000], requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    # ---- all parameters as one vector ------------------------------------------------------------------------------
    def _gather_flat_grad(self) -> Tensor:
        flat = []
        for p in self._params:
            g = p.new(p.numel()).zero_() if p.grad is None else p.grad.view(-1)
            flat.append(view_as_real(g).view(-1) if g.is_complex() else g)
        return cat(flat, 0)

    def _add_grad(self, step_size: Any, direction: Tensor) -> None:
        """Go along a direction."""
        start = 0
        for p in self._params:
            p = view_as_real(p) if p.is_complex() else p
            end = start + p.numel()
            p.add_(direction[start:end].view_as(p), alpha=step_size)
            start = end

    def _evaluate(self, closure: Callable, origin: list[Tensor], d: Tensor, t: Any) -> tuple[float, Tensor]:
        """The loss and its gradient a way along a direction; the parameters are where they were."""
        self._add_grad(t, d)
        loss = _number(closure())
        grad = self._gather_flat_grad()
        for p, value in zip(self._params, origin, strict=True):
            p.copy_(value)
        return loss, grad

    # ---- a step ----------------------------------------------------------------------------------------------------
    @no_grad()
    def step(self, closure: Callable) -> Any:  # type: ignore[override]
        """Change the parameters; returns the loss before.

        Args:
            closure: clears the gradients, computes the loss and its gradients, and returns the loss.
        """
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        ask = enable_grad()(closure)
        group = self.param_groups[0]
        lr = without_dims(group["lr"])
        small, change = group["tolerance_grad"], group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = ask()
        loss = _number(first_loss)
        evals = 1
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        flat_enough = grad.abs().max() <= small
        if flat_enough:
            return first_loss
        memory = Memory(state, group["history_size"])
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            first = state["n_iter"] == 1
            d = memory.begin(grad) if first else memory.direction(grad)
            memory.remember(grad, loss)
            memory.t = min(1.0, 1.0 / grad.abs().sum()) * lr if first else lr
            slope = grad.dot(d)
            if slope > -change:
                break
            last = iteration == group["max_iter"]
            called = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                origin = [p.clone() for p in self._params]

                look = functools.partial(self._evaluate, ask, origin, d)
                loss, grad, memory.t, called = strong_wolfe(
                    look, memory.t, d, loss, grad, slope, group["max_eval"] - evals
                )
                self._add_grad(memory.t, d)
                flat_enough = grad.abs().max() <= small
            else:
                self._add_grad(memory.t, d)
                if not last:  # the next step asks here anyway
                    loss = _number(ask())
                    grad = self._gather_flat_grad()
                    flat_enough = grad.abs().max() <= small
                    called = 1
            evals += called
            state["func_evals"] += called
            if (
                last
                or evals >= group["max_eval"]
                or flat_enough
                or d.mul(memory.t).abs().max() <= change
                or abs(loss - memory.prev_loss) < change
            ):
                break
        memory.keep(state)
        return first_loss


class Memory:
    """What the last steps tell about the curvature; kept in the state under PyTorch's names.

    Args:
        state: of the first parameter.
        size: how many steps are remembered.
    """

    d: Any
    t: Any
    old_dirs: Any
    old_stps: Any
    ro: Any
    H_diag: Any
    prev_flat_grad: Any
    prev_loss: Any

    def __init__(self, state: dict, size: int) -> None:
        self.state, self.size = state, size
        vars(self).update({name: state.get(name) for name in KEPT})

    def keep(self, state: dict) -> None:
        """Write everything into the state."""
        state.update({name: getattr(self, name) for name in KEPT})

    def begin(self, grad: Tensor) -> Tensor:
        """The first direction: straight down."""
        self.old_dirs, self.old_stps, self.ro, self.H_diag = [], [], [], 1
        d = self.d = grad.neg()
        return d

    def remember(self, grad: Tensor, loss: float) -> None:
        """Where a step begins."""
        if self.prev_flat_grad is None:
            self.prev_flat_grad = grad.clone()
        else:
            self.prev_flat_grad.copy_(grad)
        self.prev_loss = loss

    def direction(self, grad: Tensor) -> Tensor:
        """The next direction: the gradient times an approximate inverse of the second derivatives."""
        self._learn(grad)
        steps = list(zip(self.old_dirs, self.old_stps, self.ro, strict=True))
        if "al" not in self.state:
            self.state["al"] = [None] * self.size
        al = self.state["al"]
        q: Any = grad.neg()
        for i, (y, s, ro) in reversed(list(enumerate(steps))):
            share = al[i] = s.dot(q) * ro
            q.add_(y, alpha=-share)
        r = self.d = q.mul(self.H_diag)
        for i, (y, s, ro) in enumerate(steps):
            r.add_(s, alpha=al[i] - y.dot(r) * ro)
        return r

    def _learn(self, grad: Tensor) -> None:
        """How the gradient changed along the last step."""
        y = grad.sub(self.prev_flat_grad)
        s = self.d.mul(self.t)
        ys = y.dot(s)
        if not ys > 1e-10:
            return
        if len(self.old_dirs) == self.size:
            for held in (self.old_dirs, self.old_stps, self.ro):
                held.pop(0)
        self.old_dirs.append(y)
        self.old_stps.append(s)
        self.ro.append(1.0 / ys)
        self.H_diag = ys / y.dot(y)
