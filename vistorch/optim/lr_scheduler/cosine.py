"""Schedules along a half wave of the cosine: CosineAnnealingLR and CosineAnnealingWarmRestarts.

Invariant: between `eta_min` and the first learning rate, at the top of a wave at step 0.
"""

from __future__ import annotations

import math

from ...engine.kernels.cuda import capture
from ..optimizer import Optimizer
from .base import LRScheduler, asked_outside, current


class CosineAnnealingLR(LRScheduler):
    """From the learning rate down to `eta_min` in `T_max` steps, and up again if it goes on.

    Args:
        optimizer: whose learning rate it is.
        T_max: the step at which it is lowest.
        eta_min: the lowest value.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`."""
        asked_outside(self)
        if self._is_initial:
            return current(self.optimizer)
        step, span, low = self.last_epoch, self.T_max, self.eta_min
        if self._step_count == 1 and step > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (step - 1 - span) % (2 * span) == 0:  # the last one was the lowest: nothing to multiply
            first = 1 - math.cos(math.pi / span)
            pairs = zip(groups, self.base_lrs, strict=True)
            return [group["lr"] + (base - low) * first / 2 for group, base in pairs]
        now, before = (1 + math.cos(math.pi * k / span) for k in (step, step - 1))
        return [now / before * (group["lr"] - low) + low for group in groups]

    def _get_closed_form_lr(self) -> list:
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half waves from the learning rate to `eta_min`, one after the other, each `T_mult` times as long.

    Args:
        optimizer: whose learning rate it is.
        T_0: the length of the first wave.
        T_mult: by how much each is longer than the one before.
        eta_min: the lowest value.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     scheduler.step()
        ...     print(scheduler.get_last_lr())
        [0.5]
        [1.0]
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        """The learning rate of each group at the place `T_cur` of a wave of length `T_i`."""
        asked_outside(self)
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    @capture.outside
    def step(self, epoch: float | None = None) -> None:
        """Move on by one step, or to a place between two, such as `epoch + batch / batches`.

        Args:
            epoch: the place; None is the next whole step.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._put_lr()
        self._emit_step()

    def _go_to(self, epoch: float) -> None:
        """The wave that a place lies in, and where in it."""
        first, growth = self.T_0, self.T_mult
        if epoch < first:
            self.T_i, self.T_cur = first, epoch
        elif growth == 1:
            self.T_cur = epoch % first
        else:
            waves = int(math.log(epoch / first * (growth - 1) + 1, growth))
            self.T_cur = epoch - first * (growth**waves - 1) / (growth - 1)
            self.T_i = first * growth**waves
