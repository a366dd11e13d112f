"""Positions and pairs: what containers of modules and of parameters make of what they are given.

Invariant: what is no position or no pair is refused in PyTorch's words.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .module import Module


def place_in(length: int, idx: Any) -> int:
    """A possibly negative position as one from 0 on."""
    idx = operator.index(idx)
    if not -length <= idx < length:
        raise IndexError(f"index {idx} is out of range")
    return idx % length


def pairs_of(given: Any, name: str, word: str, order: Callable) -> Iterator[tuple]:
    """The names and values of a mapping or of an iterable of pairs; PyTorch's sentence for anything else."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{word}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if hasattr(given, "items") and (isinstance(given, (Mapping, Module))):
        yield from order(given.items())
        return
    for j, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{name} update sequence element #{j} should be Iterable; is{type(pair).__name__}"
            )
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{j} has length {len(pair)}; 2 is required")
        yield tuple(pair)
