"""Records of factors of matrices, of what is solved with them, and of the exponential.

Invariant: factors are made of well-conditioned matrices; what fails is compared by its report, not by its numbers.
"""

from dataclasses import replace

import numpy as np

from tests.ops.record import Op, S, X
from tests.ops.samples.linalg import a33, a34, a43, a233, indefinite, m23, m32, p33, p233, singular, v3

b232 = X((2, 3, 2))
plain = {"variants": False, "layouts": False}
INTO = {"out": "torch lets the types of `out` pass that its kernels can hold"}
TRIANGLE = "torch's gradient shows the triangle that is not read, too"
BOTH = {"gradcheck": TRIANGLE, "gradgradcheck": TRIANGLE, **INTO}


def low(array: np.ndarray) -> np.ndarray:
    """The lower triangle, its diagonal real as that of a Cholesky factor."""
    if array.ndim < 2:
        return array
    real = np.tril(array)
    i = np.arange(min(array.shape[-2:]))
    real[..., i, i] = real[..., i, i].real
    return real


def factored(name: str) -> tuple:
    """A packed factor and fitting pivots."""
    return replace(a33, seed=3), X(value=[1, 3, 3], dtype="int32")


l33, l233 = replace(a33, finish=low), replace(a233, finish=low)
LU, pivots = factored("LU")
pivots2 = X(value=[[2, 3, 3], [1, 2, 3]], dtype="int32")
LU2 = replace(a233, seed=3)
tall, wide = (X(shape, make=a33.make, distinct=True) for shape in ((3, 2), (2, 3)))


def later(L, out):
    """All results but the first."""
    return tuple(out[1:])


FACTORS = [
    Op("linalg.lu", [S(a) for a in (a33, a43, a34, a233, v3)], gauge=later, differs=INTO),
    # P has no gradient, but comes first
    Op(
        "linalg.lu",
        [S(a33).forward_only(), S(a43).forward_only(), S(a33, pivot=False)],
        tag="P",
        differs=INTO,
        **plain,
    ),
    Op(
        "linalg.lu_factor",
        [*(S(a) for a in (a33, a43, a34, a233, v3, singular)), S(a33, pivot=False)],
        differs=INTO,
    ),
    Op(
        "linalg.lu_factor_ex",
        [S(a) for a in (a33, a43, a233)] + [S(singular, check_errors=True)],
        differs=INTO,
    ),
    Op(
        "lu",
        [S(a) for a in (a33, a43, a233)] + [S(a33, get_infos=True)],
        gauge=lambda L, out: tuple(out),
        differs=INTO,
        **plain,
    ),
    Op(
        "lu_unpack",
        [
            S(LU, pivots).forward_only(),
            S(LU2, pivots2).forward_only(),
            S(LU, pivots, unpack_data=False).forward_only(),
            S(LU, pivots, unpack_pivots=False).forward_only(),
            S(LU, X(value=[0, 1, 2], dtype="int32")),
            S(tall, X(value=[2, 2], dtype="int32")).forward_only(),
            S(wide, X(value=[2, 2], dtype="int32")).forward_only(),
            S(LU, X(value=[1, 2, 3], dtype="int64")),
        ],
        tag="P",
        differs=INTO,
        **plain,
    ),
    Op(
        "lu_unpack",
        [
            S(LU, pivots),
            S(LU2, pivots2),
            S(tall, X(value=[2, 2], dtype="int32")),
            S(wide, X(value=[2, 2], dtype="int32")),
        ],
        gauge=later,
        differs=INTO,
        **plain,
    ),
    Op(
        "linalg.lu_solve",
        [
            *(S(LU, pivots, m32, adjoint=adjoint) for adjoint in (False, True)),
            *(S(LU, pivots, m23, left=False, adjoint=adjoint) for adjoint in (False, True)),
            S(LU2, pivots2, b232),
            S(LU2, pivots2, m32),
            S(LU, pivots, m23),
            S(LU, X(value=[0, 1, 2], dtype="int32"), m32),
            S(LU, X(value=[9, 1, 2], dtype="int32"), m32),
            S(LU, pivots, v3),
        ],
        differs={"mixed": "of two faults, the other", **INTO},
        **plain,
    ),
    Op("lu_solve", [S(m32, LU, pivots)], differs={"mixed": "the same", **INTO}, **plain),
    Op(
        "cholesky_solve",
        [
            S(m32, l33),
            S(m32, replace(l33, finish=lambda a: np.swapaxes(low(a), -1, -2)), True),
            *(S(b, factor) for b, factor in ((b232, l233), (m23, l33), (v3, l33), (b232, l33))),
        ],
        differs=BOTH,
        **plain,
    ),
    Op(
        "cholesky_inverse",
        [
            S(l33),
            S(l233),
            S(replace(l33, finish=lambda a: np.swapaxes(low(a), -1, -2)), upper=True),
            S(m23),
            S(v3),
        ],
        differs=BOTH,
        **plain,
    ),
    Op("cholesky", [S(p33), S(p233), S(p33, True), S(indefinite), S(m23)], differs=INTO, **plain),
    Op(
        "triangular_solve",
        [
            S(m32, a33),
            S(m32, a33, False),
            S(m32, a33, transpose=True),
            S(m32, a33, False, True, True),
            S(b232, a233),
            S(m23, a33),
            S(v3, a33),
        ],
        differs={"mixed": "of two faults, the other", **INTO},
        **plain,
    ),
]


def absolute(L, out):
    """Vectors up to a factor of modulus one, by their moduli."""
    return tuple(part.abs() for part in out)


OLDER = [
    Op("qr", [S(a33), S(a43), S(a34), S(a33, False), S(v3)], gauge=absolute, differs=INTO, **plain),
    Op(
        "svd",
        [S(a33), S(a43), S(a34), S(a33, True, False).kink(), S(v3)],
        gauge=absolute,
        differs={"sharing": "torch expands one zero", **INTO},
        **plain,
    ),
    Op(
        "nuclear_norm",
        [S(a33), S(a34), S(a233, (1, 2)), S(a33, (0, 1), True)],
        grad_fn=False,
        differs=INTO,
        **plain,
    ),
    Op("frobenius_norm", [S(a34, 1), S(a34, ()), S(a34, (0, 1), True)], grad_fn=False, differs=INTO, **plain),
    Op(
        "norm_except_dim",
        [S(a34), S(a34, 2, 1), S(a34, 1, -1), S(a233, 2, 1), S(a34, 2, 5)],
        grad_fn=False,
        differs={"sharing": "torch turns a view back"},
        **plain,
    ),
]
EX = [
    Op(
        "linalg.inv_ex",
        [S(a33), S(a233), S(singular, check_errors=True), S(m23)],
        differs=INTO,
        **plain,
    ),
    Op(
        "linalg.cholesky_ex",
        [S(p33), S(p233, upper=True), S(indefinite, check_errors=True)],
        differs=INTO,
        **plain,
    ),
    Op(
        "linalg.solve_ex",
        [S(a33, m32), S(a33, v3), S(a233, b232), S(a33, m23, left=False), S(singular, m22, check_errors=True)]
        if (m22 := X((2, 2)))
        else [],
        differs=INTO,
        **plain,
    ),
    Op(
        "linalg.inv_ex",
        [S(singular).only("float").forward_only()],
        gauge=lambda L, out: out[1],
        tag="failed",
        differs=INTO,
        **plain,
    ),
]
OTHERS = [
    # half types: torch's own overflow on the way
    Op(
        "linalg.matrix_exp",
        [S(X((3, 3))), S(X((2, 2, 2))), S(X((2, 2), -0.1, 0.1)), S(X((2, 2), -6, 6)), S(m23), S(v3)],
        skip_dtypes={"float16": "see above", "bfloat16": "see above"},
        **plain,
    ),
    Op("matrix_exp", [S(X((3, 3)))], skip_dtypes={"float16": "see above", "bfloat16": "see above"}, **plain),
    Op(
        "linalg.tensorinv",
        [
            S(
                X((6, 2, 3), make=lambda rng, shape: np.eye(6).reshape(6, 2, 3) * 2 + rng.random((6, 2, 3))),
                1,
            ),
            S(a33, 1),
            S(a33, 2),
            S(a33, 0),
        ],
        differs={"names": "torch documents others than it takes"},
        grad_fn=False,
        **plain,
    ),
    Op(
        "linalg.tensorsolve",
        [
            S(
                X((2, 3, 6), make=lambda rng, shape: np.eye(6).reshape(2, 3, 6) * 2 + rng.random((2, 3, 6))),
                m23,
            ),
            S(a33, v3),
            S(
                X((2, 6, 3), make=lambda rng, shape: 3 * np.eye(6).reshape(2, 6, 3) + rng.random((2, 6, 3))),
                X((2, 3)),
                (1,),
            ),
            S(a33, m23),
        ],
        **plain,
    ),
]
m33 = X((3, 3))
tau2, tau3, tau23 = X((2,), 0.2, 1.5), X((3,), 0.2, 1.5), X((2, 3), 0.2, 1.5)
COMPOSED = {"grad_fn": False, **plain}  # the gradient is that of each reflection
REFLECTIONS = [
    Op("geqrf", [S(a).forward_only() for a in (a33, a43, a34, a233, v3)], differs=INTO, **plain),
    *(
        Op(
            name,
            [
                S(a33, tau3),
                S(a43, tau3),
                S(a43, tau2),
                S(a233, tau23),
                *(S(*bad) for bad in ((v3, tau3), (a34, tau3), (a43, X((4,))), (a43, tau23), (a233, tau3))),
            ],
            differs={"names": "torch documents no names", **INTO},
            **COMPOSED,
        )
        for name in ("linalg.householder_product", "orgqr")
    ),
    Op(
        "ormqr",
        [
            S(a43, tau3, X((4, 2))),
            S(a43, tau3, X((4, 2)), True, True),
            S(a43, tau3, X((2, 4)), False),
            S(a43, tau3, X((2, 4)), left=False, transpose=True),
            S(a33, tau3, m33),
            S(a233, tau23, a233),
            *(
                S(*bad)
                for bad in ((v3, tau3, m33), (a43, tau3, v3), (a43, tau2, X((4, 2))), (a43, tau3, m33))
            ),
            S(a43, tau23, X((4, 2))),
            S(a233, tau23, m33),
            S(a43, tau3, X((4, 2)), False),
        ],
        differs={"names": "torch documents no names", **INTO},
        **COMPOSED,
    ),
]

OPS = [*FACTORS, *OLDER, *EX, *OTHERS, *REFLECTIONS]
for op in OPS:
    op.strides = False
    if op.name in (
        "lu",
        "lu_solve",
        "cholesky_solve",
        "triangular_solve",
        "qr",
        "frobenius_norm",
        "norm_except_dim",
    ):
        op.differs = {**op.differs, "names": "torch documents others than it takes"}
    op.tolerance = {"float32": (2e-4, 2e-5), "complex64": (2e-4, 2e-5)}
