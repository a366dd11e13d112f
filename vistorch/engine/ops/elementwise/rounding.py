"""Rounding, signs and what rounding leaves over.

Invariant: what is constant between jumps has gradient zero, not none.
"""

from __future__ import annotations

import numpy as np

from ...base import errors
from ...base.dims import whole
from ...core import out_argument
from ...core.inplace import general, pointwise, replace
from ...core.op_factory import op
from ...core.pointwise import unary
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...core.type_promotion import check_exact, compute, finish
from .dtype_checks import both, missing, sentence
from .rows import one

ZERO = r"\bar x = 0"


def _flat(F, g):
    return F.zeros_like(g)


def _refused(name):
    return both(
        missing(f"{name}_vml_cpu", "b"),
        sentence("c", f"{name} is not supported for complex inputs", NotImplementedError),
    )


floor = one(
    "floor",
    "floor",
    "Round down.",
    "[-0.5, 1.5]",
    "tensor([-1.,  1.])",
    ints="same",
    check=_refused("floor"),
    formula=ZERO,
    input=_flat,
)
ceil = one(
    "ceil",
    "ceil",
    "Round up.",
    "[-0.5, 1.5]",
    "tensor([-0., 2.])",
    ints="same",
    check=_refused("ceil"),
    formula=ZERO,
    input=_flat,
)
trunc = one(
    "trunc",
    "trunc",
    "Round towards zero.",
    "[-1.5, 1.5]",
    "tensor([-1.,  1.])",
    aliases="fix",
    ints="same",
    check=_refused("trunc"),
    formula=ZERO,
    input=_flat,
)
frac = one(
    "frac",
    lambda xp, input: input - xp.trunc(input),
    "Keep what rounding towards zero leaves over.",
    "[-1.5, 1.25]",
    "tensor([-0.5000,  0.2500])",
    ints="same",
    check=missing("frac_cpu", "ibc"),
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)
round_row = unary(
    "round",
    lambda xp, input: xp.rint(input) if input.dtype.kind == "f" else xp.array(input),
    ints="same",
    check=missing("round_vml_cpu", "bc"),
    formula=ZERO,
    input=_flat,
)


def _to_decimals(xp, input, decimals):
    if decimals == 0:
        return xp.rint(input)
    power = input.dtype.type(10.0 ** abs(decimals) if abs(decimals) < 309 else xp.inf)
    return xp.rint(input * power) / power if decimals > 0 else xp.rint(input / power) * power


decimals_row = op(
    "round_decimals",
    _to_decimals,
    name_in_graph="RoundBackward1",
    formula=ZERO,
    input=_flat,
)


@public(name="round")
def round_(input, *, decimals=None, out=None):
    """Round to the nearest whole number, or to that many decimals; halves go to the even neighbour.

    Args:
        input: a tensor.
        decimals: how many digits to keep after the point; before it, if negative.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.round(vistorch.tensor([0.5, 1.5, 2.6]))
        tensor([0., 2., 3.])
        >>> vistorch.round(vistorch.tensor([1.234]), decimals=1)
        tensor([1.2000])
    """
    if decimals is None:
        return round_row(input) if out is None else round_row(input, out=out)
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("round", "input", 1, input)
    decimals = whole(decimals, "round", "decimals", 2)
    a = input._data
    missing("round_cpu" if decimals else "round_vml_cpu", "ibc")(a.dtype)
    rule = decimals_row.rule
    if out is not None:
        out_argument.check_out("round", out, (input,))
        check_exact(out, a.dtype)
    d = compute(rule, input._place, [a], a.dtype, (decimals,))
    return finish(rule, input._place, d, (input,), out, (decimals,))


METHODS["round_"] = FUNCTIONS["round_"] = general(round_, "round_")


def _sign(xp, input):
    """Numpy's own, but 0 for nan."""
    if input.dtype.kind == "f":
        if xp is np and input.ndim:
            return np.subtract((input > 0).view("i1"), (input < 0).view("i1"), dtype="i1").astype(input.dtype)
        out = xp.asarray(xp.sign(input))
        xp.putmask(out, out != out, 0)
        return out
    return (
        xp.array(input) if input.dtype.kind == "b" else xp.subtract(input > 0, input < 0, dtype=input.dtype)
    )


def _sgn(xp, input):
    if input.dtype.kind != "c":
        return _sign(xp, input)
    size = xp.abs(input)
    return xp.where(size == 0, xp.zeros((), input.dtype), input / xp.where(size == 0, 1, size))


def _sgn_slope(F, g, input, out, input_dtype):
    if input_dtype.kind != "c":
        return F.zeros_like(g)
    size = F.abs(input)
    zero = F.eq(size, 0)
    along = F.real_part(g * F.conj(out)) * out
    return F.where(zero, 0.0, (g - along) / F.where(zero, 1.0, size))


op(
    "real_part",
    lambda xp, input: xp.array(xp.real(input)),
    name_in_graph="RealBackward0",
    holomorphic=False,
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)
sign = one(
    "sign",
    _sign,
    "Take the sign: -1, 0 or 1.",
    "[-2.0, 0.0, 3.0]",
    "tensor([-1.,  0.,  1.])",
    ints="same",
    check=sentence(
        "c",
        "Unlike NumPy, vistorch.sign is not intended to support complex numbers. Please use vistorch.sgn instead.",
        NotImplementedError,
    ),
    formula=ZERO,
    input=_flat,
)
sgn = one(
    "sgn",
    _sgn,
    "Take the sign, of a complex number its direction.",
    "[-2.0, 0.0, 3.0]",
    "tensor([-1.,  0.,  1.])",
    ints="same",
    holomorphic=False,
    formula=r"\bar x = (\bar y - \mathrm{Re}(\bar y\, \overline{y})\, y) / |x|",
    input=_sgn_slope,
)
signbit = one(
    "signbit",
    lambda xp, input: xp.asarray(input < 0) if input.dtype.kind in "iub" else xp.signbit(input),
    "Tell which elements carry a minus sign, -0.0 among them.",
    "[-1.0, -0.0, 1.0]",
    "tensor([ True,  True, False])",
    inplace=False,
    ints="only bool",
    check=sentence("c", "signbit is not implemented for complex tensors.", NotImplementedError),
)


def _abs_slope(F, g, input):
    return g * F.sgn(input)


abs_ = one(
    "abs",
    "absolute",
    "Take the absolute value.",
    "[-1.0, 2.0]",
    "tensor([1., 2.])",
    inplace=False,
    aliases="absolute",
    ints="same",
    check=missing("abs_cpu", "b"),
    holomorphic=False,
    formula=r"\bar x = \bar y\, \mathrm{sgn}(x)",
    input=_abs_slope,
)


def _abs_in_place():
    plain = pointwise(abs_)

    def refuse(input):
        raise RuntimeError("In-place abs is not supported for complex tensors.")

    def write(input):
        if isinstance(input, Tensor) and input._data.dtype.kind == "c":
            return replace(input, refuse, (), {})
        return plain(input)

    write.__name__ = write.__qualname__ = "abs_"
    return write


for _label in ("abs_", "absolute_"):
    METHODS[_label] = _abs_in_place()
FUNCTIONS["abs_"] = METHODS["abs_"]
