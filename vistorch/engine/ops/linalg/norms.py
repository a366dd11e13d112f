"""Norms of vectors and of matrices.

The norms of matrices are made of those of vectors (a row of the reductions) and of singular values. Invariant: which
of them is computed, and what is refused, depends on order and dims alone.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ...base import dims as _dims
from ...base import dtypes
from ...base.casting import casting
from ...base.dims import flag
from ...core.base_ops import cast
from ...core.registry import METHODS
from ...core.tensor import Tensor
from ..reduce.norms import vector_norm as _vector_norm
from ..shape.rows import permute, unsqueeze
from . import checks
from .out_types import NORM, Style, into
from .qr_svd import svdvals


def _typed(name: str, x: Tensor, dtype: Any) -> Tensor:
    """The tensor in the type the norm is computed in, or PyTorch's refusal."""
    given = x.dtype
    if not (given.is_floating_point or given.is_complex):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {given.scalar_name}"
        )
    if dtype is None:
        return x
    dtype = dtypes.to_dtype(dtype, name)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype.scalar_name}")
    if dtype.is_complex != given.is_complex:
        kind = "complex" if given.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {dtype.scalar_name}")
    if dtypes.promote_types(given, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({given.scalar_name}) should be convertible without narrowing to the "
            f"specified dtype ({dtype.scalar_name})"
        )
    return x if dtype is given else cast(x, dtype.np)


def vector_norm(x, ord: float = 2, dim: Any = None, keepdim=False, *, dtype=None, out=None):
    """The norm of vectors: of all elements, or along some dims.

    Args:
        x: a tensor.
        ord: the order, any number: 2 is the length, inf the largest modulus, 0 counts what is not zero.
        dim: an int or a tuple; None for all.
        keepdim: keep the reduced dims as ones.
        dtype: the type to compute in.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.vector_norm(vistorch.tensor([3., 4.]))
        tensor(5.)
    """
    if casting.on and (recast := casting.ask(vector_norm, locals())):
        return recast[0]
    if not isinstance(x, Tensor):
        raise checks.errors.must_be_tensor("linalg_vector_norm", "input", 1, x)
    ord = _dims.scalar(ord)
    if isinstance(ord, str) or not isinstance(ord, (int, float)):
        kind = type(ord).__name__
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {kind}")
    if out is not None:
        style = Style("linalg_vector_norm")
        return into(out, style, (x,), lambda: vector_norm(x, ord, dim, keepdim, dtype=dtype))
    return _vector_norm(x, ord, dim, keepdim, dtype)


def _matrix_dims(name: str, x: Tensor, dim: Any) -> tuple:
    """The two dims of the matrices."""
    checks.matrix(name, x)
    given = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if len(given) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, given))}")
    n = x._data.ndim
    p, q = _dims.one(given[0], n), _dims.one(given[1], n)
    if p == q:
        raise RuntimeError(f"{name}: dims must be different. Got ({given[0]}, {given[1]})")
    return p, q


def matrix_norm(input, ord: Any = "fro", dim: Any = (-2, -1), keepdim=False, *, dtype=None, out=None) -> Any:
    """The norm of matrices.

    Args:
        input: (*, m, n).
        ord: "fro", "nuc", inf, -inf, 1, -1, 2 or -2.
        dim: which two dims are the matrices.
        keepdim: keep the reduced dims as ones.
        dtype: the type to compute in.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.matrix_norm(vistorch.tensor([[1., 2.], [2., 4.]]))
        tensor(5.)
    """
    if casting.on and (recast := casting.ask(matrix_norm, locals())):
        return recast[0]
    if not isinstance(input, Tensor):
        raise checks.errors.must_be_tensor("linalg_matrix_norm", "input", 1, input)
    if out is not None:
        style = Style(None, NORM.format("linalg.matrix_norm"))
        return into(out, style, (input,), lambda: matrix_norm(input, ord, dim, keepdim, dtype=dtype))
    keepdim = flag(keepdim, "linalg_matrix_norm", "keepdim")
    name = "linalg.matrix_norm"
    words = isinstance(ord, str)
    if ord not in ("fro", "nuc") if words else abs(ord) not in (1, 2, inf):
        shown = f"{ord:g}" if isinstance(ord, float) else ord
        raise RuntimeError(f"{name}: Order {shown} not supported.")
    checks.matrix(name, input)
    input = _typed(name, input, dtype)
    p, q = _matrix_dims(name, input, dim)
    if ord == "fro":
        return vector_norm(input, 2, (p, q), keepdim)
    if _no_largest(input, ord, p, q):
        shape = tuple(
            1 if i in (p, q) else n for i, n in enumerate(input._data.shape) if keepdim or i not in (p, q)
        )
        return norm_of_nothing(input, shape)
    if words or abs(ord) == 2:
        if input._data.dtype in checks.HALVES:
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {checks.scalar(input)}")
        s: Any = svdvals(_moved_last(input, p, q))
        result = s.sum(-1) if words else s.amax(-1) if ord > 0 else s.amin(-1)
        return _kept(result, p, q) if keepdim else result
    if abs(ord) == inf:
        p, q = q, p
    sums: Any = vector_norm(input, 1, p, keepdim)
    if not keepdim and p < q:
        q -= 1
    return sums.amax(q, keepdim) if ord > 0 else sums.amin(q, keepdim)


def _moved_last(x: Tensor, p: int, q: int) -> Tensor:
    n = x._data.ndim
    order = (*[i for i in range(n) if i not in (p, q)], p, q)
    return x if order == tuple(range(n)) else permute(x, order)


def _no_largest(x: Tensor, ord: Any, p: int, q: int) -> bool:
    """Whether a largest value is asked of nothing, which PyTorch takes to be zero."""
    m, n = x._data.shape[p], x._data.shape[q]
    return (ord == 2 and m * n == 0) or (ord == 1 and n == 0) or (ord == inf and m == 0)


def norm_of_nothing(x: Tensor, shape: tuple) -> Tensor:
    """Zeros: the norm of matrices without elements."""
    return METHODS["new_zeros"](x, shape, dtype=x.dtype.to_real())


def _kept(x: Tensor, p: int, q: int) -> Tensor:
    """Ones again where the two dims were."""
    n = x._data.ndim
    order = list(range(n))
    for i, dim in sorted(((p, n), (q, n + 1))):
        order.insert(i, dim)
    return permute(unsqueeze(unsqueeze(x, n), n + 1), tuple(order))


def norm(input, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """The norm of a vector or a matrix, whichever `dim` and `ord` say.

    Args:
        input: a tensor.
        ord: the order; None is the length of all elements.
        dim: one dim for vectors, two for matrices; None by `input`'s dims.
        keepdim: keep the reduced dims as ones.
        out: where to put the result.
        dtype: the type to compute in.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.norm(vistorch.tensor([[1., 2.], [2., 4.]]))
        tensor(5.)
    """
    if casting.on and (recast := casting.ask(norm, locals())):
        return recast[0]
    if not isinstance(input, Tensor):
        raise checks.errors.must_be_tensor("linalg_norm", "input", 1, input)
    if out is not None:
        style = Style(None, NORM.format("linalg.norm"))
        return into(out, style, (input,), lambda: norm(input, ord, dim, keepdim, dtype=dtype))
    if dim is not None:
        dim = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
        if len(dim) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {checks.errors.sizes(dim)}"
            )
    elif ord is not None and input._data.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {input._data.ndim}D."
        )
    if isinstance(ord, str):
        return matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if ord is not None and (len(dim) == 2 if dim is not None else input._data.ndim == 2):
        return matrix_norm(input, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)
