"""Records of the rarer special functions and of the insides of numbers.

Invariant: where torch's own value is the less exact one, the record says so beside its tolerance.
"""

import numpy as np

from tests.ops.record import Lib, Op, S, X, binary, unary

x23, x3, positive = X((2, 3)), X((3,)), X((2, 3), 0.3, 2.0)
i64 = "int64"
NAMED = {"names": "torch documents no names"}
MADE = {"out": "torch makes it of other ops, the last of which takes `out`"}
KEPT = {"names": "torch documents no names", "out": "an `out` that requires grad is refused"}

WHOLE = [
    Op(
        name,
        [
            *(
                S(X(p, -9, 9), X(q, -9, 9))
                for p, q in (((2, 3), (2, 3)), ((3,), ()), ((2, 1), (3,)), ((2,), (3,)))
            ),
            S(X(value=[0, 0, 4, -6], dtype=i64), X(value=[0, 5, 6, 9], dtype=i64)),
        ],
    )
    for name in ("gcd", "lcm")
]
INSIDES = [
    # torch's own gradient fails where a complex number meets a real exponent, and takes 2^-1 of integers for 0
    Op(
        "ldexp",
        [
            S(x23, X((2, 3), -3, 3)).only("float", "int", "bool"),
            S(X((3,), dtype=i64), X((3,), -3, 3)).only("float", "int", "bool"),
        ],
        differs={"mixed": "torch rounds the power of two to the exponent's type first"},
    ),
    Op(
        "ldexp",
        [
            S(x23, X((3,), 0, 4, dtype=i64)),
            S(x23, X((3,), 0, 4, dtype="int32")).only("float", "int", "bool"),
            S(X(value=[0.0, 1e-30, 1.0, -1.0, np.inf]), X(value=[2000, 100, -130, 40, 3], dtype=i64))
            .only("float")
            .forward_only(),
        ],
        tag="whole",
        differs={"out": "torch fails an assertion of its own"},
    ),
    unary("frexp", special=False, avoid=(0, 0.5, 1.0, -0.5, -1.0)),
    Op(
        "frexp",
        [S(X(value=[0.0, -0.0, np.inf, -np.inf, np.nan, 1e-5])).only("float").forward_only()],
        tag="odd",
    ),
    binary("nextafter", scalars=()),
    Op(
        "mvlgamma",
        [S(X((2, 3), 2.6, 5.0), p) for p in (1, 2, 4, 0)] + [S(x3, 2).kink().forward_only()],
        tolerance={"float32": (1e-4, 1e-5)},
    ),
]
SPECIAL = [
    unary("special.entr", 0.2, 2.0),
    unary("special.erfcx", -2.0, 2.0),
    unary("special.ndtr", differs=MADE, tolerance={"float32": (2e-5, 4e-6)}),
    unary("special.ndtri", 0.1, 0.9),
    unary("special.log_ndtr", tolerance={"float32": (5e-5, 2e-6)}),
    unary("special.i0e", avoid=(0,)),
    unary("special.i1", avoid=(0,)),
    unary("special.i1e", avoid=(0,)),
    binary("special.xlog1py", (0.3, 2.0), scalars=(2, 1.5), reflected=(2, 1.5)),
    binary("special.zeta", (2.5, 4.0), (0.5, 2.0), scalars=(2, 1.5), reflected=(2, 3.5)),
    # torch's polynomials lose digits beyond 5; the values here stay below
    *(
        unary(f"special.{name}", 0.2, 4.5, special=False, differs=KEPT, tolerance={"float32": (2e-4, 2e-6)})
        for name in (
            "bessel_j0",
            "bessel_j1",
            "bessel_y0",
            "bessel_y1",
            "modified_bessel_i0",
            "modified_bessel_i1",
            "modified_bessel_k0",
            "modified_bessel_k1",
            "scaled_modified_bessel_k0",
            "scaled_modified_bessel_k1",
            "spherical_bessel_j0",
        )
    ),
    *(
        Op(f"special.{name}", [S(positive)], differs=NAMED)
        for name in (
            "psi",
            "gammaln",
            "expit",
            "expm1",
            "exp2",
            "log1p",
            "sinc",
            "erf",
            "erfc",
            "i0",
            "digamma",
        )
    ),
    Op("special.round", [S(x23), S(x23, decimals=1).only("float")]),
    Op("special.erfinv", [S(X((3,), -0.8, 0.8))]),
    Op("special.logit", [S(X((3,), 0.1, 0.9)), S(X((3,), 0.1, 0.9), 0.2)]),
    Op("special.multigammaln", [S(X((3,), 2.6, 5.0), 2)]),
    Op("special.polygamma", [S(1, positive), S(2, positive)]),
    Op("special.softmax", [S(x23, 1), S(x23, 0, dtype=Lib("float64"))]),
    Op("special.log_softmax", [S(x23, 1), S(x23, 0, dtype=Lib("float64"))]),
    Op("special.logsumexp", [S(x23, 1), S(x23, 0, True)]),
    Op("special.xlogy", [S(positive, positive)]),
]

DEGREES = X(value=[0, 1, 2, 3, 4, 5, 9, -1], dtype=i64)
# 0.3 is inside of every polynomial's interval, 1.3 and -0.7 are not, the rest are ends
PLACES = X(value=[[0.3], [1.3], [-0.7], [1.0], [-1.0], [0.0]])
POLYNOMIALS = [
    Op(
        f"special.{name}",
        [
            S(PLACES, DEGREES),
            *(S(x23, n) for n in (0, 1, 2, 2.7, -1, 7, 12)),
            S(X((2, 3), -3, 3, dtype=i64), 3),
            S(x3, X((3,), 0, 6)),
            S(1.5, DEGREES),
        ],
        tolerance={"float32": (5e-5, 5e-5)},
        differs={
            "names": "torch documents no names",
            "out": "an `out` that requires grad is refused",
        },
    )
    for name in (
        *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
        "hermite_polynomial_h",
        "hermite_polynomial_he",
        "laguerre_polynomial_l",
        "legendre_polynomial_p",
    )
]
POLYNOMIALS.append(
    Op(
        "special.airy_ai",
        [
            S(x23),
            S(X((3, 4), -30.0, 12.0)),
            S(X(value=[0.0, 3.0, -3.0, 104.0, np.inf, -np.inf, np.nan])).only("float").forward_only(),
        ],
        # torch's own has 8 digits between -5 and -2; tests/engine/kernels/test_airy.py has more of them
        tolerance={"float32": (5e-5, 2e-6), "float64": (1e-7, 1e-14)},
        differs=KEPT,
    )
)

OPS = [*WHOLE, *INSIDES, *SPECIAL, *POLYNOMIALS]
