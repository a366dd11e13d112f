"""glu: one half of the input, gated by the sigmoid of the other.

Invariant: the halves are views; nothing is copied before the product.
"""

from __future__ import annotations

from typing import Any

from ...base import dims
from ...core.op_factory import op
from ...core.tensor import Tensor
from ..elementwise.dtype_checks import missing
from ..shape.rows import key
from .entry import tensor


def _halves(x: Any, dim: int) -> tuple:
    half = x.shape[dim] // 2
    return x[key(dim, slice(0, half))], x[key(dim, slice(half, 2 * half))]


def _glu(xp, input, dim):
    value, gate = _halves(input, dim)
    out = xp.negative(gate, out=xp.empty(value.shape, value.dtype))
    xp.exp(out, out=out)
    out += 1
    return xp.divide(value, out, out=out)


def _glu_slope(xp, grad, input, dim):
    value, gate = _halves(input, dim)
    out = xp.empty(input.shape, grad.dtype)
    first, second = _halves(out, dim)
    s = xp.negative(gate)
    xp.exp(s, out=s)
    s += 1
    xp.reciprocal(s, out=s)
    xp.multiply(grad, s, out=first)
    xp.subtract(1, s, out=s)
    s *= first
    xp.multiply(s, value, out=second)
    return out


def _glu_put(xp, first, second, dim):
    """Two halves, side by side."""
    return xp.concatenate((first, second), dim)


op(
    "glu_put",
    _glu_put,
    inputs="first second",
    name_in_graph="CatBackward0",
    widen=False,
    formula={"first": r"\bar a = \bar y_{:n}", "second": r"\bar b = \bar y_{n:}"},
    first=lambda F, g, dim: F.slice(g, dim, 0, g.shape[dim] // 2, 1),
    second=lambda F, g, dim: F.slice(g, dim, g.shape[dim] // 2, g.shape[dim], 1),
)
_glu_row = op(
    "glu",
    _glu,
    formula=r"\bar x = [\bar y\, s,\ \bar y\, a\, s (1 - s)],\ s = \sigma(b)",
    input=lambda F, g, input, dim: F.glu_backward(g, input, dim),
)


def _parts(F: Any, x: Any, dim: int) -> tuple:
    half = x.shape[dim] // 2
    return F.slice(x, dim, 0, half, 1), F.slice(x, dim, half, 2 * half, 1)


def _to_grad(F, g, input, dim):
    value, gate = _parts(F, input, dim)
    first, second = _parts(F, g, dim)
    s = F.sigmoid(gate)
    return first * s + second * value * s * (1 - s)


def _to_input(F, g, grad, input, dim):
    value, gate = _parts(F, input, dim)
    first, second = _parts(F, g, dim)
    s = F.sigmoid(gate)
    bend = grad * s * (1 - s)
    return F.glu_put(second * bend, first * bend + second * value * bend * (1 - 2 * s), dim)


op(
    "glu_backward",
    _glu_slope,
    inputs="grad input",
    name_in_graph="GluBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x_a s + \bar x_b\, a\, s (1 - s)",
        "input": r"\bar x = [\bar x_b g s',\ \bar x_a g s' + \bar x_b\, a\, g s'']",
    },
    grad=lambda F, g, input, dim: _to_grad(F, g, input, dim),
    input=lambda F, g, grad, input, dim: _to_input(F, g, grad, input, dim),
)
_refuse = missing("glu_cpu", "ibc")


def _any(dt: Any) -> None:
    """Refuse nothing yet: the shape is looked at before the type."""


def glu(input: Tensor, dim: int) -> Tensor:
    """The first half of `input` along a dim, times the sigmoid of the second."""
    tensor(input, _any, "glu")
    ndim = input._data.ndim
    if not ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    at = dims.one(dim, ndim, "glu", "dim", 2)
    size = input._data.shape[at]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {at} is size {size}")
    return _glu_row(tensor(input, _refuse, "glu"), at)
