"""`vistorch.special`'s orthogonal polynomials, and Airy's function: PyTorch gives none of them a gradient.

Invariant: `n` is a degree, and is cut to a whole number; what comes out is floating.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...core.op_factory import HALVES
from ...core.pointwise import binary, unary
from ...kernels import airy, polynomials
from .dtype_checks import both, missing
from .rows import describe
from .special import _shaped


def _no_halves(kernel: str) -> Any:
    """Refuse half types and complex numbers in the name of a kernel."""

    def check(dt: np.dtype) -> None:
        if dt in HALVES:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(dt).scalar_name}'")

    return both(check, missing(kernel, "c"))


def _polynomial(name: str, kernel: Any, meaning: str, at_two: str) -> Any:
    """A function of x and a degree."""

    def run(xp: Any, input: Any, other: Any) -> Any:
        kind = getattr(input, "dtype", None) or other.dtype
        return kernel(xp, xp.asarray(input, dtype=kind), xp.asarray(other, dtype=kind))

    run.__name__ = name
    fn = binary(f"special_{name}", run, kind="float", refuse=_no_halves(f"{name}_cpu"))

    def call(input, n, *, out=None):
        return fn(input, n, out=out)

    return describe(
        call,
        f"{meaning} of degree n.",
        f"special.{name}(vistorch.tensor([2.0]), 2)",
        f"tensor([{at_two}])",
        "input: a tensor or a number.\n    n: the degree; 0 is given for a negative one.",
    )


_CHEBYSHEV = "Chebyshev's polynomial of the {} kind"
chebyshev_polynomial_t = _polynomial(
    "chebyshev_polynomial_t", polynomials.chebyshev_t, _CHEBYSHEV.format("first"), "7."
)
chebyshev_polynomial_u = _polynomial(
    "chebyshev_polynomial_u", polynomials.chebyshev_u, _CHEBYSHEV.format("second"), "15."
)
chebyshev_polynomial_v = _polynomial(
    "chebyshev_polynomial_v", polynomials.chebyshev_v, _CHEBYSHEV.format("third"), "11."
)
chebyshev_polynomial_w = _polynomial(
    "chebyshev_polynomial_w", polynomials.chebyshev_w, _CHEBYSHEV.format("fourth"), "19."
)
_SHIFTED = _CHEBYSHEV + ", for 0 to 1 in place of -1 to 1,"
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t", polynomials.shifted_chebyshev_t, _SHIFTED.format("first"), "17."
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u", polynomials.shifted_chebyshev_u, _SHIFTED.format("second"), "35."
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v", polynomials.shifted_chebyshev_v, _SHIFTED.format("third"), "29."
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w", polynomials.shifted_chebyshev_w, _SHIFTED.format("fourth"), "41."
)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", polynomials.hermite_h, "Hermite's polynomial, the physicists' one,", "14."
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he", polynomials.hermite_he, "Hermite's polynomial, the statisticians' one,", "3."
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l", polynomials.laguerre_l, "Laguerre's polynomial", "-1."
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p", polynomials.legendre_p, "Legendre's polynomial", "5.5000"
)
airy_ai = describe(
    unary("special_airy_ai", _shaped(airy.airy_ai), check=_no_halves("airy_ai_cpu")),
    "Airy's function Ai.",
    "special.airy_ai(vistorch.tensor([0.0, 1.0]))",
    "tensor([0.3550, 0.1353])",
    "input: a tensor.",
)
