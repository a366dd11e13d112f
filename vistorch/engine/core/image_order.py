"""Results of images that lie where the image's elements lie: channels last where the operand has them last.

Invariant: only the order in memory changes, and only of a result that nobody has seen yet.
"""

from __future__ import annotations

from typing import Any

from ..kernels.strides import asks_channels_last, with_channels_last


def laid_as(x: Any, made: Any, unbatched: bool = False) -> Any:
    """Give fresh results the channels' place of an operand; whatever else its order is, theirs is row by row.

    Args:
        x: the operand, a tensor of images or volumes.
        made: a tensor, or a tuple of them.
        unbatched: whether an operand without a batch dim counts too.
    """
    a = x._data
    if a.flags.c_contiguous:
        return made
    lead = unbatched and a.ndim == 4
    shape, strides = ((1, *a.shape), (a.nbytes, *a.strides)) if lead else (a.shape, a.strides)
    if not asks_channels_last(shape, strides):
        return by_rows(made)
    for t in made if made.__class__ is tuple else (made,):
        xp = t._place.xp
        t._data = with_channels_last(xp, t._data[None])[0] if lead else with_channels_last(xp, t._data)
    return made


def by_rows(made: Any) -> Any:
    """Fresh results, row by row."""
    for t in made if made.__class__ is tuple else (made,):
        if not t._data.flags.c_contiguous:
            t._data = t._place.xp.ascontiguousarray(t._data)
    return made
