"""Broadcasting without copying: expand and the like, and the shapes that shapes broadcast to.

Invariant: an expanded dim has stride 0, so nobody may write through it.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, dtypes, errors, type_names
from ...base.size import Size, size_of
from ...core import base_ops
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ...kernels.strides import expand as expand_array
from .views import given, one_by_one, tensor

expand_of = base_ops.expand.of


def expanded(x: Tensor, size: tuple) -> Tensor:
    """`x.expand(size)`, where -1 leaves a dim as it is."""
    d = x._data
    old = d.shape
    lead = len(size) - len(old)
    full = size
    if lead == 0 and -1 in size:
        full = tuple([old[i] if n == -1 else n for i, n in enumerate(size)])
    if lead >= 0:
        try:
            return expand_of(x, expand_array(x._place.xp, d, full), (full,))
        except ValueError:
            pass  # the sentence is found below
    if lead < 0:
        kind = dtypes.of(d.dtype)
        name = type_names.type_name(kind, x._place.device.type)
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
        elif n < 0 and old[at - lead] == 1:
            raise RuntimeError("numel: integer multiplication overflow")
        elif n != old[at - lead] and old[at - lead] != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old[at - lead]}) at "
                f"non-singleton dimension {at}.  Target sizes: {errors.sizes(size)}.  Tensor sizes: {errors.sizes(old)}"
            )
    dims.check_memory(full, d.itemsize)
    return base_ops.expand(x, tuple(full))


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
    elif size[0].__class__ is tuple and len(size) == 1:
        size = size[0]
    for n in size:
        if n.__class__ is not int or n > dims.LARGEST:
            size = dims.sizes(size, "expand")
            break
    return expanded(self, size)


@public(function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.expand(other.size())`.

    Args:
        self: the tensor.
        other: the tensor whose shape to take.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2]).expand_as(vistorch.zeros(2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return expanded(self, tensor(other, "expand_as", "other").shape)


@public(method=False)
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
    tensor(input, "broadcast_to")
    return expanded(input, dims.sequence(size, "broadcast_to"))


METHODS["broadcast_to"] = one_by_one(broadcast_to)


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
    return tuple([t if t._data.shape == shape else base_ops.expand(t, shape) for t in tensors])


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
    for s in shapes:
        if not isinstance(s, (int, tuple, list)):
            raise RuntimeError(
                f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {s}"
            )
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
                shown = tuple(shape) if isinstance(shapes[at], int) else shapes[at]
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
                    f"{at} had {shown!r}; but expected shape should be broadcastable to {result}"
                )
            result[i] = shape[i]
    return size_of(result)


@public(function=False)
def sum_to_size(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """Sum the tensor down to sizes that broadcast to its own.

    Args:
        self: the tensor.
        *size: the sizes.
        **named: `size=`.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
    """
    if not size and not named:
        raise TypeError('sum_to_size() missing 1 required positional arguments: "size"')
    shape = self._data.shape
    wanted = dims.sizes(given(size, named, "sum_to_size", "size"), "sum_to_size")
    lead = len(shape) - len(wanted)
    if lead < 0 or any(n not in (1, m) for n, m in zip(wanted, shape[lead:], strict=True)):
        raise RuntimeError(
            f"size {{{errors.sizes(wanted)}}} is not expandable to size {{{errors.sizes(shape)}}}."
        )
    if not wanted:
        return METHODS["sum"](self)  # of integers and bools, in int64
    axes = [*range(lead), *(lead + i for i, n in enumerate(wanted) if n == 1 and shape[lead + i] != 1)]
    if not axes:
        return self if wanted == shape else METHODS["view"](self, wanted)
    out = METHODS["sum"](self, axes, True)
    return METHODS["view"](out, wanted) if lead else out
