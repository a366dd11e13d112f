"""Borders."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

INPUTS = {
    1: (S(X((2, 3, 5))), S(X((3, 5)))),
    2: (S(X((2, 2, 4, 5))), S(X((2, 4, 5)))),
    3: (S(X((1, 2, 3, 4, 3))), S(X((2, 3, 4, 3)))),
}
ONE_EACH = {1: (1, 2), 2: (1, 2, 0, 1), 3: (1, 2, 0, 1, 2, 0)}
CUT = {1: (-1, 2), 2: (1, -2, -1, 1), 3: (-1, 1, 0, -2, 1, 0)}


def padding(kind: str, d: int, *value: float) -> Layer:
    """A kind of border over so many dims."""
    feeds = INPUTS[d]
    builds = [B(pads, *value).on(*feeds) for pads in (1, ONE_EACH[d], CUT[d])]
    bad = [
        B(),
        B(1, *value).on(S(X(())), S(X((2,) * 6)), S(3)),
        B(99, *value).on(S(X((2,) * 6))),
        B("ab", *value).on(feeds[0]),
        B(2.5, *value).on(feeds[0]),
        B((1,), *value).on(feeds[0]),
    ]
    if value:
        builds += [B(1, value=0.5).on(*feeds), B(list(ONE_EACH[d]), 2).on(feeds[0])]
        bad = [B(1), B(1, "a").on(feeds[0]), B((1,), 0.0).on(feeds[0]), B(-9, 0.0).on(feeds[0])]
    elif kind == "ZeroPad":
        bad = [B(), B((1,)).on(feeds[0]), B(-9).on(feeds[0]), B("ab").on(feeds[0]), B(1).on(S(3), S(X(())))]
    return Layer(f"{kind}{d}d", builds, bad)


LAYERS = [
    *[padding("ConstantPad", d, 3.5) for d in (1, 2, 3)],
    *[
        padding(kind, d)
        for kind in ("ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad")
        for d in (1, 2, 3)
    ],
]
