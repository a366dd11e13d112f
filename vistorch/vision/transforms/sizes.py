"""What the transforms are given: sizes, ranges and fills, brought into one form.

Invariant: what is refused is refused when a transform is made, not when it meets an image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch import Tensor

from .images import get_dimensions, is_pil

TWO = "Please provide only two dimensions (h, w) for size."


def pair(size: Any, message: str = TWO) -> Any:
    """(height, width)."""
    if isinstance(size, int | float):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        (both,) = size
        return both, both
    if len(size) != 2:
        raise ValueError(message)
    return size


def sequence(x: Any, name: str, lengths: Sequence[int]) -> None:
    """Refuse what is not a sequence of one of these lengths."""
    text = str(lengths[0]) if len(lengths) < 2 else " or ".join(str(n) for n in lengths)
    if not isinstance(x, Sequence):
        raise TypeError(f"{name} should be a sequence of length {text}.")
    if len(x) not in lengths:
        raise ValueError(f"{name} should be a sequence of length {text}.")


def angles(x: Any, name: str, lengths: Sequence[int] = (2,)) -> list[float]:
    """A range of degrees; one number is on both sides of zero."""
    if isinstance(x, int | float):
        if x < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [float(-x), float(x)]
    sequence(x, name, lengths)
    return [float(d) for d in x]


def shares_and_factors(translate: Any, scale: Any) -> None:
    """Refuse ranges of an affine map that are none: shares of a size to move by, factors; None is no range."""
    if translate is not None:
        sequence(translate, "translate", (2,))
        if any(not 0.0 <= t <= 1.0 for t in translate):
            raise ValueError("translation values should be between 0 and 1")
    if scale is not None:
        sequence(scale, "scale", (2,))
        if any(s <= 0 for s in scale):
            raise ValueError("scale values should be positive")


def fill_for(fill: Any, img: Any) -> Any:
    """A fill as functions take it: for a tensor one number per channel."""
    if is_pil(img) or not isinstance(img, Tensor):
        return fill
    if isinstance(fill, int | float):
        return [float(fill)] * get_dimensions(img)[0]
    return [float(f) for f in fill]


# ---- drawn from vistorch's generator, in torchvision's order and by its calls --------------------------------------
def uniform(low: Any, high: Any) -> float:
    """One number of a range."""
    return vistorch.empty(1).uniform_(float(low), float(high)).item()


def integer(low: int, high: int) -> int:
    """One whole number, below `high`."""
    return int(vistorch.randint(low, high, size=(1,)).item())


def chance(p: float) -> bool:
    """Whether what happens in this part of all cases happens now."""
    return vistorch.rand(1).item() < p
