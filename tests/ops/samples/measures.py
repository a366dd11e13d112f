"""Records of distances, covariances, slopes, memberships and what counts places.

Invariant: a sample that torch refuses stays a sample.
"""

import numpy as np

from tests.ops.record import Op, S, X

x3, x5, x0 = X((3,)), X((5,)), X(())
x23, x33, x25, x234 = X((2, 3)), X((3, 3)), X((2, 5)), X((2, 3, 4))
i64 = "int64"
inf = float("inf")
KINDS = ("float", "complex", "int", "bool")

NORMS = [
    # of one kind only: torch's own gradient fails where real and complex tensors meet
    Op(
        "dist",
        [
            S(x23, X((2, 3), seed=1), *p).only(*KINDS)
            for p in ((), (2,), (1,), (3.0,), (0.5,), (inf,), (-inf,))
        ]
        # torch has no gradient for order 0
        + [S(x23, X((2, 3), seed=1), 0).forward_only()]
        + [
            S(x23, X((3,), seed=1)).only(*KINDS),
            S(x23, X((2,))),
            S(x23, X((2, 3), dtype="float32", seed=1)).only("float", "int"),
        ],
    ),
    Op(
        "renorm",
        [
            *(
                S(x23, p, dim, m)
                for p, dim, m in ((2, 0, 1.0), (1, 1, 2), (3.0, -1, 1.5), (2, 0, 100.0), (2, 0, 0))
            ),
            S(x234, 2, 1, 2.0),
            S(x23, inf, 0, 1.0),
            *(S(x23, *bad) for bad in ((0, 0, 1.0), (2, 0, -1), (2, 5, 1.0), (1j, 0, 1.0))),
            S(x3, 2, 0, 1),
        ],
    ),
]
observed = X((5,), 1, 4, dtype=i64)
weights = X((5,), 0.5, 2.0, dtype="float64")
TOGETHER = [
    Op(
        "cov",
        [
            *(S(x) for x in (x25, x5, x234, x0)),
            S(x25, correction=0),
            S(x25, correction=10).only("float", "int"),
            S(x25, fweights=observed).only("float", "int"),
            S(x25, fweights=weights),
            S(x25, aweights=observed),
            S(x25, fweights=X((3,), 1, 4, dtype=i64)),
        ],
    ),
    # torch has other types for weights without dims, by chance
    Op(
        "cov",
        [
            S(x25, aweights=weights).only("float", "int"),
            S(x25, fweights=observed, aweights=weights).only("float", "int"),
        ],
        tag="weights",
        variants=False,
    ),
    # of one variable the correlation is 1 whatever it is
    Op(
        "corrcoef",
        [S(x25), S(X((3, 4))), S(x234)],
        tolerance={"float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5)},
    ),
    Op("corrcoef", [S(x5)], tag="one", variants=False, layouts=False),
]
squares = X((4,), -2, 2)
SLOPES = [
    Op(
        "gradient",
        [
            S(squares),
            S(squares, spacing=2.0),
            S(squares, spacing=2),
            S(squares, edge_order=2),
            S(squares, edge_order=3),
            S(X((3, 4))),
            S(X((3, 4)), spacing=[1.0, 2.0]),
            S(X((3, 4)), dim=1),
            S(X((3, 4)), dim=(0, 1), spacing=2.0),
            S(X((3, 4)), dim=(0, 0)),
            S(X((3, 4)), dim=2),
            S(X((3, 4)), spacing=[1.0]),
            S(squares, spacing=(X(value=[0.0, 1.0, 3.0, 4.0], dtype="float64", grad=False),)),
            S(squares, spacing=(X((2, 2), dtype="float64"),)),
        ],
        variants=False,
    ),
    # of half precision torch rounds the ends in another order
    Op(
        "gradient",
        [S(squares, spacing=(X(value=[0.0, 1.0, 3.0, 4.0], dtype="float64", grad=False),), edge_order=2)],
        tag="places",
        only_dtypes=("float32", "float64", "complex128", "int64"),
        variants=False,
    ),
    Op("gradient", [S(x0), S(X((1,))), S(X((0,)))], tag="small", layouts=False, variants=False),
    # torch overwrites what its own gradient needs
    Op(
        "vander",
        [S(x3, *more).forward_only() for more in ((), (2,), (0,), (1,), (-1,), (4,), (4, True))]
        + [S(x23), S(x3, increasing=True).forward_only()],
    ),
    Op("linalg.vander", [S(x3), S(x23, N=2), S(x3, N=5), S(x3, N=1), S(x0)]),
]
few = X((3,), -2, 2)
PLACES = [
    Op(
        "isin",
        [
            S(X((2, 3), -2, 2), few),
            S(X((2, 3), -2, 2), few, invert=True),
            S(X((2, 3), -2, 2), few, assume_unique=False),
            S(X((2, 3), -2, 2), 1),
            S(X(value=[0.0, np.nan, np.inf]), X(value=[np.nan, np.inf])).only("float"),
            S(X((2, 3), -2, 2), X((20,), -1, 1, seed=1)),
        ],
        differs={"names": "torch calls a number by another name"},
    ),
    # torch makes the number a tensor with the shape of `out`
    Op(
        "isin",
        [S(2, X((2, 3), -2, 2))],
        tag="number",
        layouts=False,
        differs={"out": "ours has no dims", "names": "see above"},
    ),
    Op(
        "unravel_index",
        [
            S(X((3,), 0, 9, dtype=i64), (2, 5)),
            S(X((2, 2), 0, 9, dtype="int32"), (2, 5)),
            S(X((3,), 0, 9, dtype=i64), 7),
            S(X((3,), 0, 9, dtype=i64), (2, -1)),
            S(X((3,), 0, 9, dtype=i64), (2, 2.5)),
            S(X((3,), 0, 9, dtype=i64), 2.5),
            S(x3, (2, 5)).only("float", "bool"),
        ],
    ),
    Op(
        "nonzero_static",
        [S(x, size=n) for x in (X((2, 3), 0, 1), X((3,), 0, 1), x0) for n in (0, 2, 7)]
        + [S(X((3,), 0, 1), size=5, fill_value=9), S(x3, size=-1)],
    ),
    Op(
        "Tensor.sum_to_size",
        [S(x234, *n) for n in ((2, 3, 4), (1, 3, 4), (3, 1), (4,), (1, 1, 1), (2,))]
        + [S(x23, (1, 3)), S(x0)],
    ),
]
points = X((6, 2), distinct=True)
edges = (X(value=[-2.0, -1.0, 0.5, 2.0]), X(value=[-2.0, 2.0]))
COUNTS = [
    Op(
        "histogramdd",
        [
            S(points, [2, 3]),
            S(points, 2),
            S(points, edges).forward_only(),
            S(points, [2, 2], range=[-1.0, 1.0, -1.0, 1.0]),
            S(points, [2, 2], weight=X((6,), seed=1)).forward_only(),
            S(points, [2, 2], density=True),
            S(X((2, 3, 2), distinct=True), [2, 2]),
            S(points, [2]),
            S(points, [2, 0]),
            S(points, [2, 2], range=[0.0, 1.0]),
            S(points, [2, 2], range=[1.0, 0.0, 0.0, 1.0]),
            S(points, [2, 2], weight=X((3,))),
            S(x5, [2]),
        ],
        grad_fn=False,
        layouts=False,
        variants=False,
    ),
]

OPS = [*NORMS, *TOGETHER, *SLOPES, *PLACES, *COUNTS]
