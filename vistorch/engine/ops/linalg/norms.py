"""Norms of vectors and matrices, and the condition number.

`vector_norm` is one row for every order; the norms of matrices are made of it and of singular values. Invariant: where
a norm has a kink, its gradient is PyTorch's choice among the subgradients, and never NaN unless PyTorch's is.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ... import dims as _dims
from ... import dtypes, outs
from ...call import op
from ...face import METHODS
from ...tensor import Tensor
from ..core import cast
from ..shape.rows import permute
from . import checks
from .factor import svdvals


def norm_of(xp, x, p, dim, keepdim):
    """The norm of order `p` over some dims of an array."""
    a = xp.abs(x)
    if p == 2:
        return xp.sqrt((a * a).sum(dim, dtype=a.dtype, keepdims=keepdim))
    if p == 1:
        return a.sum(dim, dtype=a.dtype, keepdims=keepdim)
    if p == inf:
        return a.max(dim, keepdims=keepdim)
    if p == -inf:
        return a.min(dim, keepdims=keepdim)
    if p == 0:
        return (a != 0).sum(dim, keepdims=keepdim).astype(a.dtype)
    return (a**p).sum(dim, dtype=a.dtype, keepdims=keepdim) ** (1 / p)


def norm_gradient(F: Any, g: Any, x: Any, out: Any, p: float, dims: tuple) -> Any:
    """The vjp of a norm; `g` and `out` keep the dims that were reduced as ones."""
    if p == 0:
        return F.zeros_like(x)
    if p == 1:
        return F.sgn(x) * g
    if p == 2:
        return F.over(x, out) * g
    a = F.abs(x)
    if p in (inf, -inf):
        mask = F.cast(F.eq(a, out), np.dtype("f4" if str(a.dtype).endswith("float32") else "f8"))
        shape = tuple(1 if i in dims else n for i, n in enumerate(mask.shape))
        return F.sgn(x) * (mask / F.sum_to(mask, shape)) * g
    if p < 1:
        return F.sgn(x) * F.without_poles(a, p - 1) * (g * F.without_poles(out, 1 - p))
    if p < 2:
        return F.sgn(x) * a ** (p - 1) * (g * F.without_poles(out, 1 - p))
    return x * a ** (p - 2) * (g * F.without_poles(out, 1 - p))


def _over(xp, x, y):
    zero = y == 0
    return xp.where(zero, 0, x / xp.where(zero, 1, y)).astype(x.dtype)


def _without_poles(xp, input, power):
    zero = input == 0
    return xp.where(zero, 0, xp.where(zero, 1, input) ** power).astype(input.dtype)


op(
    "over",
    _over,
    inputs="x y",
    name_in_graph="DivBackward0",
    formula={"x": r"\bar x = \bar z / y", "y": r"\bar y = -\bar z\, x / y^2"},
    x=lambda F, g, y: F.over(g, y),
    y=lambda F, g, y, out: -F.over(g * out, y),
)
op(
    "without_poles",
    _without_poles,
    name_in_graph="PowBackward0",
    formula=r"\bar x = p\,\bar y\, x^{p-1},\ 0 \text{ at } 0",
    input=lambda F, g, input, power: g * F.without_poles(input, power - 1) * power,
)
vector_norm_row = op(
    "linalg_vector_norm",
    norm_of,
    inputs="x",
    holomorphic=False,
    formula=r"\bar x = \bar y\, \mathrm{sgn}(x)\, (|x| / y)^{p-1}",
    x=lambda F, g, x, p, dim, keepdim, out: _vector_norm_gradient(F, g, x, p, dim, keepdim, out),
)


def _vector_norm_gradient(F: Any, g: Any, x: Any, p: float, dim: tuple, keepdim: bool, out: Any) -> Any:
    if not keepdim:
        shape = tuple(1 if i in dim else n for i, n in enumerate(x.shape))
        g, out = F.reshape(g, shape), F.reshape(out, shape)
    return norm_gradient(F, g, x, out, p, dim)


def _typed(name: str, x: Tensor, dtype: Any, integers: bool) -> Tensor:
    """The tensor in the type the norm is computed in, or PyTorch's refusal."""
    given = x.dtype
    if not (given.is_floating_point or given.is_complex):
        if dtype is None and integers and given is not dtypes.bool:
            return checks.floating(name, x)
        if dtype is None or not integers:
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


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
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
    if not isinstance(x, Tensor):
        raise checks.errors.must_be_tensor("linalg_vector_norm", "input", 1, x)
    if isinstance(ord, str) or not isinstance(ord, (int, float)):
        kind = type(ord).__name__
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {kind}")
    if out is not None:
        outs.check_out("linalg_vector_norm", out, (x,))
        return outs.deliver(out, vector_norm(x, ord, dim, keepdim, dtype=dtype))
    n = x._data.ndim
    where = tuple(range(n)) if dim is None or dim == () or dim == [] else _dims.many(dim, n)
    if n == 0:
        where = ()
    if x._data.size == 0 and (ord < 0 or ord == inf):
        shown = "inf" if ord == inf else "-inf" if ord == -inf else f"{ord:g}"
        start = f"linalg.vector_norm cannot compute the {shown} norm on "
        end = " because the operation does not have an identity"
        if len(where) == n:
            raise RuntimeError(f"{start}an empty tensor{end}")
        for i in where:
            if x._data.shape[i] == 0:
                raise RuntimeError(
                    f"{start}the dimension {i}because this dimension is empty and the operation does not have an identity"
                )
    x = _typed("linalg.vector_norm", x, dtype, True)
    return vector_norm_row(x, float(ord), where, bool(keepdim))


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


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of matrices.

    Args:
        A: (*, m, n).
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
    if not isinstance(A, Tensor):
        raise checks.errors.must_be_tensor("linalg_matrix_norm", "input", 1, A)
    if out is not None:
        outs.check_out("linalg_matrix_norm", out, (A,))
        return outs.deliver(out, matrix_norm(A, ord, dim, keepdim, dtype=dtype))
    name = "linalg.matrix_norm"
    words = isinstance(ord, str)
    if words and ord not in ("fro", "nuc"):
        _matrix_dims(name, A, dim)
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    p, q = _matrix_dims(name, A, dim)
    if not words and abs(ord) not in (1, 2, inf):
        shown = f"{ord:g}" if isinstance(ord, float) else ord
        raise RuntimeError(f"{name}: Order {shown} not supported.")
    if ord == "fro":
        A = _typed(name, A, dtype, True)
        return vector_norm(A, 2, (p, q), keepdim)
    A = _typed(name, A, dtype, ord == "nuc")
    if words or abs(ord) == 2:
        if A._data.dtype in checks.HALVES and not words:
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {checks.scalar(A)}")
        s = svdvals(_moved_last(A, p, q))
        result = s.sum(-1) if words else s.amax(-1) if ord > 0 else s.amin(-1)
        return _kept(result, p, q) if keepdim else result
    if abs(ord) == inf:
        p, q = q, p
    sums = vector_norm(A, 1, p, keepdim)
    if not keepdim and p < q:
        q -= 1
    return sums.amax(q, keepdim) if ord > 0 else sums.amin(q, keepdim)


def _moved_last(x: Tensor, p: int, q: int) -> Tensor:
    n = x._data.ndim
    order = (*[i for i in range(n) if i not in (p, q)], p, q)
    return x if order == tuple(range(n)) else permute(x, order)


def _kept(x: Tensor, p: int, q: int) -> Tensor:
    """Ones again where the two dims were."""
    for i in sorted((p, q)):
        x = METHODS["unsqueeze"](x, i)
    return x


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """The norm of a vector or a matrix, whichever `dim` and `ord` say.

    Args:
        A: a tensor.
        ord: the order; None is the length of all elements.
        dim: one dim for vectors, two for matrices; None by `A`'s dims.
        keepdim: keep the reduced dims as ones.
        out: where to put the result.
        dtype: the type to compute in.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.norm(vistorch.tensor([[1., 2.], [2., 4.]]))
        tensor(5.)
    """
    if not isinstance(A, Tensor):
        raise checks.errors.must_be_tensor("linalg_norm", "input", 1, A)
    if dim is not None:
        dim = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
        if len(dim) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {checks.errors.sizes(dim)}"
            )
    elif ord is not None and A._data.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A._data.ndim}D."
        )
    more = {"dtype": dtype, "out": out}
    if isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, **more)
    if ord is not None and (len(dim) == 2 if dim is not None else A._data.ndim == 2):
        return matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, **more)
    return vector_norm(A, 2.0 if ord is None else ord, dim, keepdim, **more)
