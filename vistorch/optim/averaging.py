"""How a parameter enters an average: stochastic weight averaging (SWA) and exponential moving averages (EMA).

Invariant: each function is given the number of parameters that are in the average already, and records nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.base.modes import no_grad
from ..engine.core.tensor import Tensor


def _check(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _inexact(t: Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """A function that moves a list of averages towards a list of parameters.

    Args:
        decay: how much of the average stays.

    Example:
        >>> import vistorch
        >>> averages = [vistorch.zeros(2)]
        >>> vistorch.optim.swa_utils.get_ema_multi_avg_fn(0.75)(averages, [vistorch.ones(2)], 1)
        >>> averages
        [tensor([0.2500, 0.2500])]
    """
    _check(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        moves = _inexact(ema_param_list[0])
        for average, p in zip(ema_param_list, current_param_list, strict=True):
            if moves:
                average.lerp_(p, 1 - decay)
            else:
                average.copy_(average * decay + p * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable:
    """A function that takes a list of parameters into a list of means of all that were given.

    Example:
        >>> import vistorch
        >>> means = [vistorch.zeros(2)]
        >>> vistorch.optim.swa_utils.get_swa_multi_avg_fn()(means, [vistorch.ones(2)], 3)
        >>> means
        [tensor([0.2500, 0.2500])]
    """

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        pairs = zip(averaged_param_list, current_param_list, strict=True)
        if _inexact(averaged_param_list[0]):
            share = 1 / (num_averaged + 1)
            share = share.item() if isinstance(share, Tensor) else share
            for average, p in pairs:
                average.lerp_(p, share)
        elif isinstance(num_averaged, Tensor):
            for average, p in pairs:
                average.addcdiv_(p - average, num_averaged + 1)
        else:
            for average, p in pairs:
                average.add_(p - average, alpha=1.0 / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """A function that returns an average moved towards a parameter.

    Args:
        decay: how much of the average stays.

    Example:
        >>> import vistorch
        >>> vistorch.optim.swa_utils.get_ema_avg_fn(0.75)(vistorch.zeros(2), vistorch.ones(2), 1)
        tensor([0.2500, 0.2500])
    """
    _check(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return ema_param * decay + current_param * (1 - decay)

    return ema_update


def get_swa_avg_fn() -> Callable:
    """A function that returns the mean of all parameters so far with one more.

    Example:
        >>> import vistorch
        >>> vistorch.optim.swa_utils.get_swa_avg_fn()(vistorch.zeros(2), vistorch.ones(2), 3)
        tensor([0.2500, 0.2500])
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update
