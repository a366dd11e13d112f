"""Averages of a model over its training: AveragedModel, the schedule SWALR, and update_bn for the statistics.

Invariant: the average is a copy; the model that is trained is only read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..engine.base import dtypes
from ..engine.base.modes import no_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from .averaging import get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn, get_swa_multi_avg_fn
from .loading import check_attributes
from .lr_scheduler.base import LRScheduler, asked_outside, per_group
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

tensor = FUNCTIONS["tensor"]
for _made in (get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn, get_swa_multi_avg_fn):
    _made.__module__ = __name__


class AveragedModel(Module):
    """A copy of a model whose parameters are the mean of what the model's were.

    Args:
        model: whose parameters are averaged.
        device: where the copy is kept.
        avg_fn: a function of an average, a parameter and their number that returns the new average.
        multi_avg_fn: one of two lists and the number that changes the averages in place; the mean if both are None.
        use_buffers: average the buffers too; otherwise they are those of the last model.

    Example:
        >>> import vistorch
        >>> model = vistorch.nn.Linear(1, 1, bias=False)
        >>> mean = vistorch.optim.swa_utils.AveragedModel(model)
        >>> for value in (1.0, 3.0):
        ...     _ = model.weight.data.fill_(value)
        ...     mean.update_parameters(model)
        >>> mean(vistorch.ones(1))
        tensor([2.], grad_fn=<SqueezeBackward4>)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        copy = deepcopy(model)
        self.module = copy if device is None else copy.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=dtypes.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model.

        Args:
            *args: what the model is called with.
            **kwargs: likewise.
        """
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the average.

        Args:
            model: the model as it is now.
        """
        pairs = []
        for average, p in zip(self._averaged(self.module), self._averaged(model), strict=False):
            pairs.append((average.detach(), p.detach().to(average.device)))
        count = self.n_averaged
        if not count.item():
            for average, p in pairs:
                average.copy_(p)
        elif self.avg_fn is not None and self.multi_avg_fn is None:
            for average, p in pairs:
                average.copy_(self.avg_fn(average, p, count.to(average.device)))
        else:
            self._update_lists(pairs)
        if not self.use_buffers:
            for kept, b in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(b.detach().to(kept.device))
        self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterable:
        return chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()

    def _update_lists(self, pairs: list) -> None:
        """Average lists of one device and type each, as the functions want them."""
        lists: dict[Any, tuple[list, list]] = {}
        for average, p in pairs:
            averages, params = lists.setdefault((average.device, average.dtype), ([], []))
            averages.append(average)
            params.append(p)
        for (device, _), (averages, params) in lists.items():
            count = self.n_averaged.to(device)
            if self.multi_avg_fn is not None:
                self.multi_avg_fn(averages, params, count)
                continue
            mean = get_swa_avg_fn()
            for average, p in zip(averages, params, strict=True):
                average.copy_(mean(average, p, count))


@no_grad()
def update_bn(loader: Iterable, model: Module, device: Any = None) -> None:
    """Compute the statistics of all BatchNorm layers anew, from one pass over data.

    Args:
        loader: batches, or tuples and lists that begin with one.
        model: whose layers they are.
        device: where the batches are moved.

    Example:
        >>> import vistorch
        >>> model = vistorch.nn.BatchNorm1d(1)
        >>> vistorch.optim.swa_utils.update_bn([vistorch.tensor([[1.0], [3.0]])], model)
        >>> model.running_mean
        tensor([2.])
    """
    momenta: dict[Any, Any] = {}
    for layer in model.modules():
        if isinstance(layer, _BatchNorm):
            layer.reset_running_stats()
            momenta[layer] = layer.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for layer in momenta:
        layer.momentum = None  # the plain mean over all batches
    for batch in loader:
        x = batch[0] if isinstance(batch, list | tuple) else batch
        model(x if device is None else x.to(device))
    for layer, momentum in momenta.items():
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the learning rate to `swa_lr`, then constant: the schedule while an average is taken.

    Args:
        optimizer: whose learning rate it is.
        swa_lr: where it ends, or a list of one for each group.
        anneal_epochs: how many steps lead there.
        anneal_strategy: "cos" or "linear".
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> scheduler = vistorch.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2)
        >>> for _ in range(3):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [1.0]
        [0.75]
        [0.5]
        >>> later = vistorch.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=5)
        >>> later.load_state_dict(scheduler.state_dict())
        >>> later.anneal_epochs, later.last_epoch
        (2, 3)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, lr in zip(optimizer.param_groups, per_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr: Any, swa_lr: Any, alpha: float) -> Any:
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def get_lr(self) -> list:
        """The learning rate of each group for the step that is being made."""
        asked_outside(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        span = max(1, self.anneal_epochs)
        before, now = (self.anneal_func(max(0, min(1, k / span))) for k in (step - 1, step))
        values = []
        for group in self.optimizer.param_groups:
            # what it began at, so that another schedule may have changed it meanwhile
            first = self._get_initial_lr(group["lr"], group["swa_lr"], before)
            values.append(group["swa_lr"] * now + first * (1 - now))
        return values

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later."""
        return {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state.

        Args:
            state_dict: what `state_dict()` of such a scheduler returned.
        """
        check_attributes(self, state_dict)
        if state_dict.get("_anneal_strategy", "cos") not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', got {state_dict['_anneal_strategy']}"
            )
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)
