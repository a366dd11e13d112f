"""Choosing between operands: by a condition or by a weight.

Invariant: the condition of `where` is never differentiated and never takes part in type promotion.
"""

from __future__ import annotations

import warnings

import numpy as np

from ...base import dtypes, errors
from ...base.numpy_warnings import hushed
from ...core import out_argument, sharing, type_promotion
from ...core.inplace import direct, replace
from ...core.op_factory import op
from ...core.pointwise_nary import fast_path
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.rules import REC
from ...core.tensor import Tensor, wrap
from ...kernels import masks
from .dtype_checks import C_NAMES, missing

BOOL = type_promotion.BOOL
_where = op(
    "where",
    lambda xp, condition, input, other: masks.chosen(xp, condition, input, other),
    inputs="condition input other",
    widen=False,
    holomorphic=False,
    formula={"input": r"\bar x = \bar z\,[c]", "other": r"\bar y = \bar z\,[\neg c]"},
    input=lambda F, g, condition: F.where(condition, g, 0.0),
    other=lambda F, g, condition: F.where(condition, 0.0, g),
).rule


_fast_where = fast_path(_where, free=True)


def _plain_where(condition, x, y):
    """One float type, one place, at most one real number: numpy's own promotion is right. None if not so."""
    place = condition._place
    if x.__class__ is Tensor:
        a, dt = x._data, x._data.dtype
        if y.__class__ is Tensor:
            b = y._data
            if b.dtype is not dt or y._place is not place:
                return None
        elif y.__class__ is float:
            b = place.xp.array(y, dt)  # 0-d: numpy reads its own scalars slowly
        else:
            return None
        if x._place is not place:
            return None
    elif x.__class__ is float and y.__class__ is Tensor and y._place is place:
        b, dt = y._data, y._data.dtype
        a = place.xp.array(x, dt)
    else:
        return None
    if dt not in type_promotion.FLOATS:
        return None
    try:
        d = hushed(_where.kernels[place.kind], condition._data, a, b)
    except ValueError:
        raise RuntimeError(type_promotion.misfit([condition._data, a, b])) from None
    return type_promotion.finish(_where, place, d, (condition, x, y), None)


@public(method=False)
def where(condition, input=None, other=None, *, out=None):
    """Take `input` where a condition holds and `other` where not; alone, find where it holds.

    Args:
        condition: a bool tensor.
        input: a tensor or a number.
        other: a tensor or a number.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([-1.0, 2.0])
        >>> vistorch.where(x > 0, x, 0.0)
        tensor([0., 2.])
    """
    if out is None and condition.__class__ is Tensor and condition._data.dtype is BOOL:
        done = _fast_where((condition, input, other), ())
        if done is None:
            done = _plain_where(condition, input, other)
        if done is not None:
            return done
    if not isinstance(condition, Tensor):
        raise errors.must_be_tensor("where", "condition", 1, condition)
    if input is None and other is None and out is None:
        return FUNCTIONS["nonzero"](condition, as_tuple=True)
    operands = []
    for t in (input, other):
        n = t if isinstance(t, Tensor) else type_promotion.number(t)
        if n is None:
            kinds = ", ".join(type(a).__name__ for a in (condition, input, other) if a is not None)
            raise TypeError(
                f"where() received an invalid combination of arguments - got ({kinds}), but expected a condition "
                "alone, or a condition and two tensors or numbers"
            )
        operands.append(n)
    return _chosen(condition, operands[0], operands[1], out)


def _chosen(condition, x, y, out):
    condition, x, y = sharing.in_samples("where", condition, x, y)
    c = condition._data
    if c.dtype.kind != "b":
        if c.dtype.kind != "u":
            raise RuntimeError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{dtypes.of(c.dtype).scalar_name}"
            )
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead.",
            UserWarning,
            stacklevel=3,
        )
        c = c != 0
    place = condition._place
    for t in (x, y):
        if isinstance(t, Tensor) and t._place is not place:
            if place.device.type == "cpu" and c.ndim == 0:
                place = t._place
                c = type_promotion._brought(condition, place)._data != 0
            elif t._data.ndim or t._place.device.type != "cpu":
                errors.check_devices(place, t._place, "where")
    if c is not condition._data:
        condition = wrap(c, place)  # formulas have to see bools
    x, y = (
        type_promotion._brought(t, place) if isinstance(t, Tensor) and t._place is not place else t
        for t in (x, y)
    )
    common = type_promotion.result_type(x, y)
    if out is not None:
        out_argument.check_out("where", out, (x, y))
        if out._data.dtype != common:
            given, needed = dtypes.of(out._data.dtype).scalar_name, dtypes.of(common).scalar_name
            raise RuntimeError(f"Expected out type to be {needed} but got {given}")
    arrays = [
        t._data.astype(common, copy=False)
        if isinstance(t, Tensor)
        else type_promotion._as_array(t, common, place)
        for t in (x, y)
    ]
    d = type_promotion.compute(_where, place, [c, *arrays], None)
    return type_promotion.finish(_where, place, d, (condition, x, y), out)


REC.where = where  # type: ignore[attr-defined]  formulas choose between a tensor and a number


@public(name="where", function=False)
def where_method(self, condition, other):
    """Take the elements of this tensor where a condition holds and of `other` where not.

    Args:
        self: a tensor.
        condition: a bool tensor.
        other: a tensor or a number.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0.0)
        tensor([0., 2.])
    """
    return where(condition, self, other)


# ---- a point between two ------------------------------------------------------------------------------------------
def _between(xp, input, end, weight):
    """From the nearer end, so that weights 0 and 1 give the ends exactly."""
    if weight.__class__ is float or weight.__class__ is int:
        way = end - input
        return input + way * weight if -0.5 < weight < 0.5 else end - way * (1 - weight)
    weight = xp.asarray(weight, dtype=input.dtype)
    way = end - input
    near, far = xp.asarray(weight * way), xp.asarray(way * (1 - weight))
    near += input
    xp.subtract(end, far, out=far)
    return masks.chosen(xp, xp.abs(weight) < 0.5, near, far)


_lerp = op(
    "lerp",
    _between,
    inputs="input end",
    formula={"input": r"\bar x = \bar z\,(1 - w)", "end": r"\bar y = \bar z\, w"},
    input=lambda F, g, weight: g * (1 - weight),
    end=lambda F, g, weight: g * weight,
).rule
_plain_lerp = fast_path(_lerp)
_lerp_tensor = op(
    "lerp_tensor",
    _between,
    inputs="input end weight",
    name_in_graph="LerpBackward1",
    formula={
        "input": r"\bar x = \bar z\,(1 - w)",
        "end": r"\bar y = \bar z\, w",
        "weight": r"\bar w = \bar z\,(y - x)",
    },
    input=lambda F, g, weight: g * (1 - weight),
    end=lambda F, g, weight: g * weight,
    weight=lambda F, g, input, end: g * (end - input),
).rule
_lerp_tensor.public = "lerp"


@public()
def lerp(input, end, weight, *, out=None):
    """Go from `input` towards `end`: `input + weight * (end - input)`.

    Args:
        input: where to start.
        end: where weight 1 leads.
        weight: a number or a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.lerp(vistorch.tensor([0.0, 10.0]), vistorch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
    """
    if out is None and weight.__class__ is float and input.__class__ is Tensor:
        o = _plain_lerp((input, end), (weight,))
        if o is not None:
            return o
    for t, argument, position in ((input, "input", 1), (end, "end", 2)):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor("lerp", argument, position, t)
    common = input._data.dtype
    _same_dtype(common, end._data.dtype, "end")
    if isinstance(weight, Tensor):
        if weight._data.ndim:
            _same_dtype(common, weight._data.dtype, "weight")
        else:  # promoted with the others, as a number is
            common = type_promotion.result_type(input, end, weight)
        type_promotion.refuse_last(missing("lerp_kernel_tensor", "ib"), common, (input, end, weight))
        return type_promotion.several(
            _lerp_tensor, (input, end, weight), (), out, common, exact_out=weight._data.ndim > 0
        )
    n = type_promotion.number(weight)
    if n is None:
        raise TypeError(
            f"lerp() received an invalid combination of arguments - got (Tensor, Tensor, {type(weight).__name__}), but "
            "expected a tensor or a number as weight"
        )
    type_promotion.refuse_last(missing("lerp_kernel_scalar", "ib"), common, (input, end))
    if isinstance(n, complex) and common.kind != "c":
        raise RuntimeError("value cannot be converted to type double without overflow")
    return type_promotion.several(_lerp, (input, end), (n,), out, common)


def _same_dtype(expected, given, argument):
    if expected != given:
        a, b = C_NAMES[dtypes.of(expected).name], C_NAMES[dtypes.of(given).name]
        raise RuntimeError(f"expected dtype {a} for `{argument}` but got dtype {b}")


def _go_towards(d, end, weight):
    way = np.subtract(end, d)
    np.add(d, np.multiply(way, weight, way if way.ndim else None), d)


def _lerp_in_place(input, end, weight):
    if weight.__class__ is float and direct(
        _lerp, input, (end,), (weight,), _go_towards if -0.5 < weight < 0.5 else None
    ):
        return input
    return replace(input, lerp, (end, weight), {})


_lerp_in_place.__name__ = _lerp_in_place.__qualname__ = "lerp_"
METHODS["lerp_"] = _lerp_in_place
