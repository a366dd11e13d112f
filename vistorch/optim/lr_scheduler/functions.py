"""Schedules that a function of the user's gives: LambdaLR and MultiplicativeLR.

Invariant: functions are not saved, callable objects are, by their attributes.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..loading import check_attributes
from ..optimizer import Optimizer
from .base import LRScheduler, asked_outside, current


class _ByFunction(LRScheduler):
    """A schedule with one function per group."""

    def _take(self, optimizer: Any, given: Any) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(given, list | tuple):
            self.lr_lambdas = [given] * count
            return
        if len(given) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
        self.lr_lambdas = list(given)

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later; of the functions, the attributes of those that are objects."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state; the functions are the ones given here.

        Args:
            state_dict: what `state_dict()` of such a scheduler returned.
        """
        check_attributes(self, state_dict, ("lr_lambdas",))
        saved = state_dict["lr_lambdas"]
        if not isinstance(saved, (list, tuple)) or len(saved) != len(self.lr_lambdas):
            raise ValueError(
                f"the state of {type(self).__name__} is not one of {len(self.lr_lambdas)} functions"
            )
        pairs = [(f, own) for f, own in zip(self.lr_lambdas, saved, strict=True) if own is not None]
        for f, own in pairs:
            check_attributes(f, own)
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, own in pairs:
            f.__dict__.update(own)


class LambdaLR(_ByFunction):
    """The first learning rate times a function of the step.

    Args:
        optimizer: whose learning rate it is.
        lr_lambda: a function of the step's number, or a list of one for each group.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
        >>> scheduler = vistorch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(_ByFunction):
    """The learning rate before times a function of the step.

    Args:
        optimizer: whose learning rate it is.
        lr_lambda: a function of the step's number, or a list of one for each group.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
        >>> scheduler = vistorch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda step: 0.5)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer, lr_lambda)
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self._is_initial:
            return current(self.optimizer)
        pairs = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]
