"""Matrices from diagonals and triangles, and tensors with one part replaced.

Invariant: nothing here is a view; `diagonal`, the view, is in strided.py.
"""

from __future__ import annotations

import functools
from typing import Any

from ...base import dims, dtypes, errors
from ...base.dims import no_int, one, whole
from ...base.events import listeners
from ...base.modes import mode
from ...core import inplace, out_argument, views
from ...core.base_ops import cast
from ...core.graph import version
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from . import rows
from .strided import diagonal_of
from .views import selected, tensor


def _triangle(xp, input, diagonal, upper):
    n, m = input.shape[-2:]
    drop = (_small_mask if n * m <= 4096 else _mask)(xp, n, m, diagonal, upper)
    if input.ndim > 2:
        return xp.ascontiguousarray(xp.where(drop, xp.zeros((), input.dtype), input))
    out = input.copy()
    xp.putmask(out, drop, 0)
    return out


def _mask(xp, n, m, diagonal, upper):
    """Where a triangle has its zeros."""
    below = xp.tri(n, m, diagonal - 1 if upper else diagonal, dtype=bool)
    return below if upper else ~below


_small_mask = functools.lru_cache(64)(_mask)


tril_row = op(
    "tril",
    lambda xp, input, diagonal: _triangle(xp, input, diagonal, False),
    widen=False,
    formula=r"\bar x = \mathrm{tril}(\bar y)",
    input=lambda F, g, diagonal: F.tril(g, diagonal),
)
triu_row = op(
    "triu",
    lambda xp, input, diagonal: _triangle(xp, input, diagonal, True),
    widen=False,
    formula=r"\bar x = \mathrm{triu}(\bar y)",
    input=lambda F, g, diagonal: F.triu(g, diagonal),
)


def _triangular(row: Any, name: str, input: Tensor, diagonal: Any, out: Any) -> Tensor:
    if tensor(input, name).ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    diagonal = whole(diagonal, name, "diagonal")
    if out is None:
        return row(input, diagonal)
    out_argument.check_out(name, out, (input,))
    _check_dtype(input, out)
    return out_argument.deliver(out, row(input, diagonal))


_IN_C = {
    "Float": "float",
    "Double": "double",
    "Half": "c10::Half",
    "BFloat16": "c10::BFloat16",
    "Bool": "bool",
}
_IN_C |= {"Byte": "unsigned char", "Char": "signed char", "Short": "short", "Int": "int", "Long": "long int"}
_IN_C |= {"ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>"}


def _check_dtype(input: Tensor, out: Tensor) -> None:
    """These two take an `out` of their own dtype only, and name dtypes as C++ does."""
    a, b = [_IN_C[dtypes.of(t._data.dtype).scalar_name] for t in (input, out)]
    if a != b:
        raise RuntimeError(f"Expected out tensor to have dtype {a}, but got {b} instead")


def _in_place(fn: Any, upper: bool) -> Any:
    name = fn.__name__ + "_"
    general = inplace.general(fn, name)

    def call(self: Tensor, diagonal: int = 0) -> Tensor:
        d = tensor(self, name, "self")
        if d.ndim < 2 or not views.aliased(d) or (mode.on and self.requires_grad):
            return general(self, diagonal)
        # PyTorch zeroes element by element even where several are one
        views.before_write(self, False)
        k = whole(diagonal, name, "diagonal")
        keep = self._place.xp.tri(*d.shape[-2:], k - 1 if upper else k, dtype=bool)
        d[..., keep if upper else ~keep] = 0
        version(self).n += 1
        if (emit := listeners.write) is not None:
            emit(self, None)
        return self

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{fn.__name__}`, of the tensor itself."
    return call


@public()
def tril(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of a matrix or of each in a batch, with zeros above.

    Args:
        input: a tensor of at least two dims.
        diagonal: the highest diagonal that stays; 0 is the main one.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tril(vistorch.tensor([[1, 2], [3, 4]]))
        tensor([[1, 0],
                [3, 4]])
    """
    return _triangular(tril_row, "tril", input, diagonal, out)


@public()
def triu(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of a matrix or of each in a batch, with zeros below.

    Args:
        input: a tensor of at least two dims.
        diagonal: the lowest diagonal that stays; 0 is the main one.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.triu(vistorch.tensor([[1, 2], [3, 4]]))
        tensor([[1, 2],
                [0, 4]])
    """
    return _triangular(triu_row, "triu", input, diagonal, out)


METHODS["tril_"] = _in_place(tril, False)
METHODS["triu_"] = _in_place(triu, True)


def _diag_embed(xp, input, offset, dim1, dim2):
    n = input.shape[-1] + abs(offset)
    dims.check_memory((*input.shape[:-1], n, n), input.itemsize)
    rest = list(input.shape[:-1])
    shape = []
    for at in range(input.ndim + 1):
        shape.append(n if at in (dim1, dim2) else rest.pop(0))
    out = xp.zeros(tuple(shape), input.dtype)
    rows.writable_diagonal(xp, out, offset, dim1, dim2)[...] = input
    return out


embed = op(
    "diag_embed",
    _diag_embed,
    widen=False,
    formula=r"\bar x_i = \bar y_{ii}",
    input=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
)
diagonal_copy = op(
    "diagonal_copy",
    lambda xp, input, offset, dim1, dim2: xp.array(input.diagonal(offset, dim1, dim2)),
    widen=False,
    name_in_graph="DiagonalBackward0_copy",
    formula=r"\bar x_{ii} = \bar y_i,\ 0\text{ elsewhere}",
    input=lambda F, g, input_shape, offset, dim1, dim2: F.diagonal_backward(
        g, input_shape, offset, dim1, dim2
    ),
)


@public()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices whose diagonals are the last dim of a tensor.

    Args:
        input: the tensor.
        offset: how far above the main diagonal; negative for below.
        dim1: the dim of the result that counts rows.
        dim2: the dim of the result that counts columns.

    Example:
        >>> import vistorch
        >>> vistorch.diag_embed(vistorch.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    n = tensor(input, "diag_embed").ndim + 1
    offset = whole(offset, "diag_embed", "offset", 2)
    p, q = one(dim1, n, "diag_embed", "dim1", 3), one(dim2, n, "diag_embed", "dim2", 4)
    if p == q:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return embed(input, offset, p, q)


@public()
def diag(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """A matrix with the given diagonal, or a copy of the diagonal of a matrix.

    Args:
        input: a tensor of one or two dims.
        diagonal: how far above the main diagonal; negative for below.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.diag(vistorch.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    n = tensor(input, "diag").ndim
    if n not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    if isinstance(diagonal, Tensor) and diagonal._data.ndim:
        raise no_int(diagonal, "diag", "diagonal", 2)
    offset = whole(diagonal, "diag", "diagonal")
    if out is not None:
        out_argument.check_out("diag", out)
        a, b = dtypes.of(input._data.dtype), dtypes.of(out._data.dtype)
        if n == 1 and not dtypes.can_cast(a, b):
            raise RuntimeError(
                f"diag: result type {a.scalar_name} can't be cast to the desired out= type {b.scalar_name}"
            )
        _check_dtype(input, out)
    o = embed(input, offset, 0, 1) if n == 1 else diagonal_copy(input, offset, 0, 1)
    return o if out is None else out_argument.deliver(out, o)


@public()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of a tensor on one diagonal.

    Args:
        input: the tensor.
        offset: how far above the main diagonal; negative for below.

    Example:
        >>> import vistorch
        >>> vistorch.diagflat(vistorch.tensor([[1, 2]]))
        tensor([[1, 0],
                [0, 2]])
    """
    d = tensor(input, "diagflat")
    return embed(rows.reshape(input, (d.size,)), whole(offset, "diagflat", "offset"), 0, 1)


# ---- one part replaced ----------------------------------------------------------------------------------------------
def _scatter(name: str, cut: Any, source: str) -> Any:
    """The row that puts `src` where the view `cut` is; the constants are the view's."""

    def kernel(xp, input, src, consts):
        out = xp.array(input)
        cut(xp, out, *consts)[...] = src
        return out

    def zeroed(xp, g, consts):
        out = xp.array(g)
        cut(xp, out, *consts)[...] = 0
        return out

    op(
        f"{name}_zero",
        zeroed,
        widen=False,
        formula=r"\bar x = \bar y,\ 0\text{ in the part}",
        g=lambda F, g, consts: getattr(F, f"{name}_zero")(g, consts),
    )
    return op(
        f"{name}_scatter",
        kernel,
        inputs="input src",
        widen=False,
        formula={"input": r"\bar x = \bar y,\ 0\text{ in the part}", "src": r"\bar s = \bar y_{\text{part}}"},
        input=lambda F, g, consts: getattr(F, f"{name}_zero")(g, consts),
        src=lambda F, g, consts: getattr(F, source)(g, *consts),
    )


_select = _scatter("select", lambda xp, a, dim, index: a[(slice(None),) * dim + (index, ...)], "select")
_slice = _scatter(
    "slice",
    lambda xp, a, dim, start, stop, step: a[(slice(None),) * dim + (slice(start, stop, step),)],
    "slice",
)
_diagonal = _scatter("diagonal", rows.writable_diagonal, "diagonal")


def _put(row: Any, name: str, input: Tensor, src: Tensor, part: tuple, consts: tuple) -> Tensor:
    """Check the size of `src`, and put it into a copy of `input`."""
    given = tensor(src, name, "src", 2).shape
    if given != part:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {errors.sizes(given)}, slice size = "
            f"{errors.sizes(part)}"
        )
    if src._place is not input._place:
        errors.check_devices(input._place, src._place)
    dtype = input._data.dtype
    return row(input, src if src._data.dtype == dtype else cast(src, dtype), consts)


@public()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of a tensor with one slice replaced.

    Args:
        input: the tensor.
        src: what the slice becomes.
        dim: which dim.
        index: where in it.

    Example:
        >>> import vistorch
        >>> vistorch.select_scatter(vistorch.zeros(2, 2), vistorch.ones(2), 0, 1)
        tensor([[0., 0.],
                [1., 1.]])
    """
    shape = tensor(input, "select_scatter").shape
    dim, index = selected(shape, dim, index)
    return _put(_select, "select_scatter", input, src, shape[:dim] + shape[dim + 1 :], (dim, index))


@public()
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of a tensor with a stretch of one dim replaced.

    Args:
        input: the tensor.
        src: what the stretch becomes.
        dim: which dim.
        start: where the stretch begins.
        end: where it ends.
        step: how far it is from one index to the next.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.slice_scatter(vistorch.zeros(3), vistorch.ones(1), 0, 1, 2)
        tensor([0., 1., 0.])
    """
    shape = tensor(input, "slice_scatter").shape
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = one(dim, len(shape), "slice_scatter", "dim", 3)
    start = start if start is None else whole(start, "slice_scatter", "start", 4)
    end = end if end is None else whole(end, "slice_scatter", "end", 5)
    step = whole(step, "slice_scatter", "step", 6)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, step = slice(start, end, step).indices(shape[dim])
    last = max(first, last)
    part = (*shape[:dim], len(range(first, last, step)), *shape[dim + 1 :])
    if out is not None:
        out_argument.check_out("slice_scatter", out)
        _check_dtype(input, out)
    o = _put(_slice, "slice_scatter", input, src, part, (dim, first, last, step))
    return o if out is None else out_argument.deliver(out, o)


@public()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of a tensor with a diagonal replaced.

    Args:
        input: the tensor.
        src: what the diagonal becomes.
        offset: how far above the main diagonal; negative for below.
        dim1: the dim that counts rows.
        dim2: the dim that counts columns.

    Example:
        >>> import vistorch
        >>> vistorch.diagonal_scatter(vistorch.zeros(2, 2), vistorch.ones(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    consts = diagonal_of(input, offset, dim1, dim2)
    part = input._data.diagonal(*consts).shape
    return _put(_diagonal, "diagonal_scatter", input, src, part, consts)
