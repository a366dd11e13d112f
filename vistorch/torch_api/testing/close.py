"""Whether two values are close, and where they are not.

Invariant: all of a structure is walked before anything is compared, so what cannot be compared is said first; of what
differs, the first is said, with its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vistorch.engine.base.dtypes import bfloat16, complex64, complex128, dtype, float16, float32, float64
from vistorch.engine.core.registry import FUNCTIONS
from vistorch.engine.core.tensor import Tensor
from vistorch.engine.library_name import library

from . import compare
from .compare import Options

TOLERANCES = {
    float16: (1e-3, 1e-5),
    bfloat16: (1.6e-2, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
    complex64: (1.3e-6, 1e-5),
    complex128: (1e-7, 1e-7),
}
_OLDER = {float16: (1e-3, 1e-3), float32: (1e-4, 1e-5), float64: (1e-5, 1e-8)}


def default_tolerances(
    *inputs: Tensor | dtype, dtype_precisions: dict[dtype, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """The widest tolerances of some types: (rtol, atol)."""
    table = dtype_precisions or TOLERANCES
    types = [one.dtype if isinstance(one, Tensor) else one for one in inputs]
    found = [table.get(one, (0.0, 0.0)) for one in types]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless two values are close: numbers, tensors, and sequences and mappings of them.

    Args:
        actual: what was found.
        expected: what it should be.
        allow_subclasses: whether a subclass may be compared with its class.
        rtol: relative tolerance; together with `atol`, or neither: then both go by the types.
        atol: absolute tolerance.
        equal_nan: whether NaN equals NaN.
        check_device: whether the devices must be the same.
        check_dtype: whether the types must be the same.
        check_layout: whether the layouts must be the same.
        check_stride: whether the strides must be the same.
        msg: what to say instead, or a function of what would be said.

    Example:
        >>> import vistorch
        >>> vistorch.testing.assert_close(vistorch.tensor([1.0]), vistorch.tensor([1.0 + 1e-7]))
        >>> vistorch.testing.assert_close(1, 2, msg="not the same")
        Traceback (most recent call last):
        AssertionError: not the same
    """
    __tracebackhide__ = True
    options = Options(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride
    )
    wrong = None
    try:
        comparisons = list(_walk(actual, expected, options, ()))
    except compare.Wrong as found:
        raise found.error(None) from None
    for place, differs in comparisons:
        if (sentence := differs()) is not None:
            wrong = compare.Wrong(AssertionError, sentence, place).error(msg)
            break
    if wrong is not None:
        raise wrong


def _walk(actual: Any, expected: Any, options: Options, place: tuple) -> Any:
    """The comparisons to make: (place, function that gives a sentence or None)."""
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            sentence = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise compare.Wrong(AssertionError, sentence, place)
        for index in range(len(actual)):
            yield from _walk(actual[index], expected[index], options, (*place, index))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        ours, theirs = set(actual), set(expected)
        if ours != theirs:
            sentence = (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(theirs - ours)}\n"
                f"Additional keys in the actual mapping: {sorted(ours - theirs)}"
            )
            raise compare.Wrong(AssertionError, sentence, place)
        for key in _in_order(ours):
            yield from _walk(actual[key], expected[key], options, (*place, key))
    else:
        yield place, _pair(actual, expected, options, place)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _in_order(keys: set) -> list:
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _pair(actual: Any, expected: Any, options: Options, place: tuple) -> Callable[[], str | None]:
    """How one value and another are compared."""
    if actual is None or expected is None:
        return lambda: None if actual is expected else f"None mismatch: {actual} is not {expected}"
    if compare.are_bools(actual, expected):
        a, b = bool(actual), bool(expected)
        return lambda: None if a is b else f"Booleans mismatch: {a} is not {b}"
    if compare.are_numbers(actual, expected):
        a, b = compare.number(actual), compare.number(expected)
        kinds = [{int: None, float: float64, complex: complex128}.get(type(one)) for one in (a, b)]
        bounds = _bounds(options, [kind for kind in kinds if kind is not None], place)
        return lambda: compare.numbers(a, b, bounds, options)
    pair = compare.as_tensors(actual, expected, options)
    if pair is None:
        sentence = (
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
        )
        raise compare.Wrong(TypeError, sentence, place)
    bounds = _bounds(options, [pair[0].dtype, pair[1].dtype], place)
    return lambda: compare.tensors(*pair, bounds, options)


def _bounds(options: Options, types: list[Any], place: tuple) -> tuple[float, float]:
    rtol, atol = options.rtol, options.atol
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        sentence = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        raise compare.Wrong(ValueError, sentence, place)
    if rtol is None or atol is None:
        return default_tolerances(*types) if types else (0.0, 0.0)
    return rtol, atol


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """PyTorch's older comparison, with wider tolerances; it warns, and so does this.

    Args:
        actual: what was found.
        expected: what it should be.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether NaN equals NaN.
        msg: what to say instead.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.testing.assert_allclose([1.0], [1.00001])
    """
    warnings.warn(
        f"`{library}.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please "
        f"use `{library}.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    make = FUNCTIONS["tensor"]
    if not isinstance(actual, Tensor):
        actual = make(actual)
    if not isinstance(expected, Tensor):
        expected = make(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_OLDER)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )
