"""LU factors: linalg.lu, lu_factor, lu_factor_ex, lu_solve, and their older forms lu, lu_solve, lu_unpack.

A = P L U. Invariant: pivots are int32 and counted from 1; a matrix that is not square has the gradients of its square
part and of what is left of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors, return_types
from ...base.casting import casting
from ...base.dims import flag
from ...base.return_types import make
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...kernels import lu as kernels
from ...library_name import library
from . import checks
from .deprecated import warn_once
from .rows import by_columns, cols, mH, mT, pad_cols

I4 = np.dtype("i4")


def _upper(F: Any, x: Any) -> Any:
    return mT(F, F.lower(mT(F, x), 1))


def _rows(F: Any, x: Any, start: int, stop: int) -> Any:
    return mT(F, cols(F, mT(F, x), start, stop))


def _factors(xp, A):
    """L, U, P of a matrix."""
    both, pivots = kernels.factor(xp, A)
    m, n = A.shape[-2:]
    k = min(m, n)
    low = xp.tril(both[..., :k], -1)
    i = xp.arange(k)
    low[..., i, i] = 1
    return low, xp.triu(both[..., :k, :]), kernels.permutation(xp, pivots, m, A.dtype)


def _square(F: Any, low: Any, up: Any, m: Any) -> Any:
    """L^-H M U^-H."""
    left = F.linalg_solve_triangular(mH(F, low), m, True, True, True)
    return F.linalg_solve_triangular(mH(F, up), left, False, False, False)


def _lu_gradient(F: Any, gL: Any, gU: Any, L: Any, U: Any, P: Any) -> Any:
    m, n, k = L.shape[-2], U.shape[-1], L.shape[-1]
    top, first = (L if m == k else _rows(F, L, 0, k)), (U if n == k else cols(F, U, 0, k))
    low: Any = None
    up: Any = None
    rest = None
    if gL is not None:
        low = F.bmm(mH(F, top), gL if m == k else _rows(F, gL, 0, k))
        if m > k:
            last = _rows(F, gL, k, m)
            rest = F.linalg_solve_triangular(mH(F, first), last, False, False, False)
            up = -F.bmm(mH(F, _rows(F, L, k, m)), last)
    if gU is not None:
        direct = F.bmm(gU if n == k else cols(F, gU, 0, k), mH(F, first))
        up = direct if up is None else up + direct
        if n > k:
            last = cols(F, gU, k, n)
            rest = F.linalg_solve_triangular(mH(F, L), last, True, True, True)
            more = -F.bmm(last, mH(F, cols(F, U, k, n)))
            low = more if low is None else low + more
    inner = None if low is None else F.lower(low, 0)
    if up is not None:
        inner = _upper(F, up) if inner is None else inner + _upper(F, up)
    a = _square(F, top, first, inner)
    if n > k:
        a = pad_cols(F, a, 0, n)
        a = a if rest is None else a + pad_cols(F, rest, k, n)
    elif m > k:
        a = mT(F, pad_cols(F, mT(F, a), 0, m))
        a = a if rest is None else a + mT(F, pad_cols(F, mT(F, rest), k, m))
    return F.bmm(P, a)


lu_row = op(
    "linalg_lu",
    _factors,
    inputs="A",
    outs=2,
    holomorphic=False,
    formula=r"\bar A = P L^{-H}(\mathrm{tril}(L^H \bar L) + \mathrm{triu}(\bar U U^H)) U^{-H}",
    A=lambda F, g, out, out1, out2: _lu_gradient(F, g[0], g[1], out, out1, out2),
)


def _unpacked(F: Any, LU: Any) -> tuple:
    """L with ones on its diagonal, and U."""
    m, n = LU.shape[-2:]
    k = min(m, n)
    low, up = (LU if n == k else cols(F, LU, 0, k)), (LU if m == k else _rows(F, LU, 0, k))
    return F.set_diag(F.lower(low, 0), 1), _upper(F, up)


def _factor_gradient(F: Any, g: Any, LU: Any, pivots: Any) -> Any:
    m, n = LU.shape[-2:]
    k = min(m, n)
    low, up = _unpacked(F, LU)
    gL = F.lower(g if n == k else cols(F, g, 0, k), 0)
    gU = _upper(F, g if m == k else _rows(F, g, 0, k))
    kind = LU.dtype if isinstance(LU.dtype, np.dtype) else LU.dtype.np
    return _lu_gradient(F, gL, gU, low, up, F.lu_permutation(pivots, m, kind))


op("lu_permutation", kernels.permutation, inputs="pivots", widen=False)
lu_factor_row = op(
    "linalg_lu_factor_ex",
    by_columns(lambda xp, A: kernels.factor(xp, A), 0),
    inputs="A",
    holomorphic=False,
    formula=r"\bar A = P L^{-H}(\mathrm{tril}(L^H \bar L) + \mathrm{triu}(\bar U U^H)) U^{-H}",
    A=lambda F, g, out, out1: _factor_gradient(F, g, out, out1),
)


def _checked(name: str, A: Any, pivot: Any) -> Tensor:
    if A._data.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {errors.sizes(A._data.shape)} instead"
        )
    if A._data.size and (A._data.dtype.kind not in "fc" or A._data.dtype in checks.HALVES):
        raise checks.not_implemented("lu_cpu", A)
    if not pivot and A._data.size:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return A


def lu(A, *, pivot=True, out=None):
    """P, L and U for which A = P L U.

    Args:
        A: (*, m, n).
        pivot: only True on the CPU.
        out: three tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.lu(vistorch.tensor([[1., 2.], [4., 4.]])).U
        tensor([[4., 4.],
                [0., 1.]])
    """
    checks.tensors("linalg_lu", A=A)
    pivot = flag(pivot, "linalg_lu", "pivot")
    if out is not None:
        out_argument.check_outs("linalg_lu", out, (A,), 3)
    low, up, P = lu_row(_checked("linalg.lu", A, pivot))
    return _given(return_types.linalg_lu, (P, low, up), out)


def _given(kind: Any, results: tuple, out: Any) -> Any:
    if out is None:
        return make(kind, results)
    for o, r in zip(out, results, strict=True):
        if o._data.dtype != r._data.dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {checks.native(r)}, but got {checks.native(o)} instead"
            )
    return make(kind, tuple([out_argument.deliver(o, r) for o, r in zip(out, results, strict=True)]))


def _no_zero(name: str, info: Any) -> None:
    """Refuse a zero pivot."""
    found = checks.host(info._data)
    if found.any():
        flat = found.reshape(-1)
        i = int(flat.nonzero()[0][0])
        where = f"(Batch element {i}): " if found.ndim else ""
        raise RuntimeError(
            f"{library}.linalg.{name}: {where}U[{flat[i]},{flat[i]}] is zero and using it on lu_solve would result in "
            "a "
            "division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)"
        )


def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """L and U in one matrix, the pivots, and which pivot is zero.

    Args:
        A: (*, m, n).
        pivot: only True on the CPU.
        check_errors: refuse a zero pivot.
        out: three tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.lu_factor_ex(vistorch.tensor([[1., 2.], [4., 4.]])).pivots
        tensor([2, 2], dtype=vistorch.int32)
    """
    checks.tensors("linalg_lu_factor_ex", A=A)
    pivot = flag(pivot, "linalg_lu_factor_ex", "pivot")
    check_errors = flag(check_errors, "linalg_lu_factor_ex", "check_errors")
    if out is not None:
        out_argument.check_outs("linalg_lu_factor_ex", out, (A,), 3)
    LU, pivots = lu_factor_row(_checked(f"{library}.lu_factor", A, pivot))
    place = A._place
    info = wrap(place.xp.asarray(kernels.info(place.xp, LU._data)), place)
    if check_errors:
        _no_zero("lu_factor_ex", info)
    return _given(return_types.linalg_lu_factor_ex, (LU, pivots, info), out)


def lu_factor(A, *, pivot=True, out=None):
    """L and U in one matrix, and the pivots.

    Args:
        A: (*, m, n).
        pivot: only True on the CPU.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.lu_factor(vistorch.tensor([[1., 2.], [4., 4.]])).LU
        tensor([[4.0000, 4.0000],
                [0.2500, 1.0000]])
    """
    checks.tensors("linalg_lu_factor", A=A)
    flag(pivot, "linalg_lu_factor", "pivot")
    if out is not None:
        out_argument.check_outs("linalg_lu_factor_ex", out, (A,), 2)
    LU, pivots, info = lu_factor_ex(A, pivot=pivot)
    _no_zero("lu_factor", info)
    return _given(return_types.linalg_lu_factor, (LU, pivots), out)


@public("lu")
def old_lu(A, pivot=True, get_infos=False, out=None):
    """L and U in one matrix, and the pivots; `linalg.lu_factor` is the newer form.

    Args:
        A: (*, m, n).
        pivot: only True on the CPU.
        get_infos: tell which pivot is zero too.
        out: tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.lu_factor(vistorch.tensor([[4., 4.], [1., 2.]])).pivots
        tensor([1, 2], dtype=vistorch.int32)
    """
    if casting.on and (recast := casting.ask(old_lu, locals())):
        return recast[0]
    checks.tensors("lu", A=A)
    pivot = flag(pivot, "lu", "pivot")
    warn_once("lu")
    results = lu_factor_ex(A, pivot=pivot)
    results = tuple(results) if get_infos else tuple(results[:2])
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    for o in out:
        if not isinstance(o, Tensor):
            raise TypeError(f"lu(): argument 'out' must be tuple of Tensors, not {type(o).__name__}")
    return tuple([out_argument.deliver(o, r) for o, r in zip(out, results, strict=True)])


def _unpack(xp, LU, pivots, data, swaps):
    m, n = LU.shape[-2:]
    k = min(m, n)
    empty = xp.zeros(0, LU.dtype)
    low, up, P = empty, empty.copy(), empty.copy()
    if data:
        low, up = xp.tril(LU[..., :k], -1), xp.triu(LU[..., :k, :])
        i = xp.arange(k)
        low[..., i, i] = 1
    if swaps:
        P = kernels.permutation(xp, pivots, m, LU.dtype)
    return low, up, P


def _packed(F: Any, g: list, shape: tuple) -> Any:
    m, n = shape[-2:]
    k = min(m, n)
    total = None
    if g[0] is not None:
        total = F.lower(g[0], 0)
        total = pad_cols(F, total, 0, n) if n > k else total
    if g[1] is not None:
        up = _upper(F, g[1])
        up = mT(F, pad_cols(F, mT(F, up), 0, m)) if m > k else up
        total = up if total is None else total + up
    return total


unpack_row = op(
    "lu_unpack",
    _unpack,
    inputs="LU pivots",
    outs=2,
    widen=False,
    formula={"LU": r"\bar A = \mathrm{tril}(\bar L) + \mathrm{triu}(\bar U)"},
    LU=lambda F, g, LU_shape: _packed(F, g, LU_shape),
)


@public(method=False)
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """P, L and U from what `lu_factor` gives.

    Args:
        LU_data: L and U in one matrix.
        LU_pivots: the pivots.
        unpack_data: give L and U, else empty tensors.
        unpack_pivots: give P, else an empty tensor.
        out: three tensors.

    Example:
        >>> import vistorch
        >>> LU, pivots = vistorch.linalg.lu_factor(vistorch.tensor([[1., 2.], [4., 4.]]))
        >>> vistorch.lu_unpack(LU, pivots).P
        tensor([[0., 1.],
                [1., 0.]])
    """
    checks.tensors("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    if out is not None:
        out_argument.check_outs("lu_unpack", out, (LU_data,), 3)
    a, p = LU_data._data, LU_pivots._data
    if a.ndim < 2:
        raise RuntimeError(
            f"{library}.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {errors.sizes(a.shape)} instead"
        )
    if unpack_pivots and p.dtype != I4:
        raise RuntimeError(
            f"{library}.lu_unpack: LU_pivots is expected to be a contiguous tensor of {library}.int32 dtype.\n"
            f"Note: this function is intended to be used with the output produced by {library}.linalg.lu_factor"
        )
    checks.same_place("lu_unpack", LU_data, LU_pivots)
    if unpack_pivots and p.size and not ((p >= 1) & (p <= a.shape[-2])).all():
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )
    low, up, P = unpack_row(
        LU_data,
        LU_pivots,
        flag(unpack_data, "lu_unpack", "unpack_data"),
        flag(unpack_pivots, "lu_unpack", "unpack_pivots"),
    )
    return _given(return_types.lu_unpack, (P, low, up), out)
