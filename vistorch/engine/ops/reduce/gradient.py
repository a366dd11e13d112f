"""The slope of a function that is given by its values: central differences, one-sided ones at the ends.

Invariant: made of other public ops, so gradients need no rows.
"""

from __future__ import annotations

from typing import Any

from ...base import dims as _dims
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...core.type_promotion import number
from ...library_name import library
from .frame import tensor


def _even(x: Any, dim: int, width: Any, order: int) -> Tensor:
    """Values at equal distances."""
    n = x._data.shape[dim]

    def at(start: int, length: int = 1) -> Any:
        return METHODS["narrow"](x, dim, start, length)

    centre = (at(2, n - 2) - at(0, n - 2)) / width
    if order == 1:
        first, last = (at(1) - at(0)) / width, (at(n - 1) - at(n - 2)) / width
    else:
        first = (-1.5 * at(0) + 2 * at(1) - 0.5 * at(2)) / width
        last = (0.5 * at(n - 3) - 2 * at(n - 2) + 1.5 * at(n - 1)) / width
    return FUNCTIONS["cat"]((first, centre * 0.5, last), dim)


def _uneven(x: Any, dim: int, places: Any, order: int) -> Tensor:
    """Values at given places."""
    n = x._data.shape[dim]
    shape = [1] * x._data.ndim
    shape[dim] = -1
    gaps = METHODS["diff"](places)
    count = gaps._data.shape[0]

    def at(start: int, length: int = 1) -> Any:
        return METHODS["narrow"](x, dim, start, length)

    def gap(start: int, length: int = 1) -> Any:
        return METHODS["reshape"](METHODS["narrow"](gaps, 0, start, length), shape)

    def end(i: int) -> Any:
        return METHODS["select"](gaps, 0, i)

    p, q = gap(0, count - 1), gap(1, count - 1)
    centre = (
        at(0, n - 2) * (-q / (p * (p + q)))
        + at(1, n - 2) * ((q - p) / (p * q))
        + at(2, n - 2) * (p / (q * (p + q)))
    )
    if order == 1:
        first = (at(1) - at(0)) / end(0)
        last = (at(n - 1) - at(n - 2)) / end(count - 1)
    else:
        p, q = end(0), end(1)
        first = (
            at(0) * (-(2 * p + q) / (p * (p + q)))
            + at(1) * ((p + q) / (p * q))
            + at(2) * (-p / (q * (p + q)))
        )
        p, q = end(count - 2), end(count - 1)
        last = (
            at(n - 3) * (q / (p * (p + q)))
            + at(n - 2) * (-(q + p) / (p * q))
            + at(n - 1) * ((2 * q + p) / (q * (p + q)))
        )
    return FUNCTIONS["cat"]((first, centre, last), dim)


def _refused(input: Any, spacing: Any) -> TypeError:
    return TypeError(
        "gradient() received an invalid combination of arguments - got "
        f"({type(input).__name__}, spacing={type(spacing).__name__}), but expected one of:\n"
        " * (Tensor input, *, Number spacing, int dim, int edge_order)\n"
    )


@public(method=False)
def gradient(input, *, spacing: Any = None, dim: Any = None, edge_order=1):
    """The slopes along dims of a function given by its values.

    Args:
        input: the values.
        spacing: the distance of neighbours, one for each dim, or the places themselves, a tensor for each dim.
        dim: along which dims; None for all.
        edge_order: the order of the differences at the ends, 1 or 2.

    Example:
        >>> import vistorch
        >>> vistorch.gradient(vistorch.tensor([1.0, 4.0, 9.0, 16.0]))
        (tensor([3., 4., 6., 7.]),)
    """
    a = tensor("gradient", input)
    edge_order = _dims.whole(edge_order, "gradient", "edge_order", 4)
    several: Any = list(spacing) if isinstance(spacing, (tuple, list)) else None
    if isinstance(spacing, Tensor) and not spacing._data.ndim:
        spacing = spacing._data.item()
    if several is None and spacing is not None and number(spacing) is None:
        raise _refused(input, spacing)
    if several is not None and any(not isinstance(s, Tensor) and number(s) is None for s in several):
        raise _refused(input, spacing)
    if dim is not None and not isinstance(dim, (tuple, list)):
        dim = _dims.whole(dim, "gradient", "dim", 3)
    if a.dtype.name == "uint8":
        raise RuntimeError(f"{library}.gradient does not support uint8 input.")
    wanted = a.ndim if dim is None else len(dim) if isinstance(dim, (tuple, list)) else 1
    if several is not None and len(several) != wanted:
        if dim is None:
            raise RuntimeError(
                f"{library}.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                f"'self.dim() = {a.ndim}', since dim argument was not given, but got a list of length {len(several)}"
            )
        raise RuntimeError(
            f"{library}.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to "
            "have "
            f"the same length, but got a spacing argument of length {len(several)} and a dim argument of length "
            f"{wanted}."
        )
    if edge_order not in (1, 2):
        raise RuntimeError(f"{library}.gradient only supports edge_order=1 and edge_order=2.")
    axes = tuple(range(a.ndim)) if dim is None else _dims.many(dim, a.ndim, "gradient", "dim", 3)
    for axis in axes:
        if a.ndim and a.shape[axis] < edge_order + 1:
            raise RuntimeError(f"{library}.gradient expected each dimension size to be at least edge_order+1")
    found = []
    for i, axis in enumerate(axes):
        step = several[i] if several is not None else 1 if spacing is None else spacing
        if isinstance(step, Tensor):
            if step._data.ndim != 1:
                raise RuntimeError(
                    f"{library}.gradient expected each element of spacing to have one dimension, but got an element "
                    f"with {step._data.ndim} dimensions!"
                )
            found.append(_uneven(input, axis, step, edge_order))
        else:
            found.append(_even(input, axis, step, edge_order))
    return tuple(found)
