"""Schedules that lower the learning rate by a factor at given steps: StepLR, MultiStepLR, ExponentialLR.

Invariant: `get_lr` goes on from the learning rate that is there, so schedules can be chained; `_get_closed_form_lr`
gives the same numbers from the first one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from ..optimizer import Optimizer
from .base import LRScheduler, asked_outside, current


class StepLR(LRScheduler):
    """The learning rate times `gamma` every `step_size` steps.

    Args:
        optimizer: whose learning rate it is.
        step_size: how many steps each value lasts.
        gamma: the factor.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
        >>> scheduler = vistorch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     scheduler.step()
        ...     print(scheduler.get_last_lr())
        [0.5]
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return current(self.optimizer)
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The learning rate times `gamma` at each milestone.

    Args:
        optimizer: whose learning rate it is.
        milestones: the steps; one that is named twice counts twice.
        gamma: the factor.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
        >>> scheduler = vistorch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 8], gamma=0.5)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self.last_epoch not in self.milestones:
            return current(self.optimizer)
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The learning rate times `gamma` at every step.

    Args:
        optimizer: whose learning rate it is.
        gamma: the factor.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
        >>> scheduler = vistorch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        return current(self.optimizer) if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]
