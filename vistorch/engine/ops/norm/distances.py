"""How near two vectors are: cosine_similarity, pairwise_distance, pdist.

Invariant: operands are brought to their common type and shape first, and the last node has PyTorch's name.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...base import dims as _dims
from ...base.casting import casting
from ...base.dims import flag
from ...base.modes import no_grad
from ...core import type_promotion
from ...core.base_ops import expand, to_dtype
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ...kernels.row_sums import added_rows
from ..index.add_at import add_at
from ..reduce.norms import vector_norm_dims
from ..reduce.sums import sum_dims
from . import checks

_norm_vjp: Any = vector_norm_dims.rule.vjps[0]
norm_row = op(
    "norm_dims",
    vector_norm_dims.rule.kernel,
    name_in_graph="NormBackward1",
    holomorphic=False,
    formula=vector_norm_dims.rule.formula,
    input=_norm_vjp,
)


@public(method=False)
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along a dim.

    Args:
        x1: a floating point tensor.
        x2: another, whose shape broadcasts with it.
        dim: the dim of the vectors.
        eps: the least that a norm counts as.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[1.0, 0.0], [1.0, 1.0]])
        >>> vistorch.cosine_similarity(x, vistorch.tensor([[1.0, 0.0]]))
        tensor([1.0000, 0.7071])
    """
    if casting.on and (recast := casting.ask(cosine_similarity, locals())):
        return recast[0]
    checks.tensor("cosine_similarity", "x1", 1, x1)
    checks.tensor("cosine_similarity", "x2", 2, x2)
    dim = _dims.whole(dim, "cosine_similarity", "dim", 3)
    eps = checks.real("cosine_similarity", "eps", 4, eps)
    a, b = x1._data, x2._data
    kind = a.dtype if a.dtype == b.dtype else type_promotion.result_type(x1, x2)
    if kind not in checks.FLOATS:
        name = checks.dtypes.of(kind).scalar_name
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {name}")
    if not eps >= 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    checks.same_place(x1, x2)
    if a.shape != b.shape:
        shape = _broadcast(a.shape, b.shape)
        x1, x2 = [t if t._data.shape == shape else expand(t, shape) for t in (x1, x2)]
    x1, x2 = [t if t._data.dtype in checks.FLOATS else to_dtype(t, kind) for t in (x1, x2)]
    at = _dims.one(dim, x1._data.ndim)
    axes = (at,) if x1._data.ndim else ()
    y1, y2 = [t / _length(t, axes, eps) for t in (x1, x2)]
    return sum_dims(y1 * y2, axes, False)


def _broadcast(a: tuple, b: tuple) -> tuple:
    said = checks.errors.broadcast(a, b)
    if said is not None:
        raise RuntimeError(said)
    return np.broadcast_shapes(a, b)


def _length(t: Tensor, axes: tuple, eps: float) -> Tensor:
    """The norm, at least eps; its gradient is that of the norm all the same, as in PyTorch."""
    length = vector_norm_dims(t, 2.0, axes, True).clone()
    with no_grad():
        length.clamp_min_(eps)
    return length


@public(method=False)
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The norm of the difference of vectors along the last dim.

    Args:
        x1: vectors, or one vector.
        x2: as many vectors, or one.
        p: which norm.
        eps: added to each difference, so that none is zero.
        keepdim: keep the last dim with size 1.

    Example:
        >>> import vistorch
        >>> vistorch.pairwise_distance(vistorch.tensor([[0.0, 0.0]]), vistorch.tensor([[3.0, 4.0]]))
        tensor([5.0000])
    """
    checks.tensor("pairwise_distance", "x1", 1, x1)
    checks.tensor("pairwise_distance", "x2", 2, x2)
    p = checks.real("pairwise_distance", "p", 3, p)
    eps = checks.real("pairwise_distance", "eps", 4, eps)
    apart = x1 - x2 + eps
    d = apart._data
    if (not d.size and p < 0) or (p == inf and d.ndim and not d.shape[-1]):
        return FUNCTIONS["norm"](
            apart, p, -1, flag(keepdim, "pairwise_distance", "keepdim")
        )  # says what is wrong
    return norm_row(apart, p, (d.ndim - 1,) if d.ndim else (), flag(keepdim, "pairwise_distance", "keepdim"))


# ---- all pairs of one set of points ------------------------------------------------------------------------------
def _pairs(xp: Any, n: int) -> tuple:
    return xp.triu_indices(n, 1)


def _differences(xp, input):
    if xp is not np:
        i, j = _pairs(xp, input.shape[0])
        return input[i] - input[j]
    # one point at a time against all later ones: gathering both sides would take four times as long
    n = input.shape[0]
    out = np.empty((n * (n - 1) // 2, input.shape[1]), input.dtype)
    start = 0
    for i in range(n - 1):
        stop = start + n - 1 - i
        np.subtract(input[i], input[i + 1 :], out=out[start:stop])
        start = stop
    return out


def _pair_sums(xp, input, n):
    i, j = _pairs(xp, n)
    places, parts = xp.concatenate((i, j)), xp.concatenate((input, -input))
    if xp is np:
        return added_rows(places, parts, n)
    out = xp.zeros((n, input.shape[1]), input.dtype)
    add_at(xp, out, places, parts)
    return out


def _square(xp, input, n):
    """A symmetric matrix from what stands above its diagonal."""
    out = xp.zeros((n, n), input.dtype)
    out[_pairs(xp, n)] = input
    out += out.T
    return out


op(
    "pair_differences",
    _differences,
    name_in_graph="SubBackward0",
    formula=r"\bar x_i = \textstyle\sum_{j > i} \bar y_{ij} - \sum_{j < i} \bar y_{ji}",
    input=lambda F, g, input_shape: F.pair_sums(g, input_shape[0]),
)
op(
    "pair_sums",
    _pair_sums,
    name_in_graph="SubBackward0",
    formula=r"\bar x_{ij} = \bar y_i - \bar y_j",
    input=lambda F, g: F.pair_differences(g),
)


def _folded(xp, input):
    i, j = _pairs(xp, input.shape[0])
    return input[i, j] + input[j, i]


op(
    "pair_square",
    _square,
    name_in_graph="CopyBackwards",
    formula=r"\bar x_{ij} = \bar y_{ij} + \bar y_{ji}",
    input=lambda F, g: F.pair_folded(g),
)
op(
    "pair_folded",
    _folded,
    name_in_graph="AddBackward0",
    formula=r"\bar x_{ij} = \bar x_{ji} = \bar y_{ij}",
    input=lambda F, g, input_shape: F.pair_square(g, input_shape[0]),
)


def _pdist(xp, input, p):
    return vector_norm_dims.rule.kernel(xp, _differences(xp, input), p, (1,), False)


def _pdist_vjp(F: Any, g: Any, input: Any, out: Any, p: float) -> Any:
    if p == 0:
        return F.zeros_like(input)
    if p == 2:
        # differences cancel what all points have in common; without it, they need not be written out
        x, w = F.centred(input, (0,)), F.pair_square(g * F.inverse_or_zero(out), input.shape[0])
        return x * F.sum_dims(w, (1,), True) - F.mm(w, x)
    apart = F.pair_differences(input)
    if p == inf:  # as in PyTorch, each of several largest differences gets it all
        far = F.as_shape(out, (*out.shape, 1))
        part = F.signed_power(apart, 0.0) * F.eq(F.abs(apart), far) * F.as_shape(g, far.shape)
    else:
        part = _norm_vjp(F, g, apart, out, p, (1,))
    return F.pair_sums(part, input.shape[0])


pdist_row = op(
    "pdist",
    _pdist,
    holomorphic=False,
    formula=r"\bar x_i = \textstyle\sum_j \bar y_{ij}\, d_{ij} |d_{ij}|^{p-2} / y_{ij}^{p-1}",
    input=_pdist_vjp,
)


@public(method=False)
def pdist(input, p=2):
    """The distances between all pairs of points, those of the first point first.

    Args:
        input: points, (n, width).
        p: which norm measures them.

    Example:
        >>> import vistorch
        >>> vistorch.pdist(vistorch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
        tensor([5.0000, 1.0000, 4.2426])
    """
    if casting.on and (recast := casting.ask(pdist, locals())):
        return recast[0]
    checks.tensor("pdist", "input", 1, input)
    p = checks.real("pdist", "p", 2, p)
    d = input._data
    if d.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {d.ndim}D")
    if d.dtype not in checks.FLOATS:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if d.dtype in checks.HALVES and d.shape[0] > 1 and d.shape[1]:
        raise NotImplementedError(f"\"pdist\" not implemented for '{checks.name_of(input)}'")
    if not d.shape[1]:
        return pdist_row(input, 2.0)
    return pdist_row(input, p)
