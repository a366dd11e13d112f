"""LRScheduler: when a schedule is asked and how its answer reaches the optimizer.

Invariant: every attribute but the optimizer and functions is in the state dict, under PyTorch's names and in its order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from weakref import ref

from ...engine.base.events import listeners
from ...engine.base.warn_once import user_level
from ...engine.core.tensor import Tensor
from ...engine.kernels.cuda import capture
from ..loading import check_attributes
from ..optimizer import Optimizer

SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
REPLACED = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    f"to call `optimizer.step()` before `lr_scheduler.step()`. {SEE}"
)
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    f"PyTorch skipping the first value of the learning rate schedule. {SEE}"
)
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
NOT_RESUMED = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
)


# ---- options of groups -----------------------------------------------------------------------------------------
def own(value: Any) -> Any:
    """A value that no one else changes in place."""
    return value.clone() if isinstance(value, Tensor) else value


def current(optimizer: Any, key: str = "lr") -> list:
    """An option of every group, as it is now."""
    return [own(group[key]) for group in optimizer.param_groups]


def put(group: dict, key: str, value: Any) -> None:
    """Change an option of a group; a tensor stays the same tensor, since a captured step may hold it."""
    held = group[key]
    if isinstance(held, Tensor):
        held.fill_(value.squeeze() if isinstance(value, Tensor) and value.dim() else value)
    else:
        group[key] = value


def per_group(name: str, optimizer: Any, given: Any) -> list:
    """One value for each group, from a list of them or from one for all."""
    count = len(optimizer.param_groups)
    if not isinstance(given, list | tuple):
        return [own(given) for _ in range(count)]
    if len(given) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(given)} values, "
            f"param_groups has {count}."
        )
    return [own(value) for value in given]


def must_be_optimizer(optimizer: Any) -> None:
    """Refuse anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def deprecated_epoch() -> None:
    """Warn the caller of a `step(epoch)`."""
    warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=user_level())


def asked_outside(scheduler: LRScheduler) -> None:
    """Warn who calls `get_lr` and not `get_last_lr`; asked in between, a formula of steps would give a wrong number."""
    if not scheduler._get_lr_called_within_step:
        warnings.warn(
            "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
            UserWarning,
            stacklevel=user_level(),
        )


def _watch(optimizer: Any) -> None:
    """Let the optimizer note that it has stepped, without holding it alive."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function: Callable = optimizer.step.__func__
    found = ref(optimizer)

    @wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        alive: Any = found()
        alive._opt_called = True
        return function.__get__(alive, type(alive))(*args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step


class LRScheduler:
    """Base class of all schedules of a learning rate: give it `get_lr`.

    Args:
        optimizer: whose groups get the learning rates.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> class Halves(vistorch.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.4)
        >>> scheduler = Halves(optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.2]
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    optimizer: Any
    _last_lr: list

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        must_be_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(NOT_RESUMED.format(i))
        self.base_lrs = current(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch(optimizer)
        self._initial_step()
        if (emit := listeners.made) is not None:
            emit("scheduler", self)

    def _initial_step(self) -> None:
        """Put the first learning rate; not a step of the training loop, so no event is emitted."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All there is to know to go on later, without the optimizer.

        Example:
            >>> import vistorch
            >>> from vistorch.optim.lr_scheduler import StepLR
            >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
            >>> state = StepLR(optimizer, step_size=3).state_dict()
            >>> state["step_size"], state["last_epoch"], "optimizer" in state
            (3, 0, False)
        """
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state. What is refused changes nothing.

        Args:
            state_dict: what `state_dict()` of such a scheduler returned.

        Raises:
            ValueError: it is another schedule's, or damaged.

        Example:
            >>> import vistorch
            >>> from vistorch.optim.lr_scheduler import StepLR
            >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=0.5)
            >>> before = StepLR(optimizer, step_size=3)
            >>> for _ in range(2):
            ...     optimizer.step()
            ...     before.step()
            >>> after = StepLR(optimizer, step_size=100)
            >>> after.load_state_dict(before.state_dict())
            >>> after.last_epoch, after.step_size
            (2, 3)
        """
        check_attributes(self, state_dict)
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list:
        """The learning rate of each group since the last step."""
        return self._last_lr

    def get_lr(self) -> list:
        """The learning rate of each group for the step `last_epoch`; called by `step`.

        Example:
            >>> import vistorch
            >>> class Warm(vistorch.optim.lr_scheduler.LRScheduler):
            ...     def get_lr(self):
            ...         return [lr * min(1.0, (self.last_epoch + 1) / 4) for lr in self.base_lrs]
            >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
            >>> scheduler = Warm(optimizer)
            >>> scheduler.get_lr()
            [0.25]
            >>> optimizer.step()
            >>> scheduler.step()
            >>> scheduler.get_lr()
            [0.5]
        """
        raise NotImplementedError

    @capture.outside
    def step(self, epoch: int | None = None) -> None:
        """Move on: after each epoch, or batch, of training.

        Args:
            epoch: go to this step instead of the next one; deprecated.
        """
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(REPLACED, UserWarning, stacklevel=user_level())
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(TOO_EARLY, UserWarning, stacklevel=user_level())
        self._step_count += 1
        if epoch is not None:
            deprecated_epoch()
        self._update_lr(epoch)
        self._emit_step()

    def _update_lr(self, epoch: int | None = None) -> None:
        if epoch is None:
            self.last_epoch += 1
            closed = None
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
        self._put_lr(closed)

    def _put_lr(self, closed: Callable[[], Iterable] | None = None) -> None:
        """Give the optimizer what `get_lr`, or a closed form, says."""
        self._get_lr_called_within_step = True
        try:
            values = list(self.get_lr() if closed is None else closed())
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            put(group, "lr", value)
        self._last_lr = current(self.optimizer)

    def _scaled(self, factor: float) -> list:
        """The learning rates of now, times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _emit_step(self) -> None:
        """Emit the event of a step."""
        if (emit := listeners.phase) is not None and not self._is_initial:
            emit("scheduler", self)


class _LRScheduler(LRScheduler):
    """The name of the base class in older programs."""
