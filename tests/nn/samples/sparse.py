"""Tables read by index."""

from tests.nn.record import B, Layer, Of
from tests.ops.record import S, X


def ints(*values: object) -> X:
    """Indices."""
    return X(value=list(values), dtype="int64", grad=False)


IDS, FLAT, OFFSETS = ints([1, 2, 1], [0, 3, 1]), ints(1, 2, 1, 0, 3), ints(0, 3, 3)
TABLE = Of(lambda L: L.arange(8.0).reshape(4, 2))

LAYERS = [
    Layer(
        "Embedding",
        [
            B(4, 3).on(S(IDS), S(FLAT), S(X(value=2, dtype="int64", grad=False))),
            B(4, 3, padding_idx=1).on(S(IDS)),
            B(4, 3, -1, max_norm=0.5).on(S(IDS)),
            B(4, 3, max_norm=1.0, norm_type=1.5, scale_grad_by_freq=True).on(S(IDS)),
            B(4, 2, _weight=TABLE).on(S(IDS)),
            B(4, 2, _weight=TABLE, _freeze=True),
            B(4, 2, sparse=True),
        ],
        bad=[
            B(),
            B(4),
            B(4, 3, 4),
            B(4, 3, -5),
            B(-1, 3),
            B(3, 2, _weight=TABLE),
            B(4, 3).on(S(ints(4)), S(X((2,)))),
        ],
    ),
    Layer(
        "EmbeddingBag",
        [
            B(4, 3).on(S(IDS), S(FLAT, OFFSETS)),
            B(4, 3, mode="sum").on(S(IDS), S(FLAT, OFFSETS, X((5,)))),
            B(4, 3, mode="max").on(S(IDS), S(FLAT, OFFSETS)),
            B(4, 3, mode="mean", padding_idx=1).on(S(IDS)),
            B(4, 3, 1.0, 1.5, mode="sum", padding_idx=-1, include_last_offset=True).on(
                S(FLAT, ints(0, 3, 5))
            ),
            B(4, 2, _weight=TABLE).on(S(IDS)),
        ],
        bad=[
            B(),
            B(4, 3, padding_idx=4),
            B(4, 3, mode="median").on(S(IDS)),
            B(4, 3).on(S(FLAT), S(ints([[1]]))),
        ],
    ),
]
