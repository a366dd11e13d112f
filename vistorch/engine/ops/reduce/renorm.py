"""Norms with a purpose: the distance of two tensors, slices brought down to a norm.

Invariant: a slice that is short enough is not touched, by the value or by the gradient.
"""

from __future__ import annotations

from math import inf, isnan
from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...core import inplace, out_argument, type_promotion
from ...core.base_ops import cast
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.sharing import same_place
from ...core.tensor import Tensor
from ...core.type_promotion import floating, number
from .frame import kept, label, same_type, tensor
from .norms import _norm, _norm_vjp, _real


def _between(F: Any, g: Any, input: Any, other: Any, out: Any, p: float) -> Any:
    apart = input - other
    if p == 0:
        return F.zeros_like(apart)
    return _norm_vjp(F, g, apart, out, p, tuple(range(apart.ndim)))


dist_row = op(
    "dist",
    lambda xp, input, other, p: _norm(xp, input - other, p, tuple(range(max(input.ndim, other.ndim))), False),
    holomorphic=False,
    formula={
        "input": r"\bar x = \bar d\,(x - y)|x - y|^{p-2} / d^{p-1}",
        "other": r"\bar y = -\bar x",
    },
    input=lambda F, g, input, other, out, p: _between(F, g, input, other, out, p),
    other=lambda F, g, input, other, out, p: -_between(F, g, input, other, out, p),
)


@public()
def dist(input, other, p=2):
    """The norm of input - other.

    Args:
        input: a tensor.
        other: another, of a shape that broadcasts.
        p: the order of the norm.

    Example:
        >>> import vistorch
        >>> vistorch.dist(vistorch.tensor([0.0, 3.0]), vistorch.tensor([4.0, 0.0]))
        tensor(5.)
    """
    if casting.on and (recast := casting.ask(dist, locals())):
        return recast[0]
    a = tensor("dist", input)
    if not isinstance(other, Tensor):
        raise errors.must_be_tensor("dist", "other", 2, other)
    b = other._data
    p = dims.scalar(p)
    order = number(p)
    if order is None or isinstance(order, complex):
        raise TypeError(f"dist(): argument 'p' must be Number, not {type(p).__name__}")
    if input._place is not other._place:
        input, other = same_place("sub", (input, other))
    if "b" in (a.dtype.kind, b.dtype.kind):
        input - other  # type: ignore[operator]  raises PyTorch's sentence
    said = errors.broadcast(a.shape, b.shape)
    if said is not None:
        raise RuntimeError(said)
    common = type_promotion.result_type(input, other)
    if not floating(common):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {label(common)} instead."
        )
    x, y = (t if t._data.dtype == common else cast(t, common) for t in (input, other))
    order = float(order)
    if order == inf or order < 0:
        if 0 in a.shape or 0 in b.shape:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {order:g} norm on an empty tensor because the operation does "
                "not have an identity"
            )
    return dist_row(x, y, order)


def _renorm(xp, input, p, dim, maxnorm):
    size = _norm(xp, input, p, tuple([i for i in range(input.ndim) if i != dim]), True)
    factor = xp.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0).astype(size.dtype)
    return input * factor


def _renorm_gradient(F: Any, g: Any, input: Any, p: float, dim: int, maxnorm: float) -> Any:
    axes = tuple([i for i in range(input.ndim) if i != dim])
    norm = F.vector_norm_dims(input, p, axes, True)
    along = _real(F, F.sum_to(F.conj(input) * g, kept(input.shape, axes)))
    inverse = 1 / (norm + 1e-7)
    short = (g - _norm_vjp(F, along, input, norm, p, axes) * inverse) * inverse * maxnorm
    return F.where(F.gt(norm, maxnorm), short, g)


renorm_row = op(
    "renorm",
    _renorm,
    holomorphic=False,
    formula=r"\bar x = \bar y \text{ where } n \le m,\ "
    r"\tfrac{m}{n}\left(\bar y - \tfrac{x \cdot \bar y}{n} \bar n\right)",
    input=_renorm_gradient,
)


@public()
def renorm(input, p, dim, maxnorm, *, out=None):
    """Scale the slices along a dim whose norm is larger than `maxnorm` down to it.

    Args:
        input: a tensor of two dims at least.
        p: the order of the norm.
        dim: which dim counts the slices.
        maxnorm: the largest norm.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.renorm(vistorch.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    if casting.on and (recast := casting.ask(renorm, locals())):
        return recast[0]
    a = tensor("renorm", input)
    p, maxnorm = dims.scalar(p), dims.scalar(maxnorm)
    for value, name, position in ((p, "p", 2), (maxnorm, "maxnorm", 4)):
        if number(value) is None:
            raise TypeError(
                f"renorm(): argument '{name}' (position {position}) must be Number, not {type(value).__name__}"
            )
    dim = dims.whole(dim, "renorm", "dim", 3)
    if out is not None:
        out_argument.check_out("renorm", out, (input,))
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if isnan(maxnorm) or maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if a.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {a.ndim} dimensions")
    dim = dims.one(dim, a.ndim, "renorm", "dim", 3)
    if not floating(a.dtype):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {label(a.dtype)}"
        )
    if p == inf:
        for i, n in enumerate(a.shape):
            if i != dim and n == 0:
                raise RuntimeError(
                    f"linalg.vector_norm cannot compute the inf norm on the dimension {i}because this dimension is "
                    "empty and the operation does not have an identity"
                )
    if out is not None:
        same_type(out, a.dtype)
    o = renorm_row(input, float(p), dim, float(maxnorm))
    return o if out is None else out_argument.deliver(out, o)


METHODS["renorm_"] = inplace.general(renorm, "renorm_")
