"""Ranks in words.

Invariant: numbers come in their order.
"""

from __future__ import annotations

from collections.abc import Iterable


def named(ranks: Iterable[int]) -> str:
    """Ranks in words.

    Args:
        ranks: their numbers.

    Example:
        >>> from vistorch.debug.ranks.named import named
        >>> named([2]), named([0, 1, 3])
        ('rank 2', 'ranks 0, 1 and 3')
    """
    found = sorted(ranks)
    if len(found) == 1:
        return f"rank {found[0]}"
    *most, last = map(str, found)
    return f"ranks {', '.join(most)} and {last}"
