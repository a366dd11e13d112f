"""The shape of a tensor, as a tuple that knows its name.

Invariant: a Size holds plain Python ints only, and slices, sums and repetitions of a Size are Sizes.
"""

import operator
from collections.abc import Iterable
from functools import partial
from math import prod
from typing import Any, SupportsIndex

from ..library_name import library


def _checked(items: Iterable[Any], start: int = 0) -> list[int]:
    """Return the items as ints; `start` is where they stand in the Size to be, for the message."""
    found = []
    for position, item in enumerate(items, start):
        try:
            value = operator.index(item)
        except TypeError:
            given = type(item).__name__
            raise TypeError(
                f"{library}.Size() takes an iterable of 'int' (item {position} is '{given}')"
            ) from None
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        found.append(value)
    return found


class Size(tuple[int, ...]):
    """The lengths of a tensor's dimensions.

    Args:
        sequence: the lengths.

    Example:
        >>> from vistorch.engine.base.size import Size
        >>> size = Size([2, 3, 4])
        >>> size, size[1:], size.numel()
        (vistorch.Size([2, 3, 4]), vistorch.Size([3, 4]), 24)
    """

    __slots__ = ()

    def __new__(cls, sequence: Iterable[Any] = (), /) -> "Size":
        """Check each length; `size_of` is the way without checks."""
        return tuple.__new__(cls, _checked(sequence))

    def __repr__(self) -> str:
        return f"{library}.Size([{', '.join(map(repr, self))}])"

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

    def numel(self) -> int:
        """Return the number of elements of a tensor of this size.

        Example:
            >>> from vistorch.engine.base.size import Size
            >>> Size([2, 3]).numel(), Size([]).numel()
            (6, 1)
        """
        return prod(self)

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return size_of(found) if type(key) is slice else found

    def __add__(self, other: Any) -> "Size":  # type: ignore[override]
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to {library}.Size")
        return size_of(tuple.__add__(self, tuple(_checked(other, len(self)))))

    def __radd__(self, other: Any) -> "Size":
        if not isinstance(other, tuple):
            return NotImplemented
        return size_of(tuple(_checked(other)) + tuple(self))

    def __mul__(self, times: SupportsIndex) -> "Size":
        if isinstance(times, (float, complex, tuple)):
            raise TypeError(f"can't multiply sequence by non-int of type '{type(times).__name__}'")
        if not hasattr(times, "__index__"):
            return NotImplemented
        return size_of(tuple.__mul__(self, times))

    __rmul__ = __mul__


size_of = partial(tuple.__new__, Size)
"""`size_of(shape) -> Size` of a tuple of ints, unchecked: what `Tensor.shape` calls."""
