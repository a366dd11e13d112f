"""CyclicLR: up and down between two learning rates, in triangles that may get lower.

Invariant: the place in a cycle follows from `last_epoch` alone.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from ..loading import check_attributes, undone
from ..optimizer import Optimizer
from . import momenta
from .base import LRScheduler, asked_outside, must_be_optimizer, per_group, put


class CyclicLR(LRScheduler):
    """Up and down between `base_lr` and `max_lr`, the momentum the other way.

    Args:
        optimizer: whose learning rate it is.
        base_lr: the lowest learning rate, or a list of one for each group.
        max_lr: the highest one, likewise.
        step_size_up: how many steps lead up.
        step_size_down: how many lead down; as many as lead up if None.
        mode: "triangular"; "triangular2", each triangle half as high; "exp_range", lower by `gamma` at each step.
        gamma: the factor of "exp_range".
        scale_fn: a function that gives the height instead of a mode.
        scale_mode: "cycle" or "iterations": what `scale_fn` is given.
        cycle_momentum: move the momentum too.
        base_momentum: the lowest momentum, reached with the highest learning rate.
        max_momentum: the highest one.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0, momentum=0.9)
        >>> scheduler = vistorch.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=2)
        >>> for _ in range(4):
        ...     print(scheduler.get_last_lr(), round(optimizer.param_groups[0]["momentum"], 3))
        ...     optimizer.step()
        ...     scheduler.step()
        [0.0] 0.9
        [0.5] 0.85
        [1.0] 0.8
        [0.5] 0.85
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        must_be_optimizer(optimizer)
        self.optimizer = optimizer
        lowest = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, lowest, strict=True):
                put(group, "lr", lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = momenta.uses_betas(optimizer)
            self.base_momentums, self.max_momentums = momenta.bounds(optimizer, base_momentum, max_momentum)
            if last_epoch == -1:
                momenta.begin(optimizer, self.base_momentums, self.max_momentums, self.use_beta1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    # ---- the height of a triangle ------------------------------------------------------------------------------
    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        self._scale_fn_ref = {
            "triangular": self._triangular_scale_fn,
            "triangular2": self._triangular2_scale_fn,
            "exp_range": partial(self._exp_range_scale_fn, self.gamma),
        }[self.mode]
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, as a part of the first one's.

        Args:
            x: the number of the cycle from 1 on, or of the step, as `scale_mode` says.

        Example:
            >>> import vistorch
            >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0, momentum=0.9)
            >>> scheduler = vistorch.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, mode="triangular2")
            >>> [scheduler.scale_fn(cycle) for cycle in (1, 2, 3)]
            [1.0, 0.5, 0.25]
        """
        own = self._scale_fn_custom
        return self._scale_fn_ref(x) if own is None else own(x)

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return gamma**x

    # ---- values ------------------------------------------------------------------------------------------------
    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`; sets the momentum too."""
        asked_outside(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = self.scale_fn
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        values = [low + (high - low) * part * height(at) for low, high in pairs]
        if self.cycle_momentum:
            both = zip(self.base_momentums, self.max_momentums, strict=True)
            momentums = [high - (high - low) * part * height(at) for low, high in both]
            for group, momentum in zip(self.optimizer.param_groups, momentums, strict=True):
                momenta.put_momentum(group, momentum, self.use_beta1)
        return values

    # ---- saving ------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later; of a `scale_fn` that is an object, its attributes."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        given = state.pop("_scale_fn_custom")
        plain = given is None or isinstance(given, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else given.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state; a `scale_fn` is the one given here.

        Args:
            state_dict: what `state_dict()` of such a scheduler returned.
        """
        check_attributes(self, state_dict, ("_scale_fn_custom",))
        saved, given = state_dict["_scale_fn_custom"], self._scale_fn_custom
        if saved is not None:
            check_attributes(given, saved)
        with undone(self, *([] if saved is None else [given])):
            super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
            if saved is not None:
                given.__dict__.update(saved)
            self._init_scale_fn()
