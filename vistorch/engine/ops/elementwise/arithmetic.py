"""The four operations and the sign."""

from __future__ import annotations

from ...pointwise import binary, unary
from ...face import METHODS, expose
from ...inplace import pointwise


def _no_bool_minus(a, b):
    if a.kind == "b" and b.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if a.kind == "b" or b.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )


def _no_bool_neg(a):
    if a.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )


_add = binary(
    "add",
    "add",
    formula={"input": r"\bar x = \bar z", "other": r"\bar y = \bar z"},
    input=lambda F, g: g,
    other=lambda F, g: g,
)
_sub = binary(
    "sub",
    "subtract",
    check=_no_bool_minus,
    formula={"input": r"\bar x = \bar z", "other": r"\bar y = -\bar z"},
    input=lambda F, g: g,
    other=lambda F, g: -g,
)
mul = binary(
    "mul",
    "multiply",
    formula={"input": r"\bar x = \bar z\, y", "other": r"\bar y = \bar z\, x"},
    input=lambda F, g, other: g * other,
    other=lambda F, g, input: g * input,
)
_div = binary(
    "div",
    "true_divide",
    kind="float",
    formula={"input": r"\bar x = \bar z / y", "other": r"\bar y = -\bar z\, x / y^2"},
    input=lambda F, g, other: g / other,
    other=lambda F, g, other, out: -g * out / other,
)
neg = unary(
    "neg", "negative", ints="same", check=_no_bool_neg, formula=r"\bar x = -\bar y", input=lambda F, g: -g
)
expose(mul, inplace=True, aliases="multiply")
expose(neg, inplace=True, aliases="negative")
METHODS["__add__"] = METHODS["__radd__"] = _add.operator
METHODS["__mul__"] = METHODS["__rmul__"] = mul.operator
METHODS["__sub__"] = _sub.operator
METHODS["__truediv__"] = _div.operator
METHODS["__neg__"] = neg
METHODS["__imul__"] = METHODS["mul_"]
METHODS["__iadd__"] = METHODS["add_"] = pointwise(_add)
METHODS["add"] = _add
METHODS["__isub__"] = METHODS["sub_"] = pointwise(_sub)
exp = expose(
    unary("exp", "exp", formula=r"\bar x = \bar y\, e^x", input=lambda F, g, out: g * out), inplace=True
)
sin = expose(unary("sin", "sin", input=lambda F, g, input: g * F.cos(input)), inplace=True)
cos = expose(unary("cos", "cos", input=lambda F, g, input: -g * F.sin(input)), inplace=True)
tanh = expose(unary("tanh", "tanh", input=lambda F, g, out: g * (1 - out * out)), inplace=True)
