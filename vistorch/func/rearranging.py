"""Dims named by a pattern, as in einops: taken apart, put into another order, joined.

Invariant: an axis stands once on each side; numbers alone never decide what goes where.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor

__all__ = ["rearrange"]

_TOKEN = re.compile(r"\.\.\.|[()]|\w+|\S")
_REST, _BARE = "...", "… alone"  # in a bracket, and as dims of its own


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """Give a tensor the dims that a pattern says: in another order, joined by brackets, or taken apart by them.

    Args:
        tensor: the tensor; several of one shape are stacked first.
        pattern: the names of its dims, `->`, the names of the result's; `1` is a dim of one element, `...` any others.
        **axes_lengths: the lengths of axes that brackets on the left join.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(6).view(2, 3)
        >>> vistorch.func.rearrange(x, "row column -> (column row)")
        tensor([0, 3, 1, 4, 2, 5])
        >>> vistorch.func.rearrange(x, "row (a b) -> row a b", b=3).shape
        vistorch.Size([2, 1, 3])
    """
    given = tensor if isinstance(tensor, Tensor) else FUNCTIONS["stack"](tensor)
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError(f"the pattern {pattern!r} must have one '->'")
    left, right = (_groups(side, pattern) for side in sides)
    if [_BARE] not in left and any(name in (_REST, _BARE) for group in right for name in group):
        raise ValueError(f"an ellipsis stands on the right of {pattern!r} and not alone on its left")
    sizes = list(given.shape)
    if [_BARE] in left:
        rest = len(sizes) - (len(left) - 1)
        if rest < 0:
            raise ValueError(
                f"the pattern {pattern!r} names more dims than the {len(sizes)} of shape {tuple(sizes)}"
            )
        names = [f"...{index}" for index in range(rest)]
        at = left.index([_BARE])
        left[at : at + 1] = [[name] for name in names]
        right = _spread(right, names)
    if len(left) != len(sizes):
        raise ValueError(
            f"the pattern {pattern!r} names {len(left)} dims of a tensor of shape {tuple(sizes)}"
        )
    lengths = _lengths(left, sizes, axes_lengths, pattern)
    first = [name for group in left for name in group if name != "1"]
    last = [name for group in right for name in group if name != "1"]
    if wrong := set(first) ^ set(last):
        raise ValueError(f"{', '.join(sorted(wrong))}: an axis must stand on both sides of {pattern!r}")
    if wrong := set(axes_lengths) - set(first):
        raise ValueError(f"{', '.join(sorted(wrong))}: the pattern {pattern!r} has no such axis")
    apart = given.reshape([lengths[name] for name in first])
    moved = apart.permute([first.index(name) for name in last])
    return moved.reshape([math.prod(lengths[name] for name in group if name != "1") for group in right])


def _groups(side: str, pattern: str) -> list[list[str]]:
    """The names that each dim of one side is made of."""
    groups: list[list[str]] = []
    seen: set[str] = set()
    inside = False
    for token in _TOKEN.findall(side):
        if token in "()":
            if inside == (token == "("):
                raise ValueError(f"the brackets of {pattern!r} do not match")
            inside = token == "("
            if inside:
                groups.append([])
            continue
        if token != _REST and token != "1" and not token.isidentifier():
            raise ValueError(f"{token!r} in {pattern!r} is no name of an axis")
        if token != "1" and token in seen:
            raise ValueError(f"{token} stands twice on one side of {pattern!r}")
        seen.add(token)
        if inside:
            groups[-1].append(token)
        else:
            groups.append([_BARE if token == _REST else token])
    if inside:
        raise ValueError(f"the brackets of {pattern!r} do not match")
    return groups


def _spread(right: list[list[str]], names: list[str]) -> list[list[str]]:
    """The right side with the names that the ellipsis stands for: a dim for each, or all in their bracket."""
    made: list[list[str]] = []
    for group in right:
        if group == [_BARE]:
            made += [[name] for name in names]
        else:
            made.append([part for name in group for part in (names if name == _REST else [name])])
    return made


def _lengths(left: list[list[str]], sizes: list[int], given: dict[str, Any], pattern: str) -> dict[str, int]:
    """How long each axis is: one of a bracket may be left to the size of its dim."""
    lengths = {"1": 1, **given}
    for group, size in zip(left, sizes, strict=True):
        open_ones = [name for name in group if name not in lengths]
        if len(open_ones) > 1:
            raise ValueError(
                f"the lengths of {', '.join(open_ones)} in {pattern!r} do not follow from one size: give all but one"
            )
        known = math.prod(lengths[name] for name in group if name in lengths)
        if open_ones:
            if known == 0 or size % known:
                raise ValueError(f"a dim of {size} elements cannot be taken apart by {known} in {pattern!r}")
            lengths[open_ones[0]] = size // known
        elif known != size:
            raise ValueError(f"a dim of {size} elements is {known} by the pattern {pattern!r}")
    return lengths
