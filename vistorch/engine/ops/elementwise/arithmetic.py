"""Addition, subtraction, multiplication and the sign; what multiplies and adds at once.

Invariant: with alpha=1 `add` and `sub` are the plain rows.
"""

from __future__ import annotations

import numpy as np

from ...base import errors
from ...core import out_argument, type_promotion
from ...core.inplace import direct, pointwise, replace
from ...core.legacy_arguments import number_first, too_many
from ...core.op_factory import HALVES, op
from ...core.pointwise import binary, unary
from ...core.pointwise_nary import fast_path
from ...core.registry import METHODS, expose, public
from ...core.tensor import Tensor
from .dtype_checks import sentence

REAL = (float, int)
ONE = 1  # the default of `alpha`, met by identity: True and 1.0 are equal to it but have their own rules
MINUS = "Subtraction, the `-` operator, with "
INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."


def _no_bool_minus(a, b):
    if a.kind == "b" and b.kind == "b":
        raise RuntimeError(
            f"{MINUS}two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
        )
    if a.kind == "b" or b.kind == "b":
        raise RuntimeError(f"{MINUS}a bool tensor is not supported. {INVERT}")


add_ = binary(
    "add",
    "add",
    formula={"input": r"\bar x = \bar z", "other": r"\bar y = \bar z"},
    input=lambda F, g: g,
    other=lambda F, g: g,
)
sub_ = binary(
    "sub",
    "subtract",
    check=_no_bool_minus,
    formula={"input": r"\bar x = \bar z", "other": r"\bar y = -\bar z"},
    input=lambda F, g: g,
    other=lambda F, g: -g,
)
rsub_ = binary(
    "rsub",
    lambda xp, input, other: xp.subtract(other, input),
    check=_no_bool_minus,
    names=("RsubBackward1", "RsubBackward0"),
    formula={"input": r"\bar x = -\bar z", "other": r"\bar y = \bar z"},
    input=lambda F, g: -g,
    other=lambda F, g: g,
)
mul = binary(
    "mul",
    "multiply",
    wide_numbers=True,
    formula={"input": r"\bar x = \bar z\, y", "other": r"\bar y = \bar z\, x"},
    input=lambda F, g, other: F.mul(g, other),
    other=lambda F, g, input: F.mul(g, input),
)
expose(mul, inplace=True, aliases="multiply")
mul.__doc__ = """Multiply element by element.

Args:
    input: a tensor.
    other: a tensor or a number.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.mul(vistorch.tensor([1.0, 2.0]), 3)
    tensor([3., 6.])
"""


def _scaled_rows():
    """The rows of `input + alpha * other` and the like; a bool alpha makes bools."""

    def plus(xp, input, other, alpha):
        return input + other * alpha

    def minus(xp, input, other, alpha):
        return input - other * alpha

    def from_other(xp, input, other, alpha):
        return other - input * alpha

    plus_row = op(
        "add_scaled",
        plus,
        inputs="input other",
        name_in_graph="AddBackward0",
        formula={"input": r"\bar x = \bar z", "other": r"\bar y = \alpha \bar z"},
        input=lambda F, g: g,
        other=lambda F, g, alpha: g * alpha,
    )
    minus_row = op(
        "sub_scaled",
        minus,
        inputs="input other",
        name_in_graph="SubBackward0",
        formula={"input": r"\bar x = \bar z", "other": r"\bar y = -\alpha \bar z"},
        input=lambda F, g: g,
        other=lambda F, g, alpha: g * -alpha,
    )
    from_row = op(
        "rsub_scaled",
        from_other,
        inputs="input other",
        name_in_graph="RsubBackward0",
        formula={"input": r"\bar x = -\alpha \bar z", "other": r"\bar y = \bar z"},
        input=lambda F, g, alpha: g * -alpha,
        other=lambda F, g: g,
    )
    return plus_row.rule, minus_row.rule, from_row.rule


_PLUS, _MINUS, _FROM = _scaled_rows()
_FAST = {rule: fast_path(rule) for rule in (_PLUS, _MINUS, _FROM)}
_PLUS.public, _MINUS.public, _FROM.public = "add", "sub", "rsub"


def _scaled(rule, name, check, input, other, alpha, out):
    """`alpha` off the common path: its own checks, then the row that multiplies and adds at once."""
    if alpha.__class__ in REAL and out is None:
        o = _FAST[rule]((input, other), (alpha,))
        if o is not None:
            return o
    operands = []
    for value, argument, position in ((input, "input", 1), (other, "other", 2)):
        if not isinstance(value, Tensor):
            number = type_promotion.number(value)
            if number is None:
                raise errors.must_be_tensor(name, argument, position, value)
            value = number
        operands.append(value)
    x, y = operands
    if check is not None:
        check(type_promotion.type_of(x), type_promotion.type_of(y))
    factor = alpha._data.item() if isinstance(alpha, Tensor) else type_promotion.number(alpha)
    if factor is None:
        raise TypeError(f"{name}(): argument 'alpha' must be Number, not {type(alpha).__name__}")
    common = type_promotion.result_type(x, y)
    if isinstance(factor, bool) and common.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(factor, float) and not type_promotion.floating(common):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(factor, complex) and common.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if not type_promotion.floating(common):
        factor = np.asarray(factor).astype(common)[()]
    elif common in HALVES and not any(isinstance(t, Tensor) and t._place.kind for t in operands):
        factor = float(np.asarray(factor).astype(common))  # PyTorch's CPU kernels round it first
    return type_promotion.several(rule, (x, y), (factor,), out, common)


@public()
def add(input, other, late=None, *, alpha=1, out=None):
    """Add `other`, scaled by `alpha`.

    Args:
        input: a tensor.
        other: a tensor or a number.
        late: the last one in the old order, `(input, alpha, other)`, with its warning.
        alpha: what `other` is multiplied with.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.add(vistorch.tensor([1.0, 2.0]), 3, alpha=2)
        tensor([7., 8.])
    """
    if alpha is ONE:
        if late is None:
            return add_(input, other) if out is None else add_(input, other, out=out)
        alpha, (other,) = number_first("add", "alpha", "other", (other, late))
    elif late is not None:
        raise too_many("add", "other", 2)
    return _scaled(_PLUS, "add", None, input, other, alpha, out)


@public(aliases="subtract")
def sub(input, other, late=None, *, alpha=1, out=None):
    """Subtract `other`, scaled by `alpha`.

    Args:
        input: a tensor.
        other: a tensor or a number.
        late: the last one in the old order, `(input, alpha, other)`, with its warning.
        alpha: what `other` is multiplied with.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.sub(vistorch.tensor([5.0, 6.0]), vistorch.tensor([1.0, 2.0]))
        tensor([4., 4.])
    """
    if alpha is ONE:
        if late is None:
            return sub_(input, other) if out is None else sub_(input, other, out=out)
        alpha, (other,) = number_first("sub", "alpha", "other", (other, late))
    elif late is not None:
        raise too_many("sub", "other", 2)
    return _scaled(_MINUS, "sub", _no_bool_minus, input, other, alpha, out)


@public(method=False)
def rsub(input, other, *, alpha=1):
    """Subtract `input`, scaled by `alpha`, from `other`.

    Args:
        input: a tensor.
        other: a tensor or a number.
        alpha: what `input` is multiplied with.

    Example:
        >>> import vistorch
        >>> vistorch.rsub(vistorch.tensor([1.0, 2.0]), 10)
        tensor([9., 8.])
    """
    if not isinstance(input, Tensor) and type_promotion.number(input) is not None:
        raise errors.no_tensor("rsub", input, other)
    if alpha is ONE:
        return rsub_(input, other)
    return _scaled(_FROM, "rsub", _no_bool_minus, input, other, alpha, None)


def _add_to(d, other, alpha):
    np.add(d, np.multiply(other, alpha), d)


def _take_from(d, other, alpha):
    np.subtract(d, np.multiply(other, alpha), d)


def _in_place(plain, scaled, rule, check=None):
    """`x.add_(y, alpha=...)`."""
    variant = pointwise(plain)

    name = plain.rule.name + "_"

    def write(input, other, late=None, *, alpha=1):
        if alpha is ONE:
            if late is None:
                return variant(input, other)
            alpha, (other,) = number_first(name, "alpha", "other", (other, late))
        if alpha.__class__ in REAL and direct(
            rule, input, (other,), (alpha,), _add_to if rule is _PLUS else _take_from
        ):
            return input
        if isinstance(input, Tensor) and isinstance(other, Tensor):
            if check is not None:
                check(input._data.dtype, other._data.dtype)
            out_argument.check_cast(type_promotion.result_type(input, other), input._data.dtype)
        return replace(input, scaled, (other,), {"alpha": alpha})

    write.__name__ = write.__qualname__ = name
    return variant, write


METHODS["__iadd__"], METHODS["add_"] = _in_place(add_, add, _PLUS)
METHODS["__isub__"], METHODS["sub_"] = _in_place(sub_, sub, _MINUS, _no_bool_minus)
METHODS["subtract_"] = METHODS["sub_"]

neg = unary(
    "neg",
    "negative",
    ints="same",
    check=sentence("b", f"Negation, the `-` operator, on a bool tensor is not supported. {INVERT}"),
    formula=r"\bar x = -\bar y",
    input=lambda F, g: -g,
)
neg.__doc__ = """Turn the sign over.

Args:
    input: a tensor.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.neg(vistorch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
"""
expose(neg, inplace=True, aliases="negative")


@public()
def positive(input):
    """The tensor itself; refuses bools.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.positive(vistorch.tensor([1.0, -2.0]))
        tensor([ 1., -2.])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("positive", "input", 1, input)
    if input._data.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input
