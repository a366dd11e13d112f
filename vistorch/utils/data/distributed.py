"""The sampler of several processes: each sees its own share of one common order.

Invariant: all ranks have equally many samples, whatever the length of the dataset.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from ...engine.random.generators import Generator
from .sampler import Sampler, random_order

__all__ = ["DistributedSampler"]

_T_co = TypeVar("_T_co", covariant=True)


def _group() -> Any:
    """The package that knows how many processes there are, or PyTorch's error."""
    try:
        package = importlib.import_module("vistorch.distributed")
    except ImportError:
        package = None
    if package is None or not package.is_available():
        raise RuntimeError("Requires distributed package to be available")
    return package


def _again(order: Iterator[int], missing: int) -> Iterator[int]:
    """An order, then as many from its beginning as there are missing."""
    first: list[int] = []
    for key in order:
        if len(first) < missing:
            first.append(key)
        yield key
    yield from itertools.islice(itertools.cycle(first), missing)


class DistributedSampler(Sampler[_T_co]):
    """One process's share of a dataset. Call `set_epoch` before each epoch, or every epoch has the same order.

    Args:
        dataset: what is sampled.
        num_replicas: how many processes there are; by default, as many as the process group has.
        rank: which of them this is; by default, the group's answer.
        shuffle: whether the order is random, the same on all ranks.
        seed: of the random order.
        drop_last: whether what cannot be shared out evenly is left out; otherwise some samples come twice.

    Example:
        >>> from vistorch.utils.data import DistributedSampler
        >>> [list(DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)]
        [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = int(_group().get_world_size())
        if rank is None:
            rank = int(_group().get_rank())
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        uneven = len(dataset) % num_replicas != 0
        shared = len(dataset) - num_replicas if drop_last and uneven else len(dataset)
        self.num_samples = math.ceil(shared / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[Any]:
        n = len(self.dataset)
        if self.total_size > n if self.drop_last or not n else self.total_size < n:
            raise AssertionError(f"Number of indices ({n}) does not match total_size ({self.total_size})")
        if self.shuffle:
            order = random_order(n, Generator().manual_seed(self.seed + self.epoch), private=True)
        else:
            order = iter(range(n))
        return itertools.islice(
            _again(order, max(0, self.total_size - n)), self.rank, self.total_size, self.num_replicas
        )

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next epoch.

        Args:
            epoch: its number; it is added to the seed.

        Example:
            >>> from vistorch.utils.data import DistributedSampler
            >>> sampler = DistributedSampler(range(6), 2, 0)
            >>> for epoch in range(2):
            ...     sampler.set_epoch(epoch)
            ...     print(list(sampler))
            [2, 3, 1]
            [1, 2, 3]
        """
        self.epoch = epoch
