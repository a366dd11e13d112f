"""Dropout as modules."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

flat, maps, solid = S(X((4, 6))), S(X((2, 3, 4, 2))), S(X((2, 3, 2, 1, 2)))
WRONG = [B(2), B(-0.1), B("a")]

LAYERS = [
    Layer(
        "Dropout",
        [B().on(flat, maps), B(0.2).on(flat), B(p=0.0).on(flat), B(1).on(flat), B(0.1, True)],
        bad=WRONG,
    ),
    Layer("Dropout1d", [B().on(flat, S(X((4, 3, 2)))), B(0.2, inplace=True)], bad=[*WRONG, B().on(maps)]),
    Layer("Dropout2d", [B().on(maps), B(p=0.2).on(maps)], bad=WRONG),
    Layer("Dropout3d", [B().on(solid, maps), B(p=0.2).on(solid)], bad=WRONG),
    Layer("AlphaDropout", [B().on(flat), B(0.2).on(flat, maps)], bad=WRONG),
    Layer("FeatureAlphaDropout", [B().on(maps), B(0.2).on(flat)], bad=[*WRONG]),
]
