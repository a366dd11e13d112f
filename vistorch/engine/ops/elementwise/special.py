"""Special functions: error, gamma and Bessel functions and what is built on them.

Invariant: the kernels are those of `engine.kernels.special`; a GPU may have its own under the same names.
"""

from __future__ import annotations

import math

import numpy as np

from ...base import errors
from ...base.dims import whole
from ...core import out_argument
from ...core.op_factory import op
from ...core.pointwise import unary
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import compute, default_float, finish, floating, number
from ...kernels import special
from .dtype_checks import missing
from .rows import describe, one, two

SHORT = 64
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _shaped(kernel):
    """The kernels want arrays; a row may meet a numpy scalar in a formula."""

    def run(xp, input):
        return kernel(xp, xp.asarray(input))

    run.__name__ = kernel.__name__
    return run


def _short(kernel, each):
    """A handful of numbers goes through Python's own function: the vectorised one has a price of its own."""

    def run(xp, input):
        if input.size <= SHORT and xp is np and input.ndim:
            out = np.fromiter(map(each, input.reshape(-1).tolist()), input.dtype, input.size)
            return out if input.ndim == 1 else out.reshape(input.shape)
        return kernel(xp, xp.asarray(input))

    run.__name__ = kernel.__name__
    return run


erf = one(
    "erf",
    _short(special.erf, math.erf),
    "Take the error function.",
    "[0.0, 1.0]",
    "tensor([0.0000, 0.8427])",
    check=missing("erf_vml_cpu", "c"),
    formula=r"\bar x = \bar y\, \tfrac{2}{\sqrt\pi} e^{-x^2}",
    input=lambda F, g, input: g * (F.exp(-(input * input)) * TWO_OVER_ROOT_PI),
)
erfc = one(
    "erfc",
    _short(special.erfc, math.erfc),
    "Take 1 minus the error function.",
    "[0.0, 1.0]",
    "tensor([1.0000, 0.1573])",
    check=missing("erfc_vml_cpu", "c"),
    formula=r"\bar x = -\bar y\, \tfrac{2}{\sqrt\pi} e^{-x^2}",
    input=lambda F, g, input: g * (F.exp(-(input * input)) * -TWO_OVER_ROOT_PI),
)
erfinv = one(
    "erfinv",
    _shaped(special.erfinv),
    "Invert the error function.",
    "[0.0, 0.5]",
    "tensor([0.0000, 0.4769])",
    check=missing("erfinv_vml_cpu", "c"),
    formula=r"\bar x = \bar y\, \tfrac{\sqrt\pi}{2} e^{y^2}",
    input=lambda F, g, out: g * (F.exp(out * out) / TWO_OVER_ROOT_PI),
)
lgamma = one(
    "lgamma",
    _shaped(special.lgamma),
    "Take the logarithm of the gamma function's absolute value.",
    "[1.0, 4.0]",
    "tensor([0.0000, 1.7918])",
    check=missing("lgamma_vml_cpu", "c"),
    formula=r"\bar x = \bar y\, \psi(x)",
    input=lambda F, g, input: g * F.digamma(input),
)
digamma = one(
    "digamma",
    _shaped(special.digamma),
    "Take the logarithmic derivative of the gamma function.",
    "[1.0, 2.0]",
    "tensor([-0.5772,  0.4228])",
    check=missing("digamma", "c"),
    formula=r"\bar x = \bar y\, \psi'(x)",
    input=lambda F, g, input: g * F.polygamma_at(input, 1),
)

polygamma_row = op(
    "polygamma_at",
    lambda xp, input, n: special.polygamma(xp, n, xp.asarray(input)),
    name_in_graph="PolygammaBackward0",
    formula=r"\bar x = \bar y\, \psi^{(n+1)}(x)",
    input=lambda F, g, input, n: g * F.polygamma_at(input, n + 1),
)


@public(method=False)
def polygamma(n, input, *, out=None):
    """Take the n-th derivative of the digamma function.

    Args:
        n: which derivative, not negative.
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.polygamma(1, vistorch.tensor([1.0, 2.0]))
        tensor([1.6449, 0.6449])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("polygamma", "input", 2, input)
    n = whole(n, "polygamma", "n", 1)
    if out is not None:
        out_argument.check_out("polygamma", out, (input,))
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    a = input._data
    missing("trigamma" if n == 1 else "polygamma", "c")(a.dtype)
    common = a.dtype if floating(a.dtype) else default_float()
    rule = polygamma_row.rule
    return finish(rule, input._place, compute(rule, input._place, [a], common, (n,)), (input,), out, (n,))


def _polygamma_method(self, n):
    """Take the n-th derivative of the digamma function.

    Args:
        self: the tensor.
        n: which derivative, not negative.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0]).polygamma(1)
        tensor([1.6449, 0.6449])
    """
    return polygamma(n, self)


from ...core.registry import METHODS  # noqa: E402

METHODS["polygamma"] = _polygamma_method


def _i0_slope(F, g, input):
    return g * F.i1(input)


i0 = one(
    "i0",
    _shaped(special.i0),
    "Take the modified Bessel function of order 0.",
    "[0.0, 1.0]",
    "tensor([1.0000, 1.2661])",
    check=missing("i0_vml_cpu", "c"),
    formula=r"\bar x = \bar y\, I_1(x)",
    input=_i0_slope,
)
i1 = unary(
    "i1",
    _shaped(special.i1),
    name_in_graph="SpecialI1Backward0",
    check=missing("i1_cpu", "c"),
    formula=r"\bar x = \bar y\, (I_0(x) - I_1(x) / x)",
    input=lambda F, g, input, out: (
        g * F.where(F.eq(input, 0), 0.5, F.i0(input) - out / F.where(F.eq(input, 0), 1.0, input))
    ),
)
i1.rule.public = "special_i1"
describe(
    i1,
    "Take the modified Bessel function of order 1.",
    "special.i1(vistorch.tensor([0.0, 1.0]))",
    "tensor([0.0000, 0.5652])",
    "input: a tensor.",
)


def _sinc_slope(F, g, input):
    turned = input * math.pi
    slope = (turned * F.cos(turned) - F.sin(turned)) / (turned * input)
    return g * F.where(F.eq(turned * input, 0), 0.0, slope)


sinc = one(
    "sinc",
    _shaped(special.sinc),
    "Take sin(pi x) / (pi x), and 1 at 0.",
    "[0.0, 0.5]",
    "tensor([1.0000, 0.6366])",
    formula=r"\bar x = \bar y\, \frac{\pi x \cos \pi x - \sin \pi x}{\pi x^2}",
    input=_sinc_slope,
)


def _xlogy(xp, input, other):
    other = xp.asarray(other, dtype=input.dtype)
    out = input * xp.log(other)
    return xp.where((input == 0) & ~xp.isnan(other), xp.zeros((), out.dtype), out)


def _xlogy_input(F, g, input, other):
    zero = input == 0 if input.__class__ in (int, float, bool) else F.eq(input, 0)
    below = other <= 0 if other.__class__ in (int, float, bool) else F.le(other, 0)
    logarithm = _log_of(F, other)
    return F.where(zero & below, 0.0, g * logarithm)


def _log_of(F, other):
    if other.__class__ in (int, float, bool):
        with np.errstate(all="ignore"):
            return float(np.log(other))
    return F.log(other)


xlogy = two(
    "xlogy",
    _xlogy,
    "Take input * log(other), and 0 where `input` is 0.",
    "vistorch.tensor([0.0, 2.0]), vistorch.tensor([0.0, 1.0])",
    "tensor([0., 0.])",
    kind="float",
    names=("XlogyBackward2", "XlogyBackward1"),
    refuse=missing("xlogy_cpu", "c"),
    formula={"input": r"\bar x = \bar z \ln y", "other": r"\bar y = \bar z\, x / y"},
    input=_xlogy_input,
    other=lambda F, g, input, other: g * (input / other),
)
logit_row = op(
    "logit",
    lambda xp, input, eps: _logit(xp, input, eps),
    formula=r"\bar x = \bar y / (x (1 - x))",
    input=lambda F, g, input, eps: F.where(
        F.outside(input, eps), 0.0 if eps is not None else float("nan"), g / (input * (1 - input))
    ),
)
op("outside", lambda xp, input, eps: (input < (eps or 0)) | (input > 1 - (eps or 0)), widen=False)


def _logit(xp, input, eps):
    if eps is not None:
        input = xp.clip(input, eps, 1 - eps)
    return xp.log(input / (1 - input))


from ...core.inplace import general  # noqa: E402


@public()
def logit(input, eps=None, *, out=None):
    """Invert the sigmoid.

    Args:
        input: a tensor.
        eps: first bring the elements to between eps and 1 - eps.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.logit(vistorch.tensor([0.5, 0.9]))
        tensor([0.0000, 2.1972])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("logit", "input", 1, input)
    if out is not None:
        out_argument.check_out("logit", out, (input,))
    if isinstance(eps, Tensor) and not eps._data.ndim:
        eps = eps._data.item()
    if eps is not None and number(eps) is None:
        raise TypeError(f"logit(): argument 'eps' (position 1) must be float, not {errors.type_name(eps)}")
    a = input._data
    missing("logit_cpu", "c")(a.dtype)
    common = a.dtype if floating(a.dtype) else default_float()
    rule = logit_row.rule
    return finish(rule, input._place, compute(rule, input._place, [a], common, (eps,)), (input,), out, (eps,))


METHODS["logit_"] = general(logit, "logit_")
