"""One tensor as several views of it: unbind, split, chunk and their kin.

Invariant: `unbind` and the splits are one node with an output per piece, and a piece cannot be written in place while
that would need history; `tensor_split` is one slice, and one node, per piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...dims import one, sizes, whole
from ...events import hear
from ...face import METHODS, public
from ...graph import record, sync, version
from ...modes import mode
from ...rules import define
from ...tensor import Tensor, new
from ...views import View
from . import rows
from .views import tensor


def pieces(rule: Any, x: Tensor, consts: tuple, steps: list) -> tuple[Tensor, ...]:
    """Several views of `x` that are the outputs of one node.

    Args:
        rule: the row of that node.
        x: the tensor.
        consts: the row's constants.
        steps: for each output the single view (rule, constants) that it is.
    """
    origin = x._view
    if origin is not None:
        sync(x)
    place, ver = x._place, version(x)
    kind, d = place.kind, x._data
    meta = "multi" if mode.on else "no_grad" if mode.on is False else "inference"
    made = []
    for step in steps:
        o = new(Tensor)
        o._data, o._place = step[0].kernels[kind](d, *step[1]), place
        o._grad = o._more = o._node = None
        o._rg = False
        o._ver = ver
        if origin is None:
            o._view = View(x, (step,), ver.n, meta)
        else:
            o._view = View(origin.base, (*origin.steps, step), ver.n, meta)
        made.append(o)
    result = tuple(made)
    if mode.on and x._rg and result:
        record(rule, (x,), consts, result)
    if (told := hear.op) is not None:
        told(rule, (x,), consts, result)
    return result


def _filled(F, g, sizes_of):
    """The gradients of all pieces, with zeros for those that have none."""
    like = next(p for p in g if p is not None)
    return [F.zeros_of(like, shape) if p is None else p for p, shape in zip(g, sizes_of, strict=True)]


def _unbind(xp, input, dim):
    return tuple([input[(slice(None),) * dim + (i, ...)] for i in range(input.shape[dim])])


def _unbind_vjp(F, g, dim, input_shape):
    shape = input_shape[:dim] + input_shape[dim + 1 :]
    return F.stack(_filled(F, g, [shape] * len(g)), dim, tuple(range(len(g))))


def _cut(xp, input, dim, lengths):
    at, found = 0, []
    for n in lengths:
        found.append(input[(slice(None),) * dim + (slice(at, at + n),)])
        at += n
    return tuple(found)


def _split_vjp(F, g, dim, lengths, input_shape):
    shapes = [(*input_shape[:dim], n, *input_shape[dim + 1 :]) for n in lengths]
    parts, at = [], 0
    for n in lengths:
        parts.append((at, at + n))
        at += n
    return F.cat(_filled(F, g, shapes), dim, tuple(parts))


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


def parted(rule: Any, x: Tensor, lengths: tuple, dim: int) -> tuple[Tensor, ...]:
    """Pieces of the given lengths along a dim."""
    steps, at = [], 0
    for n in lengths:
        steps.append((rows.slice_.rule, (dim, at, at + n, 1)))
        at += n
    return pieces(rule, x, (dim, lengths), steps)


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
    shape = tensor(input, "unbind").shape
    dim = one(dim, len(shape), "unbind")
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return pieces(unbind_rule, input, (dim,), [(rows.select.rule, (dim, i)) for i in range(shape[dim])])


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
        if not hasattr(split_size_or_sections, "__index__") or isinstance(split_size_or_sections, Tensor):
            return _with_sizes(tensor, split_size_or_sections, dim, 2)
        split_size_or_sections = whole(split_size_or_sections, "split", "split_size", 2)
    return equal_pieces(tensor, split_size_or_sections, dim)


def _split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
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
    if size == 0:
        if n:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
            )
        return parted(split_rule, x, (0,), dim)
    lengths: tuple = (size,) * (n // size) + ((n % size,) if n % size else ())
    return parted(split_rule, x, lengths or (0,), dim)


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
    return equal_pieces(input, size, dim)


def sliced(x: Tensor, ends: list, dim: int) -> tuple[Tensor, ...]:
    """Slices of their own between the given indices (as Python's slices read them)."""
    n = x._data.shape[dim]
    found, at = [], 0
    for end in [*ends, n]:
        start, stop, _ = slice(at, end).indices(n)
        found.append(rows.slice_(x, dim, start, max(start, stop), 1))
        at = end
    return tuple(found)


def _sections(x: Tensor, given: Any, dim: int) -> tuple[Tensor, ...]:
    """`tensor_split` once the dim is known: into a number of pieces, or at indices."""
    n = x._data.shape[dim]
    if not isinstance(given, (tuple, list)):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        size, more = divmod(n, given)
        return sliced(x, [i * size + min(i, more) for i in range(1, given)], dim)
    return sliced(x, list(given), dim)


@public()
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """A number of pieces as equal as can be, or the pieces between indices.

    Args:
        input: the tensor.
        indices_or_sections: how many pieces, or where each but the first begins; also as a tensor on the CPU.
        dim: which dim.
        indices: the same, by its other name.
        sections: the same, by its other name.

    Example:
        >>> import vistorch
        >>> vistorch.arange(5).tensor_split(3)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    shape = tensor(input, "tensor_split").shape
    what = next((w for w in (indices_or_sections, indices, sections) if w is not None), None)
    if not shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = one(dim, len(shape), "tensor_split", "dim", 3)
    if isinstance(what, Tensor):
        what = _listed(what)
    elif isinstance(what, (tuple, list)):
        what = sizes((tuple(what),), "tensor_split", "indices", 2) if what else ()
    elif isinstance(what, bool) or not isinstance(what, (int, np.integer)):
        kind = "NoneType" if what is None else type(what).__name__
        raise TypeError(f"tensor_split() received an invalid combination of arguments - got ({kind})")
    return _sections(input, what, dim)


def _listed(t: Tensor) -> Any:
    """Sections or indices that came as a tensor."""
    from ... import dtypes

    d = t._data
    if t._place.device.type != "cpu":
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {t._place.device}"
        )
    if d.dtype != np.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{dtypes.of(d.dtype).scalar_name}"
        )
    if d.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {d.ndim} dims"
        )
    return d.tolist()


def _numpy_like(name: str, least: int, axis: int, what: str) -> Any:
    def call(
        input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> tuple[Tensor, ...]:
        what = next((w for w in (indices_or_sections, indices, sections) if w is not None), None)
        shape = tensor(input, name).shape
        n = len(shape)
        if n < least:
            raise RuntimeError(
                f"vistorch.{name} requires a tensor with at least {least} dimension, but got a tensor with {n} "
                "dimensions!"
            )
        dim = 0 if n == 1 else axis
        if not isinstance(what, (tuple, list)):
            count = whole(what, name, "sections", 2)
            if count == 0 or shape[dim] % count:
                raise RuntimeError(
                    f"vistorch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                    f"{shape[dim]} is not divisible by the split_size {count}!"
                )
        return tensor_split(input, what, dim)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Pieces along {what}, as `tensor_split`.

    Args:
        input: the tensor.
        indices_or_sections: how many pieces of one length, or where each but the first begins.
        indices: the same, by its other name.
        sections: the same, by its other name.

    Example:
        >>> import vistorch
        >>> len(vistorch.zeros(4, 4, 4).{name}(2))
        2
    """
    return public()(call)


hsplit = _numpy_like("hsplit", 1, 1, "the second dim, or the first of a 1-d tensor")
vsplit = _numpy_like("vsplit", 2, 0, "the first dim")
dsplit = _numpy_like("dsplit", 3, 2, "the third dim")
