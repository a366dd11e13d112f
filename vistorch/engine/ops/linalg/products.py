"""Products of vectors and matrices, and `@`.

Gradients of a product call BLAS on transposed views, without a copy. Invariant: `@` becomes the row that PyTorch names
(dot, mv, mm, bmm), whichever way it takes to get there.
"""

from __future__ import annotations

from typing import Any

from ...base.casting import casting
from ...core.base_ops import expand
from ...core.graph import UNTRACKED, version
from ...core.op_factory import op
from ...core.registry import METHODS, expose, public
from ...core.tensor import Tensor
from ..shape.rows import contiguous, reshape, squeeze_dim, t, transpose, unsafe_view, unsqueeze
from . import checks
from .matmul_fast import fast_path
from .out_types import DOT, MV, Style, into
from .rows import mT, second, squeeze_product
from .vectors import dot, dot_row, mv, mv_row

# `.T` of a matrix means the same on arrays and on Tensors, and on arrays it costs a tenth of a named row
mm_row = op(
    "mm",
    "dot",
    inputs="input mat2",
    formula={"input": r"\bar x = \bar z\, y^T", "mat2": r"\bar y = x^T \bar z"},
    input=lambda F, g, mat2: F.mm(g, mat2.T),
    mat2=lambda F, g, input, mat2_strides: second(F, input, g, mat2_strides),
)
bmm_row = op(
    "bmm",
    "matmul",
    inputs="input mat2",
    formula={"input": r"\bar x_b = \bar z_b\, y_b^T", "mat2": r"\bar y_b = x_b^T \bar z_b"},
    input=lambda F, g, mat2: F.bmm(g, mT(F, mat2)),
    mat2=lambda F, g, input: F.bmm(mT(F, input), g),
)
_ROWS = (mm_row.rule, mv_row.rule, dot_row.rule)


def _mm(input: Any, mat2: Any, out: Any) -> Tensor:
    """`mm` off the fast path."""
    checks.tensors("mm", input=input, mat2=mat2)
    if out is not None:
        return into(out, Style("mm"), (input, mat2), _mm, input, mat2, None)
    checks.same_place("mm", input, mat2)
    a, b = input._data, mat2._data
    if a.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if b.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {checks.native(input)} != {checks.native(mat2)}"
        )
    if a.size and b.size:
        checks.no_bool("addmm_impl_cpu_", input)
    return mm_row(input, mat2)


mm = expose(fast_path(_mm, mm_row.rule), "mm")
mm.__name__ = mm.__qualname__ = "mm"
mm.__doc__ = """The matrix product of two matrices.

    Args:
        input: the left matrix.
        mat2: the right matrix.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.mm(vistorch.tensor([[1, 2]]), vistorch.tensor([[3], [4]]))
        tensor([[11]])
    """


@public()
def bmm(input, mat2, *, out=None):
    """The matrix products of two batches of matrices.

    Args:
        input: (b, n, m).
        mat2: (b, m, p).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.bmm(vistorch.tensor([[[1, 2]]]), vistorch.tensor([[[3], [4]]]))
        tensor([[[11]]])
    """
    if casting.on and (recast := casting.ask(bmm, locals())):
        return recast[0]
    checks.tensors("bmm", input=input, mat2=mat2)
    if out is not None:
        return into(out, Style("bmm"), (input, mat2), bmm, input, mat2)
    checks.same_place("bmm", input, mat2)
    batches(input, mat2)
    checks.no_bool("bmm", input)
    checks.same_scalar(input, mat2)
    return bmm_row(input, mat2)


def batches(x: Tensor, y: Tensor) -> None:
    """Refuse what is no pair of matching batches of matrices."""
    a, b = x._data, y._data
    if a.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if b.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, {a.shape[2]}] but got: "
            f"[{b.shape[0]}, {b.shape[1]}]."
        )


def _matmul(input: Any, other: Any, out: Any) -> Tensor:
    """`matmul` for what `straight` leaves: batches, a vector times a matrix, other types, `out=`."""
    checks.tensors("matmul", input=input, other=other)
    if out is not None:
        plain = Style("matmul")
        style = plain if other._data.ndim != 1 else Style("matmul", DOT if input._data.ndim == 1 else MV)
        return into(out, style, (input, other), _matmul, input, other, None)
    m, n = input._data.ndim, other._data.ndim
    if m == 0 or n == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D")
    if m == 1 and n == 1:
        return dot(input, other)
    if m == 2 and n == 1:
        return mv(input, other)
    if m == 1 and n == 2:
        o = squeeze_product(mm(unsqueeze(input, 0), other), 0)
        if o._ver is not UNTRACKED:
            version(o).n += 1  # PyTorch squeezes the product in place
        return o
    if m == 2 and n == 2:
        return _mm(input, other, None)
    return _folded(input, other) if _folds(input, other) else _batched(input, other)


def _folds(x: Tensor, y: Tensor) -> bool:
    """Whether a batch times one matrix is better one large product: no copy forward, or a smaller one backward."""
    larger, smaller = (x, y) if x._data.ndim >= y._data.ndim else (y, x)
    if smaller._data.ndim > 2:
        return False
    if smaller.requires_grad:
        return True
    if x._data.ndim == 2:
        return False
    d = larger._data if larger is x else larger._data.swapaxes(-1, -2)
    if d.size == 0:
        return True
    return all(d.strides[i] == d.strides[i + 1] * d.shape[i + 1] for i in range(d.ndim - 2))


def _folded(x: Tensor, y: Tensor) -> Tensor:
    """A batch of matrices times one matrix or vector, as one product."""
    turned = y._data.ndim > x._data.ndim
    many: Any = _turned(y) if turned else x
    one: Any = y if not turned else t(x) if x._data.ndim == 2 else x
    shape = many._data.shape
    rows = 1
    for n in shape[:-1]:
        rows *= n
    flat = reshape(many, (rows, shape[-1]))
    if one._data.ndim == 1:
        return unsafe_view(mv(flat, one), shape[:-1])
    out = unsafe_view(mm(flat, one), (*shape[:-1], one._data.shape[1]))
    if not turned:
        return out
    out = _turned(out)
    return out if out._data.flags.c_contiguous else contiguous(out)


def _batched(x: Tensor, y: Tensor) -> Tensor:
    """Batches against batches."""
    a, b = x._data.shape, y._data.shape
    if len(a) == 3 and len(b) == 3 and a[0] != b[0]:
        if a[0] == 1 and x.requires_grad:
            return matmul(squeeze_dim(x, (0,)), y)
        if b[0] == 1 and y.requires_grad:
            return matmul(x, squeeze_dim(y, (0,)))
    vector = len(b) == 1
    left = a[-2:] if len(a) > 1 else (1, *a)
    batch = checks.broadcast(a[:-2], b[:-2])
    count = 1
    for n in batch:
        count *= n
    x = _spread(x, (*batch, *left), (count, *left))
    if vector:
        y = unsqueeze(_spread(y, (*batch, *b), (count, *b)), 2)
    else:
        y = _spread(y, (*batch, *b[-2:]), (count, *b[-2:]))
    out = bmm(x, y)
    if vector:
        out = squeeze_dim(out, (2,))
    shape = batch + ((a[-2],) if len(a) > 1 else ()) + (() if vector else (b[-1],))
    return unsafe_view(out, shape)


def _turned(x: Tensor) -> Tensor:
    return transpose(x, x._data.ndim - 2, x._data.ndim - 1)


def _spread(x: Tensor, full: tuple, flat: tuple) -> Tensor:
    """Expand to `full` and fold the batch; a tensor that has the shape already is left alone."""
    if x._data.shape == flat:
        return x
    if x._data.shape != full:
        x = expand(x, full)
    return x if full == flat else reshape(x, flat)


def _operator(input: Any, other: Any, out: Any) -> Any:
    """`@` off the fast path."""
    if not isinstance(other, Tensor) or not isinstance(input, Tensor):
        return NotImplemented
    return _matmul(input, other, None)


_any_product = fast_path(_matmul, *_ROWS)


@public()
def matmul(input, other, *, out=None):
    """The product of two tensors as vectors, matrices, or batches of matrices.

    Args:
        input: the left one; a vector is a row.
        other: the right one; a vector is a column.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.matmul(vistorch.tensor([[1., 2.], [3., 4.]]), vistorch.tensor([1., 1.]))
        tensor([3., 7.])
    """
    if casting.on and (recast := casting.ask(matmul, locals())):
        return recast[0]
    return _any_product(input, other, out=out)


METHODS["__matmul__"] = fast_path(_operator, *_ROWS)
METHODS["__matmul__"].__name__ = "__matmul__"


def _reflected(input, other):
    """`other @ input`."""
    if casting.on and (recast := casting.ask(_reflected, locals())):
        return recast[0]
    return _operator(other, input, None)


def _in_place(input, other):
    """`input @= other`: a new tensor under the old name."""
    return METHODS["__matmul__"](input, other)


METHODS["__rmatmul__"] = _reflected
METHODS["__imatmul__"] = _in_place
