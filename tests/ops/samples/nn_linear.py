"""Affine and bilinear maps."""

from tests.ops.record import Op, S, X

W, BIAS = X((3, 4)), X((3,), seed=2)
PAIRS = X((3, 2, 4))

OPS = [
    Op(
        "nn.functional.linear",
        [
            S(X((2, 4)), W, BIAS),
            S(X((2, 4)), W),
            S(X((4,)), W, BIAS),
            S(X((4,)), W),
            S(X((2, 5, 4)), W, BIAS),
            S(X((2, 5, 4)), W),
            S(X((2, 1, 5, 4)), W, BIAS),
            S(X((0, 4)), W, BIAS).only("float"),
            S(X((3, 4)), X((4,))),
            S(X((2, 4)), W, X((2, 3))),
            S(X((2, 5)), W, BIAS),
            S(X((2, 4)), W, X((4,))),
            S(X(()), W, BIAS),
        ],
        differs={"out": "torch makes a matrix of a vector first, and resizes `out` to that"},
    ),
    Op(
        "bilinear",
        [
            S(X((5, 2)), X((5, 4)), PAIRS, BIAS),
            S(X((5, 2)), X((5, 4)), PAIRS),
            S(X((2,)), X((4,)), PAIRS, BIAS),
            S(X((6, 5, 2)), X((6, 5, 4)), PAIRS),
            S(X((0, 2)), X((0, 4)), PAIRS, BIAS).only("float"),
        ],
        # torch adds up in half precision, we in float32
        tolerance={"float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)},
    ),
]
