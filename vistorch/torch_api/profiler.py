"""`vistorch.profiler`: PyTorch's names over a profiler that measures nothing and says what does.

Invariant: a program that profiles runs as it would without; its table says that it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from vistorch.engine.base.errors import not_built
from vistorch.engine.base.warn_once import once
from vistorch.engine.library_name import library, named

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
INSTEAD = "use cProfile (`python -m cProfile`), or vistorch's own views of a run."
SENTENCE = f"vistorch.profiler measures nothing: {INSTEAD}"


class ProfilerAction(Enum):
    """What a profiler does in a step.

    Example:
        >>> from vistorch.profiler import ProfilerAction, schedule
        >>> plan = schedule(wait=1, warmup=1, active=2)
        >>> plan(3) is ProfilerAction.RECORD_AND_SAVE
        True
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(Enum):
    """What a profiler looks at.

    Example:
        >>> from vistorch.profiler import ProfilerActivity, supported_activities
        >>> [kind.name for kind in ProfilerActivity if kind.name in ("CPU", "CUDA")]
        ['CPU', 'CUDA']
        >>> ProfilerActivity.CPU in supported_activities()
        False
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """None.

    Example:
        >>> import vistorch
        >>> vistorch.profiler.supported_activities()
        set()
    """
    return set()


def kineto_available() -> bool:
    """Whether PyTorch's tracer is here: it is not.

    Example:
        >>> import vistorch
        >>> vistorch.profiler.kineto_available()
        False
    """
    return False


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Which steps would be measured.

    Args:
        wait: steps left out at the start of a cycle.
        warmup: steps run without a result.
        active: steps measured.
        repeat: how many cycles; 0 for no end.
        skip_first: steps left out before the first cycle.
        skip_first_wait: leave out the first cycle's `wait` if not 0.

    Example:
        >>> from vistorch.profiler import schedule
        >>> plan = schedule(wait=1, warmup=1, active=1)
        >>> [plan(step).name for step in range(3)]
        ['NONE', 'WARMUP', 'RECORD_AND_SAVE']
    """
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable:
    """A handler for `on_trace_ready` that writes nothing.

    Example:
        >>> import os, tempfile
        >>> from vistorch.profiler import tensorboard_trace_handler
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tensorboard_trace_handler(folder)(None)
        ...     os.listdir(folder)
        []
    """
    return lambda profiler: None


class _Averages(list):
    """The events of a run: none."""

    def table(self, *args: Any, **options: Any) -> str:
        """A sentence in the place of a table."""
        return named(SENTENCE)

    def total_average(self) -> _Averages:
        """Nothing."""
        return self


class profile:
    """Accepted in all its forms; measures nothing, and says so once.

    Args:
        activities: not used.
        schedule: not used.
        on_trace_ready: called at the end, with the profiler.
        **options: not used.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it says once that it measures nothing
        ...     run = vistorch.profiler.profile(on_trace_ready=lambda run: print("steps:", run.step_num))
        >>> with run:  # or run.start() and run.stop()
        ...     for _ in range(3):
        ...         run.step()
        steps: 3
        >>> run.events()
        []
        >>> print(run.key_averages().table())
        vistorch.profiler measures nothing: use cProfile (`python -m cProfile`), or vistorch's own views of a run.
        >>> run.export_chrome_trace("trace.json")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        NotImplementedError: vistorch.profiler.profile.export_chrome_trace is not built: nothing was measured; ...
        >>> run.export_stacks("stacks.txt")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        NotImplementedError: vistorch.profiler.profile.export_stacks is not built: nothing was measured; ...
    """

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        **options: Any,
    ) -> None:
        once(SENTENCE)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step."""
        self.step_num += 1

    def events(self) -> _Averages:
        """None."""
        return _Averages()

    def key_averages(self, *args: Any, **options: Any) -> _Averages:
        """None."""
        return _Averages()

    def add_metadata(self, key: str, value: str) -> None:
        """Not kept.

        Example:
            >>> import vistorch, warnings
            >>> with warnings.catch_warnings():
            ...     warnings.simplefilter("ignore")
            ...     run = vistorch.profiler.profile()
            >>> run.add_metadata("lr", "0.1")
            >>> "lr" in vars(run)
            False
        """

    add_metadata_json = preset_metadata_json = add_metadata

    def export_chrome_trace(self, path: str) -> Any:
        """There is nothing to write."""
        raise not_built(f"{library}.profiler.profile.export_chrome_trace", f"nothing was measured; {INSTEAD}")

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> Any:
        """There is nothing to write."""
        raise not_built(f"{library}.profiler.profile.export_stacks", f"nothing was measured; {INSTEAD}")


class record_function:
    """A name for a part of a run, as a `with` block or decorator; changes nothing.

    Args:
        name: the name.
        args: not used.

    Example:
        >>> import vistorch
        >>> with vistorch.profiler.record_function("sum"):
        ...     vistorch.ones(3).sum()
        tensor(3.)
        >>> @vistorch.profiler.record_function("double")
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(1))
        tensor([2.])
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def __call__(self, func: Callable) -> Callable:
        """Gives the function itself."""
        return func
