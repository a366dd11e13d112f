"""Schedules that lead from one factor to another in a number of steps: ConstantLR, LinearLR, PolynomialLR.

Invariant: `get_lr` goes on from the learning rate that is there, so schedules can be chained; `_get_closed_form_lr`
gives the same numbers from the first one.
"""

from __future__ import annotations

from ..optimizer import Optimizer
from .base import LRScheduler, asked_outside, current


class ConstantLR(LRScheduler):
    """A part of the learning rate until `total_iters` steps are made, then all of it.

    Args:
        optimizer: whose learning rate it is.
        factor: the part.
        total_iters: how many steps it lasts.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=1)
        >>> scheduler.get_last_lr()
        [0.5]
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch == self.total_iters:
            return self._scaled(1.0 / self.factor)
        return current(self.optimizer)

    def _get_closed_form_lr(self) -> list:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From one part of the learning rate to another in a straight line: a warm-up, say.

    Args:
        optimizer: whose learning rate it is.
        start_factor: the part at the first step.
        end_factor: the part from `total_iters` on.
        total_iters: how many steps the line has.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return current(self.optimizer)
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list:
        rise = self.end_factor - self.start_factor
        steps = min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + rise * steps / self.total_iters) for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero along a power of the steps that are left.

    Args:
        optimizer: whose learning rate it is.
        total_iters: the step at which it is zero.
        power: 1 is a straight line.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2, power=2.0)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self._is_initial or self.last_epoch > self.total_iters:
            return current(self.optimizer)
        left = 1.0 - self.last_epoch / self.total_iters
        left_before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / left_before) ** self.power)

    def _get_closed_form_lr(self) -> list:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]
