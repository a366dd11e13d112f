"""The larger, the smaller, and what is cut off at bounds.

Invariant: nan wins, except in fmax and fmin; at a tie of two tensors each gets half of the gradient.
"""

from __future__ import annotations

import numpy as np

from ...base import dtypes, errors
from ...core import type_promotion
from ...core.graph import NUMBERS
from ...core.inplace import direct, replace
from ...core.op_factory import op
from ...core.pointwise import LARGE
from ...core.pointwise_nary import fast_path
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.rules import variant
from ...core.tensor import Tensor
from ...kernels import masks
from ...kernels.bounds import bounded
from ...library_name import library
from .dtype_checks import C_NAMES, missing, sentence
from .rows import two


def _share_not(xp, g, input, other, lost):
    """All of `g` but where the comparison `lost` holds; half of it at a tie."""
    out = masks.chosen(xp, input == other, g / 2, g)
    return masks.chosen(xp, input < other if lost == "lt" else input > other, 0.0, out)


op(
    "share_not",
    _share_not,
    inputs="g input other",
    name_in_graph="WhereBackward0",
    formula={"g": r"\bar g = \bar x\,[x \text{ chosen}]"},
    g=lambda F, g, input, other, lost: F.share_not(g, input, other, lost),
)


def _extreme(name, other_side, meaning, gives):
    """The rows of maximum and minimum; `other_side`: the comparison that says an operand lost."""
    lost = other_side
    won = "gt" if lost == "lt" else "lt"
    return two(
        name,
        name,
        meaning,
        "vistorch.tensor([1.0, 5.0]), vistorch.tensor([2.0, 3.0])",
        gives,
        inplace=False,
        numbers="",
        refuse=sentence("c", f"{name} not implemented for complex tensors."),
        formula={
            "input": r"\bar x = \bar z\,[x \text{ chosen}]",
            "other": r"\bar y = \bar z\,[y \text{ chosen}]",
        },
        input=lambda F, g, input, other: F.share_not(g, input, other, lost),
        other=lambda F, g, input, other: F.share_not(g, input, other, won),
    )


maximum = _extreme("maximum", "lt", "Take the larger of two; nan, if one is.", "tensor([2., 5.])")
minimum = _extreme("minimum", "gt", "Take the smaller of two; nan, if one is.", "tensor([1., 3.])")


def _known_extreme(name, holds, meaning, gives):
    """The rows of fmax and fmin: `input` is chosen where it holds against `other`, or where `other` is nan."""

    def chosen(F, input, other):
        return F.logical_or(getattr(F, holds)(input, other), F.isnan(other))

    return two(
        name,
        name,
        meaning,
        "vistorch.tensor([1.0, float('nan')]), vistorch.tensor([2.0, 3.0])",
        gives,
        inplace=False,
        numbers="",
        refuse=sentence("c", f"{name} not implemented for complex tensors."),
        formula={
            "input": r"\bar x = \bar z\,[x \text{ chosen}]",
            "other": r"\bar y = \bar z\,[y \text{ chosen}]",
        },
        input=lambda F, g, input, other: F.where(chosen(F, input, other), g, 0.0),
        other=lambda F, g, input, other: F.where(chosen(F, input, other), 0.0, g),
    )


fmax = _known_extreme("fmax", "ge", "Take the larger of two; of a nan, the other one.", "tensor([2., 3.])")
fmin = _known_extreme("fmin", "le", "Take the smaller of two; of a nan, the other one.", "tensor([1., 3.])")


# ---- bounds -------------------------------------------------------------------------------------------------------
_NUMBERS = frozenset((float, int))


def _by_one(of, input, bound):
    """One bound, which is a number or an array."""
    if bound.__class__ in _NUMBERS and of.__class__ is np.ufunc:
        return bounded(of, input, bound)
    return of(input, bound)


def _cut(xp, input, min, max):
    if max is None:
        return _by_one(xp.maximum, input, min)
    if min is None:
        return _by_one(xp.minimum, input, max)
    if xp is np and input.dtype.kind == "f" and {min.__class__, max.__class__} <= {int, float}:
        return np.clip(input, min, max)
    return xp.minimum(xp.maximum(input, min), max)


def _inside(xp, input, min, max):
    if max is None:
        return input >= min
    if min is None:
        return input <= max
    return (input >= min) & (input <= max)


op("inside", _inside, inputs="input", widen=False)
op("inside_of", lambda xp, input, min, max: _inside(xp, input, min, max), inputs="input min max", widen=False)
_numbers = op(
    "clamp",
    _cut,
    name_in_graph="ClampBackward1",
    formula=r"\bar x = \bar y\,[a \le x \le b]",
    input=lambda F, g, input, min, max: F.where(F.inside(input, min, max), g, 0.0),
)
_low = op(
    "clamp_low",
    lambda xp, input, min: xp.maximum(input, min),
    inputs="input min",
    name_in_graph="ClampBackward0",
    formula={"input": r"\bar x = \bar y\,[x \ge a]", "min": r"\bar a = \bar y\,[x < a]"},
    input=lambda F, g, input, min: F.where(F.ge(input, min), g, 0.0),
    min=lambda F, g, input, min: F.where(F.lt(input, min), g, 0.0),
).rule
_high = op(
    "clamp_high",
    lambda xp, input, max: xp.minimum(input, max),
    inputs="input max",
    name_in_graph="ClampBackward0",
    formula={"input": r"\bar x = \bar y\,[x \le b]", "max": r"\bar b = \bar y\,[x > b]"},
    input=lambda F, g, input, max: F.where(F.le(input, max), g, 0.0),
    max=lambda F, g, input, max: F.where(F.gt(input, max), g, 0.0),
).rule
_both = op(
    "clamp_both",
    _cut,
    inputs="input min max",
    name_in_graph="ClampBackward0",
    formula={
        "input": r"\bar x = \bar y\,[a \le x \le b]",
        "min": r"\bar a = \bar y\,[x < a < b]",
        "max": r"\bar b = \bar y\,[x > b \text{ or } b < a]",
    },
    input=lambda F, g, input, min, max: F.where(F.inside_of(input, min, max), g, 0.0),
    min=lambda F, g, input, min, max: F.where(F.logical_and(F.lt(min, max), F.lt(input, min)), g, 0.0),
    max=lambda F, g, input, min, max: F.where(F.logical_or(F.gt(input, max), F.lt(max, min)), g, 0.0),
).rule
_min_number, _max_number = (
    variant(_numbers.rule, "ClampMinBackward0"),
    variant(_numbers.rule, "ClampMaxBackward0"),
)
_min_tensor, _max_tensor = variant(_low, "ClampMinBackward1"), variant(_high, "ClampMaxBackward1")
for _rule in (_low, _high, _both):
    _rule.public = "clamp"
_min_number.public = _min_tensor.public = "clamp_min"
_max_number.public = _max_tensor.public = "clamp_max"
_no_complex = sentence("c", "clamp is not supported for complex types", NotImplementedError)
_REAL = frozenset((float, int, type(None)))


def _by_numbers(rule, kernel, input, low, high, out):
    """Bounds that are numbers: they are constants of the row."""
    common = type_promotion.result_type(input, *[n for n in (low, high) if n is not None])
    _no_complex(common)
    missing(kernel, "b")(common)
    if common.kind in "iu":
        low, high = (None if n is None else int(np.asarray(n, np.int64).astype(common)) for n in (low, high))
    return type_promotion.several(rule, (input,), (low, high), out, common, exact_out=True)


@public(name="clamp", aliases="clip")
def clamp(input, min=None, max=None, *, out=None):
    """Cut off what is below `min` and above `max`.

    Args:
        input: a tensor.
        min: the lower bound, a number or a tensor.
        max: the upper bound, of the same kind; it wins over a larger `min`.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.clamp(vistorch.tensor([-2.0, 0.5, 2.0]), -1, 1)
        tensor([-1.0000,  0.5000,  1.0000])
    """
    if min.__class__ in _REAL and max.__class__ in _REAL and out is None and input.__class__ is Tensor:
        if input._data.dtype in type_promotion.FLOATS and not (min is None and max is None):
            return _numbers(input, min, max)
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("clamp", "input", 1, input)
    if min is None and max is None:
        raise RuntimeError(f"{library}.clamp: At least one of 'min' or 'max' must not be None")
    tensors = [isinstance(bound, Tensor) for bound in (min, max) if bound is not None]
    if not any(tensors):
        low, high = (None if bound is None else type_promotion.number(bound) for bound in (min, max))
        if (low is None) != (min is None) or (high is None) != (max is None):
            raise _wrong("clamp", input, min, max)
        if isinstance(low, complex) or isinstance(high, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
        kernel = (
            "clamp_min_scalar_cpu"
            if high is None
            else "clamp_max_scalar_cpu"
            if low is None
            else "clamp_scalar_cpu"
        )
        return _by_numbers(_numbers.rule, kernel, input, low, high, out)
    if not all(tensors):
        if all(not isinstance(t, Tensor) or (t._data.ndim == 0 and not t.requires_grad) for t in (min, max)):
            return clamp(
                input, *[t._data.item() if isinstance(t, Tensor) else t for t in (min, max)], out=out
            )
        raise _wrong("clamp", input, min, max)
    _no_complex(input._data.dtype)
    if max is None:
        missing("maximum_cpu", "c")(type_promotion.result_type(input, min))
        return type_promotion.several(_low, (input, min), (), out)
    if min is None:
        missing("minimum_cpu", "c")(type_promotion.result_type(input, max))
        return type_promotion.several(_high, (input, max), (), out)
    missing("clamp_cpu", "bc")(type_promotion.result_type(input, min, max))
    return type_promotion.several(_both, (input, min, max), (), out)


def _wrong(name, *given):
    kinds = ", ".join(type(t).__name__ for t in given)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({kinds}), but expected numbers or tensors"
    )


def _one_bound(name, by_number, by_tensor, place, kernel, tensor_kernel):
    plainly = fast_path(by_number)

    def bounded(input, bound, out):
        if not isinstance(input, Tensor):
            raise errors.must_be_tensor(name, "input", 1, input)
        if isinstance(bound, Tensor):
            missing(tensor_kernel, "c")(type_promotion.result_type(input, bound))
            return type_promotion.several(by_tensor, (input, bound), (), out)
        n = bound if bound.__class__ in NUMBERS else type_promotion.number(bound)
        if n is None:
            raise _wrong(name, input, bound)
        low, high = (n, None) if place == 0 else (None, n)
        if out is None and n.__class__ in _REAL and -LARGE < n < LARGE:
            o = plainly((input,), (low, high))
            if o is not None:
                return o
        return _by_numbers(by_number, kernel, input, low, high, out)

    return bounded


_clamp_min = _one_bound("clamp_min", _min_number, _min_tensor, 0, "clamp_min_scalar_cpu", "maximum_cpu")
_clamp_max = _one_bound("clamp_max", _max_number, _max_tensor, 1, "clamp_max_scalar_cpu", "minimum_cpu")


@public()
def clamp_min(input, min, *, out=None):
    """Cut off what is below `min`.

    Args:
        input: a tensor.
        min: a number or a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.clamp_min(vistorch.tensor([-2.0, 2.0]), 0)
        tensor([0., 2.])
    """
    return _clamp_min(input, min, out)


@public()
def clamp_max(input, max, *, out=None):
    """Cut off what is above `max`.

    Args:
        input: a tensor.
        max: a number or a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.clamp_max(vistorch.tensor([-2.0, 2.0]), 0)
        tensor([-2.,  0.])
    """
    return _clamp_max(input, max, out)


def _in_place(fn, label, place_bounds):
    """The in-place form names the dtype of `self` as C++ does where a bound's type does not fit into it."""

    def write(input, *args, **kwargs):
        if kwargs:
            low, high = kwargs.get("min"), kwargs.get("max")
        else:
            low, high = place_bounds(*args)
        if low.__class__ in _REAL and high.__class__ in _REAL and (low is not None or high is not None):
            if len(args) + len(kwargs) == (low is not None) + (high is not None):
                if direct(_numbers.rule, input, (), (low, high), _cut_down):
                    return input
        numbers = [
            n for n in (*args, *kwargs.values()) if n.__class__ in NUMBERS and n.__class__ is not complex
        ]
        if numbers and isinstance(input, Tensor):
            bounds = (*args, *kwargs.values())
            if any(isinstance(t, Tensor) and t._data.ndim for t in bounds):
                raise _wrong(label, *bounds)
            common, own = type_promotion.result_type(input, *numbers), input._data.dtype
            if common != own and not dtypes.can_cast(dtypes.of(common), dtypes.of(own)):
                raise RuntimeError(
                    f"result type {dtypes.of(common).scalar_name} can't be cast to the desired output type "
                    f"{C_NAMES[dtypes.of(own).name]}"
                )
        return replace(input, fn, args, kwargs)

    write.__name__ = write.__qualname__ = label
    return write


def _cut_down(d, low, high):
    if low is not None:
        np.maximum(d, low, out=d)
    if high is not None:
        np.minimum(d, high, out=d)


def _pair(min=None, max=None):
    return min, max


for _fn, _labels, _place in (
    (clamp, ("clamp_", "clip_"), _pair),
    (clamp_min, ("clamp_min_",), lambda min=None: (min, None)),
    (clamp_max, ("clamp_max_",), lambda max=None: (None, max)),
):
    for _label in _labels:
        METHODS[_label] = FUNCTIONS[_label] = _in_place(_fn, _label, _place)
