"""Records of reading and writing by index. Invariant: an index is an array of fixed values and dtype."""

from typing import Any

import numpy as np

from tests.ops.record import Op, S, Sample, X

x0, x3, x4, x34, x234, x33 = X(()), X((3,)), X((4,)), X((3, 4)), X((2, 3, 4)), X((3, 3))
i1 = np.array([0, 2, 1])
i2 = np.array([[0, 1], [2, 0]])
same = np.array([1, 1, 0])
negative = np.array([-1, 0, -2])
rows = np.array([True, False, True])
cells = np.array([[True, False, True, False], [False, False, True, True], [True, False, False, False]])
nothing = np.array([], dtype=np.int64)
last = slice(None)

twice: list[Any] = [[[0, 1], [2, 0]], (i2, 1), (last, i2)]

# Every form of an index, for a tensor of shape (3, 4).
BASIC: list[Any] = [
    1,
    -1,
    3,
    (1, 2),
    (1, -4),
    (1, 2, 0),
    slice(1, None),
    slice(None, None, 2),
    slice(-2, None),
    slice(2, 1),
    slice(0, 9),
    slice(None, None, -1),
    slice(None, None, 0),
    (last, 1),
    (last, slice(1, 3)),
    None,
    (None, 1),
    (1, None),
    (last, None, last),
    Ellipsis,
    (Ellipsis, 1),
    (1, Ellipsis),
    (Ellipsis, None),
    (Ellipsis, Ellipsis),
    (),
    True,
    False,
    (True, 1),
    "a",
    1.5,
]
ADVANCED: list[Any] = [
    i1,
    i2,
    same,
    negative,
    nothing,
    np.array(1),
    np.array([3]),
    (i1, i1),
    (i1, np.array([0, 3, 1])),
    twice[1],
    (last, i1),
    twice[2],
    (i1, last),
    (i1, None),
    (None, i1),
    (Ellipsis, i1),
    (np.array([[0], [1]]), np.array([1, 2, 3])),
    (i1, np.array([0, 1])),
    (slice(0, 2), i1),
    (1, i1),
    rows,
    cells,
    (rows, 1),
    (rows, np.array([0, 1])),
    (last, np.array([True, False, True, True])),
    np.array([True, False]),
    np.array(True),
    np.array(False),
    rows.astype(np.uint8),
    [0, 2],
    twice[0],
    ([0, 1], [1, 2]),
    [True, False, True],
    (last, [0, 3]),
    (slice(None, None, 2), [0, 3]),
    np.array([0, 1], dtype=np.int32),
    np.array([0.0, 1.0]),
]
# For a tensor of shape (2, 3, 4): advanced indices apart and together.
DEEP: list[Any] = [
    (last, i1, np.array([0, 1, 3])),
    (np.array([0, 1, 1]), last, i1),
    (0, last, i1),
    (np.array([0, 1]), slice(0, 2), np.array([0, 3])),
    (Ellipsis, np.array([0, 3])),
    (np.array([0, 1]), None, np.array([0, 1])),
    (last, cells),
    (last, rows, slice(0, 2)),
    (np.array([[0], [1]]), i1),
    (last, None, i1),
    (1, i1, last),
]

GET = [
    Op("Tensor.__getitem__", [S(x34, index) for index in BASIC], tag="basic"),
    Op("Tensor.__getitem__", [S(x34, index) for index in ADVANCED], tag="advanced"),
    Op("Tensor.__getitem__", [S(x234, index) for index in DEEP], tag="deep"),
    Op(
        "Tensor.__getitem__",
        [S(x0, index) for index in (0, None, Ellipsis, (), True, last, np.array(True))],
        tag="0-d",
    ),
]
for op in GET:
    op.variants = False


def unmixed(sample: Sample) -> Sample:
    """Without mixtures of dtypes: torch's backward fails for a complex tensor filled with a real one."""
    return sample.only("float", "complex", "int", "bool")


def set_item(L: Any, x: Any, index: Any, value: Any) -> Any:
    """A copy with a part written."""
    x = x.clone()
    x[index] = value
    return x


SET = [
    Op("Tensor.__setitem__", [unmixed(S(x34, index, x0)) for index in [*BASIC, *ADVANCED]], tag="0-d"),
    Op("Tensor.__setitem__", [S(x34, index, 2.5) for index in [*BASIC, *ADVANCED]], tag="number"),
    Op("Tensor.__setitem__", [S(x234, index, 1.5) for index in DEEP], tag="deep"),
    Op(
        "Tensor.__setitem__",
        [
            S(x34, 1, x4),
            S(x34, slice(0, 2), X((2, 4))),
            S(x34, slice(0, 2), X((1, 4))),
            S(x34, slice(0, 2), x4),
            S(x34, (last, 1), x3),
            S(x34, i1, x34),
            S(x34, (i1, i1), x3),
            S(x34, rows, X((2, 4))),
            S(x34, cells, X((5,))),
            S(x34, cells, X((4,))),
            S(x34, 1, x3),
            S(x34, slice(0, 2), x34),
            S(x34, (i1, i1), X((1,))),
            S(x34, (last, i1), X((3, 3))),
            S(x34, 1, X((1, 1, 4))),
            S(x34, 0, True),
            S(x34, 0, 1 + 1j),
            S(x34, 0, [1.0, 2.0]),
            S(x34, i1, X((1, 1, 4))),
            S(x0, Ellipsis, x0),
            S(x0, (), 3),
        ],
        tag="tensor",
        differs={"mixed_devices": "a basic index copies, and a copy may cross devices in torch too"},
    ),
]
for op in SET:
    op.fn, op.variants = set_item, False

add_at = {"accumulate": True}
# A cell written twice: torch defines the gradient, differences see only the last write.
REPEATED = [i2, same, *twice]
for op in SET:
    op.samples = [
        sample.kink() if any(sample.args[1] is index for index in REPEATED) else sample
        for sample in op.samples
    ]

PUT = [
    Op(
        "index_put",
        [
            S(x34, (i1,), x4),
            S(x34, (i1, i1), x3),
            S(x34, (same,), X((3, 4)), True),
            S(x34, (same, same), X((3,)), **add_at),
            S(x34, (cells,), X((5,)), **add_at),
            unmixed(S(x34, (cells,), x0)),
            S(x34, [i1, i1], x3, accumulate=False),
            S(x34, (i1, i1, i1), x3),
            S(x34, (np.array([3]),), x4),
            S(x34, (i1,), x3),
            S(x34, (i1,), X((3, 4), dtype="float16")),
        ],
        variants=False,
    ),
    Op(
        "put",
        [
            S(x34, i1, x3),
            S(x34, same, x3, True),
            S(x34, i2, X((2, 2))).kink(),
            S(x34, i1, x4),
            S(x34, np.array([12, 0, 1]), x3),
        ],
        fn=lambda L, x, *rest: x.put(*rest),
        variants=False,
    ),
]
for op in PUT:
    if op.name == "put":
        op.name, op.fn = "Tensor.put", None

g3 = np.array([[0, 1], [1, 2], [2, 3]])
g1, g2 = np.array([[0, 1, 2, 0]]), np.array([[0, 3], [1, 1], [2, 0]])
v34 = X((3, 4), seed=5)
GATHER = [
    Op(
        "gather",
        [
            S(x34, 0, g1),
            S(x34, 1, g2),
            S(x3, 0, i1),
            S(x34, -1, g2),
            S(x34, 0, g2),
            S(x34, 0, i1),
            S(x34, 2, g1),
            S(x0, 0, np.array(0)),
            S(x34, 1, g2.astype(np.float64)),
            S(x34, 1, nothing.reshape(3, 0)),
        ],
    ),
    Op(
        "take",
        [
            S(x34, i1),
            S(x34, i2),
            S(x34, np.array([-1, 11])),
            S(x34, np.array([12])),
            S(x34, nothing),
            S(x34, i1.astype(float)),
        ],
    ),
    Op(
        "take_along_dim", [S(x34, g1, 0), S(x34, g2, 1), S(x34, i1), S(x34, np.array([[0], [1], [2]]), dim=1)]
    ),
    Op(
        "index_select",
        [
            S(x34, 0, i1),
            S(x34, 1, same),
            S(x34, 0, i2),
            S(x34, 0, np.array([3])),
            S(x34, 2, i1),
            S(x3, 0, nothing),
        ],
    ),
    Op(
        "masked_select",
        [
            S(x34, cells),
            S(x34, np.array([True, False, True, True])),
            S(x34, i1),
            S(x34, rows),
            S(x0, np.array(True)),
        ],
    ),
    Op(
        "nonzero",
        [
            S(X(value=[[0, 1, 2], [0, 0, 3]])),
            S(x0),
            S(X(value=[0, 0])),
            S(X(value=[[0, 1], [1, 1]]), as_tuple=True),
        ],
    ),
    Op("argwhere", [S(X(value=[[0, 1, 2], [0, 0, 3]])), S(x0)]),
]
for op in GATHER:
    op.variants = False


def real_product(sample: Sample) -> Sample:
    """A complex product apart: torch's gradient of it, where it has one (in place), lacks a conjugation."""
    return sample.only("float", "int", "bool") if sample.args[4] == "prod" else sample


SCATTER = [
    Op(
        "scatter",
        [
            S(x34, 0, g1, X((1, 4))),
            S(x34, 1, g2, X((3, 2))).kink(),
            S(x34, 1, g2, 2.5),
            S(x3, 0, i1, x3),
            S(x34, 0, g1, x3),
            S(x34, 0, g1 + 3, x34),
            # torch has no gradient for a source larger than its index; ours is in test_index.py
            S(x34, 1, g3, v34).forward_only(),
            S(x34, 2, g1, x34),
        ],
    ),
    Op(
        "scatter",
        [S(x34, 0, g1, X((1, 4)), reduce=r).forward_only() for r in ("add", "multiply", "foo")],
        tag="reduce",
        differs={"out": "torch lets out= lose the gradient of a reduction it cannot differentiate"},
    ),
    Op(
        "scatter_add",
        [
            S(x34, 0, g1, X((1, 4))),
            S(x34, 1, g2, X((3, 2))),
            S(x34, 1, g2, v34).forward_only(),
            S(x34, 1, g2, x3),
        ],
    ),
    Op(
        "scatter_reduce",
        [
            real_product(S(x34, 1, g2, X((3, 2), distinct=True), reduce, include_self=include))
            for reduce in ("sum", "prod", "mean", "amax", "amin")
            for include in (True, False)
        ]
        + [S(x34, 1, g2, X((3, 2)), "foo"), S(x34, 1, g2, X((3, 2)), "prod").only("complex").forward_only()],
    ),
    Op(
        "index_add",
        [
            S(x34, 0, i1, v34),
            S(x34, 1, same, x33),
            S(x34, 0, same, v34, alpha=2),
            S(x34, 0, i1, x3),
            S(x34, 0, np.array([3]), X((1, 4))),
        ],
    ),
    Op(
        "index_copy",
        [S(x34, 0, i1, v34), S(x34, 1, i1, x33), S(x34, 0, i1, x3), S(x34, 0, np.array([3]), X((1, 4)))],
    ),
    Op(
        "index_fill",
        [
            S(x34, 0, i1, 2.5),
            unmixed(S(x34, 1, same, x0)),
            S(x34, 0, i1, x3),
            S(x34, 0, np.array([3]), 1),
            S(x34, 0, i1, 1j),
        ],
    ),
    Op(
        "index_reduce",
        [
            *(
                real_product(S(x34, 0, same, X((3, 4), 0.5, 2.0), r))
                for r in ("prod", "mean", "amax", "amin")
            ),
            S(x34, 0, same, X((3, 4)), "prod").only("complex").forward_only(),
        ],
    ),
    Op(
        "masked_fill",
        [
            S(x34, cells, 2.5),
            unmixed(S(x34, cells, x0)),
            S(x34, rows, 1),
            S(x34, cells[:1], 2),
            S(x34, cells, x3),
            S(x34, i1, 1),
            S(x34, cells, 1j),
        ],
    ),
    Op(
        "masked_scatter",
        [
            S(x34, cells, v34),
            S(x34, cells, X((5,))),
            S(x34, cells, X((4,))),
            S(x34, cells[:1], v34),
            S(x34, i1, v34),
        ],
    ),
]
for op in SCATTER:
    op.variants = False

FILL = [
    # a complex tensor filled by a real one: torch's gradient fails on an assertion of its own
    Op("fill", [S(x34, 2), S(x34, 1.5), S(x34, x0).forward_only(), S(x34, x3), S(x34, 1j)]),
    Op("fill", [S(x34, x0)], only_dtypes=("float32", "float64"), tag="by a tensor"),
    Op(
        "Tensor.fill_",
        [S(x34, 2), S(x34, 1.5), S(x34, x0).forward_only(), S(x34, x3), S(x34, True)],
        fn=lambda L, x, *v: x.clone().fill_(*v),
    ),
    Op("Tensor.zero_", [S(x34), S(x0)], fn=lambda L, x: x.clone().zero_()),
    Op(
        "Tensor.fill_diagonal_",
        [S(x33, 2.5), S(x34, 1), S(X((5, 2)), 3, True)],
        fn=lambda L, x, *v: x.clone().fill_diagonal_(*v),
    ),
]

OPS = [*GET, *SET, *PUT, *GATHER, *SCATTER, *FILL]
