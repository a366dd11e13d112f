"""Vector products and distances.

Invariant: operands have the shape they broadcast to before a row sees them.
"""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from ...base import dims as _dims
from ...base.casting import casting
from ...core.base_ops import expand
from ...core.op_factory import op
from ...core.registry import public
from ...kernels.fast.matrices import matmul_of
from ...kernels.fast.spread import blocks
from ..reduce.norms import vector_norm_dims
from . import checks
from .out_types import Style, into
from .rows import mT

cross_row = op(
    "linalg_cross",
    lambda xp, input, other, dim: xp.ascontiguousarray(xp.cross(input, other, axis=dim)),
    inputs="input other",
    formula={"input": r"\bar x = y \times \bar z", "other": r"\bar y = \bar z \times x"},
    input=lambda F, g, other, dim: F.linalg_cross(*_alike(F, other, g), dim),
    other=lambda F, g, input, dim: F.linalg_cross(*_alike(F, g, input), dim),
)


def _alike(F: Any, x: Any, y: Any) -> tuple:
    """Both with the shape they broadcast to."""
    if x.shape == y.shape:
        return x, y
    shape = checks.broadcast(tuple(x.shape), tuple(y.shape))
    return F.expand(x, shape), F.expand(y, shape)


def _apart(F: Any, x1: Any, x2: Any) -> Any:
    return F.unsqueeze(x1, x1.ndim - 1) - F.unsqueeze(x2, x2.ndim - 2)


def _cdist_gradient(F: Any, g: Any, x1: Any, x2: Any, p: Any, out: Any) -> Any:
    """Of all differences, before they are summed over the other side's points."""
    if p == 0:  # a count of differences, which is flat wherever it has a slope
        return _apart(F, F.zeros_of(g, tuple(x1.shape)), F.zeros_of(g, tuple(x2.shape)))
    last = g.ndim
    g, out, x = F.unsqueeze(g, last), F.unsqueeze(out, last), _apart(F, x1, x2)
    if p == inf:  # as in PyTorch, each of several largest differences gets it all
        return F.signed_power(x, 0.0) * F.eq(F.abs(x), out) * g
    if p == 1:  # here nan stays, in PyTorch too
        return F.where(F.eq(x, x), F.signed_power(x, 0.0), x) * g
    return F.signed_power(x, p - 1) * (g * F.size_power(out, 1 - p))


MANY = 25  # points from which PyTorch computes Euclidean distances by a product
_AT_ONCE = 1 << 18  # differences that are in memory at a time


def _are_many(x1: Any, x2: Any, mode: str) -> bool:
    if mode == "donot_use_mm_for_euclid_dist":
        return False
    return mode == "use_mm_for_euclid_dist" or max(x1.shape[-2], x2.shape[-2]) > MANY


def _by_product(xp, x1, x2):
    """Euclidean distances from |a|^2 + |b|^2 - 2 a b, as one product."""
    ones = [xp.ones((*x.shape[:-1], 1), x.dtype) for x in (x1, x2)]
    squares = [(x * x).sum(-1, keepdims=True) for x in (x1, x2)]
    left = xp.concatenate([-2 * x1, squares[0], ones[0]], -1)
    right = xp.concatenate([x2, ones[1], squares[1]], -1)
    out = matmul_of(xp)(left, right.swapaxes(-1, -2))
    xp.maximum(out, 0, out=out)
    return xp.sqrt(out, out=out)


def _cdist(xp, x1, x2, p, mode):
    batch = checks.broadcast(x1.shape[:-2], x2.shape[:-2])
    (n, size), m = x1.shape[-2:], x2.shape[-2]
    if size == 0:
        return xp.zeros((*batch, n, m), x1.dtype)
    if p == 2 and _are_many(x1, x2, mode):
        return _by_product(xp, x1, x2)
    norm, far = vector_norm_dims.rule.kernel, x2[..., None, :, :]
    step = max(_AT_ONCE // max(prod(batch) * m * size, 1), 1)
    if xp is not np or n <= step:
        return norm(xp, x1[..., :, None, :] - far, p, (len(batch) + 2,), False)
    out = np.empty((*batch, n, m), x1.dtype)

    def some(start: int, stop: int) -> None:
        x = x1[..., start:stop, None, :] - far
        out[..., start:stop, :] = norm(np, x, p, (x.ndim - 1,), False)

    blocks(some, n, step, prod(batch) * m * size)
    return out


cdist_row = op(
    "cdist",
    _cdist,
    inputs="x1 x2",
    holomorphic=False,
    formula={
        "x1": r"\bar a_i = \textstyle\sum_j \bar d_{ij}\, \partial d_{ij} / \partial a_i",
        "x2": r"\bar b_j = \textstyle\sum_i \bar d_{ij}\, \partial d_{ij} / \partial b_j",
    },
    x1=lambda F, g, x1, x2, p, mode, out: (
        _product_gradient(F, g, x1, x2, out)
        if p == 2 and _are_many(x1, x2, mode)
        else _summed(F, _cdist_gradient(F, g, x1, x2, p, out), 1)
    ),
    x2=lambda F, g, x1, x2, p, mode, out: (
        _product_gradient(F, mT(F, g), x2, x1, mT(F, out))
        if p == 2 and _are_many(x1, x2, mode)
        else _summed(F, _cdist_gradient(F, -g, x1, x2, p, out), 2)
    ),
)


def _product_gradient(F: Any, g: Any, x1: Any, x2: Any, out: Any) -> Any:
    """That of the first points: sum_j g_ij / d_ij (a_i - b_j), without the differences of all pairs."""
    share = g * F.size_power(out, -1.0)
    return x1 * F.sum_dims(share, (share.ndim - 1,), True) - F.bmm(share, x2)


def _summed(F: Any, d: Any, which: int) -> Any:
    """Sum (*, i, j, k) over j (which 1) or i (which 2)."""
    if d is None:
        return None
    shape = tuple(d.shape)
    kept = (*shape[:-2], 1, shape[-1]) if which == 1 else (*shape[:-3], 1, *shape[-2:])
    return F.squeeze_dim(F.sum_to(d, kept), (d.ndim - 1 - which,))


def linalg_cross(input, other, *, dim=-1, out=None):
    """The vector product of three-dimensional vectors.

    Args:
        input: vectors along `dim`.
        other: vectors along `dim`.
        dim: the dim of size 3.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.cross(vistorch.tensor([1, 0, 0]), vistorch.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """
    checks.tensors("linalg_cross", input=input, other=other)
    if out is not None:
        return into(out, Style("linalg_cross"), (input, other), lambda: linalg_cross(input, other, dim=dim))
    x, y = input._data, other._data
    if x.ndim != y.ndim:
        _dims.whole(dim, "linalg_cross")
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    at = _dims.one(dim, x.ndim)
    if x.shape[at] != 3 or y.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[at]} and {y.shape[at]}"
        )
    shape = checks.broadcast(x.shape, y.shape)
    checks.no_bool("cross", input)
    checks.same_scalar(input, other)
    checks.same_place("cross", input, other)
    pair = [t if t._data.shape == shape else expand(t, shape) for t in (input, other)]
    return cross_row(*pair, at)


@public()
def cross(input, other, dim=None, *, out=None):
    """The vector product of three-dimensional vectors; without `dim`, along the first dim of size 3.

    Args:
        input: vectors along `dim`.
        other: vectors along `dim`.
        dim: the dim of size 3.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.cross(vistorch.tensor([1, 0, 0]), vistorch.tensor([0, 1, 0]), dim=0)
        tensor([0, 0, 1])
    """
    if casting.on and (recast := casting.ask(cross, locals())):
        return recast[0]
    checks.tensors("cross", input=input, other=other)
    if dim is None:
        shape = input._data.shape
        if 3 not in shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = shape.index(3)
    return linalg_cross(input, other, dim=dim, out=out)


@public(method=False)
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distances between all pairs of two sets of points.

    Args:
        x1: (*, n, k).
        x2: (*, m, k).
        p: which norm measures them.
        compute_mode: "use_mm_for_euclid_dist_if_necessary" (by a product of matrices for more than 25 points),
            "use_mm_for_euclid_dist" or "donot_use_mm_for_euclid_dist".

    Example:
        >>> import vistorch
        >>> vistorch.cdist(vistorch.tensor([[0., 0.]]), vistorch.tensor([[3., 4.]]))
        tensor([[5.]])
    """
    if casting.on and (recast := casting.ask(cdist, locals())):
        return recast[0]
    checks.tensors("cdist", x1=x1, x2=x2)
    modes = (
        "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist",
        "donot_use_mm_for_euclid_dist",
    )
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for label, t in (("X1", x1), ("X2", x2)):
        if t._data.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {label} got: {t._data.ndim}D")
    a, b = x1._data, x2._data
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    for label, t in (("X1", x1), ("X2", x2)):
        if not t.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {label} got: {checks.scalar(t)}")
    if a.dtype in checks.HALVES:
        raise checks.not_implemented("cdist", x1)
    checks.same_scalar(x1, x2)
    batch = checks.broadcast(a.shape[:-2], b.shape[:-2])
    pair = [t if t._data.shape[:-2] == batch else expand(t, (*batch, *t._data.shape[-2:])) for t in (x1, x2)]
    return cdist_row(*pair, float(p), compute_mode)
