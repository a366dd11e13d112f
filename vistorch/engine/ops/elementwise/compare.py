"""Comparisons element by element, kinds of numbers, and whole tensors that are equal or close.

Invariant: results are bool tensors (or Python bools for `equal` and `allclose`) and carry no history.
"""

from __future__ import annotations

import numpy as np

from ...base import dtypes, errors
from ...base.dims import flag
from ...base.modes import mode
from ...base.numpy_warnings import without_warnings
from ...core import type_promotion
from ...core.graph import sync_rg
from ...core.inplace import replace
from ...core.op_factory import op
from ...core.record import record
from ...core.registry import METHODS, public
from ...core.rules import variant
from ...core.tensor import Tensor, wrap
from .dtype_checks import missing, sentence
from .rows import one, two


def _in_place(fn, labels):
    """`x.eq_(y)`: ones and zeros of x's own type, with a node that sends no gradient on, as PyTorch records it."""
    name = fn.rule.name.capitalize()
    rule = op(
        f"{fn.rule.name}_kept",
        lambda xp, input, other: input,
        inputs="input other",
        name_in_graph=f"{name}Backward1",
        formula={"input": r"\bar x = 0", "other": r"\bar y = 0"},
        input=lambda F, g: F.zeros_like(g),
        other=lambda F, g: F.zeros_like(g),
    ).rule
    of_number = variant(rule, f"{name}Backward0")

    def kept(old, other):
        o = wrap(fn(old, other)._data.astype(old._data.dtype), old._place)
        tensor = isinstance(other, Tensor)
        if mode.on and (sync_rg(old) or (tensor and sync_rg(other))):
            record(rule if tensor else of_number, (old, other), (), (o,))
        return o

    kept.kind = "compare"  # type: ignore[attr-defined]

    def write(input, other):
        return replace(input, kept, (other,), {})

    for label in labels:
        METHODS[label + "_"] = write


def _comparison(name, ufunc, meaning, gives, alias, refuse=None):
    fn = two(
        name,
        ufunc,
        meaning,
        "vistorch.tensor([1, 2, 3]), 2",
        gives,
        aliases=alias,
        inplace=False,
        kind="compare",
        numbers="other",
        refuse=refuse,
    )
    _in_place(fn, (name, *alias.split()))
    return fn


eq = _comparison("eq", "equal", "Tell where elements are equal.", "tensor([False,  True, False])", "")
ne = _comparison(
    "ne", "not_equal", "Tell where elements differ.", "tensor([ True, False,  True])", "not_equal"
)
lt = _comparison(
    "lt",
    "less",
    "Tell where `input` is less.",
    "tensor([ True, False, False])",
    "less",
    missing("lt_cpu", "c"),
)
le = _comparison(
    "le",
    "less_equal",
    "Tell where `input` is less or equal.",
    "tensor([ True,  True, False])",
    "less_equal",
    missing("le_cpu", "c"),
)
gt = _comparison(
    "gt",
    "greater",
    "Tell where `input` is greater.",
    "tensor([False, False,  True])",
    "greater",
    missing("gt_cpu", "c"),
)
ge = _comparison(
    "ge",
    "greater_equal",
    "Tell where `input` is greater or equal.",
    "tensor([False,  True,  True])",
    "greater_equal",
    missing("ge_cpu", "c"),
)


def _kind(name, kernel, meaning, gives, check=None):
    given = "[1.0, float('inf'), float('-inf'), float('nan')]"
    ints = "bool" if check is None else "only bool"
    return one(name, kernel, meaning, given, gives, inplace=False, ints=ints, check=check)


isnan = _kind(
    "isnan", "isnan", "Tell where elements are not numbers.", "tensor([False, False, False,  True])"
)
isinf = _kind("isinf", "isinf", "Tell where elements are infinite.", "tensor([False,  True,  True, False])")
isfinite = _kind(
    "isfinite", "isfinite", "Tell where elements are finite.", "tensor([ True, False, False, False])"
)
isposinf = _kind(
    "isposinf",
    lambda xp, input: input == xp.inf,
    "Tell where elements are positive infinity.",
    "tensor([False,  True, False, False])",
    sentence("c", "isposinf does not support complex inputs."),
)
isneginf = _kind(
    "isneginf",
    lambda xp, input: input == -xp.inf,
    "Tell where elements are negative infinity.",
    "tensor([False, False,  True, False])",
    sentence("c", "isneginf does not support complex inputs."),
)
isreal = _kind(
    "isreal",
    lambda xp, input: xp.imag(input) == 0,
    "Tell where elements have no imaginary part.",
    "tensor([True, True, True, True])",
)


def _two_tensors(name, input, other):
    for t, argument, position in ((input, "input", 1), (other, "other", 2)):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor(name, argument, position, t)


@public()
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Tell where `input` is within `atol + rtol * |other|` of `other`.

    Args:
        input: a tensor.
        other: a tensor of the same dtype.
        rtol: how far apart, relative to `other`.
        atol: how far apart in any case.
        equal_nan: two nans count as close.

    Example:
        >>> import vistorch
        >>> vistorch.isclose(vistorch.tensor([1.0, 2.0]), vistorch.tensor([1.0, 2.5]))
        tensor([ True, False])
    """
    _two_tensors("isclose", input, other)
    equal_nan = flag(equal_nan, "isclose", "equal_nan")
    a, b = input._data, other._data
    if a.dtype != b.dtype:
        x, y = dtypes.of(a.dtype).scalar_name, dtypes.of(b.dtype).scalar_name
        raise RuntimeError(f"{x} did not match {y}")
    if rtol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {_plain(rtol)}")
    if atol < 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {_plain(atol)}")
    input, other = type_promotion.same_place("isclose", input, other)
    place, xp = input._place, input._place.xp
    a, b = input._data, other._data
    said = errors.broadcast(a.shape, b.shape)
    if said is not None:
        raise RuntimeError(said)
    if a.dtype in type_promotion.HALVES:
        a, b = a.astype(np.float32), b.astype(np.float32)
    with without_warnings():
        close = a == b
        if type_promotion.floating(a.dtype):
            if equal_nan:
                close = close | (xp.isnan(a) & xp.isnan(b))
            distance = xp.abs(a - b)
            close = close | (xp.isfinite(distance) & (distance <= atol + xp.abs(rtol * b)))
        elif rtol or atol:
            a, b = a.astype(np.float64), b.astype(np.float64)
            close = close | (xp.abs(a - b) <= atol + xp.abs(rtol * b))
    return wrap(close, place)


def _plain(number):
    """A number as C++ streams print it."""
    return f"{number:g}"


@public()
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Tell whether all elements are close, as `isclose` says.

    Args:
        input: a tensor.
        other: a tensor of the same dtype.
        rtol: how far apart, relative to `other`.
        atol: how far apart in any case.
        equal_nan: two nans count as close.

    Example:
        >>> import vistorch
        >>> vistorch.allclose(vistorch.tensor([1.0, 2.0]), vistorch.tensor([1.0, 2.0000001]))
        True
    """
    _two_tensors("allclose", input, other)
    return bool(isclose(input, other, rtol, atol, equal_nan)._data.all())


@public()
def equal(input, other):
    """Tell whether two tensors have the same shape and elements; those of two types are promoted first.

    Args:
        input: a tensor.
        other: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.equal(vistorch.tensor([1, 2]), vistorch.tensor([1, 2]))
        True
    """
    _two_tensors("equal", input, other)
    if input._place is not other._place:
        raise RuntimeError(errors.devices(input._place, other._place, "equal"))
    a, b = input._data, other._data
    if a.shape != b.shape:
        return False
    if a.dtype != b.dtype:
        common = type_promotion.result_type(input, other)
        with without_warnings():
            a, b = a.astype(common), b.astype(common)
    return bool((a == b).all())
