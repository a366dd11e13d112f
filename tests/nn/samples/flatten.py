"""Flattening and its inverse."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

x = S(X((2, 3, 4)))

LAYERS = [
    Layer(
        "Flatten",
        [B().on(x, S(X((2, 3)))), B(0).on(x), B(0, 1).on(x), B(start_dim=1, end_dim=2)],
        bad=[B(5).on(x)],
    ),
    Layer(
        "Unflatten",
        [B(2, (2, 2)).on(x), B(0, [1, 2]).on(x), B(dim=1, unflattened_size=(3, -1)).on(x)],
        bad=[B(1, 3), B(1, (2, "a")), B(1, (2, 2)).on(x), B(1), B("a", (("b", 2),))],
    ),
]
