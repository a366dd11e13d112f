"""Adaptive pooling: the number of windows is given, and their sizes follow.

Invariant: an average over everything is `mean`, as PyTorch's graph shows it.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, errors
from ...core.image_order import by_rows, laid_as
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ..shape import rows
from . import sizes
from .avg_pool_rows import ADAPTIVE_AVG
from .max_pool_rows import ADAPTIVE_MAX


def with_default(output_size: Any, shape: tuple) -> Any:
    """Output sizes with each None replaced by the size of its dim."""
    if isinstance(output_size, int):
        return output_size
    try:
        count = len(output_size)
    except TypeError:
        raise TypeError(f"object of type '{type(output_size).__name__}' has no len()") from None
    if len(shape) <= count:
        raise ValueError(f"Input dimension should be at least {count + 1}")
    known = shape[len(shape) - count :]
    return [n if v is None else v for v, n in zip(output_size, known, strict=True)]


def _allocated(shape: tuple, made: tuple, itemsize: int) -> None:
    full = (*shape, *made)
    worst = next((n for n in made if n < 0), None)
    if worst is not None:
        raise RuntimeError(f"Trying to create tensor with negative dimension {worst}: {errors.sizes(full)}")
    dims.check_memory(full, itemsize)


def _empty(name: str, shape: tuple, start: int) -> None:
    for at in range(start, len(shape)):
        if shape[at] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{errors.sizes(shape)} with dimension {at} being empty"
            )


def adaptive_avg(d: int, input: Any, output_size: Any) -> Tensor:
    """Average the last two or three dims into so many windows."""
    name = f"adaptive_avg_pool{d}d"
    a = sizes.tensor(input, name)
    made = sizes.several(with_default(output_size, a.shape), d, name, "output_size", 2)
    return averaged(d, input, made)


def averaged(d: int, x: Tensor, made: tuple) -> Tensor:
    """As `adaptive_avg`, of checked output sizes."""
    name, shape, dtype = f"adaptive_avg_pool{d}d", x._data.shape, x._data.dtype
    if len(made) != d:
        raise RuntimeError(f"{name}: output_size must be {d}")
    if min(made) < 0:
        listed = f"{made[0]}, " + ",".join(map(str, made[1:]))
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{listed}}}"
        )
    if max(made) == min(made) == 1:
        return FUNCTIONS["mean"](x, tuple(range(-1, -d - 1, -1)), True)
    ndim = len(shape)
    if ndim not in (d + 1, d + 2):
        raise RuntimeError(f"{name}(): Expected {d + 1}D or {d + 2}D tensor, but got {errors.sizes(shape)}")
    _empty(name, shape, ndim - d)
    _allocated(shape[: ndim - d], made, x._data.itemsize)
    if dtype.kind in "biuc" and (d == 3 or 0 not in (*shape, *made)):
        raise sizes.missing(name if d == 2 else name + "_cpu", dtype)
    pooled = ADAPTIVE_AVG[d](x, made)
    return laid_as(x, pooled) if d == 2 else by_rows(pooled)


def adaptive_max(d: int, input: Any, output_size: Any, indices: bool) -> Any:
    """The largest elements of so many windows of the last two or three dims."""
    name = f"adaptive_max_pool{d}d"
    a = sizes.tensor(input, name)
    made = sizes.several(with_default(output_size, a.shape), d, name, "output_size", 2)
    return _chosen(d, input, made, indices)


def _chosen(d: int, x: Tensor, made: tuple, indices: bool) -> Any:
    name, shape, dtype = f"adaptive_max_pool{d}d", x._data.shape, x._data.dtype
    ndim = len(shape)
    if ndim not in (d + 1, d + 2):
        raise RuntimeError(f"{name}(): Expected {d + 1}D or {d + 2}D tensor, but got: {errors.sizes(shape)}")
    _empty(name, shape, 1)
    if len(made) != d:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {d}")
    _allocated(shape[: ndim - d], made, 8)
    if dtype.kind in "biuc":
        raise sizes.missing(name if d == 2 else name + "_cpu", dtype)
    pooled = ADAPTIVE_MAX[d][indices](x, made)
    return laid_as(x, pooled) if d == 2 else by_rows(pooled)


def _one(input: Any, output_size: Any, name: str) -> tuple:
    a = sizes.tensor(input, name)
    made = sizes.several(output_size, 1, name, "output_size", 2)
    sizes.two_or_three(name, a.ndim)
    return sizes.one_int(made, name, "output_size")


@public(method=False)
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of so many windows of the last dim.

    Args:
        input: a tensor (channels, length) or (batch, channels, length).
        output_size: how many windows.

    Example:
        >>> import vistorch
        >>> vistorch.adaptive_avg_pool1d(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        tensor([[2., 3.]])
    """
    made = _one(input, output_size, "adaptive_avg_pool1d")
    dim = input._data.ndim - 1
    return rows.squeeze_dim(averaged(2, rows.unsqueeze(input, dim), (1, *made)), (dim,))


@public(method=False)
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """The largest elements of so many windows of the last dim, and where they are.

    Args:
        input: a tensor (channels, length) or (batch, channels, length).
        output_size: how many windows.

    Example:
        >>> import vistorch
        >>> vistorch.adaptive_max_pool1d(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    made = _one(input, output_size, "adaptive_max_pool1d")
    shape = input._data.shape
    _empty("adaptive_max_pool1d", shape, 1)
    dim = len(shape) - 1
    out, index = _chosen(2, rows.unsqueeze(input, dim), (1, *made), True)
    return rows.squeeze_dim(out, (dim,)), rows.squeeze_dim(index, (dim,))
