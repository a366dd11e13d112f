"""Powers and roots.

Invariant: small whole exponents and halves are computed by products and roots, which are exact where they can be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.casting import casting
from ...core import out_argument, type_promotion
from ...core.base_ops import to_dtype
from ...core.graph import NUMBERS
from ...core.inplace import replace
from ...core.op_factory import op
from ...core.pointwise import LARGE, binary, unary
from ...core.registry import METHODS, expose, public
from ...core.tensor import Tensor, wrap

REAL = frozenset((float, int))


def _no_bool_pow(dt):
    if dt.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")


def _powered(xp, input, other):
    if other.__class__ in NUMBERS and input.dtype.kind in "fc":
        if other == 2:
            return input * input
        if other == 0.5:
            return xp.sqrt(input)
        if other == 1:
            return xp.array(input)
        if other == 3:
            return input * input * input
        if other == -1:
            return 1 / input
        if other == -0.5 and input.dtype.kind == "f":
            return 1 / xp.sqrt(input)
        if other == -2:
            return 1 / (input * input)
        return xp.power(input, other)
    if other.__class__ in NUMBERS:
        other = xp.asarray(other)
    if other.dtype.kind == "f":
        return xp.power(input, other)
    if other.dtype.kind == "i" and xp.any(other < 0):
        return _whole_powers(xp, input, other)
    if other.dtype.kind == "c":
        return _complex_powers(xp, input, other)
    return xp.power(input, other)


def _whole_powers(xp, input, other):
    """Integers to negative powers: 1 and -1 stay what they are, anything else is rounded to 0."""
    up = xp.power(input, xp.where(other < 0, 0, other))
    down = xp.where(input == 1, 1, xp.where(input == -1, xp.where(other % 2 == 0, 1, -1), 0))
    return xp.where(other < 0, down, up).astype(up.dtype)


def _complex_powers(xp, input, other):
    """Numpy's, with 0 ** 0 = 1 for every sign of the zeros."""
    return xp.where(other == 0, xp.ones_like(other), xp.power(input, other))


def _pow_input(F, g, input, other):
    if other.__class__ in NUMBERS:
        if other == 0:
            return F.zeros_like(g)
        return g * F.slope_of_square(input) if other == 2 else g * (F.pow(input, other - 1) * other)
    return F.where(F.eq(other, 0), 0.0, g * (other * F.pow(input, other - 1)))


def _pow_other(F, g, input, other, out):
    if input.__class__ in NUMBERS:
        if input == 0:
            return F.where(F.pow_at_zero(other), 0.0, g * (out * -np.inf))
        return g * (out * _log(input))
    return F.where(F.pow_rests(input, other), 0.0, g * (out * F.log(input)))


def _log(number):
    """The logarithm of a number; of a negative real one nan, as in a real tensor."""
    with np.errstate(all="ignore"):
        return np.log(number).item()


def _reals_not_negative(other):
    return other.real >= 0 if other.dtype.kind == "c" else other >= 0


pow_row = binary(
    "pow",
    _powered,
    name_in_graph="PowBackward1",
    names=("PowBackward0", "PowBackward2"),
    refuse=None,
    formula={"input": r"\bar x = \bar z\, y\, x^{y-1}", "other": r"\bar y = \bar z\, z \ln x"},
    input=_pow_input,
    other=_pow_other,
)
# 2 x, with a third derivative, of zeros, as in PyTorch, where it is 2 x ** 1
op(
    "slope_of_square",
    lambda xp, input: input * 2,
    name_in_graph="MulBackward0",
    formula=r"\bar x = 2\, \bar y\, x^0",
    input=lambda F, g, input: g * (F.pow(input, 0) * 2),
)
op("pow_at_zero", lambda xp, other: _reals_not_negative(other), inputs="other", widen=False)
op(
    "pow_rests",
    lambda xp, input, other: (input == 0) & _reals_not_negative(other),
    inputs="input other",
    widen=False,
)


@public(name="pow")
def power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Raise to a power.

    Args:
        input: a tensor or a number.
        exponent: a tensor or a number.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.pow(vistorch.tensor([1.0, 2.0, 3.0]), 2)
        tensor([1., 4., 9.])
        >>> vistorch.pow(2, vistorch.tensor([1.0, 2.0, 3.0]))
        tensor([2., 4., 8.])
    """
    if casting.on and (recast := casting.ask(power, locals())):
        return recast[0]
    if (
        exponent.__class__ in REAL
        and isinstance(input, Tensor)
        and input._data.dtype in type_promotion.FLOATS
    ):
        return pow_row.scaled(input, exponent) if out is None else pow_row(input, exponent, out=out)
    if out is None and input.__class__ in REAL and exponent.__class__ is Tensor:
        number: Any = input
        if exponent._data.dtype in type_promotion.FLOATS and -LARGE < number < LARGE:
            d = type_promotion.compute(pow_row.rule, exponent._place, [input, exponent._data], None)
            return type_promotion.finish(
                pow_row.rule.variants[1], exponent._place, d, (input, exponent), None
            )
    _check_powers(input, exponent)
    if out is not None and not isinstance(input, Tensor) and input == 1 and isinstance(out, Tensor):
        out_argument.check_out("pow", out, (exponent,))
        ones = exponent._place.xp.ones(exponent._data.shape, out._data.dtype)  # any type can hold 1
        return out_argument.deliver(out, wrap(ones, exponent._place))
    return pow_row(input, exponent, out=out)


power.__name__ = power.__qualname__ = "pow"


def _check_powers(x, y):
    """Refuse what has no meaning: powers of bools by bools, negative powers of integers."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        type_promotion.refuse_last(_no_bool_pow, type_promotion.result_type(x, y), (x, y))
        return
    for t, argument, position in ((x, "input", 1), (y, "exponent", 2)):
        if not isinstance(t, Tensor) and type_promotion.number(t) is None:
            raise errors.must_be_tensor("pow", argument, position, t)
    if not (isinstance(x, Tensor) or isinstance(y, Tensor)):
        raise errors.no_tensor("pow", x, y)
    if isinstance(x, Tensor) and isinstance(y, int) and not isinstance(y, bool) and y < 0:
        if x._data.dtype.kind in "iub":
            raise RuntimeError("Integers to negative integer powers are not allowed.")


def power_operator(x, y):
    """`x ** y`: leaves foreign operands to themselves."""
    if casting.on and (recast := casting.ask(power_operator, locals())):
        return recast[0]
    if y.__class__ in REAL and x._data.dtype in type_promotion.FLOATS:
        return pow_row.scaled(x, y)
    if y.__class__ is Tensor and x._data.dtype is y._data.dtype and y._data.dtype in type_promotion.FLOATS:
        return pow_row(x, y)
    if (
        y.__class__ is Tensor
        or y.__class__ in NUMBERS
        or type_promotion.number(y) is not None
        or isinstance(y, Tensor)
    ):
        return power(x, y)
    return pow_row.operator(x, y)


def power_reflected(x, y):
    """`y ** x`."""
    if casting.on and (recast := casting.ask(power_reflected, locals())):
        return recast[0]
    return (
        power(y, x)
        if isinstance(y, Tensor) or type_promotion.number(y) is not None
        else pow_row.operator(y, x)
    )


def _pow_in_place(input, exponent):
    return replace(input, power, (exponent,), {})


METHODS["pow_"] = METHODS["__ipow__"] = _pow_in_place


@public()
def float_power(input, exponent, *, out=None):
    """Raise to a power in double precision.

    Args:
        input: a tensor or a number.
        exponent: a tensor or a number.
        out: where to put the result, of double precision.

    Example:
        >>> import vistorch
        >>> vistorch.float_power(vistorch.tensor([1, 2, 3]), 2)
        tensor([1., 4., 9.], dtype=vistorch.float64)
    """
    for t, argument, position in ((input, "input", 1), (exponent, "exponent", 2)):
        if not isinstance(t, Tensor) and type_promotion.number(t) is None:
            raise errors.must_be_tensor("float_power", argument, position, t)
    if not (isinstance(input, Tensor) or isinstance(exponent, Tensor)):
        raise errors.no_tensor("float_power", input, exponent)
    complexes = any(
        t._data.dtype.kind == "c" if isinstance(t, Tensor) else isinstance(t, complex)
        for t in (input, exponent)
    )
    wanted = np.dtype("c16" if complexes else "f8")
    if out is not None and isinstance(out, Tensor) and out._data.dtype != wanted:
        given, needed = dtypes.of(out._data.dtype).scalar_name, dtypes.of(wanted).scalar_name
        raise RuntimeError(
            f"the output given to float_power has dtype {given} but the operation's result requires dtype {needed}"
        )
    x, y = (
        (to_dtype(t, wanted) if t._data.dtype != wanted else t)
        if isinstance(t, Tensor)
        else complex(t)
        if complexes
        else float(t)
        for t in (input, exponent)
    )
    return pow_row(x, y, out=out)


def _float_power_in_place(input, exponent):
    complexes = any(
        t._data.dtype.kind == "c" if isinstance(t, Tensor) else isinstance(t, complex)
        for t in (input, exponent)
    )
    wanted = np.dtype("c16" if complexes else "f8")
    if input._data.dtype != wanted:
        given, needed = dtypes.of(input._data.dtype).scalar_name, dtypes.of(wanted).scalar_name
        raise RuntimeError(
            f"the base given to float_power_ has dtype {given} but the operation's result requires dtype {needed}"
        )
    return replace(input, float_power, (exponent,), {})


METHODS["float_power_"] = _float_power_in_place


def _row(name, kernel, doc, formula, vjp, ints="float", **more):
    fn = unary(name, kernel, ints=ints, formula=formula, input=vjp, **more)
    fn.__doc__ = doc
    return expose(fn, inplace=True)


square_row = unary(
    "square",
    "square",
    ints="keep",
    name_in_graph="PowBackward0",
    formula=r"\bar x = 2 x\, \bar y",
    input=lambda F, g, input: g * F.slope_of_square(input),
)


square_row.rule.public = "pow"


@public(inplace=True)
def square(input, *, out=None):
    """Multiply by itself.

    Args:
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.square(vistorch.tensor([1.0, -3.0]))
        tensor([1., 9.])
    """
    if isinstance(input, Tensor) and input._data.dtype.kind == "b":
        input = to_dtype(input, np.dtype("i8"))
    return square_row(input) if out is None else square_row(input, out=out)


sqrt = _row(
    "sqrt",
    "sqrt",
    """Take the square root.

    Args:
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.sqrt(vistorch.tensor([4.0, 9.0]))
        tensor([2., 3.])
    """,
    r"\bar x = \bar y / (2 y)",
    lambda F, g, out: g / (2 * out),
)
rsqrt = _row(
    "rsqrt",
    lambda xp, input: 1 / xp.sqrt(input),
    """Take one over the square root.

    Args:
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.rsqrt(vistorch.tensor([4.0, 16.0]))
        tensor([0.5000, 0.2500])
    """,
    r"\bar x = -\tfrac12 \bar y\, y^3",
    lambda F, g, out: -0.5 * g * (out * out * out),
)
reciprocal = _row(
    "reciprocal",
    lambda xp, input: 1 / input,
    """Take one over each element.

    Args:
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.reciprocal(vistorch.tensor([4.0, 5.0]))
        tensor([0.2500, 0.2000])
    """,
    r"\bar x = -\bar y\, y^2",
    lambda F, g, out: -g * (out * out),
)
