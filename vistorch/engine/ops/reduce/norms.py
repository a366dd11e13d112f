"""Vector norms of any order, and log-sum-exp.

Invariant: where a norm is zero its gradient is zero, as is the part of an element that is zero.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.casting import casting
from ...base.dims import flag
from ...core import out_argument
from ...core.base_ops import cast
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import default_float, floating
from ...kernels import totals
from ...kernels.fast import elementwise
from .frame import MISSING, axes_of, back, label, tensor


def _size_power(xp, input, power):
    """|x|^power, zero where x is zero."""
    size = xp.abs(input)
    if power >= 0:
        out = size**power
        return out if power else xp.where(size == 0, size, out)
    return xp.where(size == 0, size, size**power)


def _signed_power(xp, input, power):
    """Compute x |x|^(power - 1), zero where x is zero."""
    if power == 1:
        return xp.array(input)
    size = xp.abs(input)
    zero = size == 0
    if input.dtype.kind == "f":
        if power == 0:  # nan has no sign here, as in PyTorch
            return xp.where(size == size, xp.sign(input), size.dtype.type(0))
        out = xp.copysign(size**power, input)
        return out if power > 0 else xp.where(zero, input, out)
    # two factors: |x|^(power - 1) alone would be infinite at a denormal x
    return xp.where(zero, input, input / xp.where(zero, size.dtype.type(1), size) * size**power)


def _is_complex(x: Any) -> bool:
    kind = x.dtype
    return kind.kind == "c" if isinstance(kind, np.dtype) else kind.is_complex


def _real(F: Any, x: Any) -> Any:
    """The real part, as the type of a modulus."""
    return F.cast(x, np.dtype("f4" if x.dtype.itemsize == 8 else "f8")) if _is_complex(x) else x


def _signed_power_vjp(F: Any, g: Any, input: Any, power: float) -> Any:
    if not _is_complex(input):
        return g * F.size_power(input, power - 1) * power if power else None
    along = _real(F, F.conj(F.signed_power(input, 0.0)) * g)
    direct = g * F.size_power(input, power - 1)
    return direct + F.signed_power(input, 0.0) * (along * F.size_power(input, power - 1) * (power - 1))


op(
    "size_power",
    _size_power,
    holomorphic=False,
    formula=r"\bar x = p\,\bar y\,x|x|^{p-2}",
    input=lambda F, g, input, power: g * F.signed_power(input, power - 1) * power if power else None,
)
op(
    "signed_power",
    _signed_power,
    holomorphic=False,
    formula=r"\bar x = p\,\bar y\,|x|^{p-1}",
    input=_signed_power_vjp,
)
op("size_share", lambda xp, input, out, dims: _shares(xp, input, out, dims), inputs="input out")


def _shares(xp, input, out, dims):
    """How an infinity norm's gradient is shared among the elements of that size."""
    size = xp.abs(input)
    out = xp.asarray(out).reshape([1 if i in dims else n for i, n in enumerate(size.shape)])
    mask = (size == out) | ((size != size) & (out != out))
    return mask.astype(size.dtype) / mask.sum(dims, keepdims=True).astype(size.dtype)


def _norm(xp, input, ord, dims, keepdim):
    if ord == 0:
        kind = input.real.dtype
        return (input != 0).astype(kind).sum(dims, keepdims=keepdim)
    if ord == 2:
        return xp.sqrt(totals.squares(xp, input, dims, keepdim))
    size = xp.abs(input)
    if ord == inf:
        return size.max(dims, keepdims=keepdim)
    if ord == -inf:
        return size.min(dims, keepdims=keepdim)
    if ord == 1:
        return totals.total(xp, size, dims, keepdim)
    return totals.total(xp, size**ord, dims, keepdim) ** size.dtype.type(1 / ord)


def _norm_vjp(F: Any, g: Any, input: Any, out: Any, ord: float, dims: tuple) -> Any:
    shape = input.shape
    if ord == 0:
        return None
    g = back(F, g, dims, shape)
    if ord in (inf, -inf):
        return F.signed_power(input, 0.0) * (g * F.size_share(input, out, dims))
    if ord == 1:
        return F.signed_power(input, 0.0) * g
    return F.signed_power(input, ord - 1.0) * (g * F.size_power(back(F, out, dims, shape), 1.0 - ord))


vector_norm_dims = op(
    "vector_norm_dims",
    _norm,
    name_in_graph="LinalgVectorNormBackward0",
    holomorphic=False,
    formula=r"\bar x = \bar y\, x |x|^{p-2} / y^{p-1}",
    input=_norm_vjp,
)


_largest: Any = np.maximum.reduce
_BLOCK = 1 << 15  # elements of a pass: the next finds them in the cache
_SHARED = (
    1 << 19
)  # where several threads make the passes; not by their number, so that results do not depend on it


def _logsumexp_of_rows(x, keepdim):
    """Along the last dim, some rows at a time."""
    rows = x.reshape(-1, x.shape[-1])
    out = np.empty((len(rows), 1), x.dtype)
    length = _SHARED if elementwise.takes(rows) else _BLOCK
    step = max(length // max(rows.shape[1], 1), 1)
    aside = np.empty((min(step, len(rows)), rows.shape[1]), x.dtype)
    for start in range(0, len(rows), step):
        block, o = rows[start : start + step], out[start : start + step]
        top = _largest(block, 1, None, None, True)
        known = np.isfinite(top)
        top[~known] = 0
        powers = aside[: len(block)]
        if not known.all() or not elementwise.powers_from_largest(block, top, powers):
            np.exp(np.subtract(block, top, out=powers), out=powers)
        np.log(totals.total(np, powers, (1,), True), out=o)
        o += top
    return out.reshape((*x.shape[:-1], 1) if keepdim else x.shape[:-1])


def _logsumexp(xp, input, dims, keepdim):
    if not input.size:
        return xp.log(totals.total(xp, input, dims, keepdim))
    if xp is np and dims == (input.ndim - 1,) and input.size > _BLOCK and input.dtype.kind == "f":
        return _logsumexp_of_rows(input, keepdim)
    top = input.real.max(dims, keepdims=True)
    top = xp.where(xp.isfinite(top), top, top.dtype.type(0))
    out = xp.log(totals.total(xp, xp.exp(input - top), dims, True)) + top
    return out if keepdim else out.reshape([n for i, n in enumerate(input.shape) if i not in dims])


logsumexp_dims = op(
    "logsumexp_dims",
    _logsumexp,
    name_in_graph="LogsumexpBackward0",
    formula=r"\bar x = \bar y\, e^{x - y}",
    input=lambda F, g, input, out, dims: (
        back(F, g, dims, input.shape) * F.exp(input - back(F, out, dims, input.shape))
    ),
)


# ---- the public functions ----------------------------------------------------------------------------------------
_NO_INF = "linalg.vector_norm cannot compute the {} norm on "
_NO_IDENTITY = "empty and the operation does not have an identity"


def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """A vector norm over dims (`linalg.vector_norm` and `norm` stand on this)."""
    a = x._data
    name = "linalg.vector_norm"
    if not floating(a.dtype):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {label(a.dtype)}"
        )
    dims = axes_of(x, dim, name)
    if a.size == 0 and (ord < 0 or ord == inf):
        if dim is None or dim == ():
            raise RuntimeError(
                _NO_INF.format(f"{ord:g}") + "an empty tensor because the operation does not have an identity"
            )
        for d in dims:
            if a.shape[d] == 0:
                raise RuntimeError(
                    _NO_INF.format(f"{ord:g}") + f"the dimension {d}because this dimension is {_NO_IDENTITY}"
                )
    if dtype is not None:
        x = _converted(x, dtypes.as_np(dtype, name))
    return vector_norm_dims(x, float(ord), dims, flag(keepdim, "linalg_vector_norm", "keepdim"))


def _converted(x: Tensor, target: np.dtype) -> Tensor:
    given = x._data.dtype
    name = "linalg.vector_norm"
    if not floating(target):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {label(target)}")
    if (target.kind == "c") != (given.kind == "c"):
        what = "complex" if given.kind == "c" else "real"
        raise RuntimeError(f"{name}: dtype should be {what} for {what} inputs, but got {label(target)}")
    if dtypes.promote_types(dtypes.of(given), dtypes.of(target)).np != target:
        raise RuntimeError(
            f"{name}: the dtype of the input ({label(given)}) should be convertible without narrowing to the specified "
            f"dtype ({label(target)})"
        )
    return x if given == target else cast(x, target)


@public()
def logsumexp(input, dim=MISSING, keepdim=False, *, out=None):
    """log(sum(exp(input))) over dims, without overflow.

    Args:
        input: a tensor; integers are converted to the default dtype.
        dim: a dim or several.
        keepdim: keep the dims with size 1.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1000.0, 1000.0]).logsumexp(0)
        tensor(1000.6932)
    """
    if casting.on and (recast := casting.ask(logsumexp, locals())):
        return recast[0]
    a = tensor("logsumexp", input)
    if dim is MISSING:
        raise TypeError('logsumexp() missing 1 required positional arguments: "dim"')
    if out is not None:
        out_argument.check_out("logsumexp", out, (input,))
        if not floating(out._data.dtype):
            raise RuntimeError(
                f"logsumexp(): Expected floating point type for result tensor, but got: {label(out._data.dtype)}"
            )
    if dim == () and a.ndim and a.size:
        ones = "[" + ", ".join(["1"] * a.ndim) + "]"
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {ones}")
    dims = axes_of(input, dim, "logsumexp")
    x = input if floating(a.dtype) else cast(input, default_float())
    o = logsumexp_dims(x, dims, flag(keepdim, "logsumexp", "keepdim"))
    return o if out is None else out_argument.deliver(out, o)
