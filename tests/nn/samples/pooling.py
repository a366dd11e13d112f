"""Pooling."""

import numpy as np

from tests.nn.record import B, Layer, Of
from tests.ops.record import S, X

# sizes that several windows fit into; no two elements equal, so that maxima are where torch finds them
INPUTS = {
    1: (S(X((2, 3, 9), distinct=True)), S(X((3, 8), distinct=True))),
    2: (S(X((2, 2, 7, 8), distinct=True)), S(X((2, 6, 7), distinct=True))),
    3: (S(X((1, 2, 6, 5, 6), distinct=True)), S(X((2, 5, 6, 5), distinct=True))),
}
WRONG = (S(X(())), S(X((2,) * 6)), S(3))


def maxima(d: int) -> Layer:
    """Max pooling."""
    builds = [
        B(2).on(*INPUTS[d]),
        B(3, stride=2, padding=1).on(*INPUTS[d]),
        B((2,) * d, (1,) * d, 0, (2,) * d).on(*INPUTS[d]),
        B(3, 2, ceil_mode=True).on(*INPUTS[d]),
        B(2, return_indices=True).on(*INPUTS[d]),
    ]
    bad = [B(), B(2).on(*WRONG), B(0).on(INPUTS[d][0]), B(2, 1, 2).on(INPUTS[d][0]), B("a").on(INPUTS[d][0])]
    return Layer(f"MaxPool{d}d", builds, bad)


def unpool(d: int) -> Layer:
    """Values back to where they came from."""
    shape = (2, 2) + (2,) * d
    rng = np.random.default_rng(d)
    at = np.array([rng.permutation(4**d)[: 2**d] for _ in range(4)]).reshape(shape)
    feed = S(X(shape), at)
    builds = [
        B(2).on(feed, S(X(shape[1:]), at[0])),
        B((3,) * d, 2).on(S(X(shape), at, (6,) * d), S(X(shape), at, output_size=(2, 2, *(5,) * d))),
        B(3, stride=(3,) * d, padding=1).on(feed),
    ]
    bad = [B(), B(2).on(S(X(shape), at, (9,) * d), S(X(shape), at + 99))]
    return Layer(f"MaxUnpool{d}d", builds, bad)


def means(d: int) -> Layer:
    """Average pooling."""
    builds = [
        B(2).on(*INPUTS[d]),
        B(3, stride=2, padding=1).on(*INPUTS[d]),
        B((3,) * d, 2, 1, True, False).on(*INPUTS[d]),
        *([B(2, divisor_override=3).on(*INPUTS[d])] if d > 1 else []),
    ]
    bad = [B(), B(2).on(*WRONG), B(0).on(INPUTS[d][0]), B(2, 1, 2).on(INPUTS[d][0]), B("a").on(INPUTS[d][0])]
    return Layer(f"AvgPool{d}d", builds, bad)


def adaptive(kind: str, d: int) -> Layer:
    """A number of windows."""
    builds = [
        B(1).on(*INPUTS[d]),
        B(2).on(*INPUTS[d]),
        B((3,) * d).on(*INPUTS[d]),
        *([B((None, 2, 3)[:d]).on(*INPUTS[d])] if d > 1 else []),
        *([B(3, return_indices=True).on(*INPUTS[d])] if kind == "Max" else []),
    ]
    bad = [B(), B(2).on(*WRONG[:2]), B(-1).on(INPUTS[d][0]), B((2,) * 5).on(INPUTS[d][0])]
    # torch asks a number for its size, which it has not
    return Layer(
        f"Adaptive{kind}Pool{d}d", builds, bad, loose=((r"has no attribute", "says what it is not"),)
    )


def fractional(d: int) -> Layer:
    """Random places, drawn at each call or given once."""
    given = np.random.default_rng(0).random((2, 2, d))
    builds = [
        B(2, output_size=3).on(*INPUTS[d]),
        B((2,) * d, output_ratio=(0.5,) * d).on(*INPUTS[d]),
        B(2, 2, return_indices=True).on(*INPUTS[d]),
        B(2, 2, None, False, Of(lambda L: L.tensor(given).float())).on(INPUTS[d][0]),
    ]
    bad = [
        B(2),
        B(2, 3, 0.5),
        B(2, output_ratio=1.5),
        B(2, output_ratio=(0.5,) * (d - 1) + (0,)),
        B(9, 2).on(INPUTS[d][0]),
        *([B(0, 2), B((2, 0, 2), 2)] if d == 3 else []),
    ]
    return Layer(f"FractionalMaxPool{d}d", builds, bad)


def norms(d: int) -> Layer:
    """Power averages."""
    x = tuple(S(X(feed.args[0].shape, 0.5, 2.0)) for feed in INPUTS[d])
    builds = [
        B(2, 3).on(*x),
        B(3, 2, stride=1).on(*x),
        B(1.5, 3, 2, ceil_mode=True).on(*x),
        B(float("inf"), 2).on(*x),
    ]
    return Layer(f"LPPool{d}d", builds, [B(2), B("a", 2).on(x[0]), B(2, 99).on(x[0])])


LAYERS = [
    *[make(d) for make in (maxima, unpool, means, norms) for d in (1, 2, 3)],
    *[adaptive(kind, d) for kind in ("Max", "Avg") for d in (1, 2, 3)],
    fractional(2),
    fractional(3),
]
