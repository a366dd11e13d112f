"""What a layout is given and what it gives: boxes in nested groups, and where they stand.

Coordinates are whole pixels, y grows downwards. A path is a list of points: between two of them runs a straight line
where x or y stays, and otherwise a curve that is vertical at both ends (control points at half the height), which
stays within the rectangle of its two points.

Invariant: nothing here knows what a box means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Key = Any  # hashable
Point = tuple[int, int]


class Rect(NamedTuple):
    """A rectangle by its upper left corner."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """Where it ends across."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """Where it ends below."""
        return self.y + self.height

    def moved(self, x: int, y: int) -> Rect:
        """The same rectangle elsewhere."""
        return Rect(self.x + x, self.y + y, self.width, self.height)

    def meets(self, other: Rect) -> bool:
        """Whether the two share more than an edge."""
        return (
            self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom
        )

    def contains(self, other: Rect) -> bool:
        """Whether another one lies within."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right
            and other.bottom <= self.bottom
        )


@dataclass(frozen=True)
class Box:
    """One box; `beside` are the sizes of small ones stacked to its right, `group` what it stands in."""

    key: Key
    width: int
    height: int
    group: Key | None = None
    beside: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Spacing:
    """Distances in pixels.

    Args:
        across: between two boxes of a layer.
        down: between a box and the one below it.
        curved: between two layers with an edge that does not run straight down.
        wire: between an edge and what is beside it.
        lane: between two edges that run around everything.
        beside: from a box to the small ones at its right.
        stack: between two small ones.
        inside: from a group's frame to what it holds, at its sides and below.
        header: height of a group's title.
        spread: between the ends of two edges at one box.
    """

    across: int = 28
    down: int = 14
    curved: int = 28
    wire: int = 14
    lane: int = 8
    beside: int = 52
    stack: int = 3
    inside: int = 12
    header: int = 26
    spread: int = 16


@dataclass
class Layout:
    """Where everything stands. `paths` are in the order of the edges that were given."""

    width: int = 0
    height: int = 0
    boxes: dict[Key, Rect] = field(default_factory=dict)
    beside: dict[Key, list[Rect]] = field(default_factory=dict)
    frames: dict[Key, Rect] = field(default_factory=dict)
    paths: list[list[Point]] = field(default_factory=list)
