"""What an op does with tensors at several places, where one has batch dims: the others are shared by all samples.

Functions enter themselves here when batching is first used; until then two places are an error.
Invariant: no tensor is copied from one device to another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import errors
from ..memory.placement import BATCHED

# What brings tensors to the innermost place, and what runs all formulas of a node at once for samples.
brought: list[Callable] = []
together: list[Callable] = []


def in_samples(name: str, *ins: Any) -> tuple:
    """Tensors, numbers and what else there is, with the batch dims of all of them where one has any."""
    for t in ins:
        if hasattr(t, "_place") and t._place.kind == BATCHED:
            return same_place(name, ins)
    return ins


def same_place(name: str, ins: tuple) -> tuple:
    """Tensors and numbers with every tensor at one place; PyTorch's sentence if that takes a copy."""
    places = [t._place for t in ins if hasattr(t, "_place")]
    if any(p.kind == BATCHED for p in places):
        made = brought[0](ins)
        if made is not None:
            return made
    other = next(p for p in places if p is not places[0])
    raise RuntimeError(errors.devices(places[0], other, name))
