"""Vandermonde matrices, and linear systems whose unknown is a tensor: tensorinv, tensorsolve.

Invariant: made of other public ops, so gradients need no rows.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...base.dims import flag
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from . import checks
from .out_types import castable, into
from .solve import inv, solve


def _powers(x: Any, count: int) -> Tensor:
    """1, x, x^2, ... in a new last dim."""
    ones = FUNCTIONS["ones"]((*x._data.shape, 1), dtype=x.dtype, device=x.device)
    if count == 1:
        return ones
    many = METHODS["expand"](METHODS["unsqueeze"](x, -1), (*x._data.shape, count - 1))
    return FUNCTIONS["cat"]((ones, METHODS["cumprod"](many, -1, dtype=x.dtype)), -1)


@public("vander", method=False)
def vander(x, N=None, increasing=False):
    """The powers of numbers, one row each.

    Args:
        x: a vector.
        N: how many powers; as many as numbers if None.
        increasing: begin with the power 0, not end with it.

    Example:
        >>> import vistorch
        >>> vistorch.vander(vistorch.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """
    checks.tensors("vander", x=x)
    increasing = flag(increasing, "vander", "increasing")
    n = x._data.shape[0] if N is None and x._data.ndim else N
    if x._data.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = dims.whole(n, "vander", "N", 2)
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    if x._data.dtype.kind in "biu":
        x = METHODS["to"](x, FUNCTIONS["tensor"](0).dtype)
    if n == 0:
        return FUNCTIONS["empty"]((x._data.shape[0], 0), dtype=x.dtype, device=x.device)
    out = _powers(x, n)
    return out if increasing else METHODS["flip"](out, (1,))


def linalg_vander(x, *, N=None):
    """The powers 1, x, x^2, ... of numbers, in a new last dim.

    Args:
        x: a tensor.
        N: how many powers; as many as there are numbers in the last dim if None.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.vander(vistorch.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])
    """
    checks.tensors("linalg_vander", x=x)
    if x._data.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    if x._data.dtype in checks.HALVES:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {checks.scalar(x)}"
        )
    if not x._data.ndim:
        x = METHODS["unsqueeze"](x, 0)
    if x._data.dtype.kind in "iu":
        x = METHODS["to"](x, FUNCTIONS["tensor"](0).dtype)
    if N is None:
        n = x._data.shape[-1]
    else:
        n = dims.whole(N, "linalg_vander", "N", 2)
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _powers(x, n)


def tensorinv(input, ind=2, *, out=None):
    """The inverse of a tensor seen as a matrix whose columns are its last dims.

    Args:
        input: a tensor.
        ind: how many of its dims count rows.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.tensorinv(vistorch.eye(4).reshape(2, 2, 2, 2)).shape
        vistorch.Size([2, 2, 2, 2])
    """
    if casting.on and (recast := casting.ask(tensorinv, locals())):
        return recast[0]
    checks.tensors("linalg_tensorinv", input=input)
    ind = dims.whole(ind, "linalg_tensorinv", "ind", 2)
    if out is not None:
        return into(out, castable("tensorinv"), (input,), lambda: tensorinv(input, ind))
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = input._data.shape
    if ind > len(shape):
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {len(shape)}")
    rows, columns = prod(shape[:ind]), prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    return METHODS["reshape"](inv(METHODS["reshape"](input, (rows, columns))), (*shape[ind:], *shape[:ind]))


def tensorsolve(input, other, dims=None, *, out=None):
    """The X for which tensordot(input, X, X.ndim) = other.

    Args:
        input: a tensor.
        other: the right side.
        dims: dims of input to move behind the others first.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.tensorsolve(vistorch.eye(4).reshape(2, 2, 2, 2), vistorch.ones(2, 2))
        tensor([[1., 1.],
                [1., 1.]])
    """
    if casting.on and (recast := casting.ask(tensorsolve, locals())):
        return recast[0]
    checks.tensors("linalg_tensorsolve", input=input, other=other)
    if out is not None:
        return into(out, castable("tensorsolve"), (input, other), lambda: tensorsolve(input, other, dims))
    if input._place is not other._place:
        errors.check_devices(input._place, other._place, "linalg.solve")
    moved = input
    if dims is not None:
        count = input._data.ndim
        moved = METHODS["movedim"](input, tuple(dims), tuple(range(count - len(dims), count)))
    rows = other._data.ndim
    shape = moved._data.shape[rows:]
    columns, total = prod(shape), other._data.size
    if columns != total:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {columns} != {total}"
        )
    x = solve(METHODS["reshape"](moved, (columns, columns)), METHODS["flatten"](other))
    return METHODS["reshape"](x, shape)
