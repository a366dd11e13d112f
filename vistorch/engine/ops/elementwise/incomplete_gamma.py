"""The incomplete gamma functions, the gamma function of several dimensions, and the short special functions.

Invariant: a derivative that PyTorch does not have is refused in its words.
"""

from __future__ import annotations

from typing import Any

from ...kernels import incomplete
from .dtype_checks import missing
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
