"""Ranks whose inputs end before those of others: they go on answering, until all have come to their end.

Invariant: while a `Join` is open, each iteration begins by counting the ranks that still have inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..engine.core.registry import FUNCTIONS
from .collectives import all_reduce
from .group import chosen

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a rank that has no more inputs does for the others.

    Example:
        >>> from vistorch.distributed.algorithms.join import JoinHook
        >>> JoinHook().main_hook(); JoinHook().post_hook(is_last_joiner=True)
    """

    def main_hook(self) -> None:
        """Answer one iteration of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """When all have come to their end.

        Args:
            is_last_joiner: whether this rank is one of the last.
        """


class _Config(NamedTuple):
    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False


class Joinable:
    """What can be in a `Join`: it answers for ranks that have no more inputs.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.distributed.algorithms.join import Joinable
        >>> issubclass(nn.parallel.DistributedDataParallel, Joinable)
        True
    """

    _join_config = _Config()

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What answers."""
        raise NotImplementedError

    @property
    def join_device(self) -> Any:
        """The device of what is sent."""
        raise NotImplementedError

    @property
    def join_process_group(self) -> Any:
        """The ranks."""
        raise NotImplementedError


class Join:
    """Let ranks have unequally many inputs.

    Args:
        joinables: what sends something in each iteration: a DistributedDataParallel, a ZeroRedundancyOptimizer.
        enable: False: do nothing.
        throw_on_early_termination: raise on all ranks when the first has no more inputs.
        **kwargs: for the hooks of the joinables.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist, nn
        >>> from vistorch.distributed.algorithms.join import Join
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> with Join([net]):
        ...     net(vistorch.ones(1, 2)).sum().backward()
        >>> Join.notify_join_context(net) is None
        True
        >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        joinables: Sequence[Any],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = list(joinables)
        self._hooks = [one.join_hook(**kwargs) for one in self._joinables]
        self._enable, self._throw = enable, throw_on_early_termination
        for number, one in enumerate(self._joinables):
            one._join_config = _Config(enable, throw_on_early_termination, number == 0)
        groups = {id(chosen(one.join_process_group)) for one in self._joinables}
        if len(groups) != 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._group = chosen(self._joinables[0].join_process_group)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        try:
            if not self._enable or kind is not None:
                return
            last, rounds = True, 0
            while self._others():
                if self._throw:
                    all_reduce(FUNCTIONS["ones"](1), group=self._group)
                    raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
                rounds += 1
                if rounds == 1001:
                    warnings.warn(
                        "Detected uneven input skew of greater than 1000. This means that rank "
                        f"{self._group.rank()} has at least 1000 fewer inputs than other currently-active ranks. This "
                        "level of skew could lead to performance degradation during training.",
                        stacklevel=2,
                    )
                for hook in self._hooks:
                    hook.main_hook()
                last = False
            for hook in self._hooks:
                hook.post_hook(last)
        finally:
            for one in self._joinables:
                one._join_config = _Config()

    def _others(self) -> int:
        """How many ranks still have inputs."""
        count = FUNCTIONS["zeros"](1)
        all_reduce(count, group=self._group)
        return int(count.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Say that this rank has another input; the first joinable of a `Join` does so in each iteration.

        Args:
            joinable: which asks.
        """
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        group = joinable.join_process_group
        work = all_reduce(FUNCTIONS["ones"](1), group=group, async_op=True)
        if config.throw_on_early_termination:
            assert work is not None
            work.wait()
            ended = FUNCTIONS["zeros"](1)
            # the ranks that have ended send a one here
            if work.result()[0].item() < chosen(group).size():
                all_reduce(ended, group=group)
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work
