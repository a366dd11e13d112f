"""Records of draws with a gradient, their slopes, and the incomplete gamma functions."""

from tests.ops.record import Op, S, X, binary

# torch's slopes are polynomials that are good to three digits; ours are compared with finite differences of the
# distribution function in tests/engine/kernels/test_incomplete.py.
COARSE = {"float32": (2e-3, 2e-3), "float64": (2e-3, 2e-3)}
UNNAMED = {"names": "torch documents no names"}
shapes, rows = X((2, 3), 0.3, 5.0), X((2, 3), 0.5, 3.0)
inside, total = X((2, 3), 0.1, 0.9), X((2, 3), 5.0, 9.0)

OPS = [
    *(
        # the first operand has no gradient, so that only its own sentence is left to be compared
        binary(
            name,
            (0.3, 4.0),
            (0.2, 5.0),
            scalars=(),
            more_samples=[S(X((2, 3), 0.3, 30.0, grad=False), X((2, 3), 0.5, 40.0)).kink()],
        )
        for name in ("igamma", "igammac")
    ),
    Op("_standard_gamma", [S(shapes).forward_only(), S(X(())).forward_only()], values=False),
    Op(
        "_standard_gamma_grad",
        [S(shapes, X((2, 3), 0.3, 5.0)), S(shapes, X((3,), 0.3, 5.0))],
        tolerance=COARSE,
        differs=UNNAMED,
    ),
    Op("_sample_dirichlet", [S(rows)], values=False),
    Op(
        "_dirichlet_grad",
        [S(inside, rows, total), S(inside, rows, X((2, 1), 5.0, 9.0))],
        tolerance=COARSE,
        differs=UNNAMED,
    ),
    Op(
        "binomial",
        [S(X((2, 3), value=[[1.0, 2.0, 3.0], [4.0, 50.0, 60.0]]), inside)],
        values=False,
        differs=UNNAMED,
    ),
]
