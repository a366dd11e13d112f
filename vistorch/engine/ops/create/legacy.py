"""The constructor of the class, `Tensor(2, 3)` and `Tensor([1, 2])`, and its typed kin (`FloatTensor`, ...)."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...places import place_of
from ...tensor import Tensor, new
from .arguments import allocate, sizes
from .data import _copied


def legacy_new(cls: Any, *data: Any, **kwargs: Any) -> Tensor:
    """`Tensor(...)`."""
    if len(data) == 1 and not isinstance(data[0], (int, Tensor)):
        made = _copied(data[0], dtypes.default.np, kwargs.get("device"), False, "Tensor")
    elif len(data) == 1 and isinstance(data[0], Tensor):
        made = data[0].detach()
    else:
        place = place_of(kwargs.get("device"), "Tensor")
        shape = sizes(data, "Tensor") if data else (0,)
        made = new(Tensor)
        from .fills import bare

        made = bare(allocate(place.xp.empty, shape, dtypes.default.np, place), place)
    if cls is not Tensor:
        made.__class__ = cls
    return made
