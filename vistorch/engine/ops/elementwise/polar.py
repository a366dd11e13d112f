"""Angles of complex numbers, and complex numbers made of two real tensors.

Invariant: none of these is holomorphic, so their formulas conjugate for themselves.
"""

from __future__ import annotations

import math

import numpy as np

from ...base import dtypes
from ...base.casting import casting
from ...core import out_argument, type_promotion
from ...core.op_factory import op
from ...core.registry import public
from .complex import _tensor
from .rows import one


def _angle(xp, input):
    if input.dtype.kind == "c":
        return xp.angle(input)
    turned = xp.where(input < 0, input.dtype.type(math.pi), input.dtype.type(0))
    return xp.where(xp.isnan(input), input, turned)


def _angle_slope(F, g, input, input_dtype):
    if input_dtype.kind != "c":
        return F.zeros_like(g)
    size = F.abs(input)
    zero = F.eq(size, 0)
    return F.where(zero, 0.0, g * 1j * (input / F.where(zero, 1.0, size * size)))


angle = one(
    "angle",
    _angle,
    "Take the angle of complex numbers; of real ones 0 or pi.",
    "[1.0 + 1.0j, -1.0]",
    "tensor([0.7854, 3.1416])",
    inplace=False,
    holomorphic=False,
    formula=r"\bar x = \bar y\, i x / |x|^2",
    input=_angle_slope,
)


# ---- made of two real tensors -------------------------------------------------------------------------------------
def _joined(xp, real, imag):
    out = xp.empty(xp.broadcast(real, imag).shape, "c8" if real.dtype.itemsize == 4 else "c16")
    out.real, out.imag = real, imag
    return out


_complex = op(
    "complex",
    _joined,
    holomorphic=False,
    formula={"real": r"\bar a = \mathrm{Re}\,\bar z", "imag": r"\bar b = \mathrm{Im}\,\bar z"},
    real=lambda F, g: F.real_part(g),
    imag=lambda F, g: F.imag_part(g),
).rule
op(
    "imag_part",
    lambda xp, input: xp.array(xp.imag(input)),
    name_in_graph="ImagBackward0",
    holomorphic=False,
    formula=r"\bar x = i\,\bar y",
    input=lambda F, g: g * 1j,
)
_polar = op(
    "polar",
    lambda xp, abs, angle: _joined(xp, abs * xp.cos(angle), abs * xp.sin(angle)),
    holomorphic=False,
    formula={
        "abs": r"\bar r = \mathrm{Re}(\overline{\bar z}\,\mathrm{sgn}\,z)",
        "angle": r"\bar\varphi = \mathrm{Re}(\overline{\bar z}\, i z)",
    },
    abs=lambda F, g, angle: F.real_part(F.conj(g) * F.polar(F.ones_like_(angle), angle)),
    angle=lambda F, g, out: F.real_part(F.conj(g) * (out * 1j)),
).rule


def _parts(name, x, y, out):
    """The checks of `complex` and `polar`."""
    a, b = x._data.dtype, y._data.dtype
    halves = {np.dtype("f2")}
    for dt in (a, b):
        if dt not in type_promotion.FLOATS and dt not in halves:
            p, q = dtypes.of(a).scalar_name, dtypes.of(b).scalar_name
            raise RuntimeError(
                f"Expected both inputs to be Half, Float or Double tensors but got {p} and {q}"
            )
    if a != b:
        p, q = dtypes.of(a).scalar_name, dtypes.of(b).scalar_name
        raise RuntimeError(f"Expected object of scalar type {p} but got scalar type {q} for second argument")
    if a in halves:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Half'")
    if out is not None:
        out_argument.check_out(name, out, (x, y))
        wanted = np.dtype("c8" if a.itemsize == 4 else "c16")
        if out._data.dtype != wanted:
            p, q = dtypes.of(wanted).scalar_name, dtypes.of(out._data.dtype).scalar_name
            raise RuntimeError(
                f"Expected object of scalar type {p} but got scalar type {q} for argument 'out'"
            )


def _combine(name, rule, x, y, out):
    _parts(name, x, y, out)
    x, y = type_promotion.same_place(name, x, y)
    d = type_promotion.compute(rule, x._place, [x._data, y._data], None)
    return type_promotion.finish(rule, x._place, d, (x, y), out)


@public(method=False)
def polar(abs, angle, *, out=None):
    """Make complex numbers of sizes and angles.

    Args:
        abs: the sizes.
        angle: the angles.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.polar(vistorch.tensor([2.0]), vistorch.tensor([0.0]))
        tensor([2.+0.j])
    """
    if casting.on and (recast := casting.ask(polar, locals())):
        return recast[0]
    _tensor("polar", abs, "abs")
    _tensor("polar", angle, "angle", 2)
    return _combine("polar", _polar, abs, angle, out)


@public(method=False, name="complex")
def complex_(real, imag, *, out=None):
    """Make complex numbers of real and imaginary parts.

    Args:
        real: the real parts.
        imag: the imaginary parts.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.complex(vistorch.tensor([1.0]), vistorch.tensor([2.0]))
        tensor([1.+2.j])
    """
    _tensor("complex", real, "real")
    _tensor("complex", imag, "imag", 2)
    return _combine("complex", _complex, real, imag, out)


complex_.__name__ = complex_.__qualname__ = "complex"
op("ones_like_", lambda xp, input: xp.ones_like(input), inputs="input")
