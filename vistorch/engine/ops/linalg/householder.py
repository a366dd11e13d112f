"""Householder's reflections: the packed QR factors `geqrf` gives, and products with their orthogonal matrix.

A factor holds below its diagonal the reflections' directions v, whose first element is 1 and not kept; a reflection is
I - tau v v^H. Invariant: of the packed matrix only what lies below the diagonal is read, here and by the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors
from ...base.casting import casting
from ...base.dims import flag
from ...base.return_types import geqrf as geqrf_type
from ...base.return_types import make
from ...core.image_order import by_rows
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ...kernels import lapack
from ...library_name import library
from . import checks
from .out_types import Style, into
from .rows import by_columns, columns


def _raw(xp, input):
    if xp is np and (found := lapack.qr(input, "raw")) is not None:
        return found
    packed, tau = xp.linalg.qr(input, "raw")
    return packed.swapaxes(-1, -2).astype(input.dtype), tau.astype(input.dtype)


def _none(F: Any, g: Any) -> Any:
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


_geqrf = op("geqrf", by_columns(_raw, 0), inputs="input", outs=2, formula=r"\text{none}", input=_none)


@public("geqrf")
def geqrf(input, *, out=None):
    """The QR factors of a matrix in packed form: R, and below it the directions of reflections whose product is Q.

    Args:
        input: (*, m, n).
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.geqrf(vistorch.tensor([[3., 1.], [4., 2.]])).a[0].abs()
        tensor([5.0000, 2.2000])
    """
    if casting.on and (recast := casting.ask(geqrf, locals())):
        return recast[0]
    checks.tensors("geqrf", input=input)
    if out is not None:
        return into(out, Style("geqrf", casts=True), (input,), geqrf, input)
    if input._data.ndim < 2:
        raise RuntimeError(f"{library}.geqrf: input must have at least 2 dimensions.")
    return make(geqrf_type, _geqrf(_numbers("geqrf_cpu", input)))


def _numbers(kernel: str, t: Tensor) -> Tensor:
    """Refuse what LAPACK has no numbers for."""
    if t._data.dtype.kind not in "fc" or t._data.dtype in checks.HALVES:
        raise checks.not_implemented(kernel, t)
    return t


def _no_number(tau: Any) -> None:
    """Refuse a tau without dims."""
    if not tau.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")


def _directions(packed: Tensor, count: int) -> Tensor:
    """The directions as columns."""
    packed = packed[..., :count]
    m, n = packed.shape[-2:]
    ones = FUNCTIONS["eye"](m, n, dtype=packed.dtype, device=packed.device)
    return packed.tril(-1) + ones


def _reflect(v: Tensor, tau: Tensor, i: int, x: Tensor) -> Tensor:
    """One reflection of the columns of x."""
    column = v[..., i : i + 1]
    return x - tau[..., i, None, None] * (column @ (column.mH @ x))


def householder_product(A, tau, *, out=None):
    """The first columns of the orthogonal matrix whose reflections `geqrf` packs.

    Args:
        A: (*, m, n), m >= n; what is above its diagonal is not read.
        tau: (*, k), k <= n.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> a = vistorch.tensor([[3., 1.], [4., 2.]])
        >>> q = vistorch.linalg.householder_product(*vistorch.geqrf(a))
        >>> (q.T @ q).round(decimals=4).abs()
        tensor([[1., 0.],
                [0., 1.]])
    """
    if casting.on and (recast := casting.ask(householder_product, locals())):
        return recast[0]
    return _product("linalg_householder_product", "A", A, tau, out)


def _product(name: str, argument: str, A: Any, tau: Any, out: Any) -> Tensor:
    checks.tensors(name, **{argument: A, "tau": tau})
    if out is not None:
        return into(
            out, Style(name, casts=True), (A, tau), lambda: by_rows(_product(name, argument, A, tau, None))
        )
    here = f"{library}.linalg.householder_product"
    a, t = A._data, tau._data
    if a.ndim < 2:
        raise RuntimeError(f"{here}: input must have at least 2 dimensions.")
    if a.shape[-2] < a.shape[-1]:
        raise RuntimeError(f"{here}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    _no_number(t)
    if a.shape[-1] < t.shape[-1]:
        raise RuntimeError(f"{here}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if t.ndim != a.ndim - 1:
        raise RuntimeError(
            f"{here}: Expected tau to have one dimension less than input, but got tau.ndim equal to {t.ndim} and "
            f"input.ndim is equal to {a.ndim}"
        )
    if a.ndim > 2 and t.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(
            f"{here}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{errors.sizes(t.shape[:-1])}"
        )
    if t.dtype != a.dtype:
        raise RuntimeError(
            f"{here}: tau dtype {checks.scalar(tau)} does not match input dtype {checks.scalar(A)}"
        )
    checks.same_place("linalg.householder_product", A, tau)
    _numbers("orgqr_cpu", A)
    m, n = a.shape[-2:]
    v = _directions(A, t.shape[-1])
    q = FUNCTIONS["eye"](m, n, dtype=A.dtype, device=A.device).expand(A.shape).clone()
    for i in reversed(range(t.shape[-1])):
        q = _reflect(v, tau, i, q)
    return _laid(q)


def _laid(t: Tensor) -> Tensor:
    """A fresh result, column by column as LAPACK leaves it."""
    t._data = columns(t._place.xp, t._data)
    return t


@public("orgqr")
def orgqr(input, input2, *, out=None):
    """The older name of `linalg.householder_product`.

    Args:
        input: (*, m, n), as `geqrf` gives it.
        input2: tau, (*, k).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.orgqr(vistorch.ones(2, 2), vistorch.zeros(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    if casting.on and (recast := casting.ask(orgqr, locals())):
        return recast[0]
    return _product("orgqr", "input", input, input2, out)


_INTO = Style(
    "ormqr",
    "vistorch.ormqr: Expected input and result to have the same dtype, but input has dtype{want} and result has dtype "
    "{got}",
)


@public("ormqr")
def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """A matrix times the whole orthogonal matrix whose reflections `geqrf` packs.

    Args:
        input: the reflections, (*, m, k).
        tau: (*, k).
        other: the matrix.
        left: Q on the left of `other`, else on its right.
        transpose: Q^H in place of Q.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> a = vistorch.tensor([[3., 1.], [4., 2.]])
        >>> vistorch.ormqr(*vistorch.geqrf(a), a, transpose=True).tril(-1).round(decimals=4).abs()
        tensor([[0., 0.],
                [0., 0.]])
    """
    if casting.on and (recast := casting.ask(ormqr, locals())):
        return recast[0]
    checks.tensors("ormqr", input=input, tau=tau, other=other)
    left, transpose = flag(left, "ormqr", "left", 4), flag(transpose, "ormqr", "transpose", 5)
    if out is not None:
        made = lambda: by_rows(ormqr(input, tau, other, left, transpose))  # noqa: E731
        return into(out, _INTO, (input, tau, other), made)
    _check_ormqr(input, tau, other, -2 if left else -1)
    count = tau._data.shape[-1]
    v = _directions(input, count)
    x = other if left else other.mH
    # Q C is H1 (H2 ... C): the last reflection comes first; C Q is (Q^H C^H)^H
    backwards = left is not transpose
    turned = tau if backwards else tau.conj()
    for i in reversed(range(count)) if backwards else range(count):
        x = _reflect(v, turned, i, x)
    return _laid((x if left else x.mH).clone() if x is other or not left else x)


def _check_ormqr(input: Tensor, tau: Tensor, other: Tensor, side: int) -> None:
    a, t, c = input._data, tau._data, other._data
    here = f"{library}.ormqr"
    if a.ndim < 2 or c.ndim < 2:
        raise RuntimeError(f"{here}: {'input' if a.ndim < 2 else 'other'} must have at least 2 dimensions.")
    if c.shape[side] != a.shape[-2]:
        raise RuntimeError(f"{here}: other.shape[{side}] must be equal to input.shape[-2]")
    _no_number(t)
    if min(c.shape[side], a.shape[-1]) != t.shape[-1]:
        raise RuntimeError(
            f"{here}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    if t.ndim != a.ndim - 1:
        raise RuntimeError(
            f"{here}: Expected tau to have one dimension less than input, but got tau.ndim equal to {t.ndim} and "
            f"input.ndim is equal to {a.ndim}"
        )
    if c.ndim != a.ndim:
        raise RuntimeError(
            f"{here}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{c.ndim} and input.ndim is equal to {a.ndim}"
        )
    for what, given in (("tau", t), ("other", c)):
        if given.shape[: a.ndim - 2] != a.shape[:-2]:
            raise RuntimeError(
                f"{here}: Expected batch dimensions of {what} to be equal to input.shape[:-2], but got "
                f"{errors.sizes(given.shape[: a.ndim - 2])}"
            )
    for what, given in (("tau", tau), ("other", other)):
        if given._data.dtype != a.dtype:
            raise RuntimeError(
                f"{here}: Expected input and {what} to have the same dtype, but input has dtype{checks.scalar(input)} "
                f"and {what} has dtype {checks.scalar(given)}"
            )
    checks.same_place("ormqr", input, tau, other)
    _numbers("ormqr_cpu", input)
