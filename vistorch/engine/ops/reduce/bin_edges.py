"""The edges of equal bins.

Invariant: the first edge is the lower end, the last one the upper end, and they lie in the input's dtype.
"""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor, wrap
from ...library_name import library
from .frame import missing


def bin_edges(input: Tensor, bins: int, range: Any, dim: int = 0) -> Tensor:
    """Equal bins over a range, or over the data; `dim` is what the sentences speak of."""
    a, xp = input._data, input._place.xp
    if bins <= 0:
        raise RuntimeError(f"{library}.histogram(): bins must be > 0, but got {bins} for dimension {dim}")
    if range is not None:
        low, high = range
    elif a.dtype.char not in "fd":
        raise missing("histogramdd", a.dtype)
    else:
        low, high = (float(a.min()), float(a.max())) if a.size else (0.0, 1.0)
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise RuntimeError(
            f"{library}.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite"
        )
    if low > high:
        raise RuntimeError(
            f"{library}.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
        )
    if a.dtype.str == "|u1" and low < 0:
        raise RuntimeError("value cannot be converted to type uint8_t without overflow")
    if a.dtype.kind == "b":
        raise missing("linspace_cpu", a.dtype)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return wrap(xp.linspace(low, high, bins + 1, dtype=a.dtype), input._place)
