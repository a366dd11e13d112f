"""One tensor as several views of it that are one node: unbind, split, chunk.

Invariant: such a node has an output per piece, and a piece cannot be written in place while that would need history.
"""

from __future__ import annotations

from typing import Any

from ...base import errors
from ...base.dims import one, sizes, whole
from ...base.events import listeners
from ...base.modes import mode
from ...core.graph import version
from ...core.record import record
from ...core.registry import METHODS, public
from ...core.rules import define
from ...core.tensor import Tensor, new
from ...core.views import View
from . import rows
from .join import corners, numbers
from .rows import key
from .views import tensor


def pieces(rule: Any, x: Tensor, consts: tuple, steps: list, arrays: list) -> tuple[Tensor, ...]:
    """Several views of `x` that are the outputs of one node.

    Args:
        rule: the row of that node, which saves its constants and the shape of `x`.
        x: the tensor.
        consts: the row's constants.
        steps: for each output the single view (rule, constants) that it is.
        arrays: what these give.
    """
    origin = x._view
    if origin is not None:
        x._view.sync(x)
    place, ver, on = x._place, version(x), mode.on
    seen = ver.n
    meta = "multi" if on else "no_grad" if on is False else "inference"
    base, before = (x, ()) if origin is None or not origin.steps else (origin.base, origin.steps)
    made = []
    for step, d in zip(steps, arrays):  # noqa: B905  hot
        o = new(Tensor)
        o._data, o._place, o._ver = d, place, ver
        o._grad = o._more = None
        o._view = v = new(View)
        v.base, v.steps, v.seen, v.meta = base, (*before, step), seen, meta
        o._node, o._rg = None, False
        made.append(o)
    result = tuple(made)
    if on and x._rg and result:
        if on is True:
            rule.make(result, x, consts)
        else:
            record(rule, (x,), consts, result)
    if (emit := listeners.op) is not None:
        emit(rule, (x,), consts, result)
    return result


def _filled(F, g, shape_of):
    """The gradients of all pieces, with zeros for those that have none."""
    for like in g:
        if like is not None:
            break
    return [F.zeros_of(like, shape_of(i)) if p is None else p for i, p in enumerate(g)]


def _unbind(xp, input, dim):
    return tuple([input[key(dim, i)] for i in range(input.shape[dim])])


def _unbind_vjp(F, g, dim, input_shape):
    for p in g:
        if p is None:
            g = _filled(F, g, lambda i: input_shape[:dim] + input_shape[dim + 1 :])
            break
    return F.stack(g, dim, numbers)


def _cut(xp, input, dim, lengths):
    at, found = 0, []
    for n in lengths:
        found.append(input[key(dim, slice(at, at + n))])
        at += n
    return tuple(found)


def _split_vjp(F, g, dim, lengths, input_shape):
    for p in g:
        if p is None:
            g = _filled(F, g, lambda i: (*input_shape[:dim], lengths[i], *input_shape[dim + 1 :]))
            break
    return F.cat(g, dim, corners)


unbind_rule = define(
    "unbind",
    _unbind,
    outs=None,
    widen=False,
    formula=r"\bar x = \mathrm{stack}(\bar y_1, \bar y_2, \dots)",
    vjps={"input": _unbind_vjp},
)
split_rule, sizes_rule = (
    define(
        name,
        _cut,
        outs=None,
        widen=False,
        formula=r"\bar x = \mathrm{cat}(\bar y_1, \bar y_2, \dots)",
        vjps={"input": _split_vjp},
    )
    for name in ("split", "split_with_sizes")
)
SELECT, SLICE = rows.select.rule, rows.slice_.rule


def parted(rule: Any, x: Tensor, lengths: tuple, dim: int) -> tuple[Tensor, ...]:
    """Pieces of the given lengths along a dim."""
    d = x._data
    steps, arrays, at = [], [], 0
    head = rows.WHOLE * dim
    for n in lengths:
        end = at + n
        steps.append((SLICE, (dim, at, end, 1)))
        arrays.append(d[(*head, slice(at, end))] if dim else d[at:end])
        at = end
    return pieces(rule, x, (dim, lengths), steps, arrays)


@public()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along a dim.

    Args:
        input: the tensor.
        dim: which dim.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
    """
    d = tensor(input, "unbind")
    shape = d.shape
    dim = one(dim, len(shape), "unbind")
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    every = range(shape[dim])
    if dim or len(shape) == 1:
        arrays = [d[key(dim, i)] for i in every]
    else:
        arrays = [d[i] for i in every]
    return pieces(unbind_rule, input, (dim,), [(SELECT, (dim, i)) for i in every], arrays)


@public(method=False)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of one length (the last may be shorter) or of the given lengths.

    Args:
        tensor: the tensor.
        split_size_or_sections: how long a piece is, or the lengths of all.
        dim: which dim.

    Example:
        >>> import vistorch
        >>> vistorch.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if split_size_or_sections.__class__ is not int:
        if isinstance(split_size_or_sections, Tensor) and split_size_or_sections._data.size == 1:
            split_size_or_sections = int(split_size_or_sections)  # as PyTorch's own Python does
        if not hasattr(split_size_or_sections, "__index__") or isinstance(split_size_or_sections, Tensor):
            return _with_sizes(tensor, split_size_or_sections, dim, 2)
        split_size_or_sections = whole(split_size_or_sections, "split", "split_size", 2)
    elif split_size_or_sections > 2**62:
        whole(split_size_or_sections, "split", "split_size", 2)
    return equal_pieces(tensor, split_size_or_sections, dim)


def _split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of one length (the last may be shorter) or of the given lengths.

    Args:
        self: the tensor.
        split_size: how long a piece is, or the lengths of all.
        dim: which dim.

    Example:
        >>> import vistorch
        >>> vistorch.arange(5).split([1, 4])
        (tensor([0]), tensor([1, 2, 3, 4]))
    """
    return split(self, split_size, dim)


METHODS["split"] = _split


def equal_pieces(x: Tensor, size: int, dim: int) -> tuple[Tensor, ...]:
    """`split` into pieces of one size."""
    shape = tensor(x, "split").shape
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    dim = one(dim, len(shape), "split", "dim", 3)
    n = shape[dim]
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return parted(split_rule, x, _lengths(n, size), dim)


def _lengths(n: int, size: int) -> tuple:
    """How long the pieces of a dim are when they are `size` long; one, if empty, at least."""
    if not n:
        return (0,)
    whole_ones, rest = divmod(n, size)
    return (size,) * whole_ones + (rest,) if rest else (size,) * whole_ones


def _with_sizes(x: Tensor, lengths: Any, dim: int, position: int) -> tuple[Tensor, ...]:
    shape = tensor(x, "split_with_sizes").shape
    if not isinstance(lengths, (tuple, list)):
        kind = "NoneType" if lengths is None else type(lengths).__name__
        raise TypeError(
            f"split_with_sizes(): argument 'split_sizes' (position {position}) must be tuple of ints, not {kind}"
        )
    lengths = sizes((tuple(lengths),), "split_with_sizes", "split_sizes", position)
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = one(dim, len(shape), "split_with_sizes", "dim", position + 1)
    if any(n < 0 for n in lengths):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes="
            f"{errors.sizes(lengths)}"
        )
    if sum(lengths) != shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={errors.sizes(lengths)}"
        )
    return parted(sizes_rule, x, lengths, dim)


@public()
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of the given lengths.

    Args:
        input: the tensor.
        split_sizes: the lengths.
        dim: which dim.

    Example:
        >>> import vistorch
        >>> vistorch.split_with_sizes(vistorch.arange(5), [1, 4])
        (tensor([0]), tensor([1, 2, 3, 4]))
    """
    return _with_sizes(input, split_sizes, dim, 1)


@public()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """A number of pieces of one length; the last may be shorter, and there may be fewer.

    Args:
        input: the tensor.
        chunks: how many pieces.
        dim: which dim.

    Example:
        >>> import vistorch
        >>> vistorch.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    shape = tensor(input, "chunk").shape
    if chunks.__class__ is not int or chunks > 2**62:
        chunks = whole(chunks, "chunk", "chunks")
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = one(dim, len(shape), "chunk", "dim", 2)
    n = shape[dim]
    size = -(-n // chunks)
    if size == 0:
        return parted(sizes_rule, input, (0,) * chunks, dim)
    return parted(split_rule, input, _lengths(n, size), dim)
