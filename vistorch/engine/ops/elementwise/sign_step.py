"""Jumps: numbers in place of what is none, the step, and one number's sign on another.

Invariant: where the function jumps its derivative is zero, as in PyTorch.
"""

from __future__ import annotations

import numpy as np

from ...base import dtypes, errors
from ...core import out_argument, type_promotion
from ...core.inplace import general
from ...core.op_factory import op
from ...core.pointwise import binary
from ...core.registry import FUNCTIONS, METHODS, expose, public
from ...core.tensor import Tensor
from .division import name_undifferentiable, undifferentiable
from .dtype_checks import kind_of, missing, sentence


def _numbers_only(xp, input, nan, posinf, neginf):
    if input.dtype.kind == "c":
        parts = [_numbers_only(xp, part, nan, posinf, neginf) for part in (input.real, input.imag)]
        out = xp.empty(parts[0].shape, input.dtype)
        out.real, out.imag = parts
        return out
    if xp is np and np.isfinite(input).all():
        return np.array(input)
    out = xp.where(xp.isnan(input), input.dtype.type(nan), input)
    out = xp.where(input == xp.inf, input.dtype.type(posinf), out)
    return xp.where(input == -xp.inf, input.dtype.type(neginf), out)


_nan_to_num = op(
    "nan_to_num",
    _numbers_only,
    widen=True,
    holomorphic=False,
    formula=r"\bar x = \bar y\,[x \text{ finite}]",
    input=lambda F, g, input: F.where(F.isfinite(input), g, 0.0),
).rule


@public()
def nan_to_num(input, nan=0.0, posinf=None, neginf=None, *, out=None):
    """Replace nan and infinities.

    Args:
        input: a tensor.
        nan: for nan.
        posinf: for infinity; the largest number of the dtype if None.
        neginf: for negative infinity; the least number of the dtype if None.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nan_to_num(vistorch.tensor([1.0, float("nan"), float("inf")]), nan=2.0, posinf=9.0)
        tensor([1., 2., 9.])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("nan_to_num", "input", 1, input)
    for name, value, at in (("nan", nan, 2), ("posinf", posinf, 3), ("neginf", neginf, 4)):
        if value is not None and type_promotion.number(value) is None:
            raise TypeError(
                f"nan_to_num(): argument '{name}' (position {at}) must be float, not {type(value).__name__}"
            )
    dt = input._data.dtype
    if kind_of(dt) in "ib":
        _same_as_input(dt, out)
        return FUNCTIONS["clone"](input) if out is None else out_argument.deliver(out, input)
    _same_as_input(dt, out)
    limits = _largest(dt)
    consts = (
        0.0 if nan is None else float(nan),
        limits if posinf is None else float(posinf),
        -limits if neginf is None else float(neginf),
    )
    return type_promotion.several(_nan_to_num, (input,), consts, out, dt)


def _same_as_input(dt, out):
    if isinstance(out, Tensor) and out._data.dtype != dt:
        given, needed = dtypes.of(out._data.dtype).scalar_name, dtypes.of(dt).scalar_name
        raise RuntimeError(f"nan_to_num: dtype of out: {given} should be same as input: {needed}")


def _largest(dt):
    """The largest finite number of a floating or complex type."""
    from ...base.finfo import finfo

    return float(finfo(dtypes.of(dt).to_real()).max)


METHODS["nan_to_num_"] = FUNCTIONS["nan_to_num_"] = general(nan_to_num, "nan_to_num_")


def _steps(xp, input, other):
    out = xp.where(input == 0, other, xp.asarray(input > 0).astype(input.dtype))
    return xp.where(xp.isnan(input), xp.zeros((), input.dtype), out) if input.dtype.kind == "f" else out


_heaviside = binary(
    "heaviside",
    _steps,
    name_in_graph="NotImplemented",
    input=undifferentiable("heaviside"),
    other=undifferentiable("heaviside"),
)
name_undifferentiable(_heaviside.rule)
_no_complex = sentence("c", "heaviside is not yet implemented for complex tensors.")


@public(inplace=True)
def heaviside(input, values, *, out=None):
    """Take 0 for negative elements, 1 for positive ones, and `values` at 0.

    Args:
        input: a tensor.
        values: a tensor of the same dtype.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.heaviside(vistorch.tensor([-1.0, 0.0, 2.0]), vistorch.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    for t, argument, position in ((input, "input", 1), (values, "values", 2)):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor("heaviside", argument, position, t)
    for t in (input, values) if out is None or not isinstance(out, Tensor) else (input, values, out):
        _no_complex(t._data.dtype)
    if any(t._data.dtype != input._data.dtype for t in (values, out) if isinstance(t, Tensor)):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _heaviside(input, values, out=out)


def _with_sign(xp, input, other):
    return xp.copysign(input, other)


def _copysign_slope(F, g, input, out):
    zero = F.eq(input, 0)
    return F.where(zero, 0.0, g * (out / F.where(zero, 1.0, input)))


copysign = binary(
    "copysign",
    _with_sign,
    kind="float",
    numbers="other",
    names=("CopysignBackward1", "CopysignBackward1"),
    refuse=missing("copysign_cpu", "c"),
    formula={"input": r"\bar x = \bar z\, z / x", "other": r"\bar y = 0"},
    input=_copysign_slope,
    other=lambda F, g: F.zeros_like(g),
)
copysign.__doc__ = """Take the size of `input` and the sign of `other`.

Args:
    input: a tensor.
    other: a tensor or a number.
    out: where to put the result.

Example:
    >>> import vistorch
    >>> vistorch.copysign(vistorch.tensor([1.0, -2.0]), vistorch.tensor([-0.0, 3.0]))
    tensor([-1.,  2.])
"""
expose(copysign, inplace=True)
