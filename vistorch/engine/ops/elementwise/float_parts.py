"""The insides of numbers: ldexp, frexp, nextafter; and what whole numbers share: gcd, lcm.

Invariant: powers of two are exact; halves are stepped by their own bits, never by those of float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.return_types import frexp as pair
from ...base.return_types import make
from ...core import inplace, out_argument
from ...core.op_factory import HALVES, op
from ...core.pointwise import binary
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...core.type_promotion import default_float, floating, result_type
from ...library_name import library
from .dtype_checks import C_NAMES, missing
from .rows import two

I2 = np.dtype("i2")

gcd = two(
    "gcd",
    "gcd",
    "Take the greatest common divisor.",
    "vistorch.tensor([4, 6]), vistorch.tensor([6, 9])",
    "tensor([2, 3])",
    numbers="",
    floats=False,
    refuse=missing("gcd_cpu", "fcb"),
)
lcm = two(
    "lcm",
    "lcm",
    "Take the least common multiple.",
    "vistorch.tensor([4, 6]), vistorch.tensor([6, 9])",
    "tensor([12, 18])",
    numbers="",
    floats=False,
    refuse=missing("lcm_cpu", "fcb"),
)


def _ldexp(xp, input, other):
    """Exact where the exponent is whole: no power of two overflows on the way."""
    input, other = xp.asarray(input), xp.asarray(other)
    if other.dtype.kind == "c":
        return input * xp.where(other.imag == 0, xp.exp2(other.real), xp.exp(other * math.log(2)))
    whole = other == xp.floor(other)
    steps = xp.clip(xp.where(whole, other, 0), -5000, 5000).astype(np.dtype("i4"))
    return xp.where(whole & (xp.abs(other) < 5000), xp.ldexp(input, steps), input * xp.exp2(other))


ldexp_row = binary(
    "ldexp",
    _ldexp,
    kind="float",
    numbers="",
    formula={"input": r"\bar x = \bar z\, 2^y", "other": r"\bar y = \bar z\, x\, 2^y \ln 2"},
    input=lambda F, g, other: g * F.exp2(other),
    other=lambda F, g, input, other: g * (input * F.exp2(other)) * math.log(2),
)


def _holds(input: Tensor, other: Tensor, target: Tensor) -> None:
    """Refuse a target that cannot hold the result."""
    common = result_type(input, other)
    common = common if floating(common) else default_float()
    if common.kind != "c" and not dtypes.can_cast(dtypes.of(common), target.dtype):
        raise RuntimeError(f"ldexp can't be cast to the desired output type {target.dtype.scalar_name}")


@public()
def ldexp(input, other, *, out=None):
    """Take input times 2 to the power of other.

    Args:
        input: a tensor.
        other: a tensor of exponents.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.ldexp(vistorch.tensor([1.0, 3.0]), vistorch.tensor([2, -1]))
        tensor([4.0000, 1.5000])
    """
    for t, argument, position in ((input, "input", 1), (other, "other", 2)):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor("ldexp", argument, position, t)
    if out is None:
        if other._data.dtype.kind == "b" and floating(input._data.dtype):
            raise NotImplementedError("\"ldexp_cpu_exp\" not implemented for 'Bool'")
        return ldexp_row(input, other)
    out_argument.check_out("ldexp", out, (input, other))
    _holds(input, other, out)
    return ldexp_row(input, other, out=out)


def ldexp_(input, other):
    """`ldexp` in place."""
    if isinstance(input, Tensor) and isinstance(other, Tensor):
        _holds(input, other, input)
    return inplace.replace(input, ldexp_row, (other,), {})


FUNCTIONS["ldexp_"] = METHODS["ldexp_"] = ldexp_


def _next_half(a, b):
    """The neighbour of a half-precision number: one step of its magnitude, read as an integer."""
    bits, away = a.view(I2), (b > a) == (a > 0)
    out = (bits + np.where(away, 1, -1).astype(I2)).view(a.dtype)
    least = np.where(b > 0, 1, -0x7FFF).astype(I2).view(a.dtype)
    out = np.where(a == 0, least, out)
    return np.where(a == b, b, np.where((a != a) | (b != b), a + b, out)).astype(a.dtype)


def _nextafter(xp, input, other):
    if input.dtype in HALVES:
        given = np.broadcast_arrays(*[a.get() if hasattr(a, "get") else a for a in (input, other)])
        # not ascontiguousarray, which gives what has no dims one
        return xp.asarray(_next_half(*[np.array(a, order="C") for a in given]))
    return xp.nextafter(input, other)


nextafter = two(
    "nextafter",
    _nextafter,
    "Take the next number after `input` towards `other`.",
    "vistorch.tensor([1.0]), vistorch.tensor([1.0])",
    "tensor([1.])",
    numbers="",
    refuse=missing("nextafter_cpu", "icb"),
    formula={"input": r"\bar x = \bar z\,[x \ne y]", "other": r"\bar y = 0"},
    input=lambda F, g, input, other: F.where(F.eq(input, other), 0.0, g),
    other=lambda F, g: F.zeros_like(g),
)
nextafter.rule.widen = False  # a neighbour in float32 is no neighbour

frexp_row = op(
    "frexp",
    lambda xp, input: _parts(xp, input),
    formula=r"\bar x = \bar m / 2^e",
    input=lambda F, g, out1: g / F.exp2(F.cast(out1, np.dtype("f8"))),
)


def _parts(xp, input):
    mantissa, exponent = xp.frexp(input)
    # C leaves it open which exponent goes with inf and nan, and some systems write none.
    return mantissa, xp.where(xp.isfinite(input), exponent, 0).astype(np.dtype("i4"))


def _spelled(dtype: Any) -> str:
    return C_NAMES[str(dtype).rpartition(".")[2]]


@public()
def frexp(input: Any, *, out: Any = None) -> Any:
    """Take numbers apart into a mantissa between 0.5 and 1 and the exponent of 2.

    Args:
        input: a floating point tensor.
        out: two tensors.

    Example:
        >>> import vistorch
        >>> vistorch.frexp(vistorch.tensor([3.0])).mantissa
        tensor([0.7500])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("frexp", "input", 1, input)
    dt = input._data.dtype
    if out is not None:
        out_argument.check_outs("frexp", out, (input,))
    if dt.kind == "c" or not floating(dt):
        raise RuntimeError(f"{library}.frexp() only supports floating-point dtypes")
    if out is None:
        return make(pair, frexp_row(input))
    wanted = dtypes.of(dt)
    if out[0].dtype is not wanted:
        raise RuntimeError(
            f"{library}.frexp() expects mantissa to have dtype "
            f"{_spelled(wanted)} but got {_spelled(out[0].dtype)}"
        )
    if out[1].dtype is not dtypes.int32:
        raise RuntimeError(
            f"{library}.frexp() expects exponent to have int dtype but got {_spelled(out[1].dtype)}"
        )
    return make(pair, tuple([out_argument.deliver(o, r) for o, r in zip(out, frexp_row(input), strict=True)]))
