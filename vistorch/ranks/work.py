"""An operation that was started: what waits for it, with a deadline, and what ends the wait early.

Invariant: no wait is left to MPI; each looks at the clock, at the other ranks and, between two looks, at interrupts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from .errors import DistBackendError

_SPINS, _YIELDS = 300, 3000
_PAUSE = 1e-4
_LOOK = 0.05  # seconds between two looks at the other ranks

# Called with each operation that ended: (group, name, sequence number, description, begin, end) in seconds.
listeners: list[Callable[..., None]] = []
title = threading.local()  # `text` is what operations of this thread are called, where a program has said so


def wait(test: Callable[[], bool], seconds: float, group: Any, late: Callable[[], Exception]) -> None:
    """Wait until a test is true.

    Args:
        test: asked again and again.
        seconds: for how long.
        group: whose ranks are looked at meanwhile.
        late: makes the error when the time has passed.
    """
    if test():
        return
    begin = look = time.monotonic()
    turns = 0
    while not test():
        turns += 1
        if turns < _SPINS:
            continue
        time.sleep(0 if turns < _YIELDS else _PAUSE)
        if turns & 63:
            continue
        now = time.monotonic()
        if now - look > _LOOK:
            look = now
            group.check_ranks()
            if now - begin > seconds:
                raise late()


class Work:
    """An operation that was started with `async_op=True`.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> t = vistorch.ones(2)
        >>> work = dist.all_reduce(t, async_op=True)
        >>> work.wait(), work.is_completed(), work.is_success(), work.exception()
        (True, True, True, None)
        >>> work.result(), work.get_future().wait()
        ([tensor([1., 1.])], [tensor([1., 1.])])
        >>> work.synchronize()
        >>> dist.irecv(vistorch.zeros(2)).source_rank()
        Traceback (most recent call last):
            ...
        RuntimeError: sourceRank() may only be called on work objects that correspond to a recv
        >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        group: Any,
        name: str,
        requests: Sequence[Any],
        finish: Callable[[], None] | None = None,
        results: Sequence[Any] = (),
        what: str = "",
    ) -> None:
        self._group, self._name, self._what = group, getattr(title, "text", "") or name, what
        self._requests, self._finish = list(requests), finish
        self._results = list(results)
        self._done, self._error = False, None
        self._number, self._begin = group.number, time.monotonic()
        self._source: int | None = None

    def _test(self) -> bool:
        if not self._done:
            try:
                while self._requests:
                    if not self._requests[0].Test():
                        return False
                    self._source = getattr(self._requests[0], "source", None)
                    self._requests.pop(0)
                if self._finish is not None:
                    self._finish()
            except Exception as error:
                self._error = (
                    error if isinstance(error, RuntimeError) else DistBackendError(f"{self}: {error}")
                )
                self._finish = None
                raise self._error from error
            self._done, self._finish = True, None
            for call in listeners:
                call(self._group, self._name, self._number, self._what, self._begin, time.monotonic())
        return self._done

    def wait(self, timeout: timedelta | float | None = None) -> bool:
        """Wait for the end of the operation.

        Args:
            timeout: how long; the group's own timeout if not given.
        """
        if self._error is not None:
            raise self._error
        if isinstance(timeout, timedelta):
            timeout = timeout.total_seconds()
        seconds = timeout if timeout else self._group.timeout.total_seconds()
        try:
            wait(self._test, seconds, self._group, lambda: self._group.late(self, seconds))
        except RuntimeError as error:
            self._error = error
            raise
        return True

    def is_completed(self) -> bool:
        """Whether it has ended; asking lets it go on."""
        return self._error is not None or self._test()

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self._done

    def exception(self) -> Exception | None:
        """What went wrong."""
        return self._error

    def synchronize(self) -> None:
        """Wait for the end of the operation."""
        self.wait()

    def result(self) -> list:
        """The tensors that were written."""
        return self._results

    def source_rank(self) -> int:
        """Who sent what was received."""
        if self._source is None:
            raise RuntimeError("sourceRank() may only be called on work objects that correspond to a recv")
        return self._group.global_rank(self._source)

    def get_future(self) -> Any:
        """A future of the tensors."""
        return WorkFuture(self)

    def __str__(self) -> str:
        return f"{self._name} (number {self._number}{', ' + self._what if self._what else ''})"


class WorkFuture:
    """The tensors of an operation, later: what a communication hook returns."""

    def __init__(self, work: Any, steps: Sequence[Callable] = ()) -> None:
        self._work, self._steps = work, list(steps)
        self._value: Any = None
        self._known = False

    def wait(self) -> Any:
        """Wait for the operation; return its value."""
        if not self._known:
            self._work.wait()
            value: Any = self._work.result()
            for step in self._steps:
                value = step(_Value(value))
            self._value, self._known = value, True
        return self._value

    value = wait

    def done(self) -> bool:
        """Whether the operation has ended."""
        return self._known or self._work.is_completed()

    def then(self, callback: Callable) -> WorkFuture:
        """A future of what a function makes of this one.

        Args:
            callback: called with a future that is done.
        """
        return WorkFuture(self._work, [*self._steps, callback])


class _Value:
    """A future that is done."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def value(self) -> Any:
        """The value."""
        return self._value

    wait = value

    def done(self) -> bool:
        """True."""
        return True
