"""How a gradient becomes `.grad`: copied once, unless only the pass holds its array.

Invariant: a `.grad` shares its array with nobody, and lies as its leaf does.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..base import errors
from ..core.graph import version
from ..core.rules import REC
from ..core.tensor import Tensor, asarray, wrap
from ..core.views import dense
from ..kernels.fast.copies import by_rows


def own(g: Any, data: Any, place: Any) -> Any:
    """A copy that nobody else holds, in the order of memory of its leaf's data where these have no gaps."""
    if data.flags.c_contiguous or data.shape != g.shape or not dense(data):
        return place.xp.array(g, order="C") if place.kind else by_rows(g)
    out = place.xp.empty_like(data, dtype=g.dtype)
    out[...] = g
    return out


def owned(g: Any) -> Any:
    """The array that a view is all of, if it is held by this view alone: what was transposed and turned back."""
    base = g.base
    if (
        base.__class__ is np.ndarray
        and base.base is None
        and base.shape == g.shape
        and base.dtype == g.dtype
        and base.flags.c_contiguous
        and sys.getrefcount(base) <= _ALONE
    ):
        return base
    return None


def _alone() -> int:
    """The reference count that `owned` sees of an array that only its view holds."""
    g = np.empty(2).reshape(2, 1).T
    base = g.base
    return sys.getrefcount(base)


_ALONE = _alone()


def copied(g: Tensor) -> Tensor:
    """What `.grad` becomes in a recorded pass: PyTorch copies into a new tensor, and its graph says so."""
    o = REC.copy_grad(wrap(g._place.xp.empty((), g._data.dtype), g._place), g)
    version(o).n += 1
    return o


def as_array(d: Any, place: Any) -> Any:
    """A scalar of numpy as an array of no dims."""
    return d if place.kind else asarray(d)


def check_sum(held: tuple, g: tuple) -> None:
    """Refuse a gradient that does not broadcast to what `.grad` holds: its leaf got another shape since."""
    said = errors.broadcast(held, g)
    if said is None and (full := np.broadcast_shapes(held, g)) != held:
        said = (
            f"output with shape {errors.sizes(held)} doesn't match the broadcast shape {errors.sizes(full)}"
        )
    if said is not None:
        raise RuntimeError(said)


def total(a: Tensor, b: Tensor, create_graph: bool) -> Tensor:
    """The sum of two gradients, recorded if the pass is."""
    return a + b if create_graph else wrap(as_array(a._data + b._data, a._place), a._place)
