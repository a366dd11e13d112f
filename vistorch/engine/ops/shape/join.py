"""Several tensors as one: cat, stack and the like, block_diag.

Invariant: tensors of different dtypes are joined in the promoted one, and each gets its gradient in its own.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes, errors
from ...base.casting import casting
from ...base.dims import one
from ...base.layout import axes_last
from ...core import out_argument
from ...core.base_ops import cast
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import result_type
from ...library_name import library
from . import rows
from .expand import each_tensor
from .variadic import Variadic


def _cat(xp, tensors, dim, parts):
    out = xp.concatenate(tensors, dim)
    if out.flags.c_contiguous:
        return out
    # numpy keeps whatever order of dims its inputs share in memory, PyTorch only channels last
    if out.ndim == 4 or out.ndim == 5:
        there = axes_last(out.ndim)[0]
        if all(a.transpose(there).flags.c_contiguous for a in tensors):
            return out
    return xp.ascontiguousarray(out)


def _stack(xp, tensors, dim, parts):
    # numpy.stack takes three times as long
    first = tensors[0]
    n = first.ndim
    if dim == n:
        at = (..., None)
        return _cat(xp, [a[at] for a in tensors], dim, None)
    if dim == 0 and first.flags.c_contiguous:
        return xp.array(tensors)
    shape = first.shape
    return _cat(xp, tensors, dim, None).reshape((*shape[:dim], len(tensors), *shape[dim:]))


cat_row = Variadic(
    "cat",  # parts: where each tensor begins and ends along dim
    _cat,
    lambda F, g, dim, part: F.slice(g, dim, part[0], part[1], 1),
    r"\bar x_i = \bar y_{a_i:b_i}",
)
stack_row = Variadic(
    "stack",  # parts: the index of each tensor along dim
    _stack,
    lambda F, g, dim, part: F.select(g, dim, part),
    r"\bar x_i = \bar y_{i}",
)


def _block_diag(xp, tensors, dim, parts):
    rows_, columns = (0, 0) if not parts else (parts[-1][1], parts[-1][3])
    out = xp.zeros((rows_, columns), tensors[0].dtype)
    for a, (top, bottom, left, right) in zip(tensors, parts, strict=True):
        out[top:bottom, left:right] = a
    return out


block_row = Variadic(
    "block_diag",  # parts: the corner of each block
    _block_diag,
    lambda F, g, dim, part: F.slice(F.slice(g, 0, part[0], part[1], 1), 1, part[2], part[3], 1),
    r"\bar x_i = \bar y_{\text{block } i}",
)


def listed(tensors: Any, func: str, empty: Exception) -> list:
    """A non-empty list of tensors."""
    if not isinstance(tensors, (tuple, list)):
        kind = "NoneType" if tensors is None else type(tensors).__name__
        raise TypeError(f"{func}(): argument 'tensors' (position 1) must be tuple of Tensors, not {kind}")
    if not tensors:
        raise type(empty)(*empty.args)
    each_tensor(tensors)
    return list(tensors)


def alike(tensors: list) -> list:
    """The tensors in their common dtype."""
    first = tensors[0]._data.dtype
    for t in tensors:
        if t._data.dtype != first:
            common = result_type(*tensors)
            return [t if t._data.dtype == common else cast(t, common) for t in tensors]
    return tensors


def finish(o: Tensor, out: Any) -> Tensor:
    """Deliver into `out=`, if there is one."""
    return o if out is None else out_argument.deliver(out, o)


def check_out_dtype(tensors: list, out: Tensor) -> None:
    """Refuse an `out` that cannot hold the common dtype."""
    to = dtypes.of(out._data.dtype)
    if not dtypes.can_cast(dtypes.of(result_type(*tensors)), to):
        raise TypeError(
            f"{library}.cat(): input types can't be cast to the desired output type {to.scalar_name}"
        )


def corners(tensors: Any, dim: int) -> tuple:
    """Where each tensor of a `cat` begins and ends."""
    parts, at = [], 0
    for t in tensors:
        shape = t._data.shape
        end = at if shape == (0,) else at + shape[dim]
        parts.append((at, end))
        at = end
    return tuple(parts)


def numbers(tensors: Any, dim: int) -> tuple:
    """The index of each tensor of a `stack`."""
    return tuple(range(len(tensors)))


def _empty(t: Tensor) -> bool:
    """Whether `t` has the one shape that `cat` leaves out for old times' sake."""
    return t._data.shape == (0,)


@public(method=False, aliases="concat concatenate")
def cat(tensors: Any, dim: Any = None, *, axis: Any = None, out: Any = None) -> Tensor:
    """Tensors one behind the other along a dim that is there.

    Args:
        tensors: tensors whose shapes differ in that dim only.
        dim: which dim; the first if not given.
        axis: numpy's name for it.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.cat([vistorch.tensor([[1, 2]]), vistorch.tensor([[3, 4]])], 1)
        tensor([[1, 2, 3, 4]])
    """
    if casting.on and (recast := casting.ask(cat, locals())):
        return recast[0]
    dim = (0 if axis is None else axis) if dim is None else dim
    if dim.__class__ is int and out is None:
        o = cat_row.of_like(tensors, dim, corners)
        if o is not None:
            return o
    tensors = listed(tensors, "cat", ValueError(f"{library}.cat(): expected a non-empty list of Tensors"))
    for at, t in enumerate(tensors):
        if not t._data.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {at}) cannot be concatenated")
    real = [(at, t) for at, t in enumerate(tensors) if not _empty(t)] or [(0, tensors[0])]
    shape = real[0][1]._data.shape
    dim = one(dim, len(shape), "cat", "dim", 2) if not _empty(real[0][1]) else 0
    for at, t in real[1:]:
        other = t._data.shape
        if len(other) != len(shape):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(shape)} and {len(other)}"
            )
        for i, (n, m) in enumerate(zip(shape, other, strict=True)):
            if n != m and i != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for "
                    f"tensor number {at} in the list."
                )
    if out is not None:
        out_argument.check_out("cat", out, tuple(tensors))
        out_argument.refuse_shared(out, tuple(tensors))
        check_out_dtype(tensors, out)
    same = alike(tensors)
    if len(real) != len(tensors) and len(shape) > 1:
        same = [rows.reshape(t, _flat(shape, dim)) if _empty(t) else t for t in same]
    return finish(cat_row(same, dim, corners), out)


def _flat(shape: tuple, dim: int) -> tuple:
    return (*shape[:dim], 0, *shape[dim + 1 :])


@public(method=False)
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape side by side along a new dim.

    Args:
        tensors: tensors of the same shape.
        dim: where the new dim will be.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.stack([vistorch.tensor([1, 2]), vistorch.tensor([3, 4])])
        tensor([[1, 2],
                [3, 4]])
    """
    if casting.on and (recast := casting.ask(stack, locals())):
        return recast[0]
    if dim.__class__ is int and out is None:
        o = stack_row.of_like(tensors, dim, numbers, True)
        if o is not None:
            return o
    tensors = listed(tensors, "stack", RuntimeError("stack expects a non-empty TensorList"))
    shape = tensors[0]._data.shape
    dim = one(dim, len(shape) + 1, "stack", "dim", 2)
    for at, t in enumerate(tensors):
        if t._data.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {errors.sizes(shape)} at entry 0 and "
                f"{errors.sizes(t._data.shape)} at entry {at}"
            )
    if out is not None:
        out_argument.check_out("stack", out, tuple(tensors))
        out_argument.refuse_shared(out, tuple(tensors))
        check_out_dtype(tensors, out)
    same = alike(tensors)
    return finish(stack_row(same, dim, numbers), out)


def _raised_cat(name: str, raised: Any, least: int, dim: Any, tensors: Any, out: Any) -> Tensor:
    """`cat` of tensors that get `least` dims at least; `dim` may be a function of them."""
    if tensors.__class__ is tuple or tensors.__class__ is list:
        for t in tensors:
            if t.__class__ is not Tensor or t._data.ndim < least:
                break
        else:
            if tensors:
                return cat(tensors, dim(tensors) if callable(dim) else dim, out=out)
    ready = [raised(t) for t in listed(tensors, name, RuntimeError(f"{name} expects a non-empty TensorList"))]
    return cat(ready, dim(ready) if callable(dim) else dim, out=out)


def _side(tensors: Any) -> int:
    return 0 if tensors[0]._data.ndim == 1 else 1


def _one_dim(t: Tensor) -> Tensor:
    return t if t._data.ndim else rows.view(t, (1,))


def _two_dims(t: Tensor) -> Tensor:
    n = t._data.ndim
    return t if n > 1 else rows.unsqueeze(t, 0) if n else rows.reshape(t, (1, 1))


def _three_dims(t: Tensor) -> Tensor:
    n = t._data.ndim
    if n > 2:
        return t
    return rows.unsqueeze(_two_dims(t), 2)


def _column(t: Tensor) -> Tensor:
    return t if t._data.ndim > 1 else rows.reshape(t, (t._data.size, 1))


@public(method=False)
def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors side by side: along the second dim, or the first of 1-d ones.

    Args:
        tensors: the tensors.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.hstack([vistorch.tensor([1, 2]), vistorch.tensor([3])])
        tensor([1, 2, 3])
    """
    return _raised_cat("hstack", _one_dim, 1, _side, tensors, out)


@public(method=False, aliases="row_stack")
def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors one below the other; 1-d ones are rows.

    Args:
        tensors: the tensors.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.vstack([vistorch.tensor([1, 2]), vistorch.tensor([3, 4])])
        tensor([[1, 2],
                [3, 4]])
    """
    return _raised_cat("vstack", _two_dims, 2, 0, tensors, out)


@public(method=False)
def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors behind one another, along the third dim.

    Args:
        tensors: the tensors.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.dstack([vistorch.tensor([1, 2]), vistorch.tensor([3, 4])]).shape
        vistorch.Size([1, 2, 2])
    """
    return _raised_cat("dstack", _three_dims, 3, 2, tensors, out)


@public(method=False)
def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors side by side along the second dim; 1-d ones are columns.

    Args:
        tensors: the tensors.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.column_stack([vistorch.tensor([1, 2]), vistorch.tensor([3, 4])])
        tensor([[1, 3],
                [2, 4]])
    """
    return _raised_cat("column_stack", _column, 2, 1, tensors, out)


@public(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the tensors as blocks on its diagonal and zeros elsewhere.

    Args:
        *tensors: tensors of two dims at most; 1-d ones are rows.

    Example:
        >>> import vistorch
        >>> vistorch.block_diag(vistorch.tensor([[1, 2]]), vistorch.tensor(3))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    each_tensor(tensors)
    if not tensors:
        from ...core.tensor import wrap
        from ...core.type_promotion import default_float
        from ...memory.placement import place_of

        place = place_of(None)
        return wrap(place.xp.zeros((1, 0), default_float()), place)
    for at, t in enumerate(tensors):
        if t._data.ndim > 2:
            raise RuntimeError(
                f"{library}.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has "
                f"{t._data.ndim} dimensions"
            )
    parts, top, left = [], 0, 0
    for t in tensors:
        shape = (1,) * (2 - t._data.ndim) + t._data.shape
        parts.append((top, top + shape[0], left, left + shape[1]))
        top, left = top + shape[0], left + shape[1]
    return block_row(alike(list(tensors)), 0, tuple(parts))
