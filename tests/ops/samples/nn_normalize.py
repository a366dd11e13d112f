"""Batch, layer, group, instance and RMS normalisation, and distances."""

from tests.ops.record import Op, S, X

F = "nn.functional."
# what PyTorch computes with in place: the records of forms without them, and tests/engine/ops/test_normalize.py
W, C = X((3,), 0.5, 2.0), X((3,), seed=1)
MEAN, VAR = X((3,), -1, 1, grad=False, seed=2), X((3,), 0.5, 2.0, grad=False, seed=3)
INSIDE = (("SmallVector|Dimension specified", "torch reads the sizes of a tensor without dims"),)
TWO_WAYS = {"int64": "torch refuses it in two ways, by the layout of the memory"}
SHAPES = ((4, 3), (4, 3, 2), (2, 3, 2, 3), (2, 3, 2, 1, 2), (2, 3, 40))


def batch_norms() -> list:
    """With and without parameters, in training and outside of it."""
    found = [S(X((4, 3, 2)), MEAN, VAR, W, C, False)]
    found += [S(X(shape), None, None, W, C, True) for shape in SHAPES]
    found += [
        S(X((4, 3)), None, None, training=True),
        S(X((4, 3, 2)), None, None, W, training=True, eps=0.1),
        S(X((4, 3, 2)), None, None, bias=C, training=True),
        S(X((2, 3, 40)), MEAN, VAR, W, C),
        S(X((4, 3)), MEAN, VAR),
        S(X((1, 3)), None, None, training=True),
        S(X((4, 3)), None, None, training=True, eps=0.0),
        S(X((4, 3)), MEAN, VAR, eps=-1.0),
        S(X((4, 3)), None, None),
        S(X((4, 3)), MEAN, VAR, X((2,)), C),
        S(X((4, 3)), MEAN, VAR, W, X((4,))),
        S(X((4, 3)), X((2,), grad=False), VAR),
        S(X((4, 3)), MEAN, X((4,), grad=False)),
        S(X((4, 3)), MEAN, None, training=True),
    ]
    return found


OPS: list[Op] = [
    Op(F + "batch_norm", batch_norms(), variants=False, loose=INSIDE, skip_dtypes=TWO_WAYS),
    Op(
        "batch_norm",
        [
            S(X((4, 3, 2)), W, C, None, None, True, 0.1, 1e-5, False),
            S(X((2, 3, 40)), W, C, MEAN, VAR, False, 0.1, 1e-5, True),
            S(X((4, 3)), W, None, None, None, True, 0.1, 1e-5, False),
            S(X((4, 3)), None, C, None, None, True, 0.1, 1e-5, False),
            S(X((4, 3, 5)), None, None, MEAN, VAR, False, 0.1, 0.5, False),
            S(X((0, 3)), None, None, None, None, True, 0.1, 1e-5, True).forward_only().only("float"),
            S(X((2, 3, 0)), W, C, None, None, True, 0.1, 1e-5, True).forward_only().only("float"),
        ],
        variants=False,
        loose=INSIDE,
        skip_dtypes=TWO_WAYS,
    ),
    Op(
        "native_batch_norm",
        [
            S(X((4, 3, 2)), W, C, None, None, True, 0.1, 1e-5),
            S(X((2, 3, 40)), W, C, MEAN, VAR, False, 0.1, 1e-5),
            S(X((4, 3)), None, None, None, None, True, 0.1, 1e-5),
        ],
        variants=False,
        loose=INSIDE,
        skip_dtypes=TWO_WAYS,
        differs={
            "gradcheck": "the statistics beside the result have no gradient, here as in torch",
            "bad_input": "torch reads outside of memory here",
            "mixed": "torch reads outside of memory here",
            "out": "torch overwrites before it checks",
        },
    ),
    Op(
        F + "instance_norm",
        [
            S(X((2, 3, 4))),
            S(X((2, 3, 40)), weight=W, bias=C),
            S(X((2, 3, 2, 2)), None, None, W, C, eps=0.1),
            S(X((2, 3, 4)), MEAN, VAR, W, C, False),
            S(X((2, 3, 4)), MEAN, VAR, use_input_stats=False),
            S(X((2, 3, 1))),
            S(X((2, 3))),
            S(X((2, 3, 4)), use_input_stats=False),
            S(X((2, 3, 4)), None, None, X((2,))),
            S(X((2, 3, 4)), MEAN, None),
        ],
        variants=False,
        loose=INSIDE,
    ),
    Op(
        "instance_norm",
        [
            S(X((2, 3, 4)), W, C, None, None, True, 0.1, 1e-5, False),
            S(X((2, 3, 4)), None, None, MEAN, VAR, False, 0.1, 1e-5, False),
        ],
        variants=False,
        loose=INSIDE,
    ),
    Op(
        F + "layer_norm",
        [
            S(X((3, 4)), (4,)),
            S(X((3, 4)), (4,), X((4,), 0.5, 2.0), X((4,))),
            S(X((2, 3, 4)), [3, 4], X((3, 4)), X((3, 4)), 0.1),
            S(X((2, 3, 40)), (40,), X((40,)), eps=1e-3),
            S(X((2, 3, 4)), (2, 3, 4), bias=X((2, 3, 4))),
            S(X((3, 4)), (3,)),
            S(X((3, 4)), ()),
            S(X((3, 4)), (2, 3, 4)),
            S(X((3, 4)), (4,), X((3,))),
            S(X((3, 4)), (4,), None, X((3,))),
        ],
    ),
    Op("layer_norm", [S(X((3, 4)), (4,), X((4,)), X((4,)), 1e-5, False), S(X((3, 4)), [3, 4])]),
    Op(
        "native_layer_norm",
        [
            S(X((2, 3, 4)), (3, 4), X((3, 4)), X((3, 4)), 1e-5),
            S(X((2, 3, 4)), (4,), None, None, 0.1),
        ],
        differs={"gradcheck": "the statistics beside the result have no gradient, here as in torch"},
    ),
    Op(
        F + "rms_norm",
        [
            S(X((3, 4)), (4,)),
            S(X((3, 4)), (4,), X((4,), 0.5, 2.0)),
            S(X((2, 3, 4)), [3, 4], X((3, 4)), 0.1),
            S(X((2, 3, 40)), (40,), X((40,)), eps=1e-3),
            S(X((3, 4)), (3,)),
            S(X((3, 4)), ()),
            S(X((3, 4)), (4,), X((3,))),
        ],
    ),
    Op("rms_norm", [S(X((3, 4)), (4,), X((4,)), 1e-5)]),
    Op(
        F + "group_norm",
        [
            S(X((2, 6, 3)), 3),
            S(X((2, 6, 3)), 2, X((6,), 0.5, 2.0), X((6,))),
            S(X((2, 4, 2, 3)), 1, X((4,)), eps=0.1),
            S(X((2, 4, 40)), 4, bias=X((4,))).forward_only(),  # torch's own gradient fails without a weight
            S(X((3, 6)), 2),
            S(X((2, 6, 3)), 4),
            S(X((2, 6, 3)), -1),
            S(X((1, 6)), 6),
            S(X((6,)), 2),
            S(X((2, 6, 3)), 2, X((4,))),
            S(X((2, 6, 3)), 2, None, X((4,))),
        ],
    ),
    Op("group_norm", [S(X((2, 6, 3)), 2, X((6,)), X((6,)), 1e-5, False), S(X((2, 6, 3)), 3)]),
    Op(
        "native_group_norm",
        [S(X((2, 6, 3)), X((6,)), X((6,)), 2, 6, 3, 2, 1e-5), S(X((2, 6, 3)), None, None, 2, 6, 3, 3, 0.1)],
        variants=False,
        layouts=False,  # torch refuses what is not contiguous
        differs={"bad_input": "torch reads outside of memory here"},
    ),
    Op(
        F + "local_response_norm",
        [
            S(X((2, 5, 3)), 2),
            S(X((2, 5, 3)), 3, alpha=0.5, beta=2.0, k=1.5),
            S(X((2, 4, 2, 3)), 5, 0.1, 0.5, 2.0),
            S(X((2, 3, 2, 2, 1)), 1, 0.1),
            S(X((2, 3)), 2),
        ],
        strides=False,
    ),
    Op(
        F + "normalize",
        [
            S(X((2, 3), 0.5, 2.0)),
            S(X((2, 3)), 1.5, 0),
            S(X((2, 3, 2)), p=1.0, dim=-1),
            S(X((2, 3), distinct=True), float("inf")),
            S(X(value=[[0.01, 0.02], [3.0, 4.0]]), eps=0.1).kink(),
            S(X((2, 3)), 2.0, 2),
        ],
    ),
    Op(
        "cosine_similarity",
        [
            S(X((2, 3)), X((2, 3), seed=1)),
            S(X((2, 3)), X((3,)), -1),
            S(X((2, 1, 3)), X((4, 3)), dim=2, eps=1e-3),
            S(X((3,)), X((3,)), 0),
            S(X(value=[[0.01, 0.02], [1.0, 2.0]]), X((2, 2)), eps=0.1).kink(),
            S(X((2, 3)), X((2, 2))),
            S(X((2, 3)), X((2, 3)), 2),
        ],
    ),
    Op(
        "pairwise_distance",
        [
            S(X((2, 3)), X((2, 3), 3, 5)),
            S(X((2, 3)), X((3,), 3, 5), 1.0),
            S(X((3,)), X((3,), 3, 5), p=3.0, eps=0.1, keepdim=True),
            S(X((2, 3)), X((2, 3), 3, 5), float("inf")),
            S(X((2, 3)), X((2, 3), 3, 5), 0.0),
            S(X((2, 3)), X((2, 2))),
        ],
    ),
    Op(
        "pdist",
        [
            S(X((4, 3), distinct=True)),
            S(X((4, 3), distinct=True), 1.0),
            S(X((4, 2), distinct=True), 3.0),
            S(X((3, 4), distinct=True), 1.5),
            S(X((4, 3), distinct=True), float("inf")),
            S(X((4, 3)), 0.0),
            S(X((4, 3)), -1.0),
            S(X((4,))),
        ],
        differs={"gradient_layouts": "torch's gradient writes outside of memory for an empty input"},
    ),
]
