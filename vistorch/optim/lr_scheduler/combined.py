"""Several schedules of one optimizer: SequentialLR, one after the other, and ChainedScheduler, all at once.

Invariant: the parts keep their own state; what holds them saves and loads theirs with its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ...engine.kernels.cuda import capture
from ..loading import check_attributes, undone
from ..optimizer import Optimizer
from .base import LRScheduler, current, put
from .plateau import ReduceLROnPlateau


class _Combined(LRScheduler):
    """A schedule made of schedules."""

    _schedulers: Any

    def _check(self, schedulers: Any, optimizer: Any) -> None:
        name = type(self).__name__
        for i, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer != part.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(part).__name__} at index {i} has {part.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later, with the states of the parts."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state.

        Args:
            state_dict: what `state_dict()` of such a scheduler returned.
        """
        check_attributes(self, state_dict, ("_schedulers",))
        parts = state_dict["_schedulers"]
        if not isinstance(parts, (list, tuple)) or len(parts) != len(self._schedulers):
            raise ValueError(
                f"the state of {type(self).__name__} is not one of {len(self._schedulers)} schedules"
            )
        with undone(*_within(self)):
            self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
            for part, saved in zip(self._schedulers, parts, strict=True):
                part.load_state_dict(saved)


def _within(scheduler: Any) -> list:
    """A schedule and all it is made of: its parts, their parts, and objects that give a rate."""
    found = [scheduler]
    for one in found:
        found += getattr(one, "_schedulers", ())
        found += [f for f in getattr(one, "lr_lambdas", ()) if hasattr(f, "__dict__")]
    return found


class SequentialLR(_Combined):
    """Schedules one after the other: each begins anew at its milestone.

    Args:
        optimizer: whose learning rate it is.
        schedulers: the schedules, in their order.
        milestones: the steps at which the second, third ... takes over.
        last_epoch: the step after which to go on; -1 begins.

    Example:
        >>> import vistorch
        >>> from vistorch.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> first = ConstantLR(optimizer, factor=0.5, total_iters=9)
        >>> then = ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = SequentialLR(optimizer, [first, then], milestones=[1])
        >>> for _ in range(2):
        ...     print(scheduler.get_last_lr())
        ...     optimizer.step()
        ...     scheduler.step()
        [0.5]
        [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Every part made its first step when it was made; only the first one's may count.
        for group in optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back one step of every part, and of their parts.

        Args:
            sched: a scheduler; this one if None.

        Example:
            >>> import vistorch
            >>> from vistorch.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
            >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
            >>> parts = [ConstantLR(optimizer, total_iters=9), ExponentialLR(optimizer, gamma=0.5)]
            >>> scheduler = SequentialLR(optimizer, parts, milestones=[1])
            >>> [part.last_epoch for part in parts]
            [0, -1]
            >>> scheduler.recursive_undo()
            >>> [part.last_epoch for part in parts]
            [-1, -2]
        """
        waiting = [self if sched is None else sched]
        while waiting:
            one = waiting.pop()
            if hasattr(one, "_schedulers"):
                waiting.extend(one._schedulers)
            elif hasattr(one, "last_epoch"):
                one.last_epoch -= 1

    @capture.outside
    def step(self) -> None:  # type: ignore[override]
        """Move on, in the schedule whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[turn]
        if turn and self._milestones[turn - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()
        self._emit_step()


class ChainedScheduler(_Combined):
    """Schedules that all make their step, each from the learning rate that the one before left.

    Args:
        schedulers: the schedules, in their order.
        optimizer: whose learning rate it is; that of the first schedule if None.

    Example:
        >>> import vistorch
        >>> from vistorch.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = vistorch.optim.SGD([vistorch.nn.Parameter(vistorch.ones(1))], lr=1.0)
        >>> parts = [ConstantLR(optimizer, 0.5, total_iters=9), ExponentialLR(optimizer, 0.5)]
        >>> scheduler = ChainedScheduler(parts)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = current(schedulers[-1].optimizer)

    @capture.outside
    def step(self) -> None:  # type: ignore[override]
        """Move on, in all schedules."""
        for part in self._schedulers:
            part.step()
        self._last_lr = current(self._schedulers[-1].optimizer)
        self._emit_step()
