"""Rows of a table, one by one and in bags."""

import numpy as np

from tests.ops.record import Op, S, Sample, X

F = "nn.functional."


def ints(*values: object, dtype: str = "int64") -> X:
    """Indices."""
    return X(value=list(values), dtype=dtype, grad=False)


IDS, TABLE = ints([1, 2, 1], [0, 3, 1]), X((5, 3))
FLAT, OFFSETS = ints(1, 2, 1, 0, 3, 1, 1), ints(0, 3, 3)
MANY = X(value=np.arange(90) % 7 * (np.arange(90) % 3), dtype="int64", grad=False)
ONE_BAG = ints(0)


def bags(**more: object) -> list[Sample]:
    """The calls of the layer."""
    weights = X((7,), 0.5, 2.0)
    return [
        S(IDS, TABLE),
        S(FLAT, TABLE, OFFSETS, mode="sum"),
        S(FLAT, X((5, 3), distinct=True), OFFSETS, mode="max"),
        S(FLAT, TABLE, OFFSETS),
        S(FLAT, TABLE, OFFSETS, mode="sum", per_sample_weights=weights),
        S(FLAT, TABLE, OFFSETS, mode="sum", per_sample_weights=weights, padding_idx=1),
        S(IDS, TABLE, mode="mean", padding_idx=1),
        S(IDS, X((5, 3), distinct=True), mode="max", padding_idx=-4),
        S(FLAT, TABLE, ints(0, 3, 7), mode="sum", include_last_offset=True),
        S(MANY, X((13, 2)), ints(0, 40, 41), mode="mean"),
        S(FLAT, TABLE),
        S(IDS, TABLE, OFFSETS),
        S(FLAT, TABLE, OFFSETS, mode="median"),
        S(FLAT, TABLE, OFFSETS, per_sample_weights=weights),
        S(FLAT, TABLE, OFFSETS, mode="sum", per_sample_weights=X((3,))),
        S(ints([[1]]), TABLE),
    ]


OPS: list[Op] = [
    Op(
        F + "embedding",
        [
            S(IDS, TABLE),
            S(ints(4, 0, dtype="int32"), TABLE, 4).kink(),  # no derivative: what is padding gets none
            S(X(value=2, dtype="int64", grad=False), TABLE),
            S(IDS, TABLE, -4).kink(),
            S(MANY, X((100, 2))),
            S(ints(5), TABLE),
            S(ints(-1), TABLE),
            S(IDS, TABLE, 7),
            S(IDS, X((3,))),
        ],
        variants=False,
    ),
    Op(
        F + "embedding",
        [
            S(IDS, TABLE, scale_grad_by_freq=True).kink(),
            S(IDS, TABLE, padding_idx=1, scale_grad_by_freq=True).kink(),
            S(MANY, X((40, 2)), scale_grad_by_freq=True).kink(),
        ],
        variants=False,
        tag="by frequency",
        differs={"second": "torch leaves the frequencies out of the second derivative"},
    ),
    Op(
        F + "embedding_bag",
        [
            S(IDS, TABLE, mode="sum", scale_grad_by_freq=True).kink(),
            S(IDS, TABLE, scale_grad_by_freq=True).kink(),
        ],
        variants=False,
        tag="by frequency",
        # torch goes on with the frequency of an earlier row: see tests/engine/ops/test_embedding.py
        differs=dict.fromkeys(
            ("gradient", "gradient_layouts", "second", "strict"), "torch counts other rows"
        ),
    ),
    Op(
        "embedding",
        [S(TABLE, IDS), S(TABLE, FLAT, 1, True).kink(), S(X((100, 2)), MANY, -1, False), S(TABLE, ints())],
        variants=False,
    ),
    Op(
        "embedding_renorm_",
        [
            S(TABLE, IDS, 1.0, 2.0),
            S(TABLE, FLAT, 0.5, 1.0),
            S(TABLE, FLAT, 0.5, float("inf")),
            S(TABLE, ints(9), 0.5, 2.0),
            S(X((3,)), FLAT, 0.5, 2.0),
        ],
        fn=lambda L, table, *rest: L.embedding_renorm_(table.detach().clone(), *rest),
        variants=False,
        layouts=False,
    ),
    Op(
        F + "embedding_bag",
        bags(),
        variants=False,
    ),
    Op(
        "embedding_bag",
        [
            S(TABLE, FLAT, OFFSETS),
            S(TABLE, FLAT, OFFSETS, False, 1),
            S(X((5, 3), distinct=True), FLAT, OFFSETS, False, 2),
            S(TABLE, FLAT, ints(0, 3, 7), False, 1, False, None, True),
            S(TABLE, FLAT, OFFSETS, False, 0, False, X((7,)), False, 1),
            S(X((5, 3), distinct=True), FLAT, OFFSETS, False, 2, False, None, False, 1),
            S(TABLE, FLAT, OFFSETS, False, 3),
            S(TABLE, FLAT, ints(1, 3)),
            S(TABLE, FLAT, ints(0, 9)),
        ],
        variants=False,
        layouts=False,  # what torch returns beside the result depends on the layout of the table
    ),
    Op(
        F + "one_hot",
        [
            S(X(value=[[0, 2], [1, 0]], dtype="int64")),
            S(X(value=[0, 2], dtype="int64"), 5),
            S(X(value=[0, 2], dtype="int64"), num_classes=2),
            S(X(value=[0, -2], dtype="int64")),
            S(X(value=3, dtype="int64")),
            S(X(value=[], dtype="int64")),
            S(X(value=[1], dtype="int32")),
        ],
    ),
]
