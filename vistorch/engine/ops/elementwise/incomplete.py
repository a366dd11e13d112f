"""The incomplete gamma functions, the gamma function of several dimensions, and the short special functions.

Invariant: a derivative that PyTorch does not have is refused in its words.
"""

from __future__ import annotations

import math
from typing import Any

from ... import errors, outs
from ...call import op
from ...face import public
from ...inplace import general
from ...kernels import incomplete, special
from ...promote import compute, default_float, finish, floating
from ...tensor import Tensor
from .refusals import missing, sentence
from .rows import two


def _refusing(what: str) -> Any:
    def vjp(F: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return vjp


def _density(F: Any, g: Any, input: Any, other: Any) -> Any:
    return g * F.exp((input - 1) * F.log(other) - other - F.lgamma(input))


igamma = two(
    "igamma",
    incomplete.igamma,
    "Take the part of the gamma function's integral, relative to the whole, that lies below `other`.",
    "vistorch.tensor([1.0, 2.0]), vistorch.tensor([1.0, 1.0])",
    "tensor([0.6321, 0.2642])",
    numbers="",
    kind="arith",
    refuse=missing("igamma_cpu", "ibc"),
    formula={"other": r"\bar y = \bar z\, y^{x-1} e^{-y} / \Gamma(x)"},
    input=_refusing("igamma: input"),
    other=_density,
)
igammac = two(
    "igammac",
    incomplete.igammac,
    "Take the part of the gamma function's integral, relative to the whole, that lies above `other`.",
    "vistorch.tensor([1.0, 2.0]), vistorch.tensor([1.0, 1.0])",
    "tensor([0.3679, 0.7358])",
    numbers="",
    kind="arith",
    refuse=missing("igammac_cpu", "ibc"),
    formula={"other": r"\bar y = -\bar z\, y^{x-1} e^{-y} / \Gamma(x)"},
    input=_refusing("igammac: input"),
    other=lambda F, g, input, other: -_density(F, g, input, other),
)


def _lgamma_of_several(xp, input, p):
    halves = xp.arange(p) * -0.5
    wide = (input[..., None] + halves).astype(input.dtype)
    return special.lgamma(xp, wide).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def _digammas(xp, input, p):
    halves = xp.arange(p) * -0.5
    return special.digamma(xp, (input[..., None] + halves).astype(input.dtype)).sum(-1)


def _digammas_slope(F: Any, g: Any, input: Any, p: int) -> Any:
    total = F.polygamma_at(input, 1)
    for j in range(1, p):
        total = total + F.polygamma_at(input - j / 2, 1)
    return g * total


_no_bool = sentence("b", "The input tensor may not be a boolean tensor.")
_no_complex = missing("arange_cpu", "c")
mvlgamma_row = op(
    "mvlgamma",
    _lgamma_of_several,
    formula=r"\bar x = \bar y \sum_{j<p} \psi(x - j/2)",
    input=lambda F, g, input, p: g * F.digammas(input, p),
)
op("digammas", _digammas, formula=r"\bar x = \bar y \sum_{j<p} \psi'(x - j/2)", input=_digammas_slope)


@public()
def mvlgamma(input, p, *, out=None):
    """Take the logarithm of the gamma function of p dimensions.

    Args:
        input: a tensor with elements above (p - 1) / 2.
        p: the number of dimensions.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.mvlgamma(vistorch.tensor([2.0, 3.0]), 2)
        tensor([0.4516, 1.5502])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("mvlgamma", "input", 1, input)
    if isinstance(p, bool) or not isinstance(p, int):
        raise TypeError(f"mvlgamma(): argument 'p' (position 2) must be int, not {type(p).__name__}")
    if out is not None:
        outs.check_out("mvlgamma", out, (input,))
    a = input._data
    _no_bool(a.dtype)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    _no_complex(a.dtype)
    common = a.dtype if floating(a.dtype) else default_float()
    rule = mvlgamma_row.rule
    return finish(rule, input._place, compute(rule, input._place, [a], common, (p,)), (input,), out, (p,))


from ...face import METHODS  # noqa: E402

METHODS["mvlgamma_"] = general(mvlgamma, "mvlgamma_")
