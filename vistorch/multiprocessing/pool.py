"""A pool whose calls may be of functions from a notebook.

Invariant: where the main module can be imported, this is Python's pool.
"""

from __future__ import annotations

import multiprocessing.pool
import os
from typing import Any

from ..engine.kernels.threads import among
from .notebook_pickle import carried

_LOCKED = 2  # seconds after which a worker that holds the lock of the tasks is given up


def _begin(processes: int, initializer: Any, *initargs: Any) -> None:
    """What each process of a pool does first: take its part of the cores, and what it was asked to."""
    among(processes)
    if initializer is not None:
        initializer(*initargs)


class Pool(multiprocessing.pool.Pool):
    """A pool of processes that calls are given to; their tensors are shared.

    Args:
        processes: how many; as many as there are processors if None.
        initializer: what each calls first.
        initargs: with which arguments.
        maxtasksperchild: after how many calls a process is replaced.
        context: whose processes; those of the default start method if None.
    """

    _contexts: Any  # whose default a pool takes; set beside them, because they know this class

    def __init__(
        self,
        processes: int | None = None,
        initializer: Any = None,
        initargs: Any = (),
        maxtasksperchild: int | None = None,
        context: Any = None,
    ) -> None:
        context = context or self._contexts.get_context()
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        given = (processes or os.cpu_count() or 1, initializer, *initargs)
        super().__init__(processes, _begin, given, maxtasksperchild, context)

    def apply_async(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function in a process; the result comes later."""
        return super().apply_async(carried(func), *args, **kwargs)

    def imap(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function with each item; the results come one by one, in order."""
        return super().imap(carried(func), *args, **kwargs)

    def imap_unordered(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function with each item; the results come one by one, as they are ready."""
        return super().imap_unordered(carried(func), *args, **kwargs)

    @staticmethod
    def _help_stuff_finish(inqueue: Any, task_handler: Any, size: int) -> None:
        # Python's waits for the lock without end; a worker that was interrupted as it took it never gives it back.
        inqueue._rlock.acquire(timeout=_LOCKED)
        while task_handler.is_alive() and inqueue._reader.poll():
            inqueue._reader.recv()

    def _map_async(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        return super()._map_async(carried(func), *args, **kwargs)  # type: ignore[misc]
