"""Records of the pointwise ops. Invariant: samples for gradients keep away from poles, kinks and ties."""

import numpy as np

from tests.ops.record import Op, S, Sample, X, binary, compare_op, unary

x23, x3, x0 = X((2, 3)), X((3,)), X(())
signed = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf]
positive = X((2, 3), 0.3, 2.0)

exponents = X((2, 3), 0.5, 2.0)

ARITHMETIC = [
    binary("add", scalars=(2, 1.5, True, 1 + 2j), more_samples=[S(x23, x3, alpha=2), S(x23, x23, alpha=0.5)]),
    binary("sub", scalars=(2, 1.5, True, 1 + 2j), more_samples=[S(x23, x3, alpha=2), S(x23, x23, alpha=0.5)]),
    binary("mul", scalars=(2, 1.5, True, 1 + 2j)),
    binary(
        "div",
        second=(0.5, 2.0),
        avoid=(0,),
        scalars=(2, 1.5, True, 1 + 2j),
        more_samples=[
            S(X((2, 3), 2.2, 2.8), X((3,), 0.9, 0.95), rounding_mode=mode)
            for mode in ("floor", "trunc", "up", None)
        ],
    ),
    binary("true_divide", second=(0.5, 2.0)),
    binary("floor_divide", second=(0.5, 2.0)),
    binary("remainder", first=(0.1, 0.6), second=(0.7, 2.0), scalars=(2, 1.5, -2), reflected=(2, 1.5)),
    binary("fmod", first=(0.1, 0.6), second=(0.7, 2.0), scalars=(2, 1.5, -2)),
    binary(
        "pow",
        (0.3, 2.0),
        (0.5, 2.0),
        scalars=(0, 1, 2, 3, 0.5, -1.0, 2.5, 1 + 2j, True),
    ),
    Op(
        "pow",
        [S(2.0, exponents), S(2, exponents), S(1.5, X((2, 3), 0.5, 2.0)), S(1, exponents)],
        tag="number base",
        differs={"names": "torch calls a base that is a number `self`"},
    ),
    binary("float_power", (0.3, 2.0), (0.5, 2.0), scalars=(0, 2, 0.5), reflected=(2, 1.5)),
    binary("maximum", scalars=()),
    binary("minimum", scalars=()),
    binary("fmax", scalars=()),
    binary("fmin", scalars=()),
    binary("atan2", first=(0.3, 2.0), scalars=()),
    binary("hypot", first=(0.3, 2.0), scalars=()),
    binary("logaddexp", scalars=()),
    binary("xlogy", first=(0.3, 2.0), scalars=(2, 1.5), reflected=(2, 1.5)),
    # no nan: its sign is no part of the value, and bfloat16 conversions change it
    binary(
        "copysign",
        avoid=(0,),
        scalars=(2, -1.5),
        special=False,
        more_samples=[
            S(X(value=np.repeat(signed, 6)), X(value=np.tile(signed, 6))).only("float").forward_only()
        ],
    ),
    binary("heaviside", avoid=(0,), scalars=()),
]

# torch's own formulas of logaddexp and where fail if a real and a complex tensor meet
REAL_OR_COMPLEX = ("float", "complex", "int", "bool")
for op in ARITHMETIC:
    if op.name == "logaddexp":
        op.samples = [s.only(*(s.kinds or REAL_OR_COMPLEX)) for s in op.samples]

DOMAINS: dict[str, dict] = {
    "neg": {},
    "positive": {},
    "abs": {"avoid": (0,)},
    "square": {},
    "reciprocal": {"low": 0.3},
    "sqrt": {"low": 0.3},
    "rsqrt": {"low": 0.3},
    "exp": {},
    "exp2": {},
    "expm1": {},
    "log": {"low": 0.3},
    "log2": {"low": 0.3},
    "log10": {"low": 0.3},
    "log1p": {"low": -0.6},
    "sin": {},
    "cos": {},
    "tan": {"low": -1.2, "high": 1.2},
    "asin": {"low": -0.8, "high": 0.8},
    "acos": {"low": -0.8, "high": 0.8},
    "atan": {},
    "sinh": {},
    "cosh": {},
    "tanh": {},
    "asinh": {},
    "acosh": {"low": 1.3, "high": 3.0},
    "atanh": {"low": -0.8, "high": 0.8},
    "sigmoid": {},
    "erf": {},
    "erfc": {},
    "erfinv": {"low": -0.8, "high": 0.8},
    "lgamma": {"low": 0.3, "high": 4.0},
    "digamma": {"low": 0.3, "high": 4.0},
    "floor": {"avoid": "integers"},
    "ceil": {"avoid": "integers"},
    "trunc": {"avoid": "integers"},
    "frac": {"avoid": "integers"},
    "round": {"avoid": "halves"},
    "sign": {"avoid": (0,)},
    "sgn": {"avoid": (0,)},
    "signbit": {"special": False},
    "deg2rad": {},
    "rad2deg": {},
    "isnan": {},
    "isinf": {},
    "isposinf": {},
    "isneginf": {},
    "isfinite": {},
    "logical_not": {},
    "bitwise_not": {},
    "real": {},
    "imag": {},
    "conj": {"differs": {"sharing": "a conjugate is computed at once, not a lazy view"}},
    "angle": {"avoid": (0,)},
}
for name in ("asinh", "acosh", "atanh"):
    DOMAINS[name]["differs"] = {"in_place_gradient": "torch has no derivative of the in-place form"}
UNARY = [unary(name, **domain) for name, domain in DOMAINS.items()]
UNARY.append(Op("signbit", [S(X(value=signed)).only("float").forward_only()], tag="zeros"))
ROUND = [
    Op("round", [S(X((2, 3), avoid=(0.25, 0.35)), decimals=d) for d in (0, 1, -1)], tag="decimals"),
    Op(
        "round",
        [
            S(X(value=[0.125, 0.375, 2.5, 1.5, -0.5, 12.345]), decimals=d).forward_only()
            for d in (0, 1, 2, -1)
        ],
        tag="ties",
    ),
]

COMPARE = [compare_op(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")]
LOGICAL = [compare_op(f"logical_{name}") for name in ("and", "or", "xor")]
for op in LOGICAL:
    op.samples = [sample for sample in op.samples if all(isinstance(arg, X) for arg in sample.args)]
BITWISE = [
    binary(f"bitwise_{name}", (-4, 4), scalars=(3, True), special=False, reflected=(3,))
    for name in ("and", "or", "xor")
]
SHIFTS = [
    binary(f"bitwise_{name}_shift", (0, 5), (0, 3), scalars=(2,), special=False, reflected=(2,))
    for name in ("left", "right")
]

low, high = X((2, 3), -1.0, -0.6), X((3,), 0.6, 1.0)
apart = X((2, 3), avoid=(-1, 1))
nans = X(value=[0.0, 1.0, -5.0, 5.0, np.nan, np.inf, -np.inf])
CLAMP = [
    Op(
        name,
        [
            S(apart, -1, 1),
            S(apart, -1.0, 1.0),
            S(apart, min=-1.0),
            S(apart, max=1),
            S(apart, low, high),
            S(apart, min=X(())),
            S(apart, max=high),
            S(apart, 1.5, -1.5),
            S(apart, None, None),
            S(apart),
            S(apart, low, 1.0),
            S(nans, -1, 1).only("float").forward_only(),
        ],
    )
    for name in ("clamp", "clip")
]
CLAMP += [
    Op(f"clamp_{end}", [S(apart, 1), S(apart, -1.0), S(apart, high), S(nans, 1).only("float").forward_only()])
    for end in ("min", "max")
]

condition = np.array([[True, False, True], [False, True, False]])
TERNARY = [
    Op(
        "where",
        [
            S(condition, x23, x23),
            S(condition, x23, 1.5),
            S(condition, 2, x23),
            S(condition, x3, X((2, 1))),
            S(condition[:1], x23, x0),
            S(condition, 1, 2),
            S(condition, 1.5, True),
            S(condition.astype(np.uint8), x23, x23),
            S(condition.astype(np.float64), x23, x23),
            S(x23, x23, x23).forward_only(),
        ],
    ),
    Op("where", [S(X((2, 3), -1, 1)).forward_only()], tag="one"),
    Op("lerp", [S(x23, x23, 0.3), S(x23, x23, 0.8), S(x23, x3, x23), S(x23, x23, x0), S(x23, x0, 2)]),
    Op(
        "addcmul",
        [S(x23, x23, x23), S(x23, x3, X((2, 1)), value=0.5), S(x0, x3, x3, value=2), S(x23, x0, x0)],
    ),
    Op(
        "addcdiv",
        [
            S(x23, x23, positive),
            S(x23, x3, X((2, 1), 0.5, 2.0), value=0.5),
            S(x0, x3, X((3,), 0.5, 2.0), value=2),
        ],
    ),
]

TERNARY[0].samples = [s.only(*REAL_OR_COMPLEX) for s in TERNARY[0].samples]
COMPLEX = [
    Op("polar", [S(X((2, 3), 0.3, 2.0), x23), S(X((3,), 0.3, 2.0), x3)]),
    Op("complex", [S(x23, x23), S(x23, x3)]),
    Op("view_as_real", [S(x23), S(x3), S(X(()))]),
    Op("view_as_complex", [S(X((3, 2))), S(X((2, 3, 2))), S(X((2,))), S(x23)]),
]

odd = [0.0, 1.0, np.nan, np.inf, -np.inf, 1e30]
PREDICATES = [
    Op(
        "nan_to_num",
        [
            S(x23),
            S(X(value=odd)).only("float").forward_only(),
            S(X(value=odd), nan=2.5).only("float").forward_only(),
            S(X(value=odd), 1.0, 2.0, -3.0).only("float").forward_only(),
        ],
    ),
    Op(
        "isclose",
        [
            S(x23, x23),
            S(X(value=[1.0, 2.0, 3.0]), X(value=[1.0, 2.5, 3.0])),
            S(X(value=[1.0, 2.0]), X(value=[1.05, 2.0]), 0.1),
            S(X(value=[1.0, 2.0]), X(value=[1.05, 2.0]), rtol=0.0, atol=0.1),
            S(X(value=odd), X(value=odd)).only("float"),
            S(X(value=odd), X(value=odd), equal_nan=True).only("float"),
            S(x23, x23, -1.0),
        ],
    ),
    Op(
        "allclose",
        [
            S(x23, x23),
            S(X(value=[1.0, 2.0]), X(value=[1.0, 2.0])),
            S(X(value=[1.0, 2.0]), X(value=[1.05, 2.0]), rtol=0.1),
            S(X(value=odd), X(value=odd), equal_nan=True).only("float"),
        ],
    ),
    Op(
        "equal",
        [S(x23, x23), S(X(value=[1, 2]), X(value=[1, 2])), S(X(value=[1, 2]), X(value=[1, 3])), S(x23, x3)],
    ),
]


SWAPPED = (("The size of tensor a", "torch subtracts with its operands the other way round"),)
ROUGH = {"complex128": (1e-6, 1e-7)}  # 1 / x is taken in complex64 first


def operator(name: str, second: tuple = (-2.0, 2.0), scalars: tuple = (2, 1.5), **more) -> Op:
    """A Python operator by its special method, reflected forms included."""
    domain = more.pop("first", (-2.0, 2.0))
    a, b = X((2, 3), *domain), X((3,), *second)
    samples: list[Sample] = [S(a, b), *(S(a, scalar) for scalar in scalars)]
    return Op(f"Tensor.__{name}__", samples, **more)


close_to_one = {"first": (2.2, 2.8), "second": (0.9, 0.95)}
OPERATORS = [
    *(operator(name) for name in ("add", "radd", "sub", "mul", "rmul")),
    operator("rsub", loose=SWAPPED),
    *(operator(name, first=(0.5, 2.0), second=(0.5, 2.0)) for name in ("truediv", "pow", "rpow")),
    operator("rtruediv", first=(0.5, 2.0), second=(0.5, 2.0), tolerance=ROUGH),
    *(operator(name, scalars=(2, 0.7), **close_to_one) for name in ("floordiv", "rfloordiv", "mod", "rmod")),
    *(operator(name, scalars=(1, 0.5)) for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(operator(name, scalars=(3, True)) for name in ("and", "rand", "or", "ror", "xor", "rxor")),
    *(
        operator(name, scalars=(2,), first=(0, 4), second=(0, 3))
        for name in ("lshift", "rshift", "rlshift", "rrshift")
    ),
    *(Op(f"Tensor.__{name}__", [S(X((2, 3), avoid=(0,)))]) for name in ("neg", "pos", "abs", "invert")),
    *(
        Op(f"Tensor.__{name}__", [S(X((), avoid=(0,))), S(x23), S(X((1,)))])
        for name in ("bool", "int", "float")
    ),
    Op("Tensor.__complex__", [S(x0)]),
    Op("Tensor.__index__", [S(x0), S(x3)]),
    Op("Tensor.__len__", [S(x23), S(x0)]),
    Op("Tensor.__contains__", [S(x23, 1.0), S(x23, x0)]),
    Op("Tensor.__matmul__", [S(x23, X((3, 2))), S(x3, x3), S(x23, x23), S(x23, 2)], variants=False),
    Op("Tensor.__rmatmul__", [S(x23, X((3, 2))), S(X((3, 2)), x23)], variants=False),
]

MORE = [
    unary("i0"),
    unary("sinc", avoid=(0,)),
    unary("logit", low=0.1, high=0.9, special=False),
    unary("isreal"),
    binary("logaddexp2", scalars=()),
    Op(
        "rsub",
        [S(x23, x3), S(x23, 2.5), S(x23, x23)],
        loose=(("must match the size of tensor b", "the operands are named in the order given"),),
    ),
    Op(
        "polygamma",
        [S(n, X((2, 3), low=0.5, high=3.0)) for n in (0, 1, 2)],
        fn=lambda L, n, x: L.polygamma(n, x),
        loose=(("not implemented for 'Complex", "torch names the kernel of each order"),),
    ),
]

OPS = [
    *MORE,
    *ARITHMETIC,
    *UNARY,
    *ROUND,
    *COMPARE,
    *LOGICAL,
    *BITWISE,
    *SHIFTS,
    *CLAMP,
    *TERNARY,
    *COMPLEX,
    *PREDICATES,
    *OPERATORS,
]
