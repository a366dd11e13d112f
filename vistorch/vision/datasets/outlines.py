"""The ten outlines of `Shapes` as signed distances: negative inside, zero on the edge, positive outside.

Invariant: each number comes from adding, multiplying, dividing, comparing and square roots alone, one element at a
time. These are rounded the same way on every machine, so the pictures are too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Field = np.ndarray  # float32, one value per pixel
HALF_ROOT = 0.70710678


def length(x: Field, y: Field) -> Field:
    """The length of (x, y); numpy's hypot is not rounded alike everywhere."""
    return np.sqrt(x * x + y * y)


def box(x: Field, y: Field, width: float, height: float, corner: float = 0.0) -> Field:
    """A rectangle of these half sides, its corners rounded."""
    right, down = np.abs(x) - (width - corner), np.abs(y) - (height - corner)
    outside = length(np.maximum(right, 0), np.maximum(down, 0))
    return outside + np.minimum(np.maximum(right, down), 0) - corner


def mirrored(x: Field, y: Field, across: float, along: float) -> tuple[Field, Field]:
    """Fold the plane over the line with the normal (across, along): what lies behind it comes to the front."""
    behind = 2 * np.maximum(x * across + y * along, 0)
    return x - behind * across, y - behind * along


def fifth(x: Field, y: Field) -> tuple[Field, Field]:
    """Fold the plane into a tenth, so that one point, or petal, stands for five."""
    x, y = mirrored(np.abs(x), y, 0.80901699, -0.58778525)
    x, y = mirrored(x, y, -0.80901699, -0.58778525)
    return np.abs(x), y


def circle(x: Field, y: Field) -> Field:
    """A disc."""
    return length(x, y) - 0.8


def square(x: Field, y: Field) -> Field:
    """A square with slightly soft corners."""
    return box(x, y, 0.72, 0.72, 0.06)


def triangle(x: Field, y: Field) -> Field:
    """A triangle standing on its base."""
    y = y - 0.18
    return np.maximum(np.abs(x) * 0.8660254 - y * 0.5, y) - 0.5


def star(x: Field, y: Field) -> Field:
    """A star of five points."""
    x, y = fifth(x, -y)
    # The edge runs from the point (0, 1) to the notch beside it.
    across, along, tip = 0.42 * 0.58778525, 0.42 * 0.80901699 - 1, y - 1
    share = np.clip((x * across + tip * along) / (across * across + along * along), 0, 1)
    away = length(x - share * across, tip - share * along)
    return np.where(tip * across > x * along, away, -away)


def cross(x: Field, y: Field) -> Field:
    """A plus sign."""
    return np.minimum(box(x, y, 0.86, 0.27, 0.05), box(x, y, 0.27, 0.86, 0.05))


def ring(x: Field, y: Field) -> Field:
    """A disc with a hole."""
    return np.abs(length(x, y) - 0.62) - 0.2


def heart(x: Field, y: Field) -> Field:
    """A square on its corner and two discs on its upper sides."""
    x, y = np.abs(x), y * 0.94 - 0.1
    left, right = (x + y) * HALF_ROOT, (x - y) * HALF_ROOT
    lobe = length(left, right - 0.46) - 0.46
    return np.minimum(np.maximum(np.abs(left), np.abs(right)) - 0.46, lobe)


def arrow(x: Field, y: Field) -> Field:
    """A shaft with a triangle for a head, pointing right."""
    head = np.maximum(np.abs(y) * HALF_ROOT + (x - 0.86) * HALF_ROOT, 0.1 - x)
    return np.minimum(head, box(x + 0.36, y, 0.5, 0.2, 0.03))


def moon(x: Field, y: Field) -> Field:
    """A disc out of which another has bitten."""
    return np.maximum(length(x + 0.08, y) - 0.8, 0.66 - length(x - 0.4, y))


def flower(x: Field, y: Field) -> Field:
    """Five petals around a hole."""
    across, along = fifth(x, -y)
    petals = length(across, along - 0.53) - 0.32
    return np.maximum(petals, 0.17 - length(x, y))


OUTLINES: dict[str, Callable[[Field, Field], Field]] = {
    shape.__name__: shape
    for shape in (circle, square, triangle, star, cross, ring, heart, arrow, moon, flower)
}
