"""OneCycleLR: one rise to a large learning rate and a long way down to a very small one.

Invariant: the phases are named steps and options of a group; the values are read from the groups at every step.
"""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from . import momenta
from .base import LRScheduler, asked_outside, must_be_optimizer, per_group


def _phase(end: float, lr: tuple[str, str], momentum: tuple[str, str]) -> dict[str, Any]:
    """A stretch of the cycle, up to the step `end`, between options of a group."""
    return {
        "end_step": end,
        "start_lr": lr[0],
        "end_lr": lr[1],
        "start_momentum": momentum[0],
        "end_momentum": momentum[1],
    }


RISE = (("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
RETURN = (("max_lr", "initial_lr"), ("base_momentum", "max_momentum"))
FALL = (("max_lr", "min_lr"), ("base_momentum", "max_momentum"))
END = (("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))


def _count(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """How many steps the cycle has."""
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    if not isinstance(epochs, int) or epochs <= 0:
        raise ValueError(f"Expected positive integer epochs, but got {epochs}")
    if not isinstance(steps_per_epoch, int) or steps_per_epoch <= 0:
        raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
    return epochs * steps_per_epoch


class OneCycleLR(LRScheduler):
    """One rise from `max_lr / div_factor` to `max_lr`, then down; the momentum the other way. Step it every batch.

    Args:
        optimizer: whose learning rate it is.
        max_lr: the highest learning rate, or a list of one for each group.
        total_steps: how many steps the cycle has.
        epochs: how many epochs, with `steps_per_epoch`, if `total_steps` is None.
        steps_per_epoch: how many steps an epoch has.
        pct_start: the part of the cycle that rises.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: move the momentum too.
        base_momentum: the lowest momentum, reached with the highest learning rate.
        max_momentum: the highest one.
        div_factor: by how much the first learning rate is smaller than the highest.
        final_div_factor: by how much the last one is smaller than the first.
        three_phase: go down to the first learning rate as fast as up, and from there to the last one.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.1, momentum=0.9)
        >>> scheduler = vistorch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> for _ in range(3):
        ...     print(round(scheduler.get_last_lr()[0], 3), round(optimizer.param_groups[0]["momentum"], 3))
        ...     optimizer.step()
        ...     scheduler.step()
        0.04 0.95
        0.52 0.9
        1.0 0.85
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        must_be_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = count = _count(total_steps, epochs, steps_per_epoch)
        rise = _phase(float(pct_start * count) - 1, *RISE)
        if three_phase:
            back = _phase(float(2 * pct_start * count) - 2, *RETURN)
            self._schedule_phases = [rise, back, _phase(count - 1, *END)]
        else:
            self._schedule_phases = [rise, _phase(count - 1, *FALL)]
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        highest = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = momenta.uses_betas(optimizer)
            base, top = momenta.bounds(optimizer, base_momentum, max_momentum)
            if last_epoch == -1:
                momenta.begin(optimizer, base, top, self.use_beta1)
        super().__init__(optimizer, last_epoch)

    def _anneal_func(self, start: Any, end: Any, pct: float) -> Any:
        if self._anneal_func_type == "cos":
            return self._annealing_cos(start, end, pct)
        if self._anneal_func_type == "linear":
            return self._annealing_linear(start, end, pct)
        raise ValueError(f"Unknown _anneal_func_type: {self._anneal_func_type}")

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`; sets the momentum too."""
        asked_outside(self)
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        phases = self._schedule_phases
        turn = next((i for i, phase in enumerate(phases) if step <= phase["end_step"]), len(phases) - 1)
        phase, start = phases[turn], phases[turn - 1]["end_step"] if turn else 0.0
        values = []
        for group in self.optimizer.param_groups:
            pct = (step - start) / (phase["end_step"] - start)
            values.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], pct))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                momenta.put_momentum(group, self._anneal_func(*ends, pct), self.use_beta1)
        return values
