"""Other shapes for the same elements: view, reshape, flatten and the like.

Invariant: a result is memory of its input wherever the strides allow it; only `reshape` and the like may copy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

from ...base import dims, dtypes, errors
from ...core.graph import version
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, wrap
from ...kernels.strides import same_memory, start, strides_of
from ...library_name import library
from ...memory.array_memory import owner
from . import rows
from .views import given, tensor

view_of = rows.view.of
INCOMPATIBLE = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    "contiguous subspaces). Use .reshape(...) instead."
)


def viewed(x: Tensor, shape: tuple) -> Tensor:
    """`x.view(shape)`, where -1 may stand for one size."""
    d = x._data
    if -1 in shape or prod(shape) != d.size or min(shape, default=0) < 0:
        shape = dims.inferred(shape, d.size)
    made = d.reshape(shape)
    if d.flags.c_contiguous or same_memory(x._place.xp, made, d):
        return view_of(x, made, (shape,))
    raise RuntimeError(INCOMPATIBLE)


def _plainly(general: Callable) -> Callable:
    """`view` or `reshape`: what numpy finds at once, a contiguous array and sizes that fit; `general` for all else."""

    @functools.wraps(general)
    def call(self: Tensor, *size: Any, **named: Any) -> Tensor:
        try:
            d = self._data
        except AttributeError:
            raise errors.must_be_tensor("reshape", "input", 1, self) from None
        if size and not named and d.flags.c_contiguous:
            shape = size
            if size[0].__class__ is not int and len(size) == 1 and isinstance(size[0], tuple):
                shape = size[0]
            try:
                made = d.reshape(shape)
            except (ValueError, TypeError):
                made = None
            if made is None:  # out of the handler: an error that follows has no other error for its context
                return general(self, *size)
            if made.shape == shape or -1 in shape:  # numpy takes any negative size for a -1
                return view_of(self, made, (made.shape,))
        return general(self, *size, **named)

    return call


@public(function=False)
@_plainly
def view(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """The same memory with another shape, or read as another dtype.

    Args:
        self: the tensor.
        *size: the new sizes, one of which may be -1; or a dtype.
        **named: `size=` or `dtype=`.

    Example:
        >>> import vistorch
        >>> vistorch.arange(6).view(2, -1)
        tensor([[0, 1, 2],
                [3, 4, 5]])
    """
    if named or not size:
        if set(named) == {"dtype"} and not size:
            return retyped(self, named["dtype"])
        size = given(size, named, "view", "size")
    first = size[0]
    if first.__class__ is dtypes.dtype and len(size) == 1:
        return retyped(self, first)
    return viewed(self, dims.sizes(size, "view"))


def retyped(x: Tensor, dtype: Any) -> Tensor:
    """The bytes of `x` read as another dtype; not differentiable."""
    if dtype.__class__ is not dtypes.dtype:
        raise TypeError(
            f"view(): argument 'dtype' (position 1) must be {library}.dtype, not {type(dtype).__name__}"
        )
    d, target = x._data, dtype.np
    old, new = d.itemsize, target.itemsize
    if old != new:
        _check_sizes(d, dtypes.of(d.dtype), dtype)
    if old == new or d.flags.c_contiguous:
        made = d.view(target)
    else:  # numpy asks for more than a last dim without gaps
        xp, s = x._place.xp, list(d.strides)
        s[-1] = new
        shape = (*d.shape[:-1], d.shape[-1] * old // new)
        made = xp.lib.stride_tricks.as_strided(d[..., :0].view(target), shape, s)
    o = wrap(made, x._place)
    o._ver = version(x)
    return o


def _check_sizes(d: Any, was: Any, to: Any) -> None:
    """What must hold to read elements of one size as elements of another."""
    why = f"to view {was.scalar_name} as {to.scalar_name} (different element sizes)"
    if d.ndim == 0:
        raise RuntimeError(f"self.dim() cannot be 0 {why}")
    if d.size and strides_of(d)[-1] != 1 and d.shape[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {why}, but got {strides_of(d)[-1]}")
    if to.itemsize > was.itemsize:
        times = to.itemsize // was.itemsize
        if d.shape[-1] % times:
            raise RuntimeError(f"self.size(-1) must be divisible by {times} {why}, but got {d.shape[-1]}")
        offset = (start(d) - start(owner(d))) // was.itemsize if d.size else 0
        if offset % times:
            raise RuntimeError(f"self.storage_offset() must be divisible by {times} {why}, but got {offset}")
        for dim, s in enumerate(strides_of(d)[:-1]):
            if s % times and d.shape[dim] > 1:
                raise RuntimeError(f"self.stride({dim}) must be divisible by {times} {why}, but got {s}")


@public(function=False)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.view(other.size())`.

    Args:
        self: the tensor.
        other: the tensor whose shape to take.

    Example:
        >>> import vistorch
        >>> vistorch.arange(6).view_as(vistorch.zeros(3, 2)).shape
        vistorch.Size([3, 2])
    """
    return view(self, tensor(other, "view_as", "other").shape)


def reshaped(x: Tensor, shape: tuple) -> Tensor:
    """`x.reshape(shape)`, where -1 may stand for one size."""
    n = tensor(x, "reshape").size
    if -1 in shape or prod(shape) != n or min(shape, default=0) < 0:
        shape = dims.inferred(shape, n)
    return rows.reshape(x, shape)


@public(method=False)
def reshape(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The elements in another shape: a view where the strides allow it, a copy otherwise.

    Args:
        input: the tensor.
        shape: the new sizes, one of which may be -1.

    Example:
        >>> import vistorch
        >>> vistorch.reshape(vistorch.arange(4), (2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    return _reshape(input, dims.sequence(shape, "reshape", "shape"))


@_plainly
def _reshape(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The elements in another shape: a view where the strides allow it, a copy otherwise.

    Args:
        self: the tensor.
        *shape: the new sizes, one by one or as one sequence; one of them may be -1.
        **named: `shape`, where it is not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.arange(6).reshape(2, -1)
        tensor([[0, 1, 2],
                [3, 4, 5]])
    """
    return reshaped(self, dims.sizes(given(shape, named, "reshape", "shape"), "reshape", "shape"))


METHODS["reshape"] = _reshape


@public(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.reshape(other.shape)`.

    Args:
        self: the tensor.
        other: the tensor whose shape to take.

    Example:
        >>> import vistorch
        >>> vistorch.arange(4).reshape_as(vistorch.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    return _reshape(self, tensor(other, "reshape_as", "other").shape)


@public()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Some neighbouring dims as one.

    Args:
        input: the tensor.
        start_dim: the first of them.
        end_dim: the last of them.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3, 4).flatten(1).shape
        vistorch.Size([2, 12])
    """
    d = tensor(input, "flatten")
    shape = d.shape
    n = len(shape)
    if n > 1 and start_dim.__class__ is int and start_dim == 0 and end_dim == -1 and d.flags.c_contiguous:
        return view_of(input, d.reshape(-1), ((d.size,),))
    first = dims.one(start_dim, n, "flatten", "start_dim")
    last = dims.one(end_dim, n, "flatten", "end_dim", 2)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if n == 0:
        return rows.view(input, (1,))
    if first == last:
        return input
    return rows.reshape(input, (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))


@public()
def unflatten(input: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    """One dim as several.

    Args:
        input: the tensor.
        dim: which dim.
        sizes: the sizes it becomes, one of which may be -1.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(6, 2).unflatten(0, (2, -1)).shape
        vistorch.Size([2, 3, 2])
    """
    shape = tensor(input, "unflatten").shape
    sizes = dims.sequence(sizes, "unflatten", "sizes", 3)
    dim = dims.one(dim, len(shape), "unflatten")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        raise RuntimeError("unflatten got an unexpected error:\nthe tensor has no dims")
    n = shape[dim]
    try:
        full = dims.inferred(sizes, n)
    except RuntimeError as exc:
        if str(exc).startswith("shape"):
            raise RuntimeError(
                f"unflatten: Provided sizes {errors.sizes(sizes)} don't multiply up to the size of dim {dim} ({n}) in "
                "the input tensor"
            ) from None
        raise RuntimeError(f"unflatten got an unexpected error:\n{exc}") from None
    return viewed(input, (*shape[:dim], *full, *shape[dim + 1 :]))


@public()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dim, in row-major order.

    Args:
        input: the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).ravel()
        tensor([1, 2, 3, 4])
    """
    d = tensor(input, "ravel")
    if d.flags.c_contiguous:
        return view_of(input, d.reshape(-1), ((d.size,),))
    return rows.view(rows.contiguous(input), (d.size,))
