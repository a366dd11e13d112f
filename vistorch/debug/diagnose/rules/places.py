"""Writes to places of a tensor that are named more than once: of several values for one place the last stays.

Invariant: what is kept of a write are counts; the index that reads and the one that writes are known to be the same.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line
from ...lineage import Value, ancestors
from ..finding import EXACT, WRONG, Finding
from ..heads import array
from ..written import tree_of
from .base import Rule

LOOKED = 4  # writes of a line that are looked at
MOST = 1 << 18  # places of a write
PICKS = ("index", "gather", "index_select", "embedding", "select")
DEEP = 300  # values behind what is added


def index_of(v: Value) -> list[np.ndarray] | None:
    """The arrays of whole numbers that a value was picked by, from the first axis on; None where they are not such."""
    if not v.parents or len(v.parents[0].shape) < 1:
        return None
    if v.consts and hasattr(v.consts[0], "arrays"):
        where = v.consts[0]
        if where.mask:
            return None
        found = where.arrays()
        arrays, dims = [a for a, _ in found], [d for _, d in found]
        if dims != list(range(len(dims))):
            return None
    else:
        arrays = [d for x in v.parents[1:] if (d := array(x)) is not None]
    if not arrays or any(a.dtype.kind not in "iu" for a in arrays):
        return None
    arrays = list(np.broadcast_arrays(*arrays))
    front = arrays[0].shape
    if not front or not 2 <= arrays[0].size <= MOST or tuple(v.shape[: len(front)]) != front:
        return None
    return arrays


def lost(arrays: list[np.ndarray], added: np.ndarray) -> tuple[int, int]:
    """In how many places several values that are not 0 and not all the same come together, and how many they are.

    Args:
        arrays: the places, by axis.
        added: the values, one row for each.
    """
    keys = np.stack([a.reshape(-1) for a in arrays], 1)
    rows = added.reshape(len(keys), -1)
    said = rows.any(1)
    keys, rows = keys[said], rows[said]
    if len(keys) < 2:
        return 0, 0
    _, place, many = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    several = many[place] > 1
    first = np.zeros((len(many), rows.shape[1]), rows.dtype)
    first[place] = rows
    apart = np.unique(place[several & (rows != first[place]).any(1)])
    return len(apart), int(many[apart].sum())


class LastStays(Rule):
    """Values are added at places that come more than once in an index: only one of those for a place is added.

    Meaning: `x[index] += v` reads, adds and writes each entry of the index on its own; where a place comes twice, the
    last write stays. `index_add_`, `scatter_add_` and `index_put_(accumulate=True)` add all of them.
    Fires: when one line reads a tensor at an index of whole numbers on its first axes, adds to that, or subtracts,
    and writes it back at the same index, by `x[i] += v` or `x[i] = x[i] + v`; in two places or more of one such write
    several values come together that are not 0 and not all the same; and what is added has a gradient, or was picked
    from something by another index, and does not come from that tensor itself.
    Wrong if: one of the values for a place is to stay.
    Healthy programs tried: indices without repeats, masks, `index_add_`, running averages that move towards what is
    new, rows of padding that share one place, values that are the same, marks of what was seen.
    """

    name, title, certainty, severity = "last stays", "places that come twice", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.before: tuple[Value, np.ndarray, Any] | None = None  # read, added, place
        self.times: dict[Any, list] = {}

    def at_write(self, tensor: Any, value: Any, place: Any) -> None:
        """Whether what is written was read in the same line, at the same index."""
        if value is None or value.__class__ is not Value or place is None:
            return
        known = self.ev.table.get(id(tensor._data))
        read = None if known is None or known.data is not tensor._data else _picked(known)
        before, self.before = self.before, None
        if read is not None and known is not None and array(known) is not None:
            self.before = self._added(read, array(known), known, value, place)
            if self.before is not None:
                return
        if before is not None and before[2][0] is place[0] and self._same(before[0], tensor):
            if self._line(before[2]) == self._line(place):
                self._count(before, place)
            return
        for v in reversed(self.ev.values[-3:]):
            read = _picked(v) if v.op in ("add", "sub") else None
            if (
                read is not None
                and v.place is not None
                and v.place[0] is place[0]
                and self._same(read, tensor)
            ):
                made = self._added(read, array(v), v, v, place)
                if made is not None and self._line(v.place) == self._line(place) and self._twice(place):
                    self._count(made, place)
                return

    def _added(
        self, read: Value, total: Any, known: Value, value: Value, place: Any
    ) -> tuple[Value, np.ndarray, Any] | None:
        """What was added to what was read, as long as the tensor still has its old values."""
        base = array(read.parents[0])
        if total is None or base is None or self.times.get(self._line(place), [0])[0] >= LOOKED:
            return None
        arrays = index_of(read)
        if arrays is None or base.dtype.kind != "f" or not base.size:
            return None
        if known is read:  # nothing was recorded: what was computed last was added
            other = value if value is not read else None
        else:
            other = next((x for x in known.parents if x is not read), None)
        if other is None or not (other.needs or (other.shape == read.shape and _comes_of_a_pick(other))):
            return None
        old = array(read)
        if old is None or old is total:  # added in place, and not written back yet
            old = base[tuple(arrays)]
        if old.shape != total.shape:
            return None
        added = total - old
        origin = read.parents[0]
        own = (
            a is read or a is origin or (a.op == "index" and a.parents and a.parents[0] is origin)
            for a in itertools.islice(ancestors(other), DEEP)
        )
        return None if any(own) else (read, added, place)

    def _count(self, before: tuple, place: Any) -> None:
        read, added, _ = before
        arrays = index_of(read)
        if arrays is None:
            return
        entry = self.times.setdefault(self._line(place), [0, 0, 0, 0])
        entry[0] += 1
        places, values = lost(arrays, added)
        if places >= 2 and places > entry[1]:
            entry[1:] = places, values, arrays[0].size

    @staticmethod
    def _same(read: Value, tensor: Any) -> bool:
        """Whether what was read from is the memory that is written."""
        a, b = array(read.parents[0]) if read.parents else None, tensor._data
        if a is None or not isinstance(b, np.ndarray) or a.shape != b.shape:
            return False
        return a is b or a.__array_interface__["data"][0] == b.__array_interface__["data"][0]

    def _line(self, place: Any) -> Line | None:
        return self.ev.line(place)

    def _twice(self, place: Any) -> bool:
        """Whether a line is `x[i] = x[i] + v`, or so with the sides exchanged, or with a minus."""
        line = self._line(place)
        tree = None if line is None else tree_of(line.file)
        if tree is None or line is None:
            return False
        for n in ast.walk(tree):
            if isinstance(n, ast.Assign) and n.lineno <= line.line <= (n.end_lineno or n.lineno):
                target, value = n.targets[0], n.value
                if isinstance(target, ast.Subscript) and isinstance(value, ast.BinOp):
                    text = ast.unparse(target)
                    if text in (ast.unparse(value.left), ast.unparse(value.right)) and "(" not in text:
                        return True
        return False

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for line, (times, places, values, size) in self.times.items():
            if line is None or not places:
                continue
            yield self.found(
                "Places come more than once in this index: of the values that are added to one only the last stays.",
                line,
                "keeps one of several",
                proof=[
                    ("entries of the index", size),
                    ("places with several values", places),
                    ("values for these", values),
                    ("of them added", places),
                    ("writes that were looked at", times),
                ],
                confirm=("index.numel(), index.unique().numel()", "not the same"),
                unless="one of the values for a place is to stay.",
                advice="Add all of them: x.index_add_(0, index, v), or x.index_put_((index,), v, accumulate=True).",
                weight=7.0,
                explains=("too small", "learns nothing"),
            )
            return


def _picked(v: Value) -> Value | None:
    """What was read by an index: a value itself, or what it is a sum of."""
    if v.op == "index":
        return v
    if v.op in ("add", "sub"):
        first = v.parents[0] if v.parents else None
        if first is not None and first.op == "index":
            return first
        if v.op == "add" and len(v.parents) == 2 and v.parents[1].op == "index":
            return v.parents[1]
    return None


def _comes_of_a_pick(v: Value) -> bool:
    """Whether a value was picked from something by an index, behind products and sums."""
    for a in itertools.islice(ancestors(v, lambda a: a.op in ("mul", "div", "neg", "add", "sub", "view")), 8):
        if a.op in PICKS:
            return True
    return False


RULES = (LastStays,)
