"""Channels turned into pixels and back."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

LAYERS = [
    Layer(
        "PixelShuffle",
        [B(2).on(S(X((2, 8, 2, 3))), S(X((4, 1, 2)))), B(3).on(S(X((1, 9, 2, 2))))],
        bad=[B(2).on(S(X((2, 7, 2, 3))), S(X((8, 2)))), B(0).on(S(X((2, 8, 2, 3))))],
    ),
    Layer(
        "PixelUnshuffle",
        [B(2).on(S(X((2, 2, 4, 6))), S(X((1, 2, 4)))), B(3).on(S(X((1, 1, 3, 6))))],
        bad=[B(2).on(S(X((2, 7, 3, 4))), S(X((8, 2)))), B(0).on(S(X((2, 8, 2, 2))))],
    ),
]
