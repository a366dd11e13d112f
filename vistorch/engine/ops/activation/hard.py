"""Straight lines with corners: hardtanh, relu6, hardsigmoid, hardswish.

Invariant: at a corner a gradient is what PyTorch says, from the side it takes it from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op
from ...core.tensor import Tensor
from ...kernels import masks
from ...kernels.bounds import at_least, at_most
from ..elementwise.dtype_checks import both, missing, sentence
from .entry import overwrite, pieces, real, tensor


def _where_kept(xp, mask, x):
    return masks.kept(mask, x) if xp is np else xp.where(mask, x, 0)


# ---- hardtanh -----------------------------------------------------------------------------------------------------
def _hardtanh_piece(xp, input, low, high):
    if input.dtype.kind in "iu":
        low, high = int(low), int(high)
    elif xp is np:
        return np.clip(input, low, high)
    out = xp.maximum(input, low)
    return xp.minimum(out, high, out=out)


def _hardtanh_slope(xp, grad, input, low, high):
    outside = input <= low
    outside |= input >= high
    return _where_kept(xp, ~outside, grad)


_hardtanh = op(
    "hardtanh",
    lambda xp, input, low, high: pieces(xp, _hardtanh_piece, (input,), (low, high)),
    formula=r"\bar x = \bar y\,[a < x < b]",
    input=lambda F, g, input, low, high: F.hardtanh_backward(g, input, low, high),
)
op(
    "hardtanh_backward",
    lambda xp, grad, input, low, high: pieces(xp, _hardtanh_slope, (grad, input), (low, high)),
    inputs="grad input",
    name_in_graph="HardtanhBackwardBackward0",
    formula={"grad": r"\bar g = \bar x\,[a < x < b]", "input": r"\bar x = 0"},
    grad=lambda F, g, input, low, high: F.hardtanh_backward(g, input, low, high),
    input=lambda F, g: F.zeros_like(g),
)
_refuse_hardtanh = both(
    sentence("b", "Bool inputs not supported for hardtanh"),
    sentence("c", "clamp is not supported for complex types", NotImplementedError),
)


def _hardtanh_bounds(input: Any, low: Any, high: Any, name: str) -> tuple:
    bounds = real(low, name, "min_val", 2), real(high, name, "max_val", 3)
    if input._data.dtype.kind == "u" and min(int(b) for b in bounds) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return bounds


def _clip(d: Any, low: float, high: float) -> None:
    at_most(at_least(d, low, out=d), high, out=d)


def hardtanh(input: Tensor, min_val: float, max_val: float, name: str = "hardtanh") -> Tensor:
    """`input`, held between two bounds."""
    tensor(input, _refuse_hardtanh, name)
    return _hardtanh(input, *_hardtanh_bounds(input, min_val, max_val, name))


def hardtanh_(input: Tensor, min_val: float, max_val: float, name: str = "hardtanh_") -> Tensor:
    """`hardtanh` in place."""
    tensor(input, _refuse_hardtanh, name)
    bounds = _hardtanh_bounds(input, min_val, max_val, name)
    return overwrite(input, name, _refuse_hardtanh, _hardtanh, bounds, _clip)


# ---- hardsigmoid --------------------------------------------------------------------------------------------------
def _hardsigmoid_piece(xp, input):
    out = input + 3
    if xp is np:
        at_most(at_least(out, 0, out=out), 6, out=out)
    else:
        xp.maximum(out, 0, out=out)
        xp.minimum(out, 6, out=out)
    out /= 6
    return out


def _hardsigmoid_slope(xp, grad, input):
    inside = input > -3
    inside &= input < 3
    return _where_kept(xp, inside, grad * (1 / 6))


_hardsigmoid = op(
    "hardsigmoid",
    lambda xp, input: pieces(xp, _hardsigmoid_piece, (input,)),
    formula=r"\bar x = \bar y\,[-3 < x < 3] / 6",
    input=lambda F, g, input: F.hardsigmoid_backward(g, input),
)
op(
    "hardsigmoid_backward",
    lambda xp, grad, input: pieces(xp, _hardsigmoid_slope, (grad, input)),
    inputs="grad input",
    name_in_graph="HardsigmoidBackwardBackward0",
    formula={"grad": r"\bar g = \bar x\,[-3 < x < 3] / 6"},
    grad=lambda F, g, input: F.hardsigmoid_backward(g, input),
)
_refuse_hardsigmoid = missing("hardsigmoid_cpu", "ibc")


def hardsigmoid(input: Tensor) -> Tensor:
    """A line, x / 6 + 1/2, held between 0 and 1."""
    return _hardsigmoid(tensor(input, _refuse_hardsigmoid, "hardsigmoid"))


def hardsigmoid_(input: Tensor) -> Tensor:
    """`hardsigmoid` in place."""
    return overwrite(input, "hardsigmoid_", _refuse_hardsigmoid, _hardsigmoid)


# ---- hardswish ----------------------------------------------------------------------------------------------------
def _hardswish_piece(xp, input):
    out = _hardsigmoid_piece(xp, input)
    out *= input
    return out


def _hardswish_slope(xp, grad, input):
    middle = input * (1 / 3)
    middle += 0.5
    middle *= grad
    return _where_kept(xp, ~(input <= -3), masks.chosen(xp, input < 3, middle, grad))


_hardswish = op(
    "hardswish",
    lambda xp, input: pieces(xp, _hardswish_piece, (input,)),
    formula=r"\bar x = \bar y \cdot (x \le -3\ ?\ 0 : x < 3\ ?\ x / 3 + 1/2 : 1)",
    input=lambda F, g, input: F.hardswish_backward(g, input),
)
op(
    "hardswish_backward",
    lambda xp, grad, input: pieces(xp, _hardswish_slope, (grad, input)),
    inputs="grad input",
    name_in_graph="HardswishBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x \cdot (x \le -3\ ?\ 0 : x < 3\ ?\ x / 3 + 1/2 : 1)",
        "input": r"\bar x = \bar y\, g\,[-3 < x < 3] / 3",
    },
    grad=lambda F, g, input: F.hardswish_backward(g, input),
    input=lambda F, g, grad, input: F.where(F.lt(F.abs(input), 3.0), g * grad * (1 / 3), 0.0),
)
_refuse_hardswish = missing("hardswish_cpu", "ibc")


def hardswish(input: Tensor) -> Tensor:
    """`input` times its hardsigmoid."""
    return _hardswish(tensor(input, _refuse_hardswish, "hardswish"))


def hardswish_(input: Tensor) -> Tensor:
    """`hardswish` in place."""
    return overwrite(input, "hardswish_", _refuse_hardswish, _hardswish)
