"""Rows in another order than what they are compared with: axes flattened the other way round, views paired otherwise.

Invariant: the order of rows is known by the axes that were merged into them; what has no such axes has no order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import Value, beyond
from ..evidence import ENOUGH, NORMS
from ..finding import EXACT, LINEAGE, WRONG, Finding
from ..heads import CLASSES, PROBABILITIES, Head, array
from .base import Counting
from .structure import LINEAR, _given, heads_at

LOOKS = 2
DEEP = 64  # values on the way back from a row
# what keeps the elements in the order of memory
MERGES = frozenset(
    "view reshape reshape_alias flatten unflatten squeeze squeeze_dim unsqueeze view_as reshape_as".split()
)
SAME = frozenset("clone contiguous alias cast detach to_place copy".split())
# what computes each element, or each row, by itself
EACH = SAME | frozenset(
    "relu gelu silu tanh sigmoid leaky_relu elu softplus dropout softmax log_softmax logsigmoid exp log neg clamp sqrt "
    "abs hardtanh relu6 mish selu normalize round".split()
)
NUMBERS = frozenset("add sub mul div pow rsub add_scaled".split())
ROWWISE = (
    EACH
    | frozenset(NORMS)
    | frozenset(
        "batch_norm add sub mul div pow convolution convolution_with_bias max_pool2d avg_pool2d max_pool1d avg_pool1d "
        "adaptive_avg_pool2d adaptive_avg_pool1d adaptive_max_pool2d expand minimum maximum".split()
    )
)


def by_itself(v: Value) -> Value | None:
    """What each element of a value was computed from, by itself and in its place; None where that is not so."""
    parents = v.parents
    if not parents:
        return None
    if v.op in EACH or v.op in NORMS:
        return parents[0] if parents[0].shape == v.shape else None
    if v.op in NUMBERS:
        wide = [x for x in parents if x.shape == v.shape]
        rest = [x for x in parents if x.shape != v.shape]
        if len(wide) == 1 and all(len(x.shape) <= 1 for x in rest):
            return wide[0]
    return None


def axes(v: Value, cut: bool) -> tuple[Value, tuple[int, ...], Value | None]:
    """The axes that were merged into the rows of a value.

    Args:
        v: which.
        cut: whether its last axis is no part of the order: classes, features.

    Returns:
        what the rows were before, its axes but those of length 1, and the last value that merged some.
    """
    tail: tuple[int, ...] = ()
    merged = None
    for _ in range(DEEP):
        x = by_itself(v)
        if x is None and v.op in MERGES and v.parents:
            x = v.parents[0]
            if cut and (not x.shape or x.shape[-1] != v.shape[-1]):
                break
            if len(x.shape) > len(v.shape):
                merged = v if merged is None else merged
        elif x is None and v.op in LINEAR:
            x = _given(v)
            if x is None or x.shape[:-1] != v.shape[:-1]:
                break
            if not cut:
                tail, cut = v.shape[-1:], True
        if x is None:
            break
        v = x
    found = (v.shape[:-1] if cut else v.shape) + tail
    return v, tuple(n for n in found if n != 1), merged


class OtherOrder(Counting):
    """What a model gives and what is asked of it are flattened in another order: rows meet targets of others.

    Meaning: `reshape(-1)` takes the axes as they lie: (time, batch) and (batch, time) give the same rows in another
    order, and (batch, classes, height, width) has no row for a pixel.
    Fires: when in two looks, and in all looks at that comparison in which the axes of both sides are known, the axes
    that were merged into the rows of a prediction (through reshapes, linear layers and what computes each element by
    itself) are those that were merged into its targets, two or more of them longer than 1, in another order, and the
    targets would be others in that order; or when scores of (n, classes, ...) were flattened to rows of so many
    classes against targets that were flattened from (n, ...), the last axis being another number than classes.
    Wrong if: rows are to be compared with targets of others.
    Healthy programs tried: both flattened alike, time first and targets transposed, classes moved to the last axis,
    masks over both, targets that were made flat, squares, one target for a whole row.
    """

    name, title, certainty, severity = "other order", "axes that are flattened", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Compare the axes behind each comparison."""
        if p.root is None or not p.accumulates:
            return
        for head in heads_at(self.ev, p):
            if head.target is not None and not head.target.needs and head.target.shape:
                self._compare(head, head.target)

    def _compare(self, head: Head, target: Value) -> None:
        classes = head.kind in (CLASSES, PROBABILITIES)
        prediction = head.value.ins[0] if classes else head.prediction
        if classes and (len(prediction.shape) != 2 or len(target.shape) != 1):
            return
        source, left, merged = axes(prediction, classes)
        wanted, right, flattened = axes(target, False)
        if source.op == wanted.op == "index" and _picked_alike(source, wanted):
            source, left, merged = axes(source.parents[0], classes)  # of the same rows of both
            wanted, right, flattened = axes(wanted.parents[0], False)
        if merged is None and flattened is None:
            return
        entry = self.times.setdefault(head.value.place, [0, 0, None])
        kind = ""
        if len(right) > 1 and left == right:
            entry[1] += 1
        elif len(right) > 1 and sorted(left) == sorted(right):
            kind = "order" if _differs(array(wanted), left, right) else ""
        elif classes and source.op in MERGES and source.parents:
            before = source.parents[0]
            count = prediction.shape[1]
            if _class_axis(before.shape, source.shape, right, count):
                kind, merged, left = "classes", source, before.shape
                source = before
        if kind:
            entry[0] += 1
            merged_at, flattened_at = (None if v is None else v.place for v in (merged, flattened))
            entry[2] = kind, merged_at, flattened_at, source.place, left, right

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, alike, found) in self.times.items():
            if times < LOOKS or alike or found is None:
                continue
            kind, merged, flattened, made, left, right = found
            one, other = " × ".join(map(str, left)), " × ".join(map(str, right))
            here = merged or flattened or place
            also = (flattened, "flattens what is asked")
            if flattened is None or self._line(flattened) == self._line(here):
                also = (made, "made in this order") if self._line(made) != self._line(here) else (None, "")
            text = (
                f"What is answered is flattened from {one}, what is asked from {other}: rows meet the targets of "
                "others."
                if kind == "order"
                else f"Scores of {one} are flattened with their classes on axis 1: a row mixes several places."
            )
            yield self.found(
                text,
                here,
                "flattened in another order",
                also=also,
                related=self.lines((place, "compares them")),
                proof=[("looks", times), ("axes of the answers", one), ("axes of the targets", other)],
                confirm=("the shapes before reshape(-1)", f"{one}, {other}"),
                unless="rows are to be compared with targets of others.",
                advice="Bring both to one order first: transpose one of them."
                if kind == "order"
                else "Move the classes to the last axis first, or give the scores to the loss as they are.",
                weight=7.0,
                explains=("learns nothing", "unrelated", "one class", "mean", "scrambled", "too small"),
            )

    def _line(self, place: Any) -> Any:
        line = self.ev.line(place)
        return None if line is None else (line.file, line.line)


def _picked_alike(a: Value, b: Value) -> bool:
    """Whether two values were picked by one mask, or by the same rows."""
    keys = []
    for v in (a, b):
        given = [array(x) for x in v.parents[1:]] or [
            k for c in v.consts[:1] for k in getattr(c, "key", ()) if isinstance(k, np.ndarray)
        ]
        keys.append(given[0] if len(given) == 1 else None)
    one, other = keys
    return one is not None and other is not None and (one is other or np.array_equal(one, other))


def _differs(d: Any, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether targets would be others, flattened in the order of the answers."""
    if d is None or d.size != int(np.prod(right)):
        return False
    d = d.reshape(right)
    waiting, order = list(range(len(right))), []
    for n in left:
        at = next(i for i in waiting if right[i] == n)
        waiting.remove(at)
        order.append(at)
    return not np.array_equal(d.reshape(-1), d.transpose(order).reshape(-1))


def _class_axis(before: tuple, after: tuple, asked: tuple, count: int) -> bool:
    """Whether scores with the classes on their second axis were flattened as if these were on the last.

    Example:
        >>> from vistorch.debug.diagnose.rules.order import _class_axis
        >>> _class_axis((8, 3, 6, 5), (240, 3), (8, 6, 5), 3), _class_axis((8, 6, 5, 3), (240, 3), (8, 6, 5), 3)
        (True, False)
    """
    if len(before) < 3 or before[1] != count or before[-1] == count or after[-1] != count:
        return False
    places = tuple(n for n in (before[0], *before[2:]) if n != 1)
    split = before[0] > 1 and asked[:1] == before[:1] and np.prod(asked) == np.prod(places)
    return len(places) > 1 and len(asked) > 1 and bool(split or asked == places)


class OtherPartner(Counting):
    """The views of a sample stand in other rows than those that the loss takes for each other's partner.

    Meaning: `cat([a, b])` puts the partner of row i at i + n, `stack([a, b], 1).flatten(0, 1)` beside it.
    Fires: when in three looks, and in all that show it, a cross entropy of scores of 2n rows with themselves, products
    or cosines of one matrix, n being 3 or more, asks each row for that half the rows away, and its rows are two views
    of the same n samples in turn; or asks for its neighbour, and they are one view after the other. Views are those
    of the same samples where both come from one value of n rows, without a gradient, through layers and what computes
    rows by themselves, or moves the axes within a row. Twenty such looks are taken, whenever they come.
    Wrong if: other samples are to be taken as alike.
    Healthy programs tried: both joined and asked for half the rows away, both in turn and asked for neighbours,
    scores of one view with the other, views that were chunked.
    """

    name, title, certainty, severity = "other partner", "pairs of views", LINEAGE, WRONG
    counts_looks = True  # a probe that is trained first takes up the looks of a run

    def at_look(self, p: Any) -> None:
        """Compare how rows are joined with what is asked."""
        if p.root is None or not p.accumulates or sum(e[0] + e[1] for e in self.times.values()) >= ENOUGH:
            return
        for head in heads_at(self.ev, p):
            asked = array(head.target)
            if head.kind != CLASSES or asked is None or asked.ndim != 1 or len(head.prediction.shape) != 2:
                continue
            n = len(asked)
            if n % 2 or n < 6 or head.prediction.shape != (n, n) or asked.dtype.kind not in "iu":
                continue
            rows = np.arange(n)
            wanted = (
                "halves"
                if np.array_equal(asked, (rows + n // 2) % n)
                else "turns"
                if np.array_equal(asked, rows ^ 1)
                else ""
            )
            z = _itself(head.prediction) if wanted else None
            found = None if z is None else _joined(z)
            if found is None or head.target is None:
                continue
            form, at, views = found
            if not _of_one(views):
                continue
            entry = self.times.setdefault((at.place, head.target.place or head.value.place), [0, 0, n, form])
            entry[0 if form != wanted else 1] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (joined, asked), (times, right, n, form) in self.times.items():
            if times < 3 or right:
                continue
            there = "its neighbour" if form == "turns" else f"row {n // 2}"
            asked_row = f"row {n // 2}" if form == "turns" else "row 1"
            yield self.found(
                f"The other view of row 0 is {there}, and the loss asks for {asked_row}: partners are other samples.",
                joined,
                "joins the views",
                also=(asked, "says who belongs together"),
                proof=[
                    ("looks", times),
                    ("rows", n),
                    ("other view of row 0", 1 if form == "turns" else n // 2),
                ],
                confirm=("the samples of row 0 and of row targets[0]", "not the same"),
                unless="other samples are to be taken as alike.",
                advice="Join the views with torch.cat([a, b]), and ask for (arange(2n) + n) % 2n.",
                weight=7.0,
                explains=("learns nothing", "unrelated", "too small", "mean"),
            )


def _itself(scores: Value) -> Value | None:
    """The matrix whose rows were compared with each other."""
    v = scores
    for _ in range(16):
        if v.op in ("mm", "matmul", "cosine_similarity") and len(v.parents) == 2:
            a, b = v.parents
            one, other = (beyond(x, frozenset(("t", "transpose", "unsqueeze", "permute"))) for x in (a, b))
            return one if one is other and len(one.shape) == 2 and one.shape[0] == v.shape[0] else None
        wide = [x for x in v.parents if x.shape == v.shape and x.needs]
        if v.op not in ("masked_fill", "div", "mul", "add", "sub", "clone", "where") or len(wide) != 1:
            return None
        v = wide[0]
    return None


def _joined(z: Value) -> tuple[str, Value, list[Value]] | None:
    """How the rows of a value were put together of two views: in halves or in turns, where, and the views."""
    n = z.shape[0]
    seen, waiting = {id(z)}, [z]
    while waiting and len(seen) < DEEP:
        v = waiting.pop(0)
        parents = v.parents
        if v.op == "cat" and len(parents) == 2 and all(x.shape[:1] == (n // 2,) for x in parents):
            return "halves", v, parents
        if v.op in MERGES and parents and parents[0].op == "stack" and parents[0].shape[:1] != (n,):
            stacked = parents[0]
            views = stacked.parents
            if len(views) == 2 and all(x.shape[:1] == (n // 2,) for x in views):
                if stacked.shape == (n // 2, 2, *views[0].shape[1:]):
                    return "turns", stacked, views
                if stacked.shape == (2, *views[0].shape):
                    return "halves", stacked, views
            return None
        for x in _rows(v, n):
            if id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return None


def _rows(v: Value, n: int) -> list[Value]:
    """The values that the rows of a value were computed from, each row from the same of theirs."""
    parents = [x for x in v.parents if x.shape[:1] == (n,)]
    if v.op in LINEAR:
        given = _given(v)
        return [given] if given is not None and given.shape[:1] == (n,) else []
    if v.op == "gather":
        dims = [*v.consts, *(x for x in v.ins if x.__class__ is int)]
        return parents[:1] if dims and dims[0] in (1, -1) and len(v.shape) == 2 else []
    if v.op in ("roll", "flip"):  # along axes that are given, none of which is that of the rows
        dims = v.consts[-1] if v.consts else ()
        return parents[:1] if dims and 0 not in dims else []
    if v.op in MERGES or v.op in ROWWISE:
        return [x for x in parents if not x.needs or x.op != "source"]
    return []


def _of_one(views: list[Value]) -> bool:
    """Whether two views come from one value, row by row."""
    n = views[0].shape[0]
    reached = []
    for view in views:
        seen, waiting = {id(view): view}, [view]
        while waiting and len(seen) < 4 * DEEP:
            for x in _rows(waiting.pop(), n):
                if id(x) not in seen:
                    seen[id(x)] = x
                    waiting.append(x)
        reached.append(seen)
    common = [reached[0][i] for i in reached[0].keys() & reached[1].keys()]
    return views[0] is not views[1] and any(not v.needs and len(v.shape) > 1 for v in common)


RULES = (OtherOrder, OtherPartner)
