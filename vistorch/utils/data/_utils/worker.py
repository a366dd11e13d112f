"""What a worker knows of itself: `get_worker_info`, its seeds, and an exception on its way to the main process.

Invariant: `_worker_info` and `batch_memory` are None outside a worker.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....engine.random.generators import Generator, manual_seed

MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class _RNG:
    """Generators of a worker that shares its process with others."""

    random_generator: random.Random
    torch_generator: Generator
    numpy_generator: object | None = None


@dataclass(frozen=True)
class WorkerInfo:
    """What `get_worker_info()` returns in a worker.

    Args:
        id: the worker's number, from 0.
        num_workers: how many there are.
        seed: what its generators were seeded with: the same for no two workers, another one for each epoch.
        dataset: the worker's copy of the dataset.
        rng: None: a worker is a process, and its generators are the process's own.
        worker_method: "multiprocessing".
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: _RNG | None = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None
# (shape, dtype) -> an array in memory that the main process reads, or None if there is no room.
batch_memory: Callable[..., Any] | None = None


def get_worker_info() -> WorkerInfo | None:
    """Say which worker this process is; None in the main process.

    Example:
        >>> from vistorch.utils.data import DataLoader, IterableDataset, get_worker_info
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         info = get_worker_info()
        ...         return iter(range(6) if info is None else range(info.id, 6, info.num_workers))
        >>> list(DataLoader(Count(), batch_size=3, num_workers=2))
        [tensor([0, 2, 4]), tensor([1, 3, 5])]
    """
    return _worker_info


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """The words that numpy's generator is seeded with: well mixed, since seeds that differ by one are alike."""
    mixed = np.random.SeedSequence([worker_id, base_seed & MASK, base_seed >> 32, 0])
    return mixed.generate_state(4).tolist()


def seed_everything(base_seed: int, worker_id: int) -> int:
    """Seed this worker's default generators, as PyTorch does; return the worker's seed."""
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(_generate_state(base_seed, worker_id))
    return seed


class KeyErrorMessage(str):
    """A text that is its own repr: KeyError shows the repr, and a traceback in one line is unreadable."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception as it crosses to another process: its type, its traceback as text, and where it was raised.

    Args:
        exc_info: what `sys.exc_info()` gives; by default, the exception that is being handled.
        where: completes "Caught ValueError ...".

    Example:
        >>> from vistorch.utils.data._utils.worker import ExceptionWrapper
        >>> try:
        ...     1 / 0
        ... except ZeroDivisionError:
        ...     caught = ExceptionWrapper(where="in the kitchen")
        >>> try:
        ...     caught.reraise()
        ... except ZeroDivisionError as error:
        ...     print(str(error).splitlines()[0])
        Caught ZeroDivisionError in the kitchen.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        # A reference to the exception itself would keep its frames, and all they hold, alive.
        kind, error, frames = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, frames))
        self.where = where

    def reraise(self) -> None:
        """Raise an exception of the same type that tells what happened there."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:  # a type that wants other arguments
            raise RuntimeError(message) from None
        raise error
