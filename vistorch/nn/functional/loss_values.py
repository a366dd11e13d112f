"""How far predicted values are from their targets, as one number.

Invariant: shapes that differ are broadcast with PyTorch's warning, never silently.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...engine.base.casting import casting
from ...engine.base.events import listeners
from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.loss import distance
from ...engine.ops.loss.frame import real
from .. import _reduction as _Reduction

__all__ = ["gaussian_nll_loss", "huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss"]


def _fitted(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one shape."""
    try:
        if input._data.shape == target._data.shape:
            return input, target
    except AttributeError:
        pass
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
    a, b = FUNCTIONS["broadcast_tensors"](input, target)
    # an operand that has the shape already keeps its place in the graph
    return (input if a.shape == input.shape else a), (target if b.shape == target.shape else b)


def _check_weight(weight: Tensor, input: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _weighed(losses: Tensor, weight: Tensor, reduction: str, by_weight: bool) -> Tensor:
    """Losses times what each counts; `by_weight`: their mean is over what counts, not over elements."""
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum() if by_weight else losses.mean()
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


def _absolute(input: Tensor, target: Tensor, number: int) -> Tensor:
    losses = (input - target).abs()
    return losses.mean() if number == 1 else losses.sum() if number else losses


def _emitted(name: str, input: Tensor, target: Tensor, loss: Tensor, form: str = "") -> Tensor:
    """The loss; listeners learn what it compares, which the ops it is made of do not say."""
    if (emit := listeners.phase) is not None:
        emit("loss", name, input, target, form, loss)
    return loss


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference.

    Args:
        input: predictions of any shape.
        target: what they should be.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        weight: what each element counts.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.l1_loss(vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 4.0]))
        tensor(1.5000)
    """
    if casting.on and (recast := casting.ask(l1_loss, locals())):
        return recast[0]
    given = input
    input, target = _fitted(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if weight is not None:
        _check_weight(weight, given)
        loss = _weighed((input - target).abs(), weight, reduction, True)
    else:
        loss = _absolute(input, target, _Reduction.get_enum(reduction))
    return _emitted("l1_loss", input, target, loss)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference.

    Args:
        input: predictions of any shape.
        target: what they should be.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        weight: what each element counts.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.mse_loss(vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 4.0]))
        tensor(2.5000)
    """
    if casting.on and (recast := casting.ask(mse_loss, locals())):
        return recast[0]
    given = input
    input, target = _fitted(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if weight is not None:
        _check_weight(weight, given)
        return _emitted("mse_loss", input, target, _weighed((input - target).pow(2), weight, reduction, True))
    return distance.mse_loss(input, target, _Reduction.get_enum(reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The absolute difference, squared where it is small, so that it has no kink.

    Args:
        input: predictions of any shape.
        target: what they should be.
        size_average: deprecated, see `reduction`.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".
        beta: below which difference it is squared; 0 gives `l1_loss`.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.smooth_l1_loss(vistorch.tensor([0.5, 2.0]), vistorch.zeros(2))
        tensor(0.8125)
    """
    if casting.on and (recast := casting.ask(smooth_l1_loss, locals())):
        return recast[0]
    input, target = _fitted(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    number = _Reduction.get_enum(reduction)
    if beta == 0.0:
        return _emitted("smooth_l1_loss", input, target, _absolute(input, target, number))
    beta = real("smooth_l1_loss", "beta", 4, beta)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return distance.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Half the squared difference where it is small, and straight on from there.

    Args:
        input: predictions of any shape.
        target: what they should be.
        reduction: "mean", "sum" or "none".
        delta: from which difference it goes straight on.
        weight: what each element counts.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.huber_loss(vistorch.tensor([0.5, 4.0]), vistorch.zeros(2), delta=2.0)
        tensor(3.0625)
    """
    if casting.on and (recast := casting.ask(huber_loss, locals())):
        return recast[0]
    given = input
    input, target = _fitted(input, target)
    if weight is not None:
        _check_weight(weight, given)
        number = 0
    else:
        number = _Reduction.get_enum(reduction)
    delta = real("huber_loss", "delta", 4, delta)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    losses = distance.huber_loss(input, target, number, delta)
    return losses if weight is None else _weighed(losses, weight, reduction, False)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions.

    Args:
        input: the rates, or their logarithms.
        target: counts.
        log_input: whether `input` holds logarithms.
        full: add Stirling's approximation of log(target!).
        size_average: deprecated, see `reduction`.
        eps: added to the rates before their logarithm is taken.
        reduce: deprecated, see `reduction`.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> log_rate, count = vistorch.tensor([0.0, 1.0]), vistorch.tensor([1.0, 2.0])
        >>> vistorch.nn.functional.poisson_nll_loss(log_rate, count)
        tensor(0.8591)
    """
    if casting.on and (recast := casting.ask(poisson_nll_loss, locals())):
        return recast[0]
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    loss = FUNCTIONS["poisson_nll_loss"](input, target, log_input, full, eps, _Reduction.get_enum(reduction))
    return _emitted("poisson_nll_loss", input, target, loss, "exp" if log_input else "")


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of values under normal distributions.

    Args:
        input: the means.
        target: values drawn from them.
        var: the variances, one per element or one per row, or one number.
        full: add the constant term.
        eps: the least variance.
        reduction: "mean", "sum" or "none".

    Example:
        >>> import vistorch
        >>> mean, value = vistorch.tensor([0.0, 1.0]), vistorch.tensor([1.0, 1.0])
        >>> vistorch.nn.functional.gaussian_nll_loss(mean, value, vistorch.ones(2))
        tensor(0.2500)
    """
    spread: Any = var
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        spread = var * FUNCTIONS["ones_like"](input)
    elif FUNCTIONS["any"](spread < 0)._data.any():  # of any sample, where a call of vmap computes many
        raise ValueError("var has negative entry/entries")
    if spread.size() != input.size():
        if input.size()[:-1] == spread.size():
            spread = spread.unsqueeze(-1)
        else:
            off = [b for a, b in zip(input.size(), spread.size(), strict=False) if a != b]
            if input.ndim != spread.ndim or sum(off) != 1:
                raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    spread = spread.clone()
    with no_grad():
        spread.clamp_(min=eps)
    loss = 0.5 * (spread.log() + (input - target).pow(2) / spread)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    loss = loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss
    return _emitted("gaussian_nll_loss", input, target, loss)
