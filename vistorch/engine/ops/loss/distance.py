"""Losses that grow with the distance of a prediction from its target: squared, smooth, Huber's, soft margin.

Invariant: the kernels see an input and a target of one shape; to broadcast is the caller's part, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...core import type_promotion
from ...core.op_factory import op
from ...core.tensor import Tensor
from ..elementwise.dtype_checks import missing, sentence
from .frame import fits, no_gradient, over, pairwise, part


def _square(xp, input, target):
    d = xp.asarray(input - target)
    d *= d
    return d


def _double(xp, input, target, grad):
    d = xp.asarray(input - target)
    d *= grad * 2
    return d


_mse_row = op(
    "mse_loss",
    lambda xp, input, target, reduction: over(xp, _square, reduction, input, target),
    inputs="input target",
    formula={"input": r"\bar x = \tfrac{2}{n}\, \bar z\, (x - y)", "target": r"\bar y = -\bar x"},
    input=lambda F, g, input, target, reduction: F.mse_loss_backward(
        input, target, part(g, reduction, input.shape)
    ),
    target=lambda F, g, input, target, reduction: F.mse_loss_backward(
        target, input, part(g, reduction, input.shape)
    ),
)
op(
    "mse_loss_backward",
    _double,
    inputs="input target grad",
    name_in_graph="MseLossBackwardBackward0",
    formula={
        "input": r"\bar x = 2\, \bar z\, g",
        "target": r"\bar y = -\bar x",
        "grad": r"\bar g = 2\, \bar z\, (x - y)",
    },
    input=lambda F, g, grad: g * grad * 2,
    target=lambda F, g, grad: g * grad * -2,
    grad=lambda F, g, input, target: F.mse_loss_backward(input, target, g),
)
mse_loss = pairwise(_mse_row, missing("mse_cpu", "ibc"))


# ---- absolute far away, squared near the target ------------------------------------------------------------------
def _bent(xp: Any, input: Any, target: Any, width: float) -> Any:
    """z^2 / 2 up to a width, and straight on: without a branch, by what of z lies within the width."""
    z = xp.asarray(abs(input - target))
    within = xp.asarray(xp.minimum(z, width))
    z -= within * 0.5
    z *= within
    return z


def _smooth_l1(xp, input, target, reduction, beta):
    def each(xp, x, y):
        z = _bent(xp, x, y, beta)
        z *= 1 / beta
        return z

    return over(xp, each, reduction, input, target)


def _cut(xp: Any, input: Any, target: Any, width: float) -> Any:
    d = xp.asarray(input - target)
    xp.minimum(d, width, out=d)
    xp.maximum(d, -width, out=d)
    return d


def _smooth_l1_backward(xp, input, target, grad, beta):
    d = _cut(xp, input, target, beta)
    d *= grad * (1 / beta)
    return d


op(
    "near",
    lambda xp, input, target, width, value: (xp.abs(input - target) < width).astype(input.dtype) * value,
    inputs="input target",
)
_smooth_l1_row = op(
    "smooth_l1_loss",
    _smooth_l1,
    inputs="input target",
    name_in_graph="SmoothL1LossBackward0",
    formula={
        "input": r"\bar x = \tfrac{1}{n}\, \bar z\, \mathrm{clip}((x - y) / \beta, -1, 1)",
        "target": r"\bar y = -\bar x",
    },
    input=lambda F, g, input, target, reduction, beta: F.smooth_l1_loss_backward(
        input, target, part(g, reduction, input.shape), beta
    ),
    target=lambda F, g, input, target, reduction, beta: F.smooth_l1_loss_backward(
        target, input, part(g, reduction, input.shape), beta
    ),
)
op(
    "smooth_l1_loss_backward",
    _smooth_l1_backward,
    inputs="input target grad",
    name_in_graph="SmoothL1LossBackwardBackward0",
    formula={
        "input": r"\bar x = \bar z\, g\,[|x - y| < \beta] / \beta",
        "target": r"\bar y = -\bar x",
        "grad": r"\bar g = \bar z\, \mathrm{clip}((x - y) / \beta, -1, 1)",
    },
    input=lambda F, g, input, target, grad, beta: g * grad * F.near(input, target, beta, 1 / beta),
    target=lambda F, g, input, target, grad, beta: -(g * grad * F.near(input, target, beta, 1 / beta)),
    grad=lambda F, g, input, target, beta: F.smooth_l1_loss_backward(input, target, g, beta),
)
smooth_l1_loss = pairwise(_smooth_l1_row, missing("smooth_l1_cpu", "ibc"))


def _huber(xp, input, target, reduction, delta):
    return over(xp, lambda xp, x, y: _bent(xp, x, y, delta), reduction, input, target)


def _huber_backward(xp, input, target, grad, delta):
    d = _cut(xp, input, target, delta)
    d *= grad
    return d


_huber_row = op(
    "huber_loss",
    _huber,
    inputs="input target",
    formula={
        "input": r"\bar x = \tfrac{1}{n}\, \bar z\, \mathrm{clip}(x - y, -\delta, \delta)",
        "target": r"\bar y = -\bar x",
    },
    input=lambda F, g, input, target, reduction, delta: F.huber_loss_backward(
        input, target, part(g, reduction, input.shape), delta
    ),
    target=lambda F, g, input, target, reduction, delta: F.huber_loss_backward(
        target, input, part(g, reduction, input.shape), delta
    ),
)
op(
    "huber_loss_backward",
    _huber_backward,
    inputs="input target grad",
    name_in_graph="HuberLossBackwardBackward0",
    formula={
        "input": r"\bar x = \bar z\, g\,[|x - y| < \delta]",
        "target": r"\bar y = -\bar x",
        "grad": r"\bar g = \bar z\, \mathrm{clip}(x - y, -\delta, \delta)",
    },
    input=lambda F, g, input, target, grad, delta: g * grad * F.near(input, target, delta, 1.0),
    target=lambda F, g, input, target, grad, delta: -(g * grad * F.near(input, target, delta, 1.0)),
    grad=lambda F, g, input, target, delta: F.huber_loss_backward(input, target, g, delta),
)
huber_loss = pairwise(_huber_row, missing("huber_cpu", "ibc"), of_input=True)


# ---- labels of 1 and -1 ------------------------------------------------------------------------------------------
def _log_of_one_plus(xp, input, target):
    z = xp.exp(-input * target)
    return xp.log(z + 1) if z.dtype.kind == "c" else xp.log1p(z)


def _soft_margin_slope(F: Any, g: Any, input: Any, target: Any, reduction: int) -> Any:
    # exp / (1 + exp), as PyTorch has it: nan where the exponential overflows
    z = F.exp(-(input * target))
    return -target * (z / (z + 1)) * part(g, reduction, input.shape)


_soft_margin_row = op(
    "soft_margin_loss",
    lambda xp, input, target, reduction: over(xp, _log_of_one_plus, reduction, input, target),
    inputs="input target",
    formula={"input": r"\bar x = -\tfrac{1}{n}\, \bar z\, \frac{y\, e^{-xy}}{1 + e^{-xy}}"},
    input=_soft_margin_slope,
)
_minus_bool = sentence(
    "b",
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
    "or `logical_not()` operator instead.",
)
_soft_margin = pairwise(_soft_margin_row, lambda common: None, of_input=True)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: int) -> Tensor:
    """log(1 + exp(-xy)), which PyTorch computes in the memory of -x."""
    if input._data.shape != target._data.shape:
        fits(target, input)
    if target._rg or target._view is not None:
        no_gradient("soft_margin_loss", "target", target)
    own = input._data.dtype
    if own.kind in "iub":
        _minus_bool(own)
        common = type_promotion.result_type(input, target)
        dtypes.check_cast(common if type_promotion.floating(common) else type_promotion.default_float(), own)
    return _soft_margin(input, target, reduction)
