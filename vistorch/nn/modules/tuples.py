"""One value for all dims, or one for each: sizes as modules keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _tuple(x: Any, n: int) -> tuple:
    """A tuple of `n` from a single value, and a tuple of whatever else it is given."""
    return tuple(x) if isinstance(x, Iterable) else (x,) * n


def _ntuple(n: int) -> Callable[[Any], tuple]:
    """The same as a function of the value alone, under PyTorch's name."""

    def parse(x: Any) -> tuple:
        return _tuple(x, n)

    return parse


_single, _pair, _triple, _quadruple = _ntuple(1), _ntuple(2), _ntuple(3), _ntuple(4)
