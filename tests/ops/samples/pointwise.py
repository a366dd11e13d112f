"""Records of the pointwise ops. Invariant: samples for gradients keep away from poles, kinks and ties."""

from tests.ops.record import Op, X, binary, compare_op, unary

x23 = X((2, 3))

ARITHMETIC = [
    binary("add", scalars=(2, 1.5, True, 1 + 2j)),
    binary("sub", scalars=(2, 1.5, 1 + 2j)),
    binary("mul", scalars=(2, 1.5, True, 1 + 2j)),
    binary("div", second=(0.5, 2.0)),
    Op("floor_divide", binary("floor_divide", second=(0.5, 2.0)).samples),
    binary("remainder", second=(0.7, 2.0), reflected=(2, 1.5)),
    binary("fmod", second=(0.7, 2.0)),
    binary("pow", first=(0.3, 2.0), second=(0.5, 2.0), scalars=(0, 2, 3, 0.5, -1.0, 2.5), reflected=(2, 1.5)),
    binary("maximum", scalars=()),
    binary("atan2", first=(0.3, 2.0), scalars=()),
    binary("hypot", first=(0.3, 2.0), scalars=()),
]
UNARY = [
    unary("neg"),
    unary("abs", avoid=(0,)),
    unary("exp"),
    unary("log", 0.2, 3.0),
    unary("sqrt", 0.2, 3.0),
    unary("sin"),
    unary("tanh"),
    unary("sigmoid"),
    unary("floor", avoid="integers"),
    unary("sign", avoid=(0,)),
]
COMPARE = [compare_op("eq"), compare_op("lt")]

OPS = [*ARITHMETIC, *UNARY, *COMPARE]
