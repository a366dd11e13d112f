"""Comparing one value with another: numbers, and tensors or what becomes one.

Invariant: a comparison gives None, or the sentence PyTorch says.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vistorch.engine.base.dtypes import int64, promote_types
from vistorch.engine.core.registry import FUNCTIONS
from vistorch.engine.core.tensor import Tensor

_isclose, _as_tensor = FUNCTIONS["isclose"], FUNCTIONS["as_tensor"]


class Options(NamedTuple):
    """What `assert_close` was given."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool


class Wrong(Exception):
    """A difference, or what cannot be compared, with its place in a structure."""

    def __init__(self, kind: type[Exception], sentence: str, place: tuple) -> None:
        super().__init__(sentence)
        self.kind, self.sentence, self.place = kind, sentence, place

    def error(self, msg: str | Callable[[str], str] | None) -> Exception:
        """The exception to raise."""
        if isinstance(msg, str):
            return self.kind(msg)
        text = self.sentence
        if self.place:
            text += f"\n\nThe failure occurred for item {''.join(str([step]) for step in self.place)}"
        return self.kind(msg(text) if callable(msg) else text)


def are_bools(actual: Any, expected: Any) -> bool:
    """Whether both are plain truth values."""
    return isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_)


def are_numbers(actual: Any, expected: Any) -> bool:
    """Whether both are plain numbers."""
    kinds = int | float | complex | np.number
    return isinstance(actual, kinds) and isinstance(expected, kinds)


def number(value: Any) -> Any:
    """A plain number."""
    return value.item() if isinstance(value, np.number) else value


def numbers(actual: Any, expected: Any, bounds: tuple[float, float], options: Options) -> str | None:
    """Compare two plain numbers."""
    if options.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return None
    apart = abs(actual - expected)
    rtol, atol = bounds
    if cmath.isfinite(apart) and apart <= atol + rtol * abs(expected):
        return None
    return _scalar(actual, expected, bounds)


def as_tensors(actual: Any, expected: Any, options: Options) -> tuple[Tensor, Tensor] | None:
    """Both as tensors, if one's class is the other's or above it and they can be."""
    if not (isinstance(actual, type(expected)) or isinstance(expected, type(actual))):
        return None
    if not options.allow_subclasses and type(actual) is not type(expected):
        return None
    try:
        return tuple(  # type: ignore[return-value]
            one.detach() if isinstance(one, Tensor) else _as_tensor(one) for one in (actual, expected)
        )
    except Exception:
        return None


def tensors(actual: Tensor, expected: Tensor, bounds: tuple[float, float], options: Options) -> str | None:
    """Compare two tensors."""
    checks = (
        ("shape", True, actual.shape, expected.shape),
        ("layout", options.check_layout, actual.layout, expected.layout),
        ("stride()", options.check_stride, actual.stride(), expected.stride()),
        ("device", options.check_device, actual.device, expected.device),
        ("dtype", options.check_dtype, actual.dtype, expected.dtype),
    )
    for name, asked, ours, theirs in checks:
        if asked and ours != theirs:
            return f"The values for attribute '{name}' do not match: {ours} != {theirs}."
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    if actual.dtype != expected.dtype:
        common = promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    matches = _isclose(actual, expected, rtol=bounds[0], atol=bounds[1], equal_nan=options.equal_nan)
    if bool(matches.all()):
        return None
    if actual.dim() == 0:
        return _scalar(actual.item(), expected.item(), bounds)
    return _elements(actual, expected, matches, bounds)


def _scalar(actual: Any, expected: Any, bounds: tuple[float, float]) -> str:
    apart = abs(actual - expected)
    relative = float("inf") if expected == 0 else apart / abs(expected)
    text = f"Expected {expected} but got {actual}."
    return _sentence("Scalars", text, bounds, [(apart, None), (relative, None)])


def _elements(actual: Tensor, expected: Tensor, matches: Tensor, bounds: tuple[float, float]) -> str:
    total = matches.numel()
    wrong = total - int(matches.sum())
    text = f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        actual, expected = actual.to(int64), expected.to(int64)
    apart = (actual - expected).abs().flatten()
    relative = apart / expected.flatten().abs()
    worst = []
    for values in (apart, relative):
        largest, index = values.masked_fill(matches.flatten(), 0).max(0)
        place = tuple(int(one) for one in np.unravel_index(int(index), tuple(matches.shape)))
        worst.append((largest.item(), place))
    return _sentence("Tensor-likes", text, bounds, worst)


def _sentence(what: str, extra: str, bounds: tuple[float, float], worst: list[tuple]) -> str:
    rtol, atol = bounds
    exact = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if exact else 'close'}!\n", extra]
    for kind, (apart, place), allowed in zip(("absolute", "relative"), worst, (atol, rtol), strict=True):
        line = f"{kind.title()} difference: {apart}"
        if place is not None:
            line = f"Greatest {kind} difference: {apart} at index {place}"
        lines.append(line if exact else f"{line} (up to {allowed} allowed)")
    return "\n".join(lines)
