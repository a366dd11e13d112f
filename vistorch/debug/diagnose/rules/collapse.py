"""Two branches of one network that are pulled together until all samples look alike.

Invariant: what is compared is found in the history of the loss; that it collapses is measured beside its beginning.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, Value, ancestors, beyond
from ..finding import MEASURED, WRONG, Finding, number
from ..heads import BENT, DISTANCES, array
from .base import Rule

JOINS = (
    frozenset("add sub rsub neg mul div mean_all sum_all mean_dims sum_dims mean sum stack cat".split())
    | SHAPED
)
ROWS = 8  # of a batch, for a spread to mean something
DEEP = 4000  # values behind a branch
GONE = 0.25  # of the spread in the beginning
AGREES = 0.05  # of the distance that the branches had, or of the largest angle's
LOOKS = 4


class Collapses(Rule):
    """A loss that pulls two results of one network together, and nothing else: all samples end at one point.

    Meaning: to give every sample the same answer makes any two answers agree; a stop-gradient on one side, a term
    that spreads the answers or negatives keep a network from that.
    Fires: when in four looks, and in all there were of the passes of one line, every term of the loss that has a
    gradient draws together two values of eight rows or more, both with a gradient, computed with a common parameter
    and neither from the other: by a cosine or the product of unit rows, turned to its largest, or by a distance or a
    square of a difference, to its smallest; no pass of another line reaches a parameter of that loss; and in the last
    two looks the spread of the rows, each brought to length 1 where angles are compared, is a quarter or less of the
    first look's, and the mean square of their difference 5 % or less.
    Wrong if: all samples are to get one answer.
    Healthy programs tried: a detached side, a target network, terms of variance and of negatives, siamese regression
    with targets, consistency beside a supervised loss, cycles with a reconstruction, residuals of equations.
    """

    name, title, certainty, severity = "collapses", "branches pulled together", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.losses: dict[Any, _Loss] = {}  # by the line of their pass

    def at_pass(self, p: Any) -> None:
        """What each loss trains."""
        if p.accumulates and p.place not in self.losses and len(self.losses) < 64:
            self.losses[p.place] = _Loss({id(v) for v in p.leaves})

    def at_look(self, p: Any) -> None:
        """Find what is compared, and how far it is spread."""
        loss = self.losses.get(p.place)
        if loss is None or loss.other or p.root is None or not p.accumulates or len(loss.seen) > 64:
            return
        found = terms(p.root)
        loss.other = not found
        spread = far = 0.0
        for angles, a, b in found:
            x, y = array(a), array(b)
            if x is None or y is None or x.ndim != 2 or x.shape != y.shape or len(x) < ROWS or x.shape[1] < 2:
                loss.other = True
                return
            if not loss.seen and not _common(a, b):
                loss.other = True
                return
            x, y = (_unit(x), _unit(y)) if angles else (x, y)
            spread += float(y.std(0).mean() + x.std(0).mean())
            far += float(np.square(x - y).sum(1).mean()) / (4.0 if angles else 1.0)
        if found:
            loss.seen.append((spread, far))
            loss.places = joined(p.root).place, self._side(found[0])

    @staticmethod
    def _side(pair: tuple[bool, Value, Value]) -> Any:
        """The line of the side that fewer layers lead to, which a stop-gradient belongs to."""
        sides = [beyond(_whole(v)) for v in pair[1:]]
        return min(sides, key=lambda v: sum(1 for _ in itertools.islice(ancestors(v), DEEP))).place

    def findings(self) -> Iterator[Finding]:
        """Say which loss."""
        for at, loss in self.losses.items():
            if loss.other or len(loss.seen) < LOOKS:
                continue
            if any(loss.leaves & one.leaves for other, one in self.losses.items() if other != at):
                continue
            (spread, far), last = loss.seen[0], loss.seen[-2:]
            if not spread or any(s > GONE * spread or f > AGREES * max(far, 1e-12) for s, f in last):
                continue
            place, made = loss.places
            yield self.found(
                "The loss only pulls two results of one network together: all samples end at one point.",
                place,
                "both sides learn",
                also=(made, "is not detached"),
                proof=[
                    ("spread of the samples, first and last", f"{number(spread)}, {number(last[-1][0])}"),
                    ("distance of the two, first and last", f"{number(far)}, {number(last[-1][1])}"),
                    ("looks", len(loss.seen)),
                ],
                confirm=("z.std(0).mean(), at the beginning and at the end", "falls to 0"),
                unless="all samples are to get one answer.",
                advice="Detach one side, or add a term that keeps samples apart.",
                weight=6.0,
                explains=("learns nothing", "too small", "mean", "course"),
            )
            return


class _Loss:
    """What is known of one loss.

    Args:
        leaves: that its first pass reached.
    """

    def __init__(self, leaves: set[int]) -> None:
        self.leaves = leaves
        self.other = False  # whether it has a term of another kind
        self.seen: list[tuple[float, float]] = []  # spread, distance
        self.places: tuple[Any, Any] = (None, None)


def _whole(v: Value) -> Value:
    """What a row was before it was brought to length 1."""
    return v.parents[0] if v.op in ("div", "normalize") and v.parents else v


def terms(root: Value) -> list[tuple[bool, Value, Value]]:
    """The pairs that a loss draws together, and whether by their angle; none where it has a term of another kind.

    Args:
        root: the loss.
    """
    found: list[tuple[bool, Value, Value]] = []
    waiting, left = [(root, 1.0)], 200
    while waiting and left:
        v, sign = waiting.pop()
        left -= 1
        if not v.needs:
            continue
        one = _pair(v)
        if one is not None:
            if sign * (-1.0 if one[0] else 1.0) < 0 or not (one[1].needs and one[2].needs):
                return []
            found.append(one)
            continue
        parents = v.parents
        if v.op not in JOINS or not parents or (v.op in ("mul", "div") and len(parents) > 1):
            return []
        numbers = [float(x) for x in v.ins if x.__class__ is not Value]
        if v.op == "neg" or (v.op in ("mul", "div") and numbers and numbers[0] < 0):
            sign = -sign
        for i, x in enumerate(v.ins):
            if x.__class__ is Value:
                turned = (v.op == "sub" and i == 1) or (v.op == "rsub" and i == 0)
                waiting.append((x, -sign if turned else sign))
    return found if left else []


def joined(root: Value) -> Value:
    """The sum that a loss is of its terms; the comparison itself where it has one."""
    v = root
    while _pair(v) is None:
        below = [x for x in v.parents if x.needs]
        if len(below) != 1:
            return v
        v = below[0]
    return v


def _pair(v: Value) -> tuple[bool, Value, Value] | None:
    """What an op compares, and whether by angles."""
    ins = v.parents
    if v.op.startswith("cosine_similarity") and len(ins) > 1:
        return True, ins[0], ins[1]
    if v.op in DISTANCES and len(ins) > 1:
        return False, ins[0], ins[1]
    if (
        (v.op in BENT or v.op.startswith(("norm", "vector_norm", "linalg_vector_norm")))
        and ins
        and ins[0].op == "sub"
    ):
        if len(ins[0].parents) == 2 and (len(ins) == 1 or ins[1] is ins[0]):
            a, b = ins[0].parents
            return False, a, b
    if v.op == "mul" and len(ins) == 2 and ins[0] is not ins[1] and all(x.needs and _is_unit(x) for x in ins):
        return True, ins[0], ins[1]
    return None


def _is_unit(v: Value) -> bool:
    d = array(v)
    return d is not None and d.ndim == 2 and bool(np.abs(np.square(d).sum(1) - 1).max(initial=0) < 1e-2)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.maximum(np.sqrt(np.square(x).sum(1, keepdims=True)), 1e-12)


def _common(a: Value, b: Value) -> bool:
    """Whether two values were computed with one parameter, and neither from the other."""
    if a is b:
        return False
    below = []
    for v in (a, b):
        every = list(itertools.islice(ancestors(v, lambda v: v.needs), DEEP))
        if any(x is (b if v is a else a) for x in every):
            return False
        below.append({id(x.tensor) for x in every if x.tensor is not None and x.needs})
    return bool(below[0] & below[1])


RULES = (Collapses,)
