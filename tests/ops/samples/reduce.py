"""Records of reductions, scans, sorting and counting. Invariant: where order matters, no two values tie."""

import numpy as np

from tests.ops.record import COMPLEX, FLOATS, INTEGERS, Lib, Op, S, X, reduction

TOLERANCE_OF_FLOAT32 = (2e-5, 2e-6)
x23, x232, x4, x0 = X((2, 3)), X((2, 3, 2)), X((4,)), X(())
d23, d232, d4 = (X(shape, distinct=True) for shape in ((2, 3), (2, 3, 2), (4,)))
f32, f64, i64 = Lib("float32"), Lib("float64"), Lib("int64")
nans = X(value=[[1.0, np.nan, 2.5], [0.5, -1.0, np.nan]])
bits = X(value=[[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
# not for gradients: float32 rounds them, and a float64 input is compared as float64
rounded = S(x23, dim=1, dtype=f32).forward_only()
typed = [S(x23, dtype=f32), S(x23, 1, dtype=f64), S(x23, dtype=i64).forward_only()]
forward_typed = [typed[0].forward_only(), *typed[1:]]

SUMS = [
    reduction("sum", more_samples=[*typed, S(nans).only("float").forward_only()]),
    reduction("nansum", more_samples=[*typed, S(nans, 1).only("float")]),
    reduction("mean", more_samples=typed[:2]),
    reduction("nanmean", more_samples=[S(nans, 1).only("float"), S(nans).only("float")]),
    reduction(
        "prod",
        dims="one",
        low=0.5,
        more_samples=[*forward_typed, S(X(value=[[0.0, 2.0, 3.0], [0.0, 0.0, 1.0]]), 1)],
    ),
    reduction(
        "logsumexp",
        more_samples=[S(X(value=[-np.inf, -np.inf]), 0).only("float").forward_only()],
        only_dtypes=(*FLOATS, *COMPLEX),
    ),
    reduction(
        "logsumexp",
        only_dtypes=(*INTEGERS, "bool"),
        tag="integers",
        # computed in float32 whatever `out` holds
        tolerance={"float64": TOLERANCE_OF_FLOAT32, "complex128": TOLERANCE_OF_FLOAT32},
    ),
    *(
        reduction(
            name,
            more_samples=[
                S(x23, correction=0),
                S(x23, 1, correction=2),
                S(x23, False),
                S(x23, 1, False, True),
                S(x4, unbiased=False),
                S(x4, correction=4).forward_only(),
            ],
        )
        for name in ("var", "std", "var_mean", "std_mean")
    ),
    reduction("count_nonzero", more_samples=[S(bits), S(bits, 1)]),
    reduction("all", more_samples=[S(bits), S(bits, 1), S(bits, 0, True)]),
    reduction("hash_tensor", more_samples=[S(x23), S(x23, 1), S(x23, (0, 1)), S(x23, 0, keepdim=True)]),
    reduction("any", more_samples=[S(bits), S(bits, 1), S(bits, 0, True)]),
    Op(
        "norm",
        [
            S(x23),
            S(x23, 2),
            S(x23, 1),
            S(x23, 3),
            S(x23, 2, 1),
            S(x23, 2, [0, 1], True),
            S(x23, float("inf"), 1),
            S(x23, float("-inf"), 1),
            S(x23, 0, 1),
            S(x23, "fro"),
            S(x23, "nuc"),
            S(x23, p=2, dim=0, dtype=f64),
            S(x23, "foo"),
        ],
        layouts=True,
        loose=(("Order foo not supported", "torch's method and function say different things"),),
    ),
]

EXTREMES = [
    *(
        reduction(
            name,
            True,
            dims="one",
            more_samples=[
                S(d23, d23),
                S(X((2, 3), seed=3), X((3,))),
                S(nans).only("float").forward_only(),
                S(nans, 1).only("float").forward_only(),
                S(X(value=[3, 1, 3, 1])).kink(),
                S(X(value=[[3, 1, 3, 1]]), 1).forward_only(),
            ],
        )
        for name in ("max", "min")
    ),
    *(
        reduction(
            name,
            True,
            more_samples=[S(nans).only("float").forward_only(), S(X(value=[[3, 1, 3, 1]]), 1).kink()],
        )
        for name in ("amax", "amin")
    ),
    Op("aminmax", [S(d23), S(d23, dim=1), S(d23, dim=0, keepdim=True), S(X(())), S(d23, dim=5)]),
    *(
        reduction(
            name,
            True,
            dims="one",
            more_samples=[S(X(value=[3, 1, 3, 1])).kink(), S(nans).only("float"), S(nans, 1).only("float")],
        )
        for name in ("argmax", "argmin")
    ),
]

SCANS = [
    *(
        Op(
            name,
            [
                S(x23, 0),
                S(x23, 1),
                S(x232, -1),
                S(x0, 0),
                rounded,
                S(x23, 2),
                S(x23, 0, dtype=i64),
            ],
        )
        for name in ("cumsum",)
    ),
    Op(
        "cumprod",
        [
            S(X((2, 3), 0.4, 2.0), 0),
            S(X((2, 3), 0.4, 2.0), 1),
            S(x0, 0),
            S(X(value=[[2.0, 0.0, 3.0, 4.0], [0.0, 2.0, 0.0, 5.0]]), 1),
            S(x23, dim=1, dtype=f64).only("float", "int"),
            S(x23, 2),
        ],
    ),
    *(
        Op(
            name,
            [
                S(d23, 0),
                S(d23, 1),
                S(d232, -2),
                S(x0, 0),
                S(d23, 2),
                S(X(value=[1, 3, 3, 2]), 0).forward_only(),
                S(X(value=[1.0, np.nan, 0.5]), 0).only("float").forward_only(),
            ],
        )
        for name in ("cummax", "cummin")
    ),
    Op(
        "logcumsumexp",
        [
            S(x23, 0),
            S(x23, 1),
            S(x0, 0),
            S(x23, 2),
            S(X(value=[-np.inf, 1.0, np.inf]), 0).only("float").forward_only(),
        ],
    ),
    Op(
        "diff",
        [
            S(x4),
            S(x23, 2),
            S(x23, 1, 0),
            S(x23, n=1, dim=1, prepend=X((2, 1)), append=X((2, 2))),
            S(x4, 0),
            S(x4, 9),
            S(x23, -1),
        ],
    ),
    Op(
        "trapezoid",
        [
            S(x4),
            S(x23),
            S(x23, X((3,), seed=2)),
            S(x23, dx=0.5),
            S(x23, dim=0),
            S(x23, X((2, 3), seed=2), dim=1),
            S(x23, x4),
        ],
    ),
    Op(
        "trapz",
        [S(x4), S(x23, X((3,), seed=2)), S(x23, dx=0.5, dim=0)],
    ),
    Op(
        "cumulative_trapezoid",
        [
            S(x4),
            S(x23),
            S(x23, X((3,), seed=2)),
            S(x23, dx=0.5),
            S(x23, dim=0),
            S(x23, X((2, 3), seed=2), dim=1),
            S(x23, x4),
        ],
    ),
]

SORTS = [
    *(
        reduction(
            name,
            True,
            dims="one",
            more_samples=[S(X((2, 5), distinct=True), 1), S(nans, 1).only("float").forward_only()],
        )
        for name in ("median", "nanmedian")
    ),
    Op(
        "mode",
        [
            S(X(value=[[1, 2, 2], [3, 3, 1]])).kink(),
            S(X(value=[[1, 2, 2], [3, 3, 1]]), 0).kink(),
            S(d4, 0, True),
            S(d23, 1),
            S(d23, 3),
        ],
    ),
    *(
        Op(
            name,
            [
                S(d23, 0.3),
                S(d23, 0.5, 1),
                S(d23, X(value=[0.1, 0.6, 1.0], grad=False), 0),
                S(d23, 0.4, dim=1, keepdim=True),
                S(d4, 0.4, interpolation="lower"),
                S(d4, 0.4, interpolation="higher"),
                S(d4, 0.4, interpolation="midpoint"),
                S(d4, 0.4, interpolation="nearest"),
                S(d4, 0.4, interpolation="foo"),
                S(d4, 1.5),
                S(nans, 0.5).only("float").forward_only(),
            ],
        )
        for name in ("quantile", "nanquantile")
    ),
    Op(
        "sort",
        [
            S(d4),
            S(d23),
            S(d23, 0),
            S(d23, 1, True),
            S(d23, dim=0, descending=True),
            S(X(value=[2, 1, 2, 1, 1]), stable=True).forward_only(),
            S(X(value=[2, 1, 2, 1, 1]), stable=True, descending=True).forward_only(),
            S(nans).only("float").forward_only(),
            S(nans, descending=True).only("float").forward_only(),
            S(d23, 2),
            S(x0),
        ],
    ),
    Op(
        "argsort",
        [S(d4), S(d23, 0), S(d23, 1, True), S(X(value=[2, 1, 2, 1]), stable=True), S(d23, 2), S(x0)],
    ),
    Op("msort", [S(d4), S(d23)]),
    Op(
        "topk",
        [
            S(d4, 2),
            S(d23, 1, 0),
            S(d23, 2, 1, False),
            S(d4, 2, largest=False, sorted=True),
            S(d4, 5),
            S(d23, 1, 2),
            S(X((7,), distinct=True), 7),
            S(d4, 0),
        ],
    ),
    Op(
        "kthvalue", [S(d4, 2), S(d23, 1, 0), S(d23, 2, dim=1, keepdim=True), S(d4, 5), S(d4, 0), S(d23, 1, 2)]
    ),
]

COUNTS = [
    Op(
        "unique",
        [
            S(X(value=[3, 1, 2, 1, 3])),
            S(X(value=[3, 1, 2, 1, 3]), return_inverse=True, return_counts=True),
            S(X(value=[[1, 2], [1, 2], [0, 2]]), dim=0),
            S(X(value=[[1, 2], [1, 2], [0, 2]]), return_inverse=True, return_counts=True, dim=0),
            S(X(value=[[1, 1], [2, 2]]), dim=1),
            S(X(value=[3, 1, 2]), True, True),
            S(x0),
        ],
    ),
    Op(
        "unique_consecutive",
        [
            S(X(value=[3, 3, 1, 1, 3])),
            S(X(value=[3, 3, 1, 1, 3]), True, True),
            S(X(value=[3, 3, 1, 1, 3]), return_counts=True),
            S(X(value=[[1, 2], [1, 2], [0, 2]]), dim=0),
        ],
    ),
    Op(
        "bincount",
        [
            S(np.array([0, 2, 2, 1])),
            S(np.array([0, 2, 2, 1]), X((4,))),
            S(np.array([0, 2]), minlength=5),
            S(np.array([0, -2])),
            S(np.array([[0, 1]])),
            S(np.array([0, 1]), minlength=-1),
            S(np.array([0, 1]), x4),
            S(np.array([], dtype=np.int64), minlength=2),
            S(x4),
        ],
        layouts=False,
        variants=False,
    ),
    Op(
        "histc",
        [
            S(x23, 4),
            S(x23, 4, -1, 1),
            S(x23, bins=3, min=0.0, max=2.0),
            S(x23, 0),
            S(x23, 3, 2, 1),
            S(X(value=[1, 1]), 3),
        ],
    ),
    Op(
        "histogram",
        [
            S(x23, 4),
            S(x23, bins=3, range=(-1.0, 1.0)),
            S(x23, 3, density=True),
            S(x23, X(value=[-2.0, 0.0, 1.0, 2.0], grad=False)),
            S(x23, 3, weight=X((2, 3), seed=2)),
            S(x23, 0),
            S(x23, 3, range=(2.0, 1.0)),
            S(X(value=[1, 1]), 3),
        ],
        variants=False,
    ),
    *(
        Op(
            "searchsorted",
            [S(X(value=[1, 3, 5, 7]), value, **more) for more in kwargs],
            tag=tag,
            layouts=False,
            variants=False,
            differs={"names": "no sample is accepted"} if tag == "bad" else {},
        )
        for tag, value, kwargs in (
            (
                "vector",
                X(value=[0, 3, 4, 9, 7]),
                ({}, {"right": True}, {"side": "right"}, {"out_int32": True}),
            ),
            ("scalar", 4, ({}, {"right": True})),
            ("bad", X(value=[1, 3]), ({"side": "up"}, {"right": True, "side": "left"})),
        )
    ),
    Op(
        "searchsorted",
        [
            S(X(value=[[1, 3, 5], [2, 4, 6]]), X(value=[[3, 9], [3, 1]])),
            S(X(value=[[1, 3, 5], [2, 4, 6]]), X(value=[3, 1])),
            S(X(value=[5, 1, 3]), X(value=[2, 4]), sorter=np.array([1, 2, 0])),
        ],
        tag="matrix",
        layouts=False,
        variants=False,
    ),
    Op(
        "bucketize",
        [
            S(X(value=[0, 3, 4, 9]), X(value=[1, 3, 5, 7])),
            S(X(value=[[0, 3], [4, 9]]), X(value=[1, 3, 5, 7]), right=True),
            S(4, X(value=[1, 3, 5, 7])),
            S(X(value=[0, 3]), X(value=[1, 3]), out_int32=True),
            S(X(value=[0, 3]), X(value=[[1, 3]])),
        ],
        layouts=False,
        variants=False,
    ),
]

for op in SUMS:
    if op.base.startswith(("var", "std")):
        # torch's own gradient is not a number where the dims are an empty tuple
        op.samples = [sample.forward_only() if () in sample.args[1:] else sample for sample in op.samples]

OPS = [*SUMS, *EXTREMES, *SCANS, *SORTS, *COUNTS]
