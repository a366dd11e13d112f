"""The places of what is not zero: nonzero, argwhere.

Invariant: places come in the order of the flat tensor.
"""

from __future__ import annotations

from ...base.dims import flag
from ...core import out_argument
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ..shape import rows
from . import checks
from .getitem import getitem


def _places(input: Tensor) -> tuple:
    a = input._data
    found = (a if a.ndim else a.reshape(1)).nonzero()
    return (
        found if not found or found[0].dtype == checks.LONG else tuple([i.astype(checks.LONG) for i in found])
    )


@public()
def nonzero(input, *, out=None, as_tuple=False):
    """The places of all elements that are not zero.

    Args:
        input: the tensor to read.
        out: where to put the result.
        as_tuple: one vector per dim, fit for indexing, instead of one row per place.

    Example:
        >>> import vistorch
        >>> vistorch.nonzero(vistorch.tensor([[0, 5], [6, 0]]))
        tensor([[0, 1],
                [1, 0]])
    """
    checks.tensors("nonzero", ("input", 1, input))
    place = input._place
    if flag(as_tuple, "nonzero", "as_tuple"):
        if not input._data.ndim:
            input = rows.unsqueeze(input, 0)
        places = nonzero(input)
        return tuple([getitem(places, (slice(None), d)) for d in range(input._data.ndim)])
    if out is not None:
        checks.tensors("nonzero", ("out", 2, out))
    if out is not None and out._data.dtype != checks.LONG:
        raise RuntimeError(
            f"nonzero: Expected out tensor to have scalar type Long but got scalar type{checks.scalar_name(out)}"
        )
    found = _places(input)
    xp = place.xp
    if not input._data.ndim:
        result = wrap(xp.zeros((int(found[0].size), 0), checks.LONG), place)
    else:
        result = wrap(xp.stack(found).T if found else xp.zeros((0, 0), checks.LONG), place)
    return result if out is None else out_argument.deliver(out, result)


@public()
def argwhere(input):
    """The places of all elements that are not zero, one row each.

    Args:
        input: the tensor to read.

    Example:
        >>> import vistorch
        >>> vistorch.argwhere(vistorch.tensor([0, 3, 4]))
        tensor([[1],
                [2]])
    """
    return nonzero(input)
