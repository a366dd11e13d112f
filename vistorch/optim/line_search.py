"""How far to go along a direction: the strong Wolfe conditions (Nocedal and Wright, 2006, algorithms 3.5 and 3.6).

Invariant: the point that is returned was evaluated, and its gradient is the one computed there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..engine.core.tensor import Tensor

ENOUGH, FLAT = 1e-4, 0.9  # how much the loss must fall, and what may be left of the slope
SMALLEST = 1e-9


class Point(NamedTuple):
    """A place on the line: how far it is, the loss, the gradient, and the gradient along the line."""

    t: Any
    loss: float
    grad: Tensor
    slope: Any


def cubic(a: Point, b: Point, bounds: tuple | None = None) -> Any:
    """Where the cubic through two points, with their slopes, is least; between them or within the bounds."""
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    left, right = (a, b) if a.t <= b.t else (b, a)
    d2 = square.sqrt()
    least = right.t - (right.t - left.t) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2))
    return min(max(least, low), high)


def strong_wolfe(
    at: Callable, t: Any, d: Tensor, loss: float, grad: Tensor, slope: Any, max_ls: int
) -> tuple[float, Tensor, Any, int]:
    """Find a place along a direction where the loss is low enough and the slope flat enough.

    Args:
        at: gives the loss and the gradient at a distance.
        t: where to look first.
        d: the direction.
        loss: the loss where the line begins.
        grad: the gradient there.
        slope: the gradient along the line there.
        max_ls: how many further places to look at, at most.

    Returns:
        The loss, the gradient and the distance of the place, and how often `at` was called.
    """
    begin = Point(0, loss, grad.clone(), slope)
    search = Search(at, d, begin, max_ls)
    found = search.widen(t)
    best = found if isinstance(found, Point) else search.narrow(found)
    return best.loss, best.grad, best.t, search.called


class Search:
    """One search along a line.

    Args:
        at: gives the loss and the gradient at a distance.
        d: the direction.
        begin: where the line begins.
        max_ls: how many places to look at after the first, at most.
    """

    def __init__(self, at: Callable, d: Tensor, begin: Point, max_ls: int) -> None:
        self.at, self.d, self.begin, self.max_ls = at, d, begin, max_ls
        self.called = 0
        self.rounds = 0

    def look(self, t: Any) -> Point:
        """The point at a distance."""
        loss, grad = self.at(t)
        self.called += 1
        return Point(t, loss, grad, grad.dot(self.d))

    def too_high(self, p: Point) -> bool:
        """Whether the loss did not fall enough for the way."""
        return p.loss > self.begin.loss + ENOUGH * p.t * self.begin.slope

    def flat(self, p: Point) -> bool:
        """Whether little of the slope is left."""
        return abs(p.slope) <= -FLAT * self.begin.slope

    def widen(self, t: Any) -> Point | list[Point]:
        """Go further until two places have a good one between them; or until one is good itself."""
        last, here = self.begin, self.look(t)
        while self.rounds < self.max_ls:
            if self.too_high(here) or (self.rounds > 1 and here.loss >= last.loss):
                return [last, here]
            if self.flat(here):
                return here
            if here.slope >= 0:
                return [last, here]
            bounds = here.t + 0.01 * (here.t - last.t), here.t * 10
            further = cubic(last, here, bounds)
            last, here = here, self.look(further)
            self.rounds += 1
        return [self.begin, here]

    def narrow(self, ends: list[Point]) -> Point:
        """Look between two places, one of which always has the lowest loss so far; returns that one."""
        length = self.d.abs().max()
        low = int(not ends[0].loss <= ends[1].loss)
        stuck = False
        while self.rounds < self.max_ls:
            a, b = ends
            if abs(b.t - a.t) * length < SMALLEST:
                break
            t, stuck = self._inside(cubic(a, b), a.t, b.t, stuck)
            here = self.look(t)
            self.rounds += 1
            if self.too_high(here) or here.loss >= ends[low].loss:
                ends[1 - low] = here
                low = int(not ends[0].loss <= ends[1].loss)
                continue
            done = self.flat(here)
            if not done and here.slope * (ends[1 - low].t - ends[low].t) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = here
            if done:
                break
        return ends[low]

    @staticmethod
    def _inside(t: Any, a: Any, b: Any, stuck: bool) -> tuple[Any, bool]:
        """A place that is not too close to an end, unless that happens for the first time in a row."""
        high, low = max(a, b), min(a, b)
        margin = 0.1 * (high - low)
        if not min(high - t, t - low) < margin:
            return t, False
        if not (stuck or t >= high or t <= low):
            return t, True
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
