"""Records of random numbers: dtypes, shapes, refusals. Invariant: values are not compared."""

from dataclasses import replace

import numpy as np

from tests.ops.record import Lib, Op, S, X

x23, x0, unit = X((2, 3)), X(()), X((2, 3), 0.1, 0.9)
f32, i64 = Lib("float32"), Lib("int64")
plain = {"values": False}

OPS = [
    *(
        Op(
            name,
            [
                S(2, 3),
                S((2, 3)),
                S(()),
                S(0),
                S(2, dtype=f32),
                S(2, dtype=i64),
                S(-1),
                S(2, requires_grad=True),
            ],
            **plain,
        )
        for name in ("rand", "randn")
    ),
    Op(
        "randint",
        [
            S(5, (2,)),
            S(1, 5, (2, 3)),
            S(0, (2,)),
            S(5, 5, (1,)),
            S(5, (2,), dtype=f32),
            S(low=0, high=3, size=(2,)),
        ],
        **plain,
    ),
    Op("randperm", [S(5), S(0), S(-1), S(4, dtype=f32), S(4, dtype=Lib("int32")), S(n=3)], **plain),
    *(
        Op(f"{name}_like", [S(x23), S(x0), S(x23, dtype=f32), S(x23, requires_grad=True)], **plain)
        for name in ("rand", "randn")
    ),
    Op("randint_like", [S(x23, 5), S(x23, 1, 5), S(x23, 0), S(x23, 5, dtype=i64)], **plain),
    Op(
        "normal",
        [
            S(x23, unit),
            S(0.0, unit),
            S(x23, 1.0),
            S(x23),
            S(0.0, 1.0, (2, 3)),
            S(0.0, -1.0, (2,)),
            S(x23, X((2, 3), -2, -1)),
        ],
        **plain,
    ),
    Op("bernoulli", [S(unit), S(unit, 0.5), S(X(value=[0.5, 2.0])), S(unit, 1.5)], **plain),
    Op(
        "multinomial",
        [
            S(unit, 2),
            S(unit, 2, True),
            S(unit, 5),
            S(unit, 0),
            S(X((2, 3), -2, -1), 1),
            S(X((3,), 0.1, 0.9), 2),
            S(unit, num_samples=1),
        ],
        variants=False,
        **plain,
    ),
    Op("poisson", [S(unit), S(X((2, 3), -2, -1))], **plain),
    *(
        Op(
            f"Tensor.{name}_",
            [S(x23, *args) for args in lists],
            fn=lambda L, x, *a, name=name: getattr(x.clone(), name + "_")(*a),
            **plain,
        )
        for name, lists in {
            "uniform": [(), (0, 1), (-1.0, 2.0), (2, 1)],
            "normal": [(), (0, 1), (1.0, 2.0), (0, -1)],
            "bernoulli": [(), (0.5,), (2.0,), (unit,)],
            "exponential": [(), (2.0,), (0.0,), (-1.0,)],
            "log_normal": [(), (0.0, 1.0), (0, -1)],
            "cauchy": [(), (0.0, 1.0), (0, -1)],
            "geometric": [(0.5,), (0.0,), (1.0,), ()],
            "random": [(), (5,), (1, 5), (5, 5)],
        }.items()
    ),
]
SEEDED = ("rand", "randn", "randint", "randperm")


def seeded(op: Op) -> Op:
    """The same record with a seed before each call: two calls agree."""
    samples = [sample for sample in op.samples if sample.kwargs.get("dtype") is None][:2]
    return replace(
        op, samples=samples, fn=lambda L, *a, **k: again(L, op.name, a, k), tag="seeded", values=True
    )


def again(L, name: str, args: tuple, kwargs: dict) -> bool:
    """Whether the seed decides the values."""
    results = []
    for _ in range(2):
        L.manual_seed(17)
        results.append(getattr(L, name)(*args, **kwargs).tolist())
    return bool(np.array_equal(results[0], results[1]))


OPS += [seeded(op) for op in OPS if op.name in SEEDED]
