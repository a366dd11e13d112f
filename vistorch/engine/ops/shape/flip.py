"""The same elements in another order along dims: flip, rot90, roll. All of them copy.

Invariant: no result has a negative stride.
"""

from __future__ import annotations

from typing import Any

from ...base.dims import many, one, sequence, sizes, whole
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from .join import _cat
from .views import given, tensor

WHOLE = slice(None)
REVERSED = slice(None, None, -1)


def _flip(xp, input, dims):
    key = [WHOLE] * input.ndim
    for dim in dims:
        key[dim] = REVERSED
    return input[tuple(key)].copy("K")


def _rot90(xp, input, k, dim0, dim1):
    k %= 4
    if k == 0:
        return input.copy()
    if k == 2:
        return _flip(xp, input, (dim0, dim1))
    return _flip(xp, input, (dim1 if k == 1 else dim0,)).swapaxes(dim0, dim1)


def _roll(xp, input, shifts, dims):
    if dims is None:
        return _rolled(xp, input.reshape(-1), shifts, 0).reshape(input.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        input = _rolled(xp, input, shift, dim)
    return input


def _rolled(xp, a, shift, dim):
    n = a.shape[dim]
    at = n - shift % n if n else 0
    head = (WHOLE,) * dim
    return _cat(xp, (a[(*head, slice(at, None))], a[(*head, slice(at))]), dim, None)


flip_row = op(
    "flip",
    _flip,
    widen=False,
    formula=r"\bar x = \mathrm{flip}(\bar y)",
    input=lambda F, g, dims: F.flip(g, dims),
)
rot90_row = op(
    "rot90",
    _rot90,
    widen=False,
    formula=r"\bar x = \mathrm{rot90}^{-1}(\bar y)",
    input=lambda F, g, k, dim0, dim1: F.rot90(g, -k, dim0, dim1),
)
roll_row = op(
    "roll",
    _roll,
    widen=False,
    formula=r"\bar x = \mathrm{roll}(\bar y, -s)",
    input=lambda F, g, shifts, dims: F.roll(g, _negative(shifts), dims),
)


def _negative(shifts: Any) -> Any:
    return tuple([-s for s in shifts]) if isinstance(shifts, tuple) else -shifts


def flipped(x: Tensor, dims: tuple) -> Tensor:
    """`x.flip(dims)`."""
    n = tensor(x, "flip").ndim
    found = many(dims, n, "flip", "dims")
    return flip_row(x, found if n else ())


@public(method=False)
def flip(input: Tensor, dims: tuple[int, ...]) -> Tensor:
    """The elements in reverse order along some dims.

    Args:
        input: the tensor.
        dims: which dims.

    Example:
        >>> import vistorch
        >>> vistorch.flip(vistorch.tensor([1, 2, 3]), (0,))
        tensor([3, 2, 1])
    """
    return flipped(input, sequence(dims, "flip", "dims"))


def _flip_method(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The elements in reverse order along some dims.

    Args:
        self: the tensor.
        *dims: which dims, one by one or as one sequence.
        **named: `dims`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).flip(0, 1)
        tensor([[4, 3],
                [2, 1]])
    """
    return flipped(self, sizes(given(dims, named, "flip", "dims"), "flip", "dims"))


METHODS["flip"] = _flip_method


@public()
def fliplr(input: Tensor) -> Tensor:
    """The columns in reverse order.

    Args:
        input: a tensor of at least two dims.

    Example:
        >>> import vistorch
        >>> vistorch.fliplr(vistorch.tensor([[1, 2]]))
        tensor([[2, 1]])
    """
    if tensor(input, "fliplr").ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_row(input, (1,))


@public()
def flipud(input: Tensor) -> Tensor:
    """The rows in reverse order.

    Args:
        input: a tensor of at least one dim.

    Example:
        >>> import vistorch
        >>> vistorch.flipud(vistorch.tensor([1, 2]))
        tensor([2, 1])
    """
    if tensor(input, "flipud").ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_row(input, (0,))


@public()
def rot90(input: Tensor, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Tensor:
    """The tensor turned by quarter turns in the plane of two dims.

    Args:
        input: the tensor.
        k: how many quarter turns, from the first dim towards the second.
        dims: the two dims.

    Example:
        >>> import vistorch
        >>> vistorch.rot90(vistorch.tensor([[1, 2], [3, 4]]))
        tensor([[2, 4],
                [1, 3]])
    """
    n = tensor(input, "rot90").ndim
    k, plane = whole(k, "rot90", "k", 2), sequence(dims, "rot90", "dims", 3)
    if len(plane) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(plane)}")
    if n < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {n}")
    if plane[0] == plane[1] or abs(plane[0] - plane[1]) == n:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {plane[0]} and dim1 = {plane[1]}"
        )
    return rot90_row(input, k % 4, one(plane[0], n), one(plane[1], n))


def _ints(value: Any, name: str, position: int) -> tuple:
    if isinstance(value, (tuple, list)):
        return sizes((tuple(value),), "roll", name, position)
    try:
        return (whole(value, "roll", name, position),)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(
            f"roll(): argument '{name}' (position {position}) must be tuple of ints, not {kind}"
        ) from None


@public()
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """The elements moved along dims; what falls off at the end comes back at the beginning.

    Args:
        input: the tensor.
        shifts: how far, for each dim.
        dims: which dims; none rolls the flattened tensor.

    Example:
        >>> import vistorch
        >>> vistorch.roll(vistorch.tensor([1, 2, 3]), 1)
        tensor([3, 1, 2])
    """
    shape = tensor(input, "roll").shape
    if shifts.__class__ is int and dims.__class__ is int and shape and input._data.size:
        return roll_row(input, (shifts,), (one(dims, len(shape)),))
    shifts = _ints(shifts, "shifts", 1)
    dims = () if dims is None else _ints(dims, "dims", 2)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) == 1 and (not dims or (len(dims) == 1 and not input._data.size)):
        return roll_row(input, shifts[0], None)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not shape:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return roll_row(input, shifts, tuple([one(dim, len(shape)) for dim in dims]))
