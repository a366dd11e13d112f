"""The rarer special functions, those that `vistorch.special` alone offers, and the multivariate gamma function.

Invariant: the kernels compute in float64; a type PyTorch has no kernel for is refused in its words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dims, dtypes, errors
from ...core import inplace, out_argument
from ...core.op_factory import HALVES, op
from ...core.pointwise import binary, unary
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...core.type_promotion import compute, default_float, finish, floating
from ...kernels import bessel_second, special
from ...kernels import zeta as zeta_kernel
from .dtype_checks import both, missing
from .rows import describe
from .special import _log_of, _shaped

ROOT_2, ROOT_HALF = math.sqrt(2), math.sqrt(0.5)


def _no_halves(kernel: str) -> Callable:
    """Refuse half types and complex numbers in the name of a kernel."""

    def check(dt: np.dtype) -> None:
        if dt in HALVES:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(dt).scalar_name}'")

    return both(check, missing(kernel, "c"))


def _one(name: str, kernel: Any, meaning: str, given: str, gives: str, **row: Any) -> Any:
    """A function of one tensor in `vistorch.special`."""
    fn = unary(f"special_{name}", _shaped(kernel), **row)
    return describe(fn, meaning, f"special.{name}(vistorch.tensor({given}))", gives, "input: a tensor.")


entr = _one(
    "entr",
    lambda xp, x: xp.where(
        x > 0, -x * xp.log(x), xp.where(x == 0, 0.0, xp.where(x < 0, -math.inf, x))
    ).astype(x.dtype),
    "Take -x log(x), 0 at 0, and minus infinity below.",
    "[0.0, 0.5]",
    "tensor([0.0000, 0.3466])",
    check=missing("entr_cpu", "c"),
    formula=r"\bar x = -\bar y\,(1 + \ln x)",
    input=lambda F, g, input: -(g * (F.log(input) + 1)),
)
erfcx = _one(
    "erfcx",
    special.erfcx,
    "Take exp(x^2) erfc(x).",
    "[0.0, 1.0]",
    "tensor([1.0000, 0.4276])",
    check=_no_halves("erfcx_cpu"),
    formula=r"\bar x = \bar y\,(2 x y - \tfrac{2}{\sqrt\pi})",
    input=lambda F, g, input, out: g * (input * out * 2 - 2 / math.sqrt(math.pi)),
)
ndtr = _one(
    "ndtr",
    special.ndtr,
    "Take the area under the normal density left of x.",
    "[0.0, 1.0]",
    "tensor([0.5000, 0.8413])",
    name_in_graph="MulBackward1",
    check=missing("erf_vml_cpu", "c"),
    formula=r"\bar x = \bar y\, \tfrac{1}{\sqrt{2\pi}} e^{-x^2/2}",
    input=lambda F, g, input: g * (F.exp(input * input * -0.5) / math.sqrt(2 * math.pi)),
)
ndtri = _one(
    "ndtri",
    special.ndtri,
    "Invert `ndtr`.",
    "[0.5, 0.8413]",
    "tensor([0.0000, 0.9998])",
    check=_no_halves("ndtri_cpu"),
    formula=r"\bar x = \bar y\, \sqrt{2\pi}\, e^{y^2/2}",
    input=lambda F, g, out: g * (F.exp(out * out * 0.5) * math.sqrt(2 * math.pi)),
)
log_ndtr = _one(
    "log_ndtr",
    special.log_ndtr,
    "Take the logarithm of `ndtr`.",
    "[0.0, 1.0]",
    "tensor([-0.6931, -0.1728])",
    check=_no_halves("log_ndtr_cpu"),
    formula=r"\bar x = \bar y\, \sqrt{2/\pi}\, /\, \mathrm{erfcx}(-x/\sqrt2)",
    input=lambda F, g, input: g / F.special_erfcx(input * -ROOT_HALF) * math.sqrt(2 / math.pi),
)
i0e = _one(
    "i0e",
    special.i0e,
    "Take exp(-|x|) I0(x), the scaled modified Bessel function.",
    "[0.0, 1.0]",
    "tensor([1.0000, 0.4658])",
    name_in_graph="SpecialI0EBackward0",
    check=missing("i0e_cpu", "c"),
    formula=r"\bar x = \bar y\,(e^{-|x|} I_1(x) - \mathrm{sgn}(x)\, y)",
    input=lambda F, g, input, out: g * (F.special_i1e(input) - F.sign(input) * out),
)
i1e = _one(
    "i1e",
    special.i1e,
    "Take exp(-|x|) I1(x), the scaled modified Bessel function.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.2079])",
    name_in_graph="SpecialI1EBackward0",
    check=missing("i1e_cpu", "c"),
    formula=r"\bar x = \bar y\,(e^{-|x|} I_0(x) - y\,(\mathrm{sgn}(x) + 1/x))",
    input=lambda F, g, input, out: (
        g
        * F.where(
            F.eq(input, 0),
            0.5,
            F.special_i0e(input) - out * (F.sign(input) + 1 / F.where(F.eq(input, 0), 1.0, input)),
        )
    ),
)


def _plain(name: str, kernel: Any, meaning: str, at_one: str, check: str = "") -> Any:
    """A function PyTorch gives no gradient."""
    check = check or f"{name}_cpu"
    return _one(name, kernel, meaning, "[1.0]", f"tensor([{at_one}])", check=_no_halves(check))


bessel_j0 = _plain("bessel_j0", bessel_second.bessel_j0, "The Bessel function J0.", "0.7652")
bessel_j1 = _plain("bessel_j1", bessel_second.bessel_j1, "The Bessel function J1.", "0.4401")
bessel_y0 = _plain("bessel_y0", bessel_second.bessel_y0, "The Bessel function Y0.", "0.0883")
bessel_y1 = _plain("bessel_y1", bessel_second.bessel_y1, "The Bessel function Y1.", "-0.7812")
modified_bessel_i0 = _plain("modified_bessel_i0", special.i0, "The Bessel function I0.", "1.2661")
modified_bessel_i1 = _plain("modified_bessel_i1", special.i1, "The Bessel function I1.", "0.5652")
modified_bessel_k0 = _plain(
    "modified_bessel_k0", bessel_second.bessel_k(0, False), "The Bessel function K0.", "0.4210"
)
modified_bessel_k1 = _plain(
    "modified_bessel_k1", bessel_second.bessel_k(1, False), "The Bessel function K1.", "0.6019"
)
scaled_modified_bessel_k0 = _plain(
    "scaled_modified_bessel_k0",
    bessel_second.bessel_k(0, True),
    "The Bessel function K0 times exp(x).",
    "1.1445",
)
scaled_modified_bessel_k1 = _plain(
    "scaled_modified_bessel_k1",
    bessel_second.bessel_k(1, True),
    "The Bessel function K1 times exp(x).",
    "1.6362",
)
spherical_bessel_j0 = _plain(
    "spherical_bessel_j0", bessel_second.spherical_j0, "The spherical Bessel function j0.", "0.8415"
)


def _xlog1py(xp, input, other):
    other = xp.asarray(other, dtype=input.dtype)
    out = input * xp.log1p(other)
    return xp.where((input == 0) & ~xp.isnan(other), xp.zeros((), out.dtype), out)


def _xlog1py_input(F: Any, g: Any, input: Any, other: Any) -> Any:
    number = other.__class__ in (int, float, bool)
    zero = input == 0 if input.__class__ in (int, float, bool) else F.eq(input, 0)
    below = other <= -1 if number else F.le(other, -1)
    return F.where(zero & below, 0.0, g * (_log_of(F, other + 1) if number else F.log1p(other)))


xlog1py = binary(
    "special_xlog1py",
    _xlog1py,
    kind="float",
    name_in_graph="SpecialXlog1PyBackward0",
    names=("SpecialXlog1PyBackward2", "SpecialXlog1PyBackward1"),
    refuse=missing("xlog1py_cpu", "c"),
    formula={"input": r"\bar x = \bar z \ln(1 + y)", "other": r"\bar y = \bar z\, x / (1 + y)"},
    input=_xlog1py_input,
    other=lambda F, g, input, other: g * (input / (other + 1)),
)
describe(
    xlog1py,
    "Take input * log1p(other), and 0 where `input` is 0.",
    "special.xlog1py(vistorch.tensor([0.0, 2.0]), vistorch.tensor([-1.0, 1.0]))",
    "tensor([0.0000, 1.3863])",
    "input: a tensor or a number.\n    other: a tensor or a number.",
)


def _alike(xp, input, other):
    """Both as arrays of one type: a formula may give a number."""
    kind = getattr(input, "dtype", None) or other.dtype
    return xp.asarray(input, dtype=kind), xp.asarray(other, dtype=kind)


def _no_slope(F: Any, g: Any) -> Any:
    raise NotImplementedError("the derivative for 'zeta' is not implemented.")


zeta = binary(
    "special_zeta",
    lambda xp, input, other: zeta_kernel.zeta(xp, *_alike(xp, input, other)),
    kind="float",
    name_in_graph="SpecialZetaBackward0",
    names=("SpecialZetaBackward2", "SpecialZetaBackward1"),
    refuse=_no_halves("zeta_cpu"),
    formula={"input": r"\text{none}", "other": r"\bar y = -\bar z\, x\, \zeta(x + 1, y)"},
    input=_no_slope,
    other=lambda F, g, input, other: -(g * input * F.special_zeta(input + 1, other)),
)
describe(
    zeta,
    "Take Hurwitz' zeta function: the sum of (other + k)^-input over k = 0, 1, 2, ...",
    "special.zeta(vistorch.tensor([2.0]), 1)",
    "tensor([1.6449])",
    "input: a tensor or a number.\n    other: a tensor or a number.",
)


def _mvlgamma(xp, input, p):
    out = xp.full(input.shape, p * (p - 1) / 4 * math.log(math.pi), input.dtype)
    for k in range(p):
        out = out + special.lgamma(xp, xp.asarray(input - k / 2))
    return out


def _mvlgamma_slope(F: Any, g: Any, input: Any, p: int) -> Any:
    total = F.digamma(input)
    for k in range(1, p):
        total = total + F.digamma(input - k / 2)
    return g * total


mvlgamma_row = op(
    "mvlgamma",
    _mvlgamma,
    formula=r"\bar x = \bar y \textstyle\sum_{k<p} \psi(x - k/2)",
    input=_mvlgamma_slope,
)


@public()
def mvlgamma(input: Any, p: int, *, out: Any = None) -> Tensor:
    """Take the logarithm of the multivariate gamma function of p dims.

    Args:
        input: a tensor.
        p: how many dims.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.mvlgamma(vistorch.tensor([3.0, 4.0]), 2)
        tensor([1.5502, 3.5651])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("mvlgamma", "input", 1, input)
    p = dims.whole(p, "mvlgamma", "p", 2)
    dt = input._data.dtype
    if out is not None:
        out_argument.check_out("mvlgamma", out, (input,))
    if dt.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    missing("arange_cpu", "c")(dt)
    common = dt if floating(dt) else default_float()
    if out is not None and not dtypes.can_cast(dtypes.of(common), out.dtype):
        raise RuntimeError(
            f"mvlgamma: result type {input.dtype.scalar_name} can't be cast to the desired output type "
            f"{dtypes.of(common).scalar_name}"
        )
    rule = mvlgamma_row.rule
    return finish(
        rule, input._place, compute(rule, input._place, [input._data], common, (p,)), (input,), out, (p,)
    )


def mvlgamma_(input, p):
    """`mvlgamma` in place."""
    if (
        isinstance(input, Tensor)
        and not floating(input._data.dtype)
        and input._data.dtype.kind != "b"
        and p > 0
    ):
        raise RuntimeError(
            f"mvlgamma: result type {input.dtype.scalar_name} can't be cast to the desired output type "
            f"{dtypes.get_default_dtype().scalar_name}"
        )
    return inplace.replace(input, mvlgamma, (p,), {})


METHODS["mvlgamma_"] = mvlgamma_
METHODS["polygamma_"] = inplace.general(METHODS["polygamma"], "polygamma_")


def special_round(input, *, decimals=0, out=None):
    """Round to whole numbers or to decimals; unlike `vistorch.round` it takes no integers.

    Args:
        input: a tensor.
        decimals: how many digits behind the point are kept.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.special.round(vistorch.tensor([1.4, 1.6]))
        tensor([1., 2.])
    """
    if isinstance(input, Tensor):
        missing("round_vml_cpu", "icb")(input._data.dtype)
    return FUNCTIONS["round"](input, decimals=decimals, out=out)


def special_softmax(input, dim, *, dtype=None):
    """The exponentials of the elements along a dim, divided by their sum.

    Args:
        input: a tensor.
        dim: the dim whose elements sum to 1.
        dtype: convert to this type first.

    Example:
        >>> import vistorch
        >>> vistorch.special.softmax(vistorch.zeros(2), 0)
        tensor([0.5000, 0.5000])
    """
    return FUNCTIONS["softmax"](input, dim, dtype=dtype)


def special_log_softmax(input, dim, *, dtype=None):
    """The logarithm of `softmax`.

    Args:
        input: a tensor.
        dim: the dim along which the exponentials sum to 1.
        dtype: convert to this type first.

    Example:
        >>> import vistorch
        >>> vistorch.special.log_softmax(vistorch.zeros(2), 0)
        tensor([-0.6931, -0.6931])
    """
    return FUNCTIONS["log_softmax"](input, dim, dtype=dtype)
