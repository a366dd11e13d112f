"""InterpolationMode: how values between pixels are found, under the names of both kinds of images.

Invariant: a mode has one number in Pillow; "nearest-exact" is what Pillow calls nearest.
"""

from __future__ import annotations

from enum import Enum
from typing import Any


class InterpolationMode(Enum):
    """How values between pixels are found; the last three are for Pillow's images only.

    Example:
        >>> from vistorch.vision.transforms import InterpolationMode, Resize
        >>> Resize(8, interpolation=InterpolationMode.NEAREST)
        Resize(size=8, interpolation=nearest, max_size=None, antialias=True)
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


NEAREST, BILINEAR = InterpolationMode.NEAREST, InterpolationMode.BILINEAR
PILLOW = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
    InterpolationMode.NEAREST_EXACT: 0,
}
BY_NUMBER = {number: mode for mode, number in reversed(PILLOW.items())}


def mode_of(given: Any) -> InterpolationMode:
    """A mode, from itself or from Pillow's number."""
    if isinstance(given, int) and given in BY_NUMBER:
        return BY_NUMBER[given]
    if not isinstance(given, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer constant"
        )
    return given


def tensor_mode(given: InterpolationMode, allowed: tuple[str, ...]) -> str:
    """The name of a mode for a tensor; one that tensors do not have is refused."""
    if given.value not in allowed:
        raise ValueError(f"Interpolation mode '{given.value}' is unsupported with Tensor input")
    return given.value
