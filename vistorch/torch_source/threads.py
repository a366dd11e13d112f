"""Threads that a program starts while it is looked at: modes of torch are of one thread, so each enters its own.

A thread that begins meanwhile, and a task that is handed to a `ThreadPoolExecutor`, run inside of what each follower
gives. A thread that was there before is not followed: only it could enter a mode.

Invariant: while nobody follows, `threading` and `concurrent.futures` are as they were.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

Follower = Callable[[], AbstractContextManager]

_followers: list[list[Follower]] = []  # each in a list of its own, which tells it from an equal one
_lock = threading.Lock()
_here = threading.local()
_start, _submit = threading.Thread.start, ThreadPoolExecutor.submit


def follow(follower: Follower) -> Callable[[], None]:
    """Have each thread that begins from now on run inside of a context; returns the function that ends it.

    Args:
        follower: called where a thread is started or a task is handed in, gives the context that it enters.
    """
    entry = [follower]
    with _lock:
        _followers.append(entry)
        if len(_followers) == 1:
            threading.Thread.start, ThreadPoolExecutor.submit = _started, _submitted  # type: ignore[method-assign]

    def end() -> None:
        with _lock:
            _followers[:] = [one for one in _followers if one is not entry]
            if not _followers:  # where someone has wrapped ours, it stays, and asks nobody
                if threading.Thread.start is _started:
                    threading.Thread.start = _start  # type: ignore[method-assign]
                if ThreadPoolExecutor.submit is _submitted:
                    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign]

    return end


def _started(self: threading.Thread) -> None:
    """In the place of `Thread.start`."""
    pooled = getattr(_here, "submitting", False)  # a worker of a pool: its tasks are followed one by one
    if _followers and not pooled and "run" not in vars(self):
        self.run = _inside(self.run, lambda: vars(self).pop("run", None))  # type: ignore[method-assign]
        try:
            _start(self)
        except BaseException:
            vars(self).pop("run", None)
            raise
    else:
        _start(self)


def _submitted(self: ThreadPoolExecutor, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """In the place of `ThreadPoolExecutor.submit`."""
    before, _here.submitting = getattr(_here, "submitting", False), True
    try:
        return _submit(
            self, _inside(fn, lambda: None) if callable(fn) and _followers else fn, *args, **kwargs
        )
    finally:
        _here.submitting = before


def _inside(run: Any, begun: Callable[[], Any]) -> Any:
    """A function that runs another inside of what the followers of its making give, as far as they still follow."""
    wanted = [(entry, entry[0]()) for entry in list(_followers)]

    @functools.wraps(run)
    def within(*args: Any, **kwargs: Any) -> Any:
        begun()
        with ExitStack() as stack:
            for entry, context in wanted:
                if any(entry is other for other in _followers):
                    stack.enter_context(context)
            return run(*args, **kwargs)

    return within
