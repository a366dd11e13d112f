"""Windows as columns, and back."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

LAYERS = [
    Layer(
        "Unfold",
        [
            B((2, 3)).on(S(X((2, 3, 4, 5))), S(X((3, 4, 5)))),
            B(2, dilation=2, padding=(1, 0), stride=2).on(S(X((1, 2, 5, 5)))),
        ],
        bad=[B(6).on(S(X((1, 2, 5, 5)))), B(2).on(S(X((5, 5))))],
    ),
    Layer(
        "Fold",
        [
            B((4, 5), (2, 2)).on(S(X((2, 8, 12))), S(X((8, 12)))),
            B(4, 2, padding=1, stride=(2, 2)).on(S(X((1, 4, 9)))),
        ],
        bad=[B((4, 5), 2).on(S(X((2, 8, 11))), S(X((2, 7, 12))))],
    ),
]
