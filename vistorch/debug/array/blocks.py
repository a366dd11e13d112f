"""Which blocks an array is cut into, and in which order its memory is walked.

Invariant: a walk visits every stored element once, in pieces whose borders are borders of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

PIECE = 1 << 16  # elements: with the float64 copy of a piece they stay in a core's second cache
LEAST = 32  # cells that the shorter side of a picture keeps before its cells stop being square
TILES = 8  # how many times more cells an axis of tiles may keep than one of the picture


def grid_of(shape: tuple[int, ...], block: tuple[int, ...]) -> tuple[int, ...]:
    """How many blocks there are along each axis."""
    return tuple([-(-n // k) for n, k in zip(shape, block, strict=True)])


def choose_block(
    shape: tuple[int, ...], cells: int, picture: tuple[int, ...], whole: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """The smallest blocks of which there are at most `cells`.

    Args:
        shape: the array's.
        cells: how many blocks there may be.
        picture: the axes that are rows and columns: they get square blocks and lose detail first.
        whole: axes that are not cut, such as the channels of a picture.
    """
    if prod(shape) <= cells:
        return (1,) * len(shape)

    def at(detail: float) -> tuple[int, ...]:
        block = []
        for axis, n in enumerate(shape):
            if axis in picture:
                longest = max(shape[a] for a in picture)
                k = min(_over(longest, detail), max(1, _over(n, min(detail, LEAST))))
            else:
                k = 1 if axis in whole else _over(n, detail * TILES)
            block.append(max(1, min(k, n)))
        return tuple(block)

    low, high = 1 / TILES, float(max(shape))
    if prod(grid_of(shape, at(low))) > cells:  # axes that should stay whole are too many for that
        return choose_block(shape, cells, picture) if whole else at(low)
    for _ in range(40):
        middle = (low * high) ** 0.5
        if prod(grid_of(shape, at(middle))) <= cells:
            low = middle
        else:
            high = middle
    return at(low)


def _over(n: int, cells: float) -> int:
    return max(1, int(-(-n // cells)))


@dataclass
class Layout:
    """An array seen in the order of its memory: the longest stride first, no memory twice.

    `array` is that view. `order[i]` is which axis of the original its axis i is; `repeats` are the sizes of the axes
    that repeat the same memory, by original axis: in the view they have one element.
    """

    array: Any
    order: tuple[int, ...]
    repeats: dict[int, int]
    shape: tuple[int, ...]

    @property
    def copies(self) -> int:
        """How often each stored element occurs."""
        return prod(self.repeats.values())

    def inner(self, block: tuple[int, ...]) -> tuple[int, ...]:
        """A block as the view's axes have it; nothing is pooled along an axis that repeats."""
        return tuple([1 if a in self.repeats else block[a] for a in self.order])


def lay_out(array: Any) -> Layout:
    """See an array in the order of its memory."""
    strides, shape = array.strides, tuple(array.shape)
    repeats = {a: n for a, n in enumerate(shape) if strides[a] == 0 and n > 1}
    if repeats:
        array = array[tuple([slice(0, 1) if a in repeats else slice(None) for a in range(len(shape))])]
    order = tuple(sorted(range(len(shape)), key=lambda a: -abs(strides[a]) if shape[a] > 1 else 0))
    if order != tuple(range(len(shape))):
        array = array.transpose(order)
    return Layout(array, order, repeats, shape)


def pieces(shape: tuple[int, ...], block: tuple[int, ...], limit: int = PIECE) -> Iterator[tuple[slice, ...]]:
    """Cut a shape into parts of about `limit` elements, each of whole blocks."""
    if not prod(shape):
        return
    steps = [0] * len(shape)
    after = 1
    for axis in reversed(range(len(shape))):
        most = max(1, limit // (after * prod(block[:axis])))
        n, k = shape[axis], block[axis]
        steps[axis] = n if n <= most else max(k, most // k * k)
        after *= steps[axis]
    starts = [0] * len(shape)
    while True:
        yield tuple([slice(s, min(s + d, n)) for s, d, n in zip(starts, steps, shape, strict=True)])
        for axis in reversed(range(len(shape))):
            starts[axis] += steps[axis]
            if starts[axis] < shape[axis]:
                break
            starts[axis] = 0
        else:
            return
