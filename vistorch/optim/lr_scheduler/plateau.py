"""ReduceLROnPlateau: a lower learning rate when a measure no longer gets better.

Invariant: `best` is the best measure of all steps, `num_bad_epochs` the steps since.
"""

from __future__ import annotations

from math import inf
from typing import Any, SupportsFloat

from ...engine.base.events import listeners
from ...engine.kernels.cuda import capture
from ..loading import check_attributes, undone
from ..optimizer import Optimizer
from .base import LRScheduler, current, deprecated_epoch, must_be_optimizer, put


class ReduceLROnPlateau(LRScheduler):
    """The learning rate times `factor` once a measure has not got better for more than `patience` steps.

    Args:
        optimizer: whose learning rate it is.
        mode: "min" if less is better, "max" if more is.
        factor: what the learning rate is multiplied by.
        patience: how many steps without a better measure are let pass.
        threshold: by how much a better measure must be better.
        threshold_mode: "rel", a part of the best; "abs", an amount.
        cooldown: how many steps after a change do not count.
        min_lr: the lowest learning rate, or a list of one for each group.
        eps: a change that is smaller is not made.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        >>> for loss in (3.0, 3.0, 3.0):
        ...     scheduler.step(loss)
        ...     print(scheduler.get_last_lr())
        [1.0]
        [1.0]
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        must_be_optimizer(optimizer)
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = current(optimizer)
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()
        if (emit := listeners.made) is not None:
            emit("scheduler", self)

    def _reset(self) -> None:
        """Forget all measures."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.mode_worse = inf if mode == "min" else -inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    @capture.outside
    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at a measure and lower the learning rate if it is time.

        Args:
            metrics: the measure, such as the loss on data that is not trained on.
            epoch: the number of the step; deprecated.
        """
        measure = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            deprecated_epoch()
        self.last_epoch = epoch
        if self._is_better(measure, self.best):
            self.best = measure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = current(self.optimizer)
        if (emit := listeners.phase) is not None:
            emit("scheduler", self, measure)

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            lower = max(before * self.factor, least)
            if before - lower > self.eps:
                put(group, "lr", lower)

    @property
    def in_cooldown(self) -> bool:
        """Whether the last change is too recent for another.

        Example:
            >>> import vistorch
            >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
            >>> scheduler = vistorch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, cooldown=1)
            >>> for loss in (3.0, 3.0, 3.0):
            ...     scheduler.step(loss)
            ...     print(scheduler.get_last_lr(), scheduler.in_cooldown)
            [1.0] False
            [0.1] True
            [0.1] False
        """
        return self.cooldown_counter > 0

    def _is_better(self, measure: float, best: float) -> bool:
        relative, margin = self.threshold_mode == "rel", self.threshold
        if self.mode == "min":
            return measure < (best * (1.0 - margin) if relative else best - margin)
        return measure > (best * (margin + 1.0) if relative else best + margin)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state.

        Args:
            state_dict: what `state_dict()` of such a scheduler returned.
        """
        check_attributes(self, state_dict)
        with undone(self):
            self.__dict__.update(state_dict)
            self._init_is_better(self.mode, self.threshold, self.threshold_mode)
