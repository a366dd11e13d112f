"""Losses."""

from typing import Any

from tests.nn.record import B, Build, Layer, Of
from tests.ops.record import S, X
from tests.ops.samples.nn_loss import classes

REDUCTIONS = ("mean", "sum", "none")
X23, Y23 = X((2, 3)), X((2, 3), seed=1)
PROBABLE, TARGET = X((2, 3), 0.1, 0.9), X((2, 3), 0.1, 0.9, seed=1)
LABELS = classes(0, 2)
SIGNS = classes(1, -1)
THREE = Of(lambda L: L.tensor([0.5, 1.0, 2.0]))


def builds(*feeds: Any, **kwargs: Any) -> list[Build]:
    """A module with each reduction."""
    return [B(reduction=reduction, **kwargs).on(*feeds) for reduction in REDUCTIONS]


def weighted(**kwargs: Any) -> Build:
    """A module with a weight, which has to be of the input's type."""
    return B(weight=THREE, **kwargs)


PAIR, SIGNED = S(X23, Y23), S(X23, X((2, 3), seed=1, grad=False))
LAYERS = [
    Layer("L1Loss", [B().on(PAIR), *builds(PAIR)], bad=[B(reduction="median").on(PAIR)]),
    Layer("MSELoss", [B().on(PAIR), *builds(PAIR)], bad=[B(reduction="median").on(PAIR)]),
    Layer("SmoothL1Loss", [*builds(PAIR), B(beta=0.5).on(PAIR)], bad=[B(beta=-1.0).on(PAIR)]),
    Layer("HuberLoss", [*builds(PAIR), B("sum", 0.5).on(PAIR)], bad=[B(delta="a"), B(delta=0.0).on(PAIR)]),
    Layer(
        "PoissonNLLLoss",
        [*builds(S(PROBABLE, TARGET)), B(False, True, eps=0.1).on(S(PROBABLE, X((2, 3), 1.1, 3.0, seed=1)))],
    ),
    Layer(
        "GaussianNLLLoss",
        [
            *builds(S(X23, Y23, X((2, 3), 0.5, 2.0, seed=2))),
            B(full=True, eps=0.1).on(S(X23, Y23, X((2,), 0.5, 2.0, seed=2)), S(X23, Y23, 0.5)),
        ],
        bad=[B(True), B().on(S(X23, Y23, -1.0))],
    ),
    Layer(
        "KLDivLoss",
        [
            B(reduction="sum").on(S(X23, TARGET)),
            B(reduction="batchmean", log_target=True).on(PAIR),
            B(reduction="batchmean").on(S(X23, TARGET)),
        ],
    ),
    Layer(
        "BCELoss",
        [*builds(S(PROBABLE, TARGET)), weighted().on(S(PROBABLE, TARGET))],
        bad=[B().on(S(PROBABLE, X((3,), 0.1, 0.9)), S(X((2, 3), 1.1, 2.0), TARGET))],
    ),
    Layer(
        "BCEWithLogitsLoss",
        [
            *builds(S(X23, TARGET)),
            weighted(pos_weight=THREE).on(S(X23, TARGET)),
            B(pos_weight=THREE).on(S(X23, TARGET)),
        ],
        bad=[B().on(S(X23, X((3,), 0.1, 0.9)))],
    ),
    Layer(
        "CrossEntropyLoss",
        [
            *builds(S(X23, LABELS), S(X23, TARGET), S(X((3,)), classes(1))),
            weighted(ignore_index=2, label_smoothing=0.1).on(
                S(X23, LABELS), S(X((2, 3, 2)), classes([[0, 2], [1, 1]]))
            ),
        ],
        bad=[B().on(S(X23, classes(0, 3))), B(label_smoothing=2.0).on(S(X23, LABELS))],
    ),
    Layer(
        "NLLLoss",
        [
            *builds(S(X23, LABELS)),
            weighted(ignore_index=2).on(S(X23, LABELS), S(X((2, 3, 2)), classes([[0, 2], [1, 1]]))),
        ],
        bad=[B().on(S(X23, classes(0, 3)))],
    ),
    Layer(
        "LinearCrossEntropyLoss",
        [
            B(4, 3).on(S(X((2, 4)), LABELS), S(X((4,)), classes(1))),
            B(4, 3, bias=True, out_features=(2,), reduction="sum").on(
                S(X((2, 4)), classes([[0, 1], [2, 0]]))
            ),
            weighted(in_features=4, num_classes=3, ignore_index=1, label_smoothing=0.1).on(
                S(X((2, 4)), classes(0, 1))
            ),
        ],
        bad=[B(4, 2, weight=THREE), B(4, 2, label_smoothing=2.0), B(4, 3).on(S(X((2, 5)), LABELS))],
    ),
    Layer(
        "MultiLabelSoftMarginLoss",
        [*builds(S(X23, TARGET)), weighted().on(S(X23, TARGET))],
        bad=[B(reduction="median").on(S(X23, TARGET))],
    ),
    Layer("SoftMarginLoss", [*builds(SIGNED)]),
    Layer("MultiLabelMarginLoss", builds(S(X23, classes([[0, 2, -1], [1, -1, 0]])))),
    Layer(
        "MultiMarginLoss",
        [*builds(S(X23, LABELS)), weighted(p=2, margin=0.5).on(S(X23, LABELS))],
        bad=[B(p=3), B(weight=Of(lambda L: L.ones(2, 2)))],
    ),
    Layer("MarginRankingLoss", [*builds(S(X((2,)), X((2,), seed=1), SIGNS)), B(0.5)]),
    Layer("HingeEmbeddingLoss", [*builds(S(X((2,)), SIGNS)), B(0.5).on(S(X((2,)), SIGNS))]),
    Layer("CosineEmbeddingLoss", [*builds(S(X23, Y23, SIGNS)), B(0.2).on(S(X23, Y23, SIGNS))]),
    Layer(
        "TripletMarginLoss",
        [
            *builds(S(X23, Y23, X((2, 3), seed=2))),
            B(2.0, 1.0, 0.1, True).on(S(X23, Y23, X((2, 3), seed=2))),
        ],
        bad=[B(margin=0)],
    ),
    Layer(
        "TripletMarginWithDistanceLoss",
        [
            *builds(S(X23, Y23, X((2, 3), seed=2)), swap=True, margin=2.0),
            B(distance_function=Of(lambda L: L.nn.PairwiseDistance(p=1.0))).on(
                S(X23, Y23, X((2, 3), seed=2))
            ),
        ],
        bad=[B(margin=0), B(None)],
    ),
    Layer(
        "CTCLoss",
        [
            *builds(
                S(X((5, 2, 4), -2.0, -1.0), classes([[1, 2, 0], [3, 3, 1]]), classes(5, 4), classes(2, 2))
            ),
            B(3, zero_infinity=True).on(
                S(X((2, 2, 4), -2.0, -1.0), classes([[1, 1, 0], [2, 2, 1]]), classes(2, 2), classes(2, 1))
            ),
        ],
    ),
]
