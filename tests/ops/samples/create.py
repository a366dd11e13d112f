"""Records of creation, forward only. Invariant: a sample without a free tensor names its dtype itself."""

from typing import Any

import numpy as np

from tests.ops.record import DTYPES, Lib, Op, S, X

each = [Lib(name) for name in DTYPES]
f32, f64, i64, c64 = Lib("float32"), Lib("float64"), Lib("int64"), Lib("complex64")
x23, x0 = X((2, 3)), X(())
plain = {"layouts": False, "variants": False}

FILLED = [
    *(
        Op(
            name,
            [
                S(2, 3),
                S((2, 3)),
                S([2, 3]),
                S(()),
                S(0),
                S(2, 0),
                S(-1),
                S(2, 3.5),
                S((2, "a")),
                S(3, requires_grad=True),
            ]
            + [S(2, 3, dtype=dtype) for dtype in each]
            + [S(2, device="cpu"), S(2, dtype=i64, requires_grad=True), S(size=(2, 3)), S(2, foo=1)],
            values=name != "empty",
        )
        for name in ("zeros", "ones", "empty")
    ),
    Op(
        "full",
        [
            S((2, 3), 2),
            S((2, 3), 1.5),
            S((2,), True),
            S((2,), 1j),
            S((), 3),
            S((2,), 2.5, dtype=i64),
            S(2, 3),
            S((-1,), 1),
        ]
        + [S((2,), 1, dtype=dtype) for dtype in each]
        + [S(size=(2,), fill_value=7.0), S((2,), 300, dtype=Lib("uint8")), S((2,), 1.0, requires_grad=True)],
    ),
    Op("eye", [S(3), S(2, 4), S(3, m=2), S(0), S(-1), S(3, dtype=i64), S(2, 3, dtype=Lib("bool"))]),
    Op(
        "arange",
        [
            S(5),
            S(1, 5),
            S(1, 10, 3),
            S(5.0),
            S(0, 1, 0.25),
            S(5, 1, -2),
            S(0),
            S(1, 5, 0),
            S(1, 5, -1),
            S(start=1, end=4),
        ]
        + [S(0, 5, 2, dtype=dtype) for dtype in each]
        + [S(end=3), S(True), S(1j), S(0.0, float("inf")), S(2.5, 6, 1), S(-3), S(2**40, 2**40 + 2)],
    ),
    Op(
        "linspace",
        [
            S(0, 1, 5),
            S(0, 1, steps=1),
            S(1, -1, 4),
            S(0, 10, 3, dtype=i64),
            S(0, 1, 0),
            S(0, 1, -1),
            S(0, 1),
            S(0, 1j, 3),
        ]
        + [S(0, 8, 5, dtype=dtype) for dtype in each]
        + [S(start=0, end=1, steps=3), S(X(value=0.5, dtype="float64"), 2, 3)],
    ),
    Op(
        "logspace",
        [
            S(0, 2, 3),
            S(0, 3, 4, 2),
            S(0, 1, 0),
            S(0, 1, -1),
            S(0, 2, 3, dtype=i64),
            S(start=0, end=1, steps=2, base=3.0),
        ],
    ),
]
LIKE = [
    *(
        Op(
            name,
            [
                S(x23),
                S(x0),
                S(x23, dtype=f32),
                S(x23, dtype=i64),
                S(x23, requires_grad=True),
                S(x23, device="cpu"),
                S(x23, memory_format=Lib("contiguous_format")),
                S([1]),
            ],
            values=name != "empty_like",
        )
        for name in ("zeros_like", "ones_like", "empty_like")
    ),
    Op("full_like", [S(x23, 2), S(x23, 1.5), S(x23, 2, dtype=f32), S(x0, True), S(x23, 1j)]),
    *(
        Op(
            f"Tensor.new_{name}",
            [
                S(x23, 2, 2),
                S(x23, (2, 2)),
                S(x23, (2,), dtype=f32),
                S(x23, ()),
                S(x0, (2,), requires_grad=True),
            ],
            values=name != "empty",
        )
        for name in ("zeros", "ones", "empty")
    ),
    Op("Tensor.new_full", [S(x23, (2, 2), 3), S(x23, (2,), 1.5), S(x23, (), 2, dtype=f32)]),
    Op(
        "Tensor.new_tensor",
        [S(x23, [1, 2]), S(x23, 1.5), S(x23, [[1, 2]], dtype=f32), S(x23, np.array([1, 2]))],
    ),
]

nested = [[1, 2], [3, 4]]
odd = [None, "a", [1, "a"], [[1], [2, 3]], [1, [2]], {"a": 1}, [None], [[1, 2], 3]]
values = [
    1,
    1.5,
    True,
    1j,
    [],
    [[]],
    nested,
    [1, 2.5],
    [True, 2],
    [1, 1j],
    (1, 2),
    [True, False],
    2**40,
    -(2**63),
    2**64,
]
values += [range(3), [float("nan"), float("inf")], np.float32(2.5), np.int16(3)]


class Raw:
    """A numpy array that stays one: not turned into a tensor."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __repr__(self) -> str:
        return f"numpy({self.array.dtype}, {self.array.tolist()})"


arrays = [np.arange(3, dtype=d) for d in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "c8", "c16")]
arrays += [
    np.array([True, False]),
    np.array(2.5),
    np.zeros((0, 3)),
    np.arange(6.0).reshape(2, 3).T,
    np.array(["a"]),
]
arrays += [np.arange(6.0)[::2], np.arange(3.0)[::-1], np.array([object()]), np.arange(3, dtype=">f4")]


def with_array(name: str):
    """The function with a real numpy array as argument."""
    return lambda L, raw, *rest, **more: getattr(L, name)(raw.array, *rest, **more)


DATA = [
    *(
        Op(
            name,
            [S(value) for value in values]
            + [S(value) for value in odd]
            + [S([0, 1], dtype=dtype) for dtype in each]
            + [
                S([1.5, 2.5], dtype=i64),
                S([1j], dtype=f32),
                S([1.0], requires_grad=True),
                S(x23),
                S(x23, dtype=f32),
            ]
            + [
                S(np.array([1, 2])),
                S([x0, x0]).only("float"),
                S(300, dtype=Lib("uint8")),
                S([1], requires_grad=True),
            ],
            **plain,
            differs={"names": "the data is positional in torch's parser"},
        )
        for name in ("tensor", "asarray")
    ),
    Op(
        "as_tensor",
        [S(value) for value in [*values, *odd]] + [S(x23), S(x23, dtype=f32), S([1], dtype=f64)],
        **plain,
        differs={"names": "as tensor"},
    ),
    *(
        Op(name, [S(Raw(array)) for array in arrays], fn=with_array(name), tag="numpy")
        for name in ("tensor", "as_tensor", "from_numpy", "asarray")
    ),
    Op("scalar_tensor", [S(1), S(1.5), S(2, dtype=f64), S(1j)]),
    Op(
        "Tensor",
        [S(2, 3), S(()), S([1, 2]), S([[1.5]]), S((2, 2)), S(x23).only("float"), S("a"), S(2.5), S([])],
        fn=lambda L, *a: L.Tensor(*a),
        # a tensor of sizes holds whatever the memory held
        values=False,
        **plain,
    ),
    *(
        Op(
            name,
            [S([1, 2]), S([1.5]), S(2, 3), S(()), S([True])],
            values=False,
            fn=lambda L, *a, name=name: getattr(L, name)(*a),
        )
        for name in (
            "FloatTensor",
            "DoubleTensor",
            "HalfTensor",
            "BFloat16Tensor",
            "LongTensor",
            "IntTensor",
            "ShortTensor",
        )
    ),
    *(
        Op(name, [S([1, 2]), S(2, 3), S(())], values=False, fn=lambda L, *a, name=name: getattr(L, name)(*a))
        for name in ("CharTensor", "ByteTensor", "BoolTensor")
    ),
]

pair = [(Lib(a), Lib(b)) for a in DTYPES for b in DTYPES]


def limits(info: Any, *more: str) -> list:
    """What a finfo or iinfo says."""
    return [getattr(info, name) for name in ("bits", "max", "min", *more)]


DTYPE = [
    Op("promote_types", [S(a, b) for a, b in pair]),
    Op("can_cast", [S(a, b) for a, b in pair]),
    Op(
        "result_type",
        [S(x23, 1), S(x23, 1.5), S(x23, 1j), S(x23, x0), S(1, 2.5), S(1, True), S(x23, X((), dtype="int64"))],
        skip_dtypes={
            "float16": "with complex numbers it gives torch.complex32, which vistorch does not have"
        },
    ),
    Op(
        "finfo", [S(dtype) for dtype in each], fn=lambda L, d: limits(L.finfo(d), "eps", "tiny", "resolution")
    ),
    Op("iinfo", [S(dtype) for dtype in each], fn=lambda L, d: limits(L.iinfo(d))),
    Op("is_tensor", [S(x23), S(1)]),
    *(Op(name, [S(x23), S(x0)]) for name in ("is_floating_point", "is_complex", "is_nonzero")),
]

OPS = [*FILLED, *LIKE, *DATA, *DTYPE]
