"""Linear steps that the formulas of this family are made of, written for arrays and Tensors alike.

Invariant: matrices are the last two dims, whatever comes before is a batch; and every row here is linear, its vjp
being another such row, so derivatives of any order exist.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from ...core.op_factory import op


def by_columns(kernel: Any, *which: int) -> Any:
    """A kernel whose results (all, or those with these numbers) lie column by column, as LAPACK leaves them."""

    @wraps(kernel)
    def run(xp: Any, *args: Any) -> Any:
        out = kernel(xp, *args)
        if out.__class__ is not tuple:
            return columns(xp, out)
        return tuple([columns(xp, a) if not which or i in which else a for i, a in enumerate(out)])

    return run


def columns(xp: Any, a: Any) -> Any:
    """A matrix that lies in memory column by column."""
    if a.ndim < 2 or (a.ndim == 2 and a.flags.f_contiguous):
        return a
    return xp.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)


def is_complex(x: Any) -> bool:
    """Whether an array or a Tensor holds complex numbers."""
    kind = getattr(x.dtype, "kind", None)
    return x.dtype.is_complex if kind is None else kind == "c"


def mT(F: Any, x: Any) -> Any:
    """The transpose."""
    return F.transpose(x, x.ndim - 2, x.ndim - 1)


def mH(F: Any, x: Any) -> Any:
    """The conjugate transpose; a view where `x` is real."""
    return mT(F, F.conj(x) if is_complex(x) else x)


def conj(F: Any, x: Any) -> Any:
    """The conjugate; `x` itself where it is real."""
    return F.conj(x) if is_complex(x) else x


def col(F: Any, x: Any) -> Any:
    """A vector as a column, a number as a vector of one."""
    return F.unsqueeze(x, x.ndim)


def row(F: Any, x: Any) -> Any:
    """A vector as a row."""
    return F.unsqueeze(x, x.ndim - 1)


def diag(F: Any, x: Any) -> Any:
    """The diagonal."""
    return F.diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def from_diag(F: Any, x: Any) -> Any:
    """A diagonal matrix."""
    n = x.ndim
    return F.diagonal_backward(x, (*x.shape, x.shape[-1]), 0, n - 1, n)


def cols(F: Any, x: Any, start: int, stop: int) -> Any:
    """Some columns."""
    return F.slice(x, x.ndim - 1, start, stop, 1)


def pad_cols(F: Any, x: Any, start: int, total: int) -> Any:
    """`x` as columns from `start` of a matrix of `total` columns that is zero elsewhere."""
    shape = (*x.shape[:-1], total)
    return F.slice_backward(x, shape, x.ndim - 1, start, start + x.shape[-1], 1)


def half_upper(F: Any, x: Any) -> Any:
    """The upper triangle with its diagonal halved."""
    return mT(F, F.lower(mT(F, x), 0.5))


def _array(x: Any) -> Any:
    """The numbers of an array or a Tensor."""
    return getattr(x, "_data", x)


def refuse_phase(parts: Any, sentence: str) -> None:
    """Refuse a loss that depends on the phases of vectors: the imaginary parts then do not vanish."""
    imag = np.abs(np.asarray(_host(_array(parts)).imag))
    if not (imag <= 1e-2).all():
        raise RuntimeError(sentence)


def _host(a: Any) -> Any:
    return a if isinstance(a, np.ndarray) else a.get()


def _lower(xp, input, weight):
    out = xp.tril(input)
    if weight != 1:
        i = xp.arange(min(out.shape[-2:]))
        out[..., i, i] *= weight
    return out


def _set_diag(xp, input, value):
    out = xp.array(input)
    i = xp.arange(min(out.shape[-2:]))
    out[..., i, i] = value
    return out


lower = op(
    "lower",
    _lower,
    name_in_graph="TrilBackward0",
    formula=r"\bar x = \mathrm{tril}(\bar y)",
    input=lambda F, g, weight: F.lower(g, weight),
)
set_diag = op(
    "set_diag",
    _set_diag,
    name_in_graph="FillBackward0",
    formula=r"\bar x = \bar y - \mathrm{diag}(\bar y)",
    input=lambda F, g: F.set_diag(g, 0),
)
# the result of a product is nobody else's, so that dropping a dim of it is no view
squeeze_product = op(
    "squeeze_product",
    lambda xp, input, axis: xp.squeeze(input, axis),
    widen=False,
    name_in_graph="SqueezeBackward4",
    formula=r"\bar x = \mathrm{unsqueeze}(\bar y)",
    input=lambda F, g, axis: F.unsqueeze(g, axis),
)


def second(F: Any, first: Any, g: Any, strides: tuple) -> Any:
    """The gradient of a product's second matrix, `first^T @ g`, in that matrix's order of memory.

    The weight of a linear layer comes transposed; its gradient, turned back, is then `.grad` without a copy.
    """
    if first.__class__ is np.ndarray and strides[0] < strides[1]:
        return F.mm(g.T, first).T
    return F.mm(first.T, g)
