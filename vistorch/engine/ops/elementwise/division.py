"""Quotients and remainders: exact, rounded, Python's and C's.

Invariant: an integer division by zero raises PyTorch's "ZeroDivisionError" before anything is written.
"""

from __future__ import annotations

import numpy as np

from ...core.pointwise import binary
from ...core.registry import expose, public
from ...kernels import quotients
from .dtype_checks import missing

_FLOAT = np.dtype("f4")


def undifferentiable(name):
    """A formula for what PyTorch records but cannot differentiate."""

    def formula(F, g):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


def name_undifferentiable(rule):
    """`grad_fn.name()` of such a node is spelt as PyTorch's C++ class."""


def refuse_zero(xp, other):
    """PyTorch's error for integers divided by zero."""
    if getattr(other, "dtype", _FLOAT).kind in "iu" and xp.any(
        other == 0
    ):  # a plain number comes with floats only
        raise RuntimeError("ZeroDivisionError")


def _floored(xp, input, other):
    """Quotient rounded down."""
    refuse_zero(xp, other)
    if quotients.known(input, other):
        return quotients.pieces(quotients.floored, input, other)
    return xp.floor_divide(input, other)


def _truncated(xp, input, other):
    """Quotient rounded towards zero."""
    refuse_zero(xp, other)
    if input.dtype.kind == "u":
        return xp.floor_divide(input, other)
    if input.dtype.kind == "i":
        whole = xp.floor_divide(input, other)
        return whole + ((whole < 0) & (whole * other != input))
    return xp.trunc(xp.true_divide(input, other))


def _remainder(xp, input, other):
    """What is left of a floored quotient: it has the divisor's sign, but a zero that of `input`."""
    refuse_zero(xp, other)
    if quotients.known(input, other):
        return quotients.pieces(quotients.floored_rest, input, other)
    if input.dtype.kind in "iu":
        return xp.remainder(input, other)
    left = xp.fmod(input, other)
    return quotients.turned(xp, left, other)


def _fmod(xp, input, other):
    """What is left of a truncated quotient: it has the dividend's sign."""
    refuse_zero(xp, other)
    if quotients.known(input, other):
        return quotients.pieces(quotients.rest, input, other)
    return xp.fmod(input, other)


div_ = binary(
    "div",
    "true_divide",
    kind="float",
    wide_numbers=True,
    formula={"input": r"\bar x = \bar z / y", "other": r"\bar y = -\bar z\, x / y^2"},
    input=lambda F, g, other: g / other,
    other=lambda F, g, other, input: -g * ((input / other) / other),
)
_div_exact = binary(
    "div_exact",
    "true_divide",
    kind="float",
    wide_numbers=True,
    name_in_graph="DivBackward2",
    formula={"input": r"\bar x = \bar z / y", "other": r"\bar y = -\bar z\, x / y^2"},
    input=lambda F, g, other: g / other,
    other=lambda F, g, other, input: -g * ((input / other) / other),
)
_zero = {"input": r"\bar x = 0", "other": r"\bar y = 0"}
_div_floor = binary(
    "div_floor",
    _floored,
    wide_numbers=True,
    name_in_graph="DivBackward2",
    refuse=missing("div_floor_cpu", "bc"),
    formula=_zero,
    input=lambda F, g: F.zeros_like(g),
    other=lambda F, g: F.zeros_like(g),
)
_div_trunc = binary(
    "div_trunc",
    _truncated,
    wide_numbers=True,
    name_in_graph="DivBackward2",
    refuse=missing("div_trunc_cpu", "bc"),
    formula=_zero,
    input=lambda F, g: F.zeros_like(g),
    other=lambda F, g: F.zeros_like(g),
)
for _row in (_div_exact, _div_floor, _div_trunc):
    _row.rule.public = "div"
_ROUNDED = {"floor": _div_floor, "trunc": _div_trunc, None: _div_exact}


@public(inplace=True, aliases="divide")
def div(input, other, *, rounding_mode="exact", out=None):
    """Divide element by element.

    Args:
        input: a tensor.
        other: a tensor or a number.
        rounding_mode: None, "floor" (down) or "trunc" (towards zero).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([-7, 7])
        >>> vistorch.div(x, 2)
        tensor([-3.5000,  3.5000])
        >>> vistorch.div(x, 2, rounding_mode="trunc")
        tensor([-3,  3])
    """
    if rounding_mode == "exact":
        return div_(input, other) if out is None else div_(input, other, out=out)
    row = _ROUNDED.get(rounding_mode)
    if row is None:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '"
            + str(rounding_mode)
            + "'"
        )
    return row(input, other, out=out)


div_.__doc__ = """Divide element by element, exactly.

Args:
    input: a tensor or a number.
    other: a tensor or a number.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.true_divide(vistorch.tensor([1, 7]), 2)
    tensor([0.5000, 3.5000])
"""
true_divide = expose(div_, "true_divide", inplace=True)
floor_divide = binary(
    "floor_divide",
    _floored,
    wide_numbers=True,
    name_in_graph="NotImplemented",
    refuse=missing("div_floor_cpu", "bc"),
    input=undifferentiable("floor_divide"),
    other=undifferentiable("floor_divide"),
)
name_undifferentiable(floor_divide.rule)
floor_divide.__doc__ = """Divide and round down.

Args:
    input: a tensor or a number.
    other: a tensor or a number.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.floor_divide(vistorch.tensor([-7, 7]), 2)
    tensor([-4,  3])
"""
expose(floor_divide, inplace=True)

_remainder_row = binary(
    "remainder",
    _remainder,
    names=("RemainderBackward0", "NotImplemented"),
    name_in_graph="RemainderBackward1",
    refuse=missing("remainder_cpu", "bc"),
    formula={"input": r"\bar x = \bar z", "other": r"\bar y = -\bar z\,\lfloor x / y \rfloor"},
    input=lambda F, g: g,
    other=lambda F, g, input, other: -g * F.div_floor(input, other),
)
_of_number = _remainder_row.rule.variants[1]
_of_number.vjps = (undifferentiable("remainder"),) * 2
_of_number._compile()
name_undifferentiable(_of_number)
remainder = expose(_remainder_row, inplace=True)
remainder.__doc__ = """The remainder of a division rounded down, with the sign of `other`.

Args:
    input: a tensor or a number.
    other: a tensor or a number.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.remainder(vistorch.tensor([-7, 7]), 3)
    tensor([2, 1])
"""
fmod = binary(
    "fmod",
    _fmod,
    numbers="other",
    names=("FmodBackward0", "FmodBackward0"),
    name_in_graph="FmodBackward1",
    refuse=missing("fmod_cpu", "bc"),
    formula={"input": r"\bar x = \bar z", "other": r"\bar y = -\bar z\,\mathrm{trunc}(x / y)"},
    input=lambda F, g: g,
    other=lambda F, g, input, other: -g * F.div_trunc(input, other),
)
fmod.__doc__ = """The remainder of a division rounded towards zero, with the sign of `input`.

Args:
    input: a tensor.
    other: a tensor or a number.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.fmod(vistorch.tensor([-7, 7]), 3)
    tensor([-1,  1])
"""
expose(fmod, inplace=True)
