"""Results that are not there yet, and what is to be called when they are.

Invariant: a callback is called once, in the thread that gave the result, or at once where it is there already.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A result that another thread gives later.

    Args:
        devices: accepted; a result here is there when it is given.

    Example:
        >>> from vistorch.futures import Future
        >>> result = Future()
        >>> doubled = result.then(lambda future: 2 * future.value())
        >>> result.set_result(3)
        >>> result.wait(), doubled.wait(), doubled.done()
        (3, 6, True)
    """

    def __init__(self, *, devices: list | None = None) -> None:
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._calls: list[Callable[[Any], None]] = []
        self._value: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Whether there is a result, or an error in its place."""
        return self._ready.is_set()

    def wait(self) -> T:
        """The result, as soon as it is there; an error given in its place is raised."""
        self._ready.wait()
        return self._found()

    def value(self) -> T:
        """The result, which must be there."""
        if not self.done():
            raise RuntimeError("The future has no value yet: call wait(), or ask done() first")
        return self._found()

    def _found(self) -> T:
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result: T) -> None:
        """Give the result, once.

        Args:
            result: any value.
        """
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an error in place of the result, once.

        Args:
            result: the error, which `wait` and `value` raise.

        Example:
            >>> from vistorch.futures import Future
            >>> future = Future()
            >>> future.set_exception(ValueError("no result"))
            >>> future.wait()
            Traceback (most recent call last):
                ...
            ValueError: no result
        """
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._ready.is_set():
                raise RuntimeError(
                    "Future can only be marked completed once: it has a result or an error already"
                )
            self._value, self._error = value, error
            self._ready.set()
            calls, self._calls = self._calls, []
        for call in calls:
            call(self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call a function with this future when it is done; what it raises is dropped.

        Args:
            callback: the function.

        Example:
            >>> from vistorch.futures import Future
            >>> future = Future()
            >>> future.add_done_callback(lambda done: print(done.value()))
            >>> future.set_result(3)
            3
        """

        def quietly(future: Any) -> None:
            try:
                callback(future)
            except Exception:  # as PyTorch, where it is only logged: the result is there all the same
                pass

        self._when_done(quietly)

    def _when_done(self, call: Callable[[Any], None]) -> None:
        with self._lock:
            if not self._ready.is_set():
                self._calls.append(call)
                return
        call(self)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """The future of what a function makes of this one when it is done.

        Args:
            callback: gets this future; what it raises is the error of the new one.
        """
        after: Future[Any] = Future()

        def call(future: Any) -> None:
            try:
                found = callback(future)
            except Exception as error:
                after.set_exception(error)
            else:
                after.set_result(found)

        self._when_done(call)
        return after


def collect_all(futures: list[Future]) -> Future[list[Future]]:
    """The future of a list of futures: done when all of them are; the first error is its own.

    Args:
        futures: the futures.

    Example:
        >>> from vistorch.futures import Future, collect_all
        >>> a, b = Future(), Future()
        >>> both = collect_all([a, b])
        >>> a.set_result(1)
        >>> both.done()
        False
        >>> b.set_result(2)
        >>> [each.value() for each in both.wait()]
        [1, 2]
    """
    futures = list(futures)
    whole: Future[list[Future]] = Future()
    lock, left = threading.Lock(), [len(futures)]
    if not futures:
        whole.set_result([])

    def arrived(future: Any) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
            if future._error is not None and not whole.done():
                whole.set_exception(future._error)
                return
        if last and not whole.done():
            whole.set_result(futures)

    for future in futures:
        future._when_done(arrived)
    return whole


def wait_all(futures: list[Future]) -> list:
    """The results of several futures, as soon as all are there.

    Args:
        futures: the futures.

    Example:
        >>> from vistorch.futures import Future, wait_all
        >>> a = Future()
        >>> a.set_result(1)
        >>> wait_all([a])
        [1]
    """
    return [future.wait() for future in collect_all(futures).wait()]
