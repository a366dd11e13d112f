"""How cells travel: exact where they fit, else as codes of a table of levels.

Levels are values that occur, so a code tells an entry of the array near the one that is meant, and smallest, largest
and zero exactly. Half of them lie in equal steps of the range, half at equal shares of the cells: colours and small
values are both served, and 253 different ones pack well.
Invariant: `levels[codes]` and the cells have NaN and infinities at the same places.
"""

from __future__ import annotations

import numpy as np

EXACT_BYTES = 48_000
WIDE_CELLS = 18_000  # up to here two bytes a cell are sent, with 2,045 levels
WIDE_LEVELS = 2045
BYTE_LEVELS = 253
END_LEVELS = 15
NONE = 255  # the code of a cell without a second value


def encode(
    cells: np.ndarray, budget: int = EXACT_BYTES, most: int | None = None
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None, bool]:
    """Return (data, codes, levels, exact): data alone, or codes and levels.

    Args:
        cells: the values, of any real type.
        budget: how many bytes exact values may take.
        most: how many levels there may be, where the smallest code has room for more.
    """
    size = cells.dtype.itemsize
    if cells.nbytes <= budget or (size == 1 and cells.dtype.kind in "biu"):
        return cells, None, None, True
    finite = np.isfinite(cells) if cells.dtype.kind == "f" else None
    ordered = np.sort(cells, axis=None) if finite is None else np.sort(cells[finite])
    values = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])[: ordered.size]]
    wide = most is None and cells.size <= WIDE_CELLS * budget / EXACT_BYTES and values.size > BYTE_LEVELS
    kind = np.dtype(np.uint16 if wide else np.uint8)
    limit = most or (WIDE_LEVELS if wide else BYTE_LEVELS)
    exact = values.size <= limit
    levels = values if exact else _levels(values, ordered, limit)
    codes = np.empty(cells.shape, kind)
    if levels.size:
        middles = levels[:-1] / 2 + levels[1:] / 2  # halves: a difference may overflow
        codes[...] = np.searchsorted(middles, cells, "left")
    if finite is not None and not finite.all():
        top = np.iinfo(kind).max
        codes[np.isnan(cells)] = top
        codes[cells == np.inf] = top - 1
        codes[cells == -np.inf] = top - 2
    stored = np.float32 if levels.dtype == np.float32 else np.float64
    return None, codes, levels.astype(stored), exact and bool((levels.astype(stored) == levels).all())


def _levels(values: np.ndarray, ordered: np.ndarray, limit: int) -> np.ndarray:
    """At most `limit` of the different values; `ordered` are all cells, in order too."""
    half = (limit - 1) // 2
    lo, hi = float(values[0]), float(values[-1])
    even = lo / 2 + (hi / 2 - lo / 2) * np.linspace(0, 1, half)  # halves: the range itself may overflow
    right = np.searchsorted(values, even * 2).clip(0, values.size - 1)
    left = (right - 1).clip(0)
    nearer = np.abs(values[left] / 2 - even) <= np.abs(values[right] / 2 - even)
    # the first and the last of the shares are the smallest and the largest
    shares = ordered[np.linspace(0, ordered.size - 1, half).astype(np.int64)]
    chosen = [np.where(nearer, values[left], values[right]), shares]
    zero = np.searchsorted(values, 0)
    if zero < values.size and values[zero] == 0:
        chosen.append(values[[zero]])
    return np.unique(np.concatenate(chosen))


def encode_ends(
    cells: np.ndarray, ends: np.ndarray | None, most: int = END_LEVELS
) -> tuple[np.ndarray, np.ndarray] | None:
    """The other ends as codes and levels; code 255 where a cell has one value only, None where all have.

    Args:
        cells: what the blocks show.
        ends: the other ends; where they are the same as the cells there is none.
        most: how many levels there may be: a second colour needs few.
    """
    if ends is None:
        return None
    both = ends != cells
    if ends.dtype.kind == "f":
        both &= np.isfinite(ends)
    if not both.any():
        return None
    found = np.sort(ends[both], axis=None)
    values = found[np.concatenate([[True], found[1:] != found[:-1]])]
    levels = values if values.size <= most else _levels(values, found, most)
    codes = np.full(ends.shape, NONE, np.uint8)
    codes[both] = np.searchsorted(levels[:-1] / 2 + levels[1:] / 2, ends[both], "left")
    return codes, levels.astype(np.float32 if levels.dtype == np.float32 else np.float64)
