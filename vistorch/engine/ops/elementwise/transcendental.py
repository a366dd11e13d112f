"""Exponentials, logarithms, circular and hyperbolic functions.

Invariant: formulas are those of the real functions; the executor conjugates for complex nodes.
"""

from __future__ import annotations

import math

import numpy as np

from .dtype_checks import missing, sentence
from .rows import one, two

LN2, LN10 = math.log(2), math.log(10)
_ONE = {
    np.dtype(kind): np.ones((), kind) for kind in ("f4", "f8")
}  # numpy adds a 0-d array sooner than a number


def _exp2(xp, input):
    return xp.exp(input * LN2) if input.dtype.kind == "c" else xp.exp2(input)


def _log2(xp, input):
    return xp.log(input) / LN2 if input.dtype.kind == "c" else xp.log2(input)


def _sigmoid(xp, input):
    out = xp.negative(input)
    if not out.ndim:
        return 1 / (xp.exp(out) + 1)
    xp.exp(out, out)
    xp.add(out, _ONE.get(out.dtype, 1) if xp is np else 1, out)
    return xp.reciprocal(out, out)


def _acosh_slope(F, g, input, input_dtype):
    if input_dtype.kind == "c":  # one root of the product has the wrong sign in half of the plane
        return g * F.rsqrt(input - 1) * F.rsqrt(input + 1)
    return g * F.rsqrt(input * input - 1)


exp = one(
    "exp",
    "exp",
    "Raise e to each element.",
    "[0.0, 1.0]",
    "tensor([1.0000, 2.7183])",
    formula=r"\bar x = \bar y\, e^x",
    input=lambda F, g, out: F.mul(g, out),
)
exp2 = one(
    "exp2",
    _exp2,
    "Raise 2 to each element.",
    "[0.0, 3.0]",
    "tensor([1., 8.])",
    formula=r"\bar x = \bar y\, y \ln 2",
    input=lambda F, g, out: g * (out * LN2),
)
expm1 = one(
    "expm1",
    "expm1",
    "Raise e to each element and take away 1, exactly for small elements too.",
    "[0.0, 1.0]",
    "tensor([0.0000, 1.7183])",
    formula=r"\bar x = \bar y\, (y + 1)",
    input=lambda F, g, out: g * (out + 1),
)
log = one(
    "log",
    "log",
    "Take the natural logarithm.",
    "[1.0, 10.0]",
    "tensor([0.0000, 2.3026])",
    formula=r"\bar x = \bar y / x",
    input=lambda F, g, input: g / input,
)
log2 = one(
    "log2",
    _log2,
    "Take the logarithm to base 2.",
    "[1.0, 8.0]",
    "tensor([0., 3.])",
    formula=r"\bar x = \bar y / (x \ln 2)",
    input=lambda F, g, input: g / (input * LN2),
)
log10 = one(
    "log10",
    "log10",
    "Take the logarithm to base 10.",
    "[1.0, 10.0]",
    "tensor([0., 1.])",
    formula=r"\bar x = \bar y / (x \ln 10)",
    input=lambda F, g, input: g / (input * LN10),
)
log1p = one(
    "log1p",
    "log1p",
    "Take the natural logarithm of 1 + x, exactly for small x too.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.6931])",
    name_in_graph="Log1PBackward0",
    formula=r"\bar x = \bar y / (1 + x)",
    input=lambda F, g, input: g / (input + 1),
)
sin = one(
    "sin",
    "sin",
    "Take the sine.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.8415])",
    formula=r"\bar x = \bar y \cos x",
    input=lambda F, g, input: g * F.cos(input),
)
cos = one(
    "cos",
    "cos",
    "Take the cosine.",
    "[0.0, 1.0]",
    "tensor([1.0000, 0.5403])",
    formula=r"\bar x = -\bar y \sin x",
    input=lambda F, g, input: g * -F.sin(input),
)
tan = one(
    "tan",
    "tan",
    "Take the tangent.",
    "[0.0, 1.0]",
    "tensor([0.0000, 1.5574])",
    formula=r"\bar x = \bar y\, (1 + y^2)",
    input=lambda F, g, out: g * (1 + out * out),
)
asin = one(
    "asin",
    "arcsin",
    "Take the angle with this sine.",
    "[0.0, 1.0]",
    "tensor([0.0000, 1.5708])",
    aliases="arcsin",
    formula=r"\bar x = \bar y / \sqrt{1 - x^2}",
    input=lambda F, g, input: g * F.rsqrt(1 - input * input),
)
acos = one(
    "acos",
    "arccos",
    "Take the angle with this cosine.",
    "[0.0, 1.0]",
    "tensor([1.5708, 0.0000])",
    aliases="arccos",
    formula=r"\bar x = -\bar y / \sqrt{1 - x^2}",
    input=lambda F, g, input: g * -F.rsqrt(1 - input * input),
)
atan = one(
    "atan",
    "arctan",
    "Take the angle with this tangent.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.7854])",
    aliases="arctan",
    formula=r"\bar x = \bar y / (1 + x^2)",
    input=lambda F, g, input: g / (input * input + 1),
)
sinh = one(
    "sinh",
    "sinh",
    "Take the hyperbolic sine.",
    "[0.0, 1.0]",
    "tensor([0.0000, 1.1752])",
    formula=r"\bar x = \bar y \cosh x",
    input=lambda F, g, input: g * F.cosh(input),
)
cosh = one(
    "cosh",
    "cosh",
    "Take the hyperbolic cosine.",
    "[0.0, 1.0]",
    "tensor([1.0000, 1.5431])",
    formula=r"\bar x = \bar y \sinh x",
    input=lambda F, g, input: g * F.sinh(input),
)
tanh = one(
    "tanh",
    "tanh",
    "Take the hyperbolic tangent.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.7616])",
    formula=r"\bar x = \bar y\, (1 - y^2)",
    input=lambda F, g, out: F.tanh_backward(g, out),
)
asinh = one(
    "asinh",
    "arcsinh",
    "Invert the hyperbolic sine.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.8814])",
    aliases="arcsinh",
    formula=r"\bar x = \bar y / \sqrt{x^2 + 1}",
    input=lambda F, g, input: g * F.rsqrt(input * input + 1),
)
acosh = one(
    "acosh",
    "arccosh",
    "Invert the hyperbolic cosine.",
    "[1.0, 2.0]",
    "tensor([0.0000, 1.3170])",
    aliases="arccosh",
    formula=r"\bar x = \bar y / \sqrt{x^2 - 1}",
    input=_acosh_slope,
)
atanh = one(
    "atanh",
    "arctanh",
    "Invert the hyperbolic tangent.",
    "[0.0, 0.5]",
    "tensor([0.0000, 0.5493])",
    aliases="arctanh",
    formula=r"\bar x = \bar y / (1 - x^2)",
    input=lambda F, g, input: g / (1 - input * input),
)
sigmoid = one(
    "sigmoid",
    _sigmoid,
    "Squash to between 0 and 1: 1 / (1 + exp(-x)).",
    "[0.0, 2.0]",
    "tensor([0.5000, 0.8808])",
    formula=r"\bar x = \bar y\, y (1 - y)",
    input=lambda F, g, out: F.sigmoid_backward(g, out),
)


def _over_square(F, input, other):
    """One over the squared distance from the origin; 0 at the origin, where the angle has no slope."""
    square = input * input + other * other
    return F.where(F.eq(square, 0), 0.0, F.reciprocal(square))


atan2 = two(
    "atan2",
    "arctan2",
    "Take the angle of the point (other, input).",
    "vistorch.tensor([1.0, 1.0]), vistorch.tensor([1.0, -1.0])",
    "tensor([0.7854, 2.3562])",
    aliases="arctan2",
    kind="float",
    numbers="",
    refuse=missing("atan2_cpu", "c"),
    formula={
        "input": r"\bar x = \bar z\, y / (x^2 + y^2)",
        "other": r"\bar y = -\bar z\, x / (x^2 + y^2)",
    },
    input=lambda F, g, input, other: g * (other * _over_square(F, input, other)),
    other=lambda F, g, input, other: g * (-input * _over_square(F, input, other)),
)
hypot = two(
    "hypot",
    "hypot",
    "Take the length of the hypotenuse.",
    "vistorch.tensor([3.0]), vistorch.tensor([4.0])",
    "tensor([5.])",
    numbers="",
    refuse=missing("hypot_cpu", "ibc"),
    formula={"input": r"\bar x = \bar z\, x / z", "other": r"\bar y = \bar z\, y / z"},
    input=lambda F, g, input, out: g * (input / out),
    other=lambda F, g, other, out: g * (other / out),
)


def _logaddexp(xp, input, other):
    if input.dtype.kind != "c":
        return xp.logaddexp(input, other)
    swap = input.real < other.real
    large, small = xp.where(swap, other, input), xp.where(swap, input, other)
    same = (input == other) & ~xp.isfinite(input.real)  # infinity minus infinity
    out = large + xp.log1p(xp.exp(small - large))
    return xp.where(same & (large.real == -xp.inf), large, out)


logaddexp = two(
    "logaddexp",
    _logaddexp,
    "Take the logarithm of exp(input) + exp(other) without overflow.",
    "vistorch.tensor([100.0]), vistorch.tensor([100.0])",
    "tensor([100.6931])",
    inplace=False,
    numbers="",
    refuse=missing("logaddexp_cpu", "ib"),
    formula={"input": r"\bar x = \bar z\, e^{x - z}", "other": r"\bar y = \bar z\, e^{y - z}"},
    input=lambda F, g, input, other: g / (1 + F.exp(other - input)),
    other=lambda F, g, input, other: g / (1 + F.exp(input - other)),
)
logaddexp2 = two(
    "logaddexp2",
    "logaddexp2",
    "Take the logarithm to base 2 of 2**input + 2**other without overflow.",
    "vistorch.tensor([3.0]), vistorch.tensor([3.0])",
    "tensor([4.])",
    inplace=False,
    numbers="",
    refuse=missing("logaddexp2_cpu", "ibc"),
    formula={"input": r"\bar x = \bar z\, 2^{x - z}", "other": r"\bar y = \bar z\, 2^{y - z}"},
    input=lambda F, g, input, other: g / (1 + F.exp2(other - input)),
    other=lambda F, g, input, other: g / (1 + F.exp2(input - other)),
)
deg2rad = one(
    "deg2rad",
    lambda xp, input: input * (math.pi / 180),
    "Turn degrees into radians.",
    "[0.0, 180.0]",
    "tensor([0.0000, 3.1416])",
    check=sentence("c", "deg2rad is not supported for complex tensors."),
    formula=r"\bar x = \bar y\, \pi / 180",
    name_in_graph="Deg2RadBackward0",
    input=lambda F, g: g * (math.pi / 180),
)
rad2deg = one(
    "rad2deg",
    lambda xp, input: input * (180 / math.pi),
    "Turn radians into degrees.",
    "[0.0, 1.0]",
    "tensor([ 0.0000, 57.2958])",
    check=sentence("c", "rad2deg is not supported for complex tensors."),
    formula=r"\bar x = \bar y\, 180 / \pi",
    name_in_graph="Rad2DegBackward0",
    input=lambda F, g: g * (180 / math.pi),
)
