"""Arguments of transforms, checked and brought into one form.

Invariant: what is refused is refused when the transform is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import vistorch


def two_numbers(arg: Any, name: str) -> list[float]:
    """Two numbers, from one or two."""
    if not isinstance(arg, (int, float, Sequence)):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(arg)}")
    given = list(arg) if isinstance(arg, Sequence) else [arg]
    if len(given) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(given)}")
    for number in given:
        if not isinstance(number, (int, float)):
            raise ValueError(f"{name} should be a sequence of numbers. Got {type(number)}")
    return [float(given[0]), float(given[-1])]


def fills(fill: Any) -> dict[Any, Any]:
    """The fill of each kind of input, under its class or "others"."""
    given = fill if isinstance(fill, dict) else {"others": fill}
    for kind, value in given.items():
        if value is not None and not isinstance(value, (int, float, tuple, list)):
            raise TypeError("Got inappropriate fill arg, only Numbers, tuples, lists and dicts are allowed.")
        if isinstance(value, (tuple, list)):
            given[kind] = [float(v) for v in value]
    return given


def fill_of(table: dict[Any, Any], inpt: Any) -> Any:
    """The fill for an input; None where none is given for its kind."""
    return table.get(type(inpt), table.get("others"))


def check_padding(padding: Any) -> None:
    """Refuse what is no width of a border."""
    given = padding if isinstance(padding, (tuple, list)) else [padding]
    if len(given) not in (1, 2, 4) or not all(isinstance(width, int) for width in given):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element of tuple or list, got {padding}.")


def check_padding_mode(mode: Any) -> None:
    """Refuse a mode that no border has."""
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")


# ---- drawn from vistorch's generator, in torchvision's order and by its calls --------------------------------------
def between(low: Any, high: Any) -> float:
    """One number of a range."""
    return vistorch.empty(1).uniform_(float(low), float(high)).item()


def below(low: int, high: int) -> int:
    """One whole number, below `high`."""
    return int(vistorch.randint(low, high, size=(1,)).item())


def rectangle(scale: Any, log_ratio: Any, area: int, upright: bool) -> tuple[int, int]:
    """Height and width of a rectangle of a random part of an area and shape: height / width if it is `upright`."""
    size = area * between(scale[0], scale[1])
    shape = vistorch.exp(vistorch.empty(1).uniform_(float(log_ratio[0]), float(log_ratio[1]))).item()
    long, short = round(math.sqrt(size * shape)), round(math.sqrt(size / shape))
    return (long, short) if upright else (short, long)
