"""Channels dealt out anew."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

LAYERS = [
    Layer(
        "ChannelShuffle",
        [B(2).on(S(X((2, 8, 2, 3))), S(X((1, 4, 2)))), B(3).on(S(X((2, 6, 2))))],
        bad=[B(2).on(S(X((2, 7, 2))), S(X((8, 2)))), B(0).on(S(X((2, 8, 2))))],
    ),
]
