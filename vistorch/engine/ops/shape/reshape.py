"""Other shapes for the same elements: view, reshape, flatten, and broadcasting without copying.

Invariant: a result is memory of its input wherever the strides allow it; only `reshape` and its kin may copy.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ... import dims, dtypes, errors
from ...face import METHODS, public
from ...graph import version
from ...kernels.strides import start, strides_of
from ...metadata import owner
from ...size import Size, size_of
from ...tensor import Tensor, wrap
from .. import core
from . import rows
from .views import given, tensor

INCOMPATIBLE = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    "contiguous subspaces). Use .reshape(...) instead."
)


def viewed(x: Tensor, shape: tuple) -> Tensor:
    """`x.view(shape)`, where -1 may stand for one size."""
    d = x._data
    if -1 in shape or prod(shape) != d.size or min(shape, default=0) < 0:
        shape = dims.inferred(shape, d.size)
    if d.flags.c_contiguous or not d.size or x._place.xp.may_share_memory(d.reshape(shape), d):
        return rows.view(x, shape)
    raise RuntimeError(INCOMPATIBLE)


def _plainly(d: Any, size: tuple) -> tuple | None:
    """The shape where numpy finds it at once: a contiguous array and sizes that fit; None for all else."""
    if size[0].__class__ is tuple:
        size = size[0]
    elif size[0].__class__ is not int:
        return None
    if d.flags.c_contiguous:
        try:
            shape = d.reshape(size).shape
        except (ValueError, TypeError):
            return None
        if shape == size or -1 in size:  # numpy takes any negative size for a -1
            return shape
    return None


@public(function=False)
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
    if size and not named:
        shape = _plainly(self._data, size)
        if shape is not None:
            return rows.view(self, shape)
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
            f"view(): argument 'dtype' (position 1) must be vistorch.dtype, not {type(dtype).__name__}"
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
    return viewed(self, tensor(other, "view_as", "other").shape)


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
    return reshaped(input, dims.sequence(shape, "reshape", "shape"))


def _reshape(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    if shape and not named:
        full = _plainly(self._data, shape)
        if full is not None:
            return rows.view(self, full)
    return reshaped(self, dims.sizes(given(shape, named, "reshape", "shape"), "reshape", "shape"))


METHODS["reshape"] = _reshape


@public(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.reshape(other.shape)`.

    Args:
        self: the tensor.
        other: the tensor whose shape to take.
    """
    return reshaped(self, tensor(other, "reshape_as", "other").shape)


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
    shape = tensor(input, "flatten").shape
    n = len(shape)
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
    dim = dims.one(dim, len(shape), "unflatten")
    sizes = dims.sequence(sizes, "unflatten", "sizes", 3)
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
    return rows.view(input if d.flags.c_contiguous else rows.contiguous(input), (d.size,))


# ---- broadcasting -------------------------------------------------------------------------------------------------
def expanded(x: Tensor, size: tuple) -> Tensor:
    """`x.expand(size)`, where -1 leaves a dim as it is."""
    d = tensor(x, "expand")
    old = d.shape
    if size == old:
        return core.expand(x, size)
    lead = len(size) - len(old)
    if lead >= 0 and min(size) >= 0:
        try:
            return core.expand(x, size)
        except ValueError:
            pass  # the sentence is found below
    if lead < 0:
        kind = dtypes.of(d.dtype)
        name = dtypes.type_name(kind, x._place.device.type)
        if kind.is_complex or kind in (dtypes.bfloat16, dtypes.bool):  # types that have no class of their own
            name = f"{x._place.device.type.upper()}{kind.scalar_name}Type"
        raise RuntimeError(
            f"expand({name}{{{errors.sizes(old)}}}, size={errors.sizes(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(old)})"
        )
    full = list(size)
    for at in range(len(size) - 1, -1, -1):
        n = size[at]
        if at < lead:
            if n == -1 and old:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {at}"
                )
            if n < 0:
                raise RuntimeError("numel: integer multiplication overflow")
        elif n == -1:
            full[at] = old[at - lead]
        elif n != old[at - lead] and (old[at - lead] != 1 or n < 0):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old[at - lead]}) at "
                f"non-singleton dimension {at}.  Target sizes: {errors.sizes(size)}.  Tensor sizes: {errors.sizes(old)}"
            )
    return core.expand(x, tuple(full))


@public(function=False)
def expand(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """The tensor with dims of length one repeated, without copying.

    Args:
        self: the tensor.
        *size: the new sizes; -1 leaves a dim as it is. New dims come in front.
        **named: `size=`, and `implicit`, which is accepted.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1], [2]]).expand(-1, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    if named or not size:
        named.pop("implicit", None)
        size = given(size, named, "expand", "size")
    return expanded(self, dims.sizes(size, "expand"))


@public(function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.expand(other.size())`.

    Args:
        self: the tensor.
        other: the tensor whose shape to take.
    """
    return expanded(self, tensor(other, "expand_as", "other").shape)


@public()
def broadcast_to(input: Tensor, size: tuple[int, ...]) -> Tensor:
    """`input.expand(size)`.

    Args:
        input: the tensor.
        size: the sizes to broadcast to.

    Example:
        >>> import vistorch
        >>> vistorch.broadcast_to(vistorch.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return expanded(input, dims.sequence(size, "broadcast_to"))


def each_tensor(tensors: Any) -> None:
    """Refuse a sequence with something else in it."""
    for at, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {type(t).__name__}")


@public(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Tensors expanded to their common shape.

    Args:
        *tensors: tensors whose shapes broadcast.

    Example:
        >>> import vistorch
        >>> a, b = vistorch.broadcast_tensors(vistorch.zeros(2, 1), vistorch.zeros(3))
        >>> a.shape, b.shape
        (vistorch.Size([2, 3]), vistorch.Size([2, 3]))
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    each_tensor(tensors)
    shape: tuple = ()
    for t in tensors:
        said = errors.broadcast(shape, t._data.shape)
        if said is not None:
            raise RuntimeError(said)
        shape = _common(shape, t._data.shape)
    return tuple([t if t._data.shape == shape else core.expand(t, shape) for t in tensors])


def _common(a: tuple, b: tuple) -> tuple:
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    return tuple([q if p == 1 else p for p, q in zip(a, b, strict=True)])


@public(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes broadcast to.

    Args:
        *shapes: tuples of ints, or ints.

    Example:
        >>> import vistorch
        >>> vistorch.broadcast_shapes((2, 1), (3,))
        vistorch.Size([2, 3])
    """
    given_shapes = [Size((s,) if isinstance(s, int) else s) for s in shapes]
    ndim = max(map(len, given_shapes), default=0)
    result = [1] * ndim
    for at, shape in enumerate(given_shapes):
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if shape[i] == 1 or shape[i] == result[i]:
                continue
            if result[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
                    f"{at} had {tuple(shape)!r}; but expected shape should be broadcastable to {result}"
                )
            result[i] = shape[i]
    return size_of(result)
