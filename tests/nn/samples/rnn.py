"""Recurrent networks and cells."""

from typing import Any

from tests.nn.record import B, Build, Layer, Of
from tests.ops.record import S, X


def packed(features: int, batch_first: bool = False) -> Of:
    """Sequences of 2, 4 and 1 steps."""

    def make(L: Any) -> Any:
        values = [
            [[((7 * t + 3 * b + 5 * f) % 11 - 5) / 5 for f in range(features)] for b in range(3)]
            for t in range(4)
        ]
        x = L.tensor(values)
        return L.nn.utils.rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)

    return Of(make)


def networks(pair: bool) -> list[Build]:
    """Builds that every kind of network has."""

    def state(*shape: int) -> Any:
        return (X(shape), X(shape)) if pair else X(shape)

    return [
        B(3, 4).on(
            S(X((5, 2, 3))),
            S(X((5, 2, 3)), state(1, 2, 4)),
            S(X((5, 3))),
            S(X((5, 3)), state(1, 4)),
            S(X((1, 1, 3))),
        ),
        B(3, 4, num_layers=2, bias=False).on(S(X((3, 2, 3)), state(2, 2, 4))),
        B(3, 4, num_layers=2, batch_first=True, bidirectional=True).on(
            S(X((2, 3, 3))), S(X((2, 3, 3)), state(4, 2, 4)), S(X((3, 3)))
        ),
        B(3, 2, num_layers=3, dropout=0.5, bidirectional=True).on(S(X((3, 2, 3)))),
        B(2, 3, 2, dtype=None),
    ]


def wrong(pair: bool) -> list[Build]:
    """Builds and calls that every kind refuses."""

    def state(*shape: int) -> Any:
        return (X(shape), X(shape)) if pair else X(shape)

    return [
        B(),
        B(3),
        B(0, 3),
        B(3, 0),
        B(3, -1),
        B(2.5, 3),
        B(3, "4"),
        B(3, 4, num_layers=0),
        B(3, 4, dropout=1.5),
        B(3, 4, dropout=True),
        B(3, 4, dropout=-0.1),
        B(3, 4, bias=1),
        B(3, 4, batch_first=1),
        B(3, 4, unknown=1),
        B(3, 4).on(
            S(X(())),
            S(X((3,))),
            S(X((2, 2, 2, 3))),
            S(X((5, 2, 4))),
            S(X((5, 2, 3), dtype="float16")),
            S(X((5, 2, 3)), state(1, 3, 4)),
            S(X((5, 2, 3)), state(2, 2, 4)),
            S(X((5, 2, 3)), state(2, 4)),
            S(X((5, 3)), state(1, 1, 4)),
            S(X((0, 2, 3))),
        ),
    ]


def cells(pair: bool) -> list[Build]:
    """Builds that every cell has."""

    def state(*shape: int) -> Any:
        return (X(shape), X(shape)) if pair else X(shape)

    return [
        B(3, 4).on(
            S(X((2, 3))),
            S(X((2, 3)), state(2, 4)),
            S(X((3,))),
            S(X((3,)), state(4)),
            S(X((0, 3)), state(0, 4)),
        ),
        B(3, 4, bias=False).on(S(X((2, 3)), state(2, 4))),
        B(3, 4, dtype=None),
    ]


def wrong_cells(pair: bool) -> list[Build]:
    """Calls that every cell refuses."""

    def state(*shape: int) -> Any:
        return (X(shape), X(shape)) if pair else X(shape)

    return [
        B(),
        B(3, -1),
        B(3, 4).on(
            S(X(())),
            S(X((1, 2, 3))),
            S(X((2, 4))),
            S(X((2, 3)), state(3, 4)),
            S(X((2, 3)), state(2, 3)),
            S(X((2, 3)), state(1, 2, 4)),
            S(X((2, 3), dtype="float16"), state(2, 4)),
        ),
    ]


LAYERS = [
    Layer(
        "RNN",
        [
            *networks(False),
            B(3, 4, nonlinearity="relu").on(S(X((5, 2, 3)))),
            B(3, 4, 2, "relu").on(S(X((5, 2, 3)))),
        ],
        [*wrong(False), B(3, 4, nonlinearity="sigmoid"), B(3, 4, proj_size=2)],
    ),
    # in single precision torch warns that its fast way does not know projections
    Layer(
        "LSTM",
        [
            B(3, 4, proj_size=2, num_layers=2, bidirectional=True).on(
                S(X((5, 2, 3))), S(X((5, 2, 3)), (X((4, 2, 2)), X((4, 2, 4))))
            ),
            B(3, 4, proj_size=2, bias=False).on(S(X((5, 3)))),
        ],
        dtypes=("float64",),
    ),
    Layer(
        "LSTM",
        networks(True),
        [
            *wrong(True),
            B(3, 4, proj_size=4),
            B(3, 4, proj_size=-1),
            B(3, 4).on(S(X((5, 2, 3)), (X((1, 2, 4)), X((1, 2, 3))))),
        ],
    ),
    Layer("GRU", networks(False), [*wrong(False), B(3, 4, proj_size=2)]),
    Layer("RNNBase", [B("LSTM", 3, 4, proj_size=2), B("GRU", 3, 4, 2)], [B("XYZ", 3, 4)]),
    Layer(
        "RNNCell",
        [*cells(False), B(3, 4, nonlinearity="relu").on(S(X((2, 3))))],
        [*wrong_cells(False), B(3, 4, nonlinearity="sigmoid").on(S(X((2, 3))))],
    ),
    Layer("LSTMCell", cells(True), wrong_cells(True)),
    Layer("GRUCell", cells(False), wrong_cells(False)),
    Layer("RNNCellBase", [B(2, 3, True, 4), B(2, 3, False, 3)]),
]
