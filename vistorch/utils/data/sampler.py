"""Samplers: in which order a loader visits the samples.

Invariant: under one seed each draws the numbers PyTorch's draws, from the same generator and at the same moment, so
the orders are PyTorch's; what has not been asked for takes no memory, whatever the length.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import vistorch

from ...engine.core.tensor import Tensor
from ...engine.kernels.sampling_counts import cumulative_odds, searched
from ...engine.kernels.sampling_integers import permuted
from ...engine.memory.placement import CPU
from ...engine.random.generators import Generator, pick

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_T_co = TypeVar("_T_co", covariant=True)
AT_ONCE = 32  # with replacement, so many are drawn together: part of the order
DRAWN_TOGETHER = 1024  # of weighted draws, which are the same in parts of any length
LAZY_FROM = 1 << 18  # numbers; a shorter order is made at once, which is faster
SKIP_UP_TO = 1 << 27  # words, a fraction of a second; PyTorch cannot hold the longest orders at all


def fresh_seed(generator: Any = None) -> int:
    """A random number to seed something with, drawn as PyTorch draws it."""
    return int(vistorch.empty((), dtype=vistorch.int64, device="cpu").random_(generator=generator).item())


def _ahead(generator: Any, words: int) -> Any:
    """A generator to draw these words from little by little, while the given one is already past them.

    Another user of the given one finds it where PyTorch leaves it. Beyond `SKIP_UP_TO` it is drawn from
    directly.
    """
    if words > SKIP_UP_TO:
        return generator
    with generator.lock:
        behind = generator.clone_state()
        while words > 0:
            words -= len(generator.words(min(words, LAZY_FROM)))
    return behind


def random_order(n: int, generator: Any, *, private: bool = False) -> Iterator[int]:
    """The numbers below n in the order of `randperm`.

    Args:
        n: how many.
        generator: where the order comes from; None for the default one.
        private: whether nobody else draws from the generator, so that it need not be ahead of the order.
    """
    if n < LAZY_FROM:
        return iter(vistorch.randperm(n, generator=generator).tolist())
    source = pick(generator, CPU, "randperm")
    return permuted(source if private else _ahead(source, n - 1), n)


def _check_count(num_samples: Any, *, bools: bool) -> None:
    """Refuse a number of samples that is none."""
    if not isinstance(num_samples, int) or (not bools and isinstance(num_samples, bool)) or num_samples <= 0:
        raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")


class Sampler(Generic[_T_co]):
    """Base of all samplers: give it `__iter__`, which yields keys of samples, or lists of keys, and `__len__`.

    Example:
        >>> from vistorch.utils.data import DataLoader, Sampler
        >>> class Backwards(Sampler):
        ...     def __init__(self, data):
        ...         self.data = data
        ...
        ...     def __iter__(self):
        ...         return iter(reversed(range(len(self.data))))
        ...
        ...     def __len__(self):
        ...         return len(self.data)
        >>> list(DataLoader([10, 11, 12], sampler=Backwards([10, 11, 12]), batch_size=2))
        [tensor([12, 11]), tensor([10])]
    """

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All samples in order.

    Args:
        data_source: what is sampled.

    Example:
        >>> from vistorch.utils.data import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Samples in a random order.

    Args:
        data_source: what is sampled.
        replacement: whether a sample may come again before all others came.
        num_samples: how many to draw; by default as many as there are.
        generator: where the order comes from; by default one that is seeded from the default generator each time.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.data import RandomSampler
        >>> list(RandomSampler(range(5), generator=vistorch.Generator().manual_seed(0)))
        [4, 0, 1, 3, 2]
        >>> RandomSampler(range(5)).num_samples, RandomSampler(range(5), replacement=True, num_samples=8).num_samples
        (5, 8)
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count(self.num_samples, bools=True)

    @property
    def num_samples(self) -> int:
        """How many are drawn: the length of the data at this moment, if no number was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator, private = self.generator, self.generator is None
        if generator is None:
            generator = Generator().manual_seed(fresh_seed())
        whole, rest = divmod(self.num_samples, AT_ONCE if self.replacement else n)
        if self.replacement:
            for _ in range(whole):
                yield from vistorch.randint(n, (AT_ONCE,), dtype=vistorch.int64, generator=generator).tolist()
            yield from vistorch.randint(n, (rest,), dtype=vistorch.int64, generator=generator).tolist()
        else:
            for _ in range(whole):
                yield from random_order(n, generator, private=private)
            # drawn even where nothing of it is needed: the state of the generator is part of the bargain
            yield from itertools.islice(random_order(n, generator, private=private), rest)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in a random order, each once.

    Args:
        indices: the indices.
        generator: where the order comes from.

    Example:
        >>> from vistorch.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([4, 7, 9]))
        [4, 7, 9]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in random_order(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with given odds, which need not add up to one.

    Args:
        weights: the odds of each index.
        num_samples: how many to draw.
        replacement: whether an index may be drawn more than once.
        generator: where the draws come from.

    Example:
        >>> from vistorch.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 3.0, 0.0], 4))
        [1, 1, 1, 1]
    """

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count(num_samples, bools=False)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = vistorch.as_tensor(weights, dtype=vistorch.double)
        if self.weights.ndim != 1:
            shape = tuple(self.weights.shape)
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {shape}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        count = self.num_samples
        if not self.replacement or count < LAZY_FROM or self.weights.device.type != "cpu":
            drawn = vistorch.multinomial(self.weights, count, self.replacement, generator=self.generator)
            yield from drawn.tolist()
            return
        odds = cumulative_odds(self.weights.detach().numpy()[None])
        source = _ahead(pick(self.generator, CPU, "multinomial"), 2 * count)
        for start in range(0, count, DRAWN_TOGETHER):
            yield from searched(source, odds, min(DRAWN_TOGETHER, count - start))[0].tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """What another sampler yields, in lists of one length.

    Args:
        sampler: the other sampler, or anything to iterate over.
        batch_size: the length of the lists.
        drop_last: whether a shorter list at the end is left out.

    Example:
        >>> from vistorch.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        keys = iter(self.sampler)
        while batch := list(itertools.islice(keys, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count: Any = self.sampler
        if self.drop_last:
            return len(count) // self.batch_size
        return (len(count) + self.batch_size - 1) // self.batch_size
