"""Affine maps."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

LAYERS = [
    Layer("Identity", [B().on(S(X((2, 3)))), B(54, unused=0.1)]),
    Layer(
        "Linear",
        [
            B(4, 3).on(S(X((2, 4))), S(X((4,))), S(X((2, 3, 4))), S(X((0, 4)))),
            B(4, 3, bias=False).on(S(X((2, 4))), S(X((2, 3, 4)))),
            B(4, 1, dtype=None),
        ],
        bad=[B(-1, 3), B(2.5, 3), B("4", 3), B(4, 3).on(S(X((2, 5))), S(X(())), S(3))],
    ),
    Layer("LazyLinear", [B(3).on(S(X((2, 4)))), B(3, bias=False).on(S(X((2, 3, 4)))), B(3, True, "cpu")]),
    Layer(
        "Bilinear",
        [
            B(2, 3, 4).on(S(X((5, 2)), X((5, 3))), S(X((2,)), X((3,))), S(X((6, 5, 2)), X((6, 5, 3)))),
            B(2, 3, 4, bias=False).on(S(X((5, 2)), X((5, 3)))),
        ],
        bad=[
            B(0, 3, 4),
            B(2, 3, 4).on(S(X((5, 3)), X((5, 3))), S(X((5, 2)), X((4, 3))), S(X((5, 2)), X((3,)))),
        ],
    ),
]
