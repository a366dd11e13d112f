"""Datasets: things with samples, and ways to join, cut and pair them.

Invariant: a dataset holds no state of an iteration, so one dataset serves any number of loaders at once.
"""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import vistorch

from ...engine.core.tensor import Tensor
from ...engine.random.generators import Generator, default_generator

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

OVERRIDDEN = (
    "{} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding __getitem__, you must also "
    "override __getitems__ to ensure DataLoader works correctly with your custom logic. A simple implementation:\n\n"
    "def __getitems__(self, indices):\n    return [self.__getitem__(idx) for idx in indices]"
)


class Dataset(Generic[_T_co]):
    """Base of all datasets: a map from keys to samples. Give it `__getitem__`, and `__len__` for the usual samplers.

    With a method `__getitems__(indices)` a loader asks for the samples of a batch in one call.

    Example:
        >>> from vistorch.utils.data import Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 4
        ...
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> Squares()[3]
        9
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """A dataset that is a stream: give it `__iter__`.

    With several workers each has a copy of the stream; `get_worker_info()` tells them which part is theirs.

    Example:
        >>> from vistorch.utils.data import DataLoader, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(5))
        >>> list(DataLoader(Count(), batch_size=2))
        [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __add__(self, other: Dataset) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: a sample is one entry of each along their first dimension.

    Args:
        *tensors: tensors with the same first size.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.data import TensorDataset
        >>> TensorDataset(vistorch.arange(6).view(3, 2), vistorch.arange(3))[1]
        (tensor([2, 3]), tensor(1))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is one sample of each, as a tuple, or by name as a dict.

    Args:
        *args: datasets of one length, for samples that are tuples.
        **kwargs: datasets of one length, for samples that are dicts.

    Example:
        >>> from vistorch.utils.data import StackDataset
        >>> StackDataset(image=["cat.png", "dog.png"], label=[0, 1])[1]
        {'image': 'dog.png', 'label': 1}
    """

    datasets: tuple | dict

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        parts = args or tuple(kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(self._length != len(part) for part in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __getitems__(self, indices: list) -> list:
        """The samples of a batch: each part is asked once if it can answer so.

        Args:
            indices: the keys of the samples.
        """
        if isinstance(self.datasets, dict):
            columns = [_items(part, indices) for part in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*[_items(part, indices) for part in self.datasets], strict=True))

    def __len__(self) -> int:
        return self._length


def _items(part: Any, indices: list) -> Sequence:
    """The samples of a part of a `StackDataset`."""
    if not callable(getattr(part, "__getitems__", None)):
        return [part[index] for index in indices]
    items = part.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other.

    Args:
        datasets: the datasets; `a + b` makes one of two.

    Example:
        >>> from vistorch.utils.data import ConcatDataset
        >>> both = ConcatDataset([[1, 2, 3], [4, 5]])
        >>> len(both), both[3], both[-1], both.cumulative_sizes
        (5, 4, 5, [3, 5])
        >>> ConcatDataset.cumsum([range(10), range(5), range(2)])
        [10, 15, 17]
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     both.cummulative_sizes  # the old name
        [3, 5]
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable) -> list[int]:
        """The lengths of a sequence's members, added up on the way.

        Args:
            sequence: things with a length.
        """
        return list(itertools.accumulate(map(len, sequence)))

    def __init__(self, datasets: Iterable) -> None:
        super().__init__()
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(part, IterableDataset) for part in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[part][idx if part == 0 else idx - self.cumulative_sizes[part - 1]]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old, misspelled name of `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Streams one after the other.

    Args:
        datasets: iterable datasets; `a + b` makes one of two.

    Example:
        >>> from vistorch.utils.data import ChainDataset, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter([1, 2])
        >>> list(ChainDataset([Count(), Count()]))
        [1, 2, 1, 2]
    """

    def __init__(self, datasets: Iterable) -> None:
        super().__init__()
        self.datasets = datasets

    def _streams(self) -> Iterator:
        for stream in self.datasets:
            if not isinstance(stream, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield stream

    def __iter__(self) -> Iterator:
        for stream in self._streams():
            yield from stream

    def __len__(self) -> int:
        length: Callable[[Any], int] = len
        return sum(map(length, self._streams()))


class Subset(Dataset[_T_co]):
    """Some samples of a dataset.

    Args:
        dataset: the whole.
        indices: which of its samples, in order.

    Example:
        >>> from vistorch.utils.data import Subset
        >>> list(Subset("abcdef", [5, 0, 3]))
        ['f', 'a', 'd']
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(OVERRIDDEN.format(kind.__name__))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list:
        """The samples of a batch.

        Args:
            indices: their places in this subset.
        """
        inner = [self.indices[idx] for idx in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(inner)
        return [self.dataset[idx] for idx in inner]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset]:
    """Cut a dataset at random into parts that share no sample.

    Args:
        dataset: the whole.
        lengths: the lengths of the parts; or fractions that add up to 1, where what is left over by rounding down goes
            to the first parts, one sample each.
        generator: where the random order comes from.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.data import random_split
        >>> parts = random_split(range(10), [0.7, 0.3], generator=vistorch.Generator().manual_seed(42))
        >>> [list(part) for part in parts]
        [[2, 6, 1, 8, 4, 5, 0], [9, 3, 7]]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(len(dataset), lengths)
        for i, length in enumerate(lengths):
            if length == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2
                )
    total: Any = sum(lengths)
    if total != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = vistorch.randperm(total, generator=generator).tolist()
    ends: Any = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _from_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    """Whole lengths near these fractions of a total."""
    found = []
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        found.append(math.floor(total * fraction))
    for i in range(total - sum(found)):
        found[i % len(found)] += 1
    return found
