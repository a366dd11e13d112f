"""Elements several times over: repeat, tile, repeat_interleave.

Invariant: the gradient of an element is the sum over its copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.dims import check_memory, fits, one, sequence, sizes, whole
from ...core.base_ops import expand
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, wrap
from . import rows
from .views import given, tensor


def _repeat_backward(xp, g, shape, repeats):
    lead = len(repeats) - len(shape)
    split: list = []
    axes = []
    for at, times in enumerate(repeats):
        axes.append(len(split))
        split.append(times)
        if at >= lead:
            split.append(shape[at - lead])
    return xp.asarray(g.reshape(split).sum(tuple(axes), dtype=g.dtype)).reshape(shape)


repeat_row = op(
    "repeat",
    lambda xp, input, repeats: xp.tile(input, repeats),
    widen=False,
    formula=r"\bar x = \textstyle\sum_{\text{copies}} \bar y",
    input=lambda F, g, input_shape, repeats: F.repeat_backward(g, input_shape, repeats),
)
op(
    "repeat_backward",
    _repeat_backward,
    name_in_graph="SumBackward1",
    formula=r"\bar x = \mathrm{repeat}(\bar y)",
    g=lambda F, g, repeats: F.repeat(g, repeats),
)


def repeated(x: Tensor, repeats: tuple) -> Tensor:
    """`x.repeat(repeats)`."""
    shape = tensor(x, "repeat").shape
    if len(repeats) < len(shape):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    padded = (1,) * (len(repeats) - len(shape)) + shape
    if any(n < 0 for n in repeats):
        full = [n * m for n, m in zip(padded, repeats, strict=True)]
        worst = next((n for n in full if n < 0), None)
        if worst is not None:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {worst}: {errors.sizes(tuple(full))}"
            )
        repeats = tuple([max(n, 0) for n in repeats])
    check_memory([n * m for n, m in zip(padded, repeats, strict=True)], x._data.itemsize)
    return repeat_row(x, repeats)


@public(function=False)
def repeat(self: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """The tensor several times along each dim, copied.

    Args:
        self: the tensor.
        *repeats: how often along each dim; more than the tensor has add dims in front.
        **named: `repeats=`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    return repeated(self, sizes(given(repeats, named, "repeat", "repeats"), "repeat", "repeats"))


def _tiled(x: Tensor, dims: tuple) -> Tensor:
    lead = tensor(x, "tile").ndim - len(dims)
    return repeated(x, (1,) * lead + dims)


@public(method=False)
def tile(input: Tensor, dims: tuple[int, ...]) -> Tensor:
    """The tensor several times along its last dims, copied.

    Args:
        input: the tensor.
        dims: how often along each of the last dims.

    Example:
        >>> import vistorch
        >>> vistorch.tile(vistorch.tensor([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    return _tiled(input, sequence(dims, "tile", "dims"))


def _tile(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor several times along its last dims, copied.

    Args:
        self: the tensor.
        *dims: how often along each of the last dims, one by one or as one sequence.
        **named: `dims`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2]).tile(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    return _tiled(self, sizes(given(dims, named, "tile", "dims"), "tile", "dims"))


METHODS["tile"] = _tile


def _take_rows(xp, input, index, dim):
    return xp.take(input, index, dim)


def _put_rows(xp, g, index, dim, shape):
    out = xp.zeros(shape, g.dtype)
    xp.add.at(out, (slice(None),) * dim + (index,), g)
    return out


taken = op(
    "take_rows",
    _take_rows,
    inputs="input",
    widen=False,
    name_in_graph="IndexSelectBackward0",
    formula=r"\bar x_j = \textstyle\sum_{i:\ k_i = j} \bar y_i",
    input=lambda F, g, index, dim, input_shape: F.put_rows(g, index, dim, input_shape),
)
op(
    "put_rows",
    _put_rows,
    name_in_graph="IndexAddBackward0",
    formula=r"\bar x_i = \bar y_{k_i}",
    g=lambda F, g, index, dim: F.take_rows(g, index, dim),
)


def _counts(repeats: Tensor) -> Any:
    """How often each element is repeated, as a checked array."""
    d = repeats._data
    if d.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if d.dtype not in (np.int64, np.int32):
        name = dtypes.of(d.dtype).scalar_name
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if d.size and int(d.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    return d


def _for_numpy(xp: Any, counts: Any) -> Any:
    """Counts as `repeat` wants them: numbers for cupy, for numpy an array of its own size type."""
    return counts.astype(np.intp, copy=False) if xp is np else counts.tolist()


@public()
def repeat_interleave(
    input: Any = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element of a dim several times in a row.

    Args:
        input: the tensor; alone, it says how often each index is repeated.
        repeats: how often: a number, or a tensor of numbers.
        dim: which dim; None takes the elements of the flattened tensor.
        output_size: the sum of the repeats, where it is known.

    Example:
        >>> import vistorch
        >>> vistorch.repeat_interleave(vistorch.tensor([5, 6]), 2)
        tensor([5, 5, 6, 6])
    """
    if input is None:
        input, repeats = repeats, None
    d = tensor(input, "repeat_interleave")
    xp, place = input._place.xp, input._place
    if repeats is None:
        if d.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        index = xp.repeat(xp.arange(d.shape[0]), _for_numpy(xp, d if xp is np else _counts(input)))
        _check_total(int(index.size), output_size)
        return wrap(index.astype(d.dtype), place)
    if isinstance(repeats, Tensor):
        if repeats._place is not place:
            raise RuntimeError(errors.devices(place, repeats._place))
        counts = _counts(repeats)
    else:
        if repeats.__class__ is not int:
            repeats = _whole(repeats)
        repeats = fits(repeats)
        return _evenly(input, repeats, dim, output_size)
    x = rows.reshape(input, (d.size,)) if dim is None else input
    if dim is not None and not d.ndim and dim not in (0, -1):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    at = one(0 if dim is None else dim, x._data.ndim, "repeat_interleave", "dim", 3)
    if not x._data.ndim:
        x = rows.view(x, (1,))
    n = x._data.shape[at]
    if counts.ndim == 0 or counts.shape[0] == 1:
        counts = xp.broadcast_to(counts, (n,))
    if counts.shape[0] != n:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.shape[0]} and "
            f"input.size({at}) = {n}"
        )
    index = xp.repeat(xp.arange(n), _for_numpy(xp, counts))
    _check_total(int(index.size), output_size)
    return taken(x, index, at)


def _whole(repeats: Any) -> int:
    try:
        return whole(repeats)
    except TypeError:
        kind = type(repeats).__name__
        raise TypeError(
            f"repeat_interleave() received an invalid combination of arguments - got ({kind})"
        ) from None


def _check_total(total: int, output_size: int | None) -> None:
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")


def _evenly(x: Tensor, repeats: int, dim: Any, output_size: int | None) -> Tensor:
    """Each element equally often: a new dim, expanded and folded in."""
    if dim is None:
        x = rows.reshape(x, (x._data.size,))
        dim = 0
    shape = x._data.shape
    dim = one(dim, len(shape), "repeat_interleave", "dim", 3)
    if not shape:  # PyTorch unsqueezes first and then finds no dim to fold into
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if output_size is not None and output_size != shape[dim] * repeats:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {shape[dim] * repeats} but got {output_size}"
        )
    check_memory((*shape, repeats), x._data.itemsize)
    wide = expand(rows.unsqueeze(x, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return rows.view(rows.contiguous(wide), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))
