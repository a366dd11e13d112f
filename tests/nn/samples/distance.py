"""How near two vectors are."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

LAYERS = [
    Layer(
        "PairwiseDistance",
        [B().on(S(X((2, 3)), X((2, 3), 3, 5))), B(1.0, 0.1, keepdim=True).on(S(X((3,)), X((3,), 3, 5)))],
        bad=[B(1, 2, 3, 4), B().on(S(X((2, 3)), X((2, 2))))],
    ),
    Layer(
        "CosineSimilarity",
        [B().on(S(X((2, 3)), X((2, 3), seed=1))), B(0, 0.1).on(S(X((3, 2)), X((3, 1))))],
        bad=[B(1, 2, 3), B(3).on(S(X((2, 3)), X((2, 3))))],
    ),
]
