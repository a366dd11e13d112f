"""Losses."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.ops.record import Op, S, Sample, X

REDUCTIONS = ("mean", "sum", "none")


def classes(*values: Any, dtype: str = "int64") -> X:
    """Class indices or other whole numbers, always these."""
    return X(value=np.array(values[0] if len(values) == 1 else values), dtype=dtype, grad=False)


def reduced(*args: Any, **kwargs: Any) -> list[Sample]:
    """The same call with each reduction."""
    return [S(*args, reduction=reduction, **kwargs) for reduction in REDUCTIONS]


def pairs(low: float = -2.0, high: float = 2.0, target: tuple = (-2.0, 2.0), **kwargs: Any) -> list[Sample]:
    """An input and a target of one shape, in several shapes."""
    x, y = X((2, 3), low, high), X((2, 3), *target, seed=1)
    return [
        *reduced(x, y, **kwargs),
        S(X((4,), low, high), X((4,), *target, seed=1), **kwargs),
        S(X((), low, high), X((), *target, seed=1), **kwargs),
        S(X((2, 3, 2), low, high), X((2, 3, 2), *target, seed=1), reduction="none", **kwargs),
    ]


def broadcast() -> list[Sample]:
    """Shapes that differ, with a warning, and some that do not fit."""
    x = X((2, 3))
    return [S(x, X((3,), seed=1)), S(X((2, 1)), X((3,), seed=1), reduction="none"), S(x, X((4,), seed=1))]


def legacy(*args: Any) -> list[Sample]:
    """The arguments of older versions."""
    x = [S(*args, size_average=average) for average in (True, False)]
    return [*x, S(*args, reduce=False), S(*args, reduction="median"), S(*args, reduction="elementwise_mean")]


X23, Y23 = X((2, 3)), X((2, 3), seed=1)
PROBABLE, TARGET = X((2, 3), 0.1, 0.9), X((2, 3), 0.1, 0.9, seed=1)
WEIGHT = X((2, 3), 0.5, 1.5, seed=2)
FIXED_WEIGHT = X((3,), 0.5, 1.5, seed=2, grad=False)

# exp and log of float32 may end in another last bit, which a float64 result shows
ROUNDED = {"mixed": "a transcendental function in the narrower type, seen in the wider one"}


def of_one_type(samples: list[Sample]) -> list[Sample]:
    """Samples whose gradient is not asked for in mixed types, where PyTorch has none."""
    return [replace(s, kinds=s.kinds or ("float", "complex", "int", "bool")) for s in samples]


VALUES = [
    Op(
        "nn.functional.l1_loss",
        [
            *pairs(),
            *broadcast(),
            *legacy(X23, Y23),
            *reduced(X23, Y23, weight=WEIGHT),
            S(X23, Y23, weight=X((3,))),
        ],
    ),
    Op(
        "nn.functional.mse_loss",
        [
            *pairs(),
            *broadcast(),
            *legacy(X23, Y23),
            *reduced(X23, Y23, weight=WEIGHT),
            S(X23, Y23, weight=X((3,))),
        ],
    ),
    Op(
        "nn.functional.smooth_l1_loss",
        [
            *pairs(),
            *broadcast(),
            *legacy(X23, Y23),
            *reduced(X23, Y23, beta=0.5),
            S(X23, Y23, beta=0),
            S(X23, Y23, beta=-1.0),
            S(X(value=[0.0, 1.0, -1.0, np.nan, np.inf]), X(value=np.zeros(5)), reduction="none")
            .only("float")
            .kink(),
        ],
    ),
    Op(
        "nn.functional.huber_loss",
        of_one_type(
            [
                *pairs(),
                *broadcast(),
                S(X23, Y23, reduction="median"),
                *reduced(X23, Y23, delta=0.5),
                S(X23, Y23, delta=0.0),
                *reduced(X23, Y23, weight=WEIGHT),
                S(X23, Y23, weight=X((3,))),
                S(X(value=[0.0, 1.0, -1.0, np.nan, np.inf]), X(value=np.zeros(5)), reduction="none")
                .only("float")
                .kink(),
            ]
        ),
    ),
    Op(
        "nn.functional.soft_margin_loss",
        [
            *reduced(X23, X((2, 3), seed=1, grad=False)),
            *legacy(X23, X((2, 3), seed=1, grad=False)),
            S(X((4,)), X((4,), seed=1, grad=False)),
            S(X23, X((3,), seed=1, grad=False)),
            S(X23, Y23),
        ],
    ),
    Op(
        "nn.functional.poisson_nll_loss",
        [
            *pairs(0.1, 2.0, (0.1, 3.0)),
            *legacy(PROBABLE, TARGET),
            *reduced(PROBABLE, TARGET, log_input=False),
            S(PROBABLE, X((2, 3), 1.1, 4.0, seed=1), full=True),
            S(PROBABLE, X((2, 3), 0.1, 0.9, seed=1), full=True),
            S(PROBABLE, TARGET, log_input=False, eps=0.1),
        ],
        differs=ROUNDED,
    ),
    Op(
        "poisson_nll_loss",
        [S(PROBABLE, TARGET, True, False, 1e-8, 1), S(PROBABLE, TARGET, False, True, 1e-8, 0)],
        differs=ROUNDED,
    ),
    Op(
        "nn.functional.gaussian_nll_loss",
        [
            *reduced(X23, Y23, X((2, 3), 0.5, 2.0, seed=2)),
            *reduced(X23, Y23, X((2,), 0.5, 2.0, seed=2)),
            S(X23, Y23, X((2, 1), 0.5, 2.0, seed=2), full=True),
            S(X23, Y23, 0.5),
            S(X23, Y23, -0.5),
            S(X23, Y23, X((4,), 0.5, 2.0, seed=2)),
            S(X23, Y23, X((2, 3), -1.0, -0.5, seed=2)),
            S(X23, Y23, X((2, 3), 0.5, 2.0, seed=2), reduction="median"),
        ],
        # PyTorch writes into a tensor that integers do not fit
        loose=((r"in-place|result type", "the refusal of another line"),),
        differs=ROUNDED,
    ),
]

PROBABILITIES = [
    Op(
        "nn.functional.binary_cross_entropy",
        [
            *pairs(0.1, 0.9, (0.1, 0.9)),
            *legacy(PROBABLE, TARGET),
            *reduced(PROBABLE, TARGET, weight=FIXED_WEIGHT),
            S(PROBABLE, TARGET, weight=X((3,))),
            S(PROBABLE, TARGET, weight=X((4,), grad=False)),
            S(PROBABLE, TARGET, weight=X((2, 2, 3), grad=False)),
            S(PROBABLE, X((3,), 0.1, 0.9)),
            S(X((2, 3), 1.1, 2.0), TARGET),
            S(PROBABLE, X((2, 3), 1.1, 2.0)),
            S(X(value=[0.0, 1.0, 0.0, 1.0]), X(value=[0.0, 1.0, 1.0, 0.0]), reduction="none").forward_only(),
        ],
    ),
    Op(
        "nn.functional.binary_cross_entropy_with_logits",
        [
            *pairs(-3.0, 3.0, (0.1, 0.9)),
            *legacy(X23, TARGET),
            *reduced(X23, TARGET, weight=FIXED_WEIGHT),
            *reduced(X23, TARGET, pos_weight=FIXED_WEIGHT),
            *reduced(X23, TARGET, weight=FIXED_WEIGHT, pos_weight=X((2, 1), 0.5, 2.0, seed=3, grad=False)),
            S(X23, TARGET, weight=X((3,))),
            S(X23, TARGET, pos_weight=X((3,))),
            S(X23, TARGET, weight=X((4,), grad=False)),
            S(X23, TARGET, pos_weight=X((2, 2, 3), grad=False)),
            S(X23, X((3,), 0.1, 0.9)),
            S(X(value=[100.0, -100.0, 0.0, np.inf]), X(value=[0.0, 1.0, 1.0, 0.5]), reduction="none")
            .only("float")
            .kink(),
        ],
        differs=ROUNDED,
    ),
    Op(
        "binary_cross_entropy_with_logits",
        [S(X23, TARGET), S(X23, TARGET, None, FIXED_WEIGHT, 2), S(X23, TARGET, reduction=0)],
        differs=ROUNDED,
    ),
    Op(
        "nn.functional.kl_div",
        [
            *pairs(-3.0, -0.1, (0.1, 0.9)),
            *reduced(X23, Y23, log_target=True),
            *(S(X23, TARGET, reduction="batchmean", log_target=log) for log in (False, True)),
            S(X(()), X((), 0.1, 0.9), reduction="batchmean"),
            S(X23, X((3,), 0.1, 0.9), reduction="none"),
            *legacy(X23, TARGET),
            S(X(value=[0.0, 1.0]), X(value=[0.0, -1.0]), reduction="none").forward_only(),
        ],
        differs=ROUNDED,
    ),
    Op("kl_div", [S(X23, TARGET), S(X23, TARGET, 0), S(X23, TARGET, 2, log_target=True)], differs=ROUNDED),
]

LABELS = classes(0, 2)
IMAGE, IMAGE_LABELS = X((2, 3, 2, 2)), classes([[[0, 1], [2, 0]], [[1, 1], [2, -100]]])
LINE, LINE_LABELS = X((2, 3, 4)), classes([[0, 1, 2, 0], [1, -100, 2, 2]])


def likelihoods() -> list[Sample]:
    """What `cross_entropy` and `nll_loss` take alike."""
    weight = {"weight": FIXED_WEIGHT}
    return [
        *reduced(X23, LABELS),
        *reduced(X23, LABELS, **weight),
        *reduced(X23, classes(-100, 2)),
        *reduced(X23, classes(1, 2), ignore_index=1, **weight),
        *reduced(X((3,)), classes(1)),
        *(
            one.forward_only() for one in reduced(X((3,)), classes([1]), **weight)
        ),  # torch refuses its backward
        *reduced(IMAGE, IMAGE_LABELS, ignore_index=2, **weight),
        *reduced(LINE, LINE_LABELS, **weight),
        *reduced(X((2, 3, 1, 2, 2)), classes([[[[0, 1], [2, 0]]], [[[1, 1], [2, -100]]]])),
        *legacy(X23, LABELS),
        S(X23, classes(-100, -100)).kink(),
        S(X23, classes(0, 2, dtype="uint8")),
        S(X23, classes(0, 2, dtype="int32")),
        S(X23, classes(0, 3)),
        S(X23, classes(-1, 2)),
        S(X23, classes(0, 1, 2)),
        S(X23, classes(1)),
        S(X((3,)), classes(0, 1)),
        S(X(()), classes([0])),
        S(IMAGE, classes([[0, 1], [2, 0]])),
        S(IMAGE, classes([[[0, 1, 1], [2, 0, 1]]] * 2)),
        S(IMAGE, classes([[[0, 1], [5, 0]]] * 2)),
        S(LINE, classes([[0, 1, 2]] * 2)),
        S(X23, LABELS, weight=X((2,), grad=False)),
        S(X23, LABELS, weight=X((3,))),
        S(IMAGE, IMAGE_LABELS, weight=X((2,), grad=False)),
        S(X23, LABELS, ignore_index=1.5),
    ]


ONCE = {"gradgradcheck": "PyTorch has no second derivative, and says so"}
MULTI = [
    *(
        # torch has no gradient here for what is not contiguous
        Op(f"nn.functional.{name}", reduced(IMAGE, IMAGE_LABELS), variants=False, layouts=False, tag="image")
        for name in ("nll_loss", "cross_entropy")
    ),
    Op("nn.functional.nll_loss", [*likelihoods(), S(X23, classes([[0, 1, 2]] * 2))], variants=False),
    Op(
        "nn.functional.cross_entropy",
        [
            *likelihoods(),
            *reduced(X23, LABELS, label_smoothing=0.1),
            *reduced(X23, classes(-100, 2), label_smoothing=0.1, weight=FIXED_WEIGHT),
            *reduced(IMAGE, IMAGE_LABELS, label_smoothing=0.2, weight=FIXED_WEIGHT),
            *reduced(X((3,)), classes(1), label_smoothing=0.1),
            *reduced(X23, TARGET),
            *reduced(X23, TARGET, weight=X((3,), 0.5, 1.5, seed=2), label_smoothing=0.1),
            *reduced(LINE, X((2, 3, 4), 0.1, 0.9, seed=1)),
            S(X((3,)), X((3,), 0.1, 0.9, seed=1)),
            S(X((0, 3)), X((0, 3), 0.1, 0.9)),
            S(X23, LABELS, label_smoothing=1.5),
            S(X23, LABELS, label_smoothing="a"),
            S(X23, TARGET, label_smoothing=1.5),
            S(X23, TARGET, ignore_index=1),
            S(X23, classes([[0, 1, 1]] * 2)),
            S(X23, TARGET, weight=X((2,))),
        ],
        variants=False,
    ),
    Op(
        "nn.functional.linear_cross_entropy",
        [
            S(X((2, 4)), X((3, 4), seed=1), LABELS),
            S(X((2, 4)), X((3, 4), seed=1), LABELS, linear_bias=X((3,), seed=2), reduction="sum"),
            S(X((4,)), X((3, 4), seed=1), classes(1)),
            S(X((2, 4)), X((3, 2, 4), seed=1), classes([[0, 1], [2, 0]]), linear_bias=X((3, 2), seed=2)),
            S(X((2, 4)), X((3, 4), seed=1), classes(0, 1), ignore_index=1, weight=FIXED_WEIGHT),
            S(X((2, 4)), X((3, 4), seed=1), TARGET, label_smoothing=0.1),
            S(X((2, 4)), X((3, 4), seed=1), TARGET, ignore_index=1),
            S(X((2, 4)), X((3, 5), seed=1), LABELS),
            S(X((2, 4)), X((4,), seed=1), LABELS),
            S(X((1, 2, 4)), X((3, 4), seed=1), LABELS),
            S(X((2, 4)), X((3, 4), seed=1), LABELS, linear_bias=X((2,))),
            S(X((4,)), X((3, 2, 4), seed=1), classes([0, 1])),
        ],
        variants=False,
        layouts=False,
    ),
    Op(
        "nn.functional.multi_margin_loss",
        [
            *reduced(X23, LABELS),
            *reduced(X23, LABELS, p=2, margin=0.5),
            *reduced(X23, LABELS, weight=FIXED_WEIGHT),
            *reduced(X((3,)), classes(1)),
            *reduced(X((3,)), classes([1])),
            *legacy(X23, LABELS),
            S(X(()), classes(0)),
            S(X23, classes(0, 1, 1)),
            S(X23, classes(0, 3)),
            S(X23, classes(0, 2, dtype="int32")),
            S(X((2, 3, 1)), LABELS),
            S(X23, LABELS, p=3),
            S(X23, LABELS, weight=X((3,))),
            S(X23, LABELS, weight=X((2,), grad=False)),
            S(X23, LABELS, weight=X((3, 1), grad=False)),
        ],
        differs=ONCE,
        variants=False,
    ),
    Op(
        "nn.functional.multilabel_margin_loss",
        [
            *reduced(X23, classes([[0, 2, -1], [1, -1, 0]])),
            *reduced(X((3,)), classes([2, -1, 0])),
            S(X((2, 4)), classes([[-1, 2, 2, 2], [0, 1, 2, 3]])),
            S(X23, classes([[0, 0, 1], [2, 2, 2]])),
            *legacy(X23, classes([[0, 2, -1], [1, -1, 0]])),
            S(X(()), classes(0)),
            S(X23, classes([0, 1, 2])),
            S(X23, classes([[0, 3, -1], [1, -1, 0]])),
            S(X23, classes([[0, -2, -1], [1, -1, 0]])),
            S(X((1, 2, 3)), classes([[[0, 1, 2]] * 2])),
            S(X23, classes([[0, 2, -1], [1, -1, 0]], dtype="int32")),
        ],
        differs=ONCE,
        variants=False,
    ),
    Op(
        "nn.functional.multilabel_soft_margin_loss",
        [*pairs(target=(0.1, 0.9)), *legacy(X23, TARGET), *reduced(X23, TARGET, weight=X((3,), seed=2))],
        differs=ROUNDED,
    ),
]

SIGNS = classes(1, -1)
NEAR, FAR = X((2, 3), seed=3), X((2, 3), seed=4)


def apart(L: Any, a: Any, b: Any) -> Any:
    """A distance that no library has."""
    return (a - b).abs().sum(-1)


RANKING = [
    Op(
        "nn.functional.hinge_embedding_loss",
        [
            *reduced(X23, classes([[1, -1, 1], [-1, 1, 0]])),
            *reduced(X23, classes([[1, -1, 1], [-1, 1, 0]]), margin=0.5),
            *legacy(X23, classes([[1, -1, 1], [-1, 1, 0]])),
            S(X((3,)), classes([[1, -1, 1], [-1, 1, 0]])),
            S(X23, classes(1, 1)),
        ],
        variants=False,
    ),
    Op("hinge_embedding_loss", [S(X((2,)), SIGNS), S(X((2,)), SIGNS, 0.5, 0)], variants=False),
    Op(
        "nn.functional.margin_ranking_loss",
        [
            *reduced(X((2,)), X((2,), seed=1), SIGNS),
            *reduced(X((2,)), X((2,), seed=1), SIGNS, margin=0.5),
            *legacy(X((2,)), X((2,), seed=1), SIGNS),
            S(X23, Y23, X((2, 3), seed=2)),
            S(X23, X((3,)), X((3,))),
        ],
    ),
    Op(
        "margin_ranking_loss",
        [S(X((2,)), X((2,), seed=1), SIGNS), S(X((2,)), X((2,), seed=1), SIGNS, 0.5, 0)],
    ),
    Op(
        "nn.functional.cosine_embedding_loss",
        [
            *reduced(X23, Y23, SIGNS),
            *reduced(X23, Y23, SIGNS, margin=0.2),
            *reduced(X((3,)), X((3,), seed=1), classes(1)),
            *legacy(X23, Y23, SIGNS),
            S(X((3,)), X((3,), seed=1), classes([1])),
            S(X23, Y23, classes(1)),
            S(X23, Y23, classes([[1, 1, 1]] * 2)),
            S(X23, X((2, 4)), SIGNS),
        ],
        variants=False,
    ),
    Op("cosine_embedding_loss", [S(X23, Y23, SIGNS), S(X23, Y23, SIGNS, 0.2, 0)], variants=False),
    Op(
        "nn.functional.triplet_margin_loss",
        [
            *reduced(X23, NEAR, FAR),
            *reduced(X23, NEAR, FAR, swap=True, margin=2.0),
            *legacy(X23, NEAR, FAR),
            S(X((3,)), X((3,), seed=3), X((3,), seed=4), p=1, eps=0.1),
            S(X23, NEAR, FAR, p=3.0),
            S(X23, NEAR, FAR, margin=0),
            S(X23, NEAR, X((3,), seed=4)),
            S(X23, NEAR, X((2, 4), seed=4)),
        ],
    ),
    Op(
        "triplet_margin_loss",
        [S(X23, NEAR, FAR), S(X23, NEAR, FAR, 2.0, 1.0, 1e-6, True, 0)],
    ),
    Op(
        "nn.functional.triplet_margin_with_distance_loss",
        [
            *reduced(X23, NEAR, FAR),
            *reduced(X23, NEAR, FAR, swap=True, margin=2.0),
            S(X23, NEAR, FAR, margin=0),
            S(X23, NEAR, FAR, reduction="median"),
            S(X23, NEAR, X((3,), seed=4)),
        ],
    ),
    Op(
        "nn.functional.triplet_margin_with_distance_loss",
        [S(X23, NEAR, FAR), S(X23, NEAR, FAR, swap=True, reduction="none")],
        fn=lambda L, *args, **kwargs: L.nn.functional.triplet_margin_with_distance_loss(
            *args, distance_function=lambda a, b: apart(L, a, b), **kwargs
        ),
        tag="own",
    ),
]


def aligned(L: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """PyTorch's gradient is right only for what is a logarithm of probabilities."""
    return L.nn.functional.ctc_loss(x.log_softmax(-1), *args, **kwargs)


def aligned_by_numbers(L: Any, x: Any, *args: Any) -> Any:
    """The same by the function of the library itself."""
    return L.ctc_loss(x.log_softmax(-1), *args)


SPELLED = classes([[1, 2, 0], [3, 3, 1]])
FIVE, TWO_THREE = classes(5, 4), classes(2, 3)
TWO_TWO = classes(2, 2)
CTC: dict[str, Any] = {
    "variants": False,
    "layouts": False,
    "differs": {**ONCE, "bad_input": "PyTorch reads outside its memory for labels that are no classes"},
}
SEQUENCES = [
    Op(
        "nn.functional.ctc_loss",
        [
            *reduced(X((5, 2, 4)), SPELLED, FIVE, TWO_TWO),
            *reduced(X((5, 2, 4)), SPELLED, classes(5, 5), TWO_THREE, blank=0, zero_infinity=True),
            *reduced(X((7, 2, 4)), classes(1, 2, 3, 3, 1), classes(7, 6), TWO_THREE),
            *reduced(X((5, 4)), classes(1, 2), classes([5]), classes([2])),
            S(X((5, 4)), classes(1, 2), classes(5), classes(2)),
            S(X((5, 2, 4)), SPELLED, (5, 4), (2, 2)),
            S(X((5, 2, 4)), SPELLED, [5, 4], [2, 2]),
            S(X((5, 2, 4)), SPELLED, FIVE, classes(0, 1), reduction="none"),
            S(X((5, 2, 4)), SPELLED, classes(0, 4), classes(0, 2), reduction="none"),
            S(X((5, 2, 4)), SPELLED, classes(0, 4), TWO_TWO, reduction="none", zero_infinity=True),
            S(X((2, 2, 4)), SPELLED, classes(2, 2), TWO_THREE, reduction="none").kink(),
            S(X((2, 2, 4)), SPELLED, classes(2, 2), TWO_THREE, zero_infinity=True),
            S(X((5, 2, 4)), X(value=np.array([[1, 2], [3, 1]]), dtype="int32", grad=False), FIVE, TWO_TWO),
            S(X((5, 2, 4)), SPELLED, FIVE, (2, 2)),
            S(X((5, 2, 4)), SPELLED, FIVE, classes(4, 2)),
            S(X((5, 2, 4)), SPELLED, classes(6, 5), TWO_TWO),
            S(X((5, 2, 4)), SPELLED, classes(-1, 5), TWO_TWO),
            S(X((5, 2, 4)), SPELLED, FIVE, classes(-1, 2)),
            S(X((5, 2, 4)), SPELLED, classes([5]), TWO_TWO),
            S(X((5, 2, 4)), SPELLED, FIVE, classes([2])),
            S(X((5, 2, 4)), SPELLED, FIVE, TWO_TWO, blank=4),
            S(X((5, 2, 4)), classes(1, 2, 3), FIVE, TWO_TWO),
            S(X((5, 2, 4)), classes([[1, 2]]), FIVE, TWO_TWO),
            S(X((5, 2, 4)), classes([[[1, 2]]]), FIVE, TWO_TWO),
            S(X((1, 5, 2, 4)), SPELLED, FIVE, TWO_TWO),
            S(X((5, 0, 4)), SPELLED, FIVE, TWO_TWO),
        ],
        fn=aligned,
        **CTC,
    ),
    Op(
        "ctc_loss",
        [S(X((5, 2, 4)), SPELLED, FIVE, TWO_TWO), S(X((5, 2, 4)), SPELLED, (5, 4), (2, 2), 0, 2, True)],
        fn=aligned_by_numbers,
        **CTC,
    ),
]

OPS: list[Op] = [*VALUES, *PROBABILITIES, *MULTI, *RANKING, *SEQUENCES]
