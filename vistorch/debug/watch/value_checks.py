"""What a value of a saved state may be: checks to be put together, each a function of a value and of its place.

Invariant: a check does nothing or raises ValueError with the place, what stands there and what was expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

EXACT = 1 << 53  # whole numbers a page can hold

Check = Callable[[Any, str], None]


def wrong(where: str, value: Any, expected: str) -> ValueError:
    """The error of a value that does not stand where it should.

    Args:
        where: its place.
        value: what stands there.
        expected: what should, in words.
    """
    given = str(value)[:40] if isinstance(value, (str, int, float)) else type(value).__name__
    return ValueError(f"{where} is {given!r}, expected {expected}")


def text(value: Any, where: str) -> None:
    """A text."""
    if type(value) is not str:
        raise wrong(where, value, "a text")


def flag(value: Any, where: str) -> None:
    """True or false."""
    if type(value) is not bool:
        raise wrong(where, value, "true or false")


def whole(value: Any, where: str) -> None:
    """A whole number from 0 on, as a page can hold it."""
    if type(value) is not int or not 0 <= value < EXACT:
        raise wrong(where, value, "a whole number from 0 on")


def number(value: Any, where: str) -> None:
    """A number, of which a page holds every digit if it is whole."""
    if type(value) not in (int, float) or (type(value) is int and abs(value) >= EXACT):
        raise wrong(where, value, "a number")


def finite(value: Any, where: str) -> None:
    """A finite number."""
    number(value, where)
    if not math.isfinite(value):
        raise wrong(where, value, "a finite number")


def one_of(*texts: str) -> Check:
    """One of these texts."""

    def look(value: Any, where: str) -> None:
        if type(value) is not str or value not in texts:
            raise wrong(where, value, f"one of {', '.join(map(repr, texts))}")

    return look


def maybe(inner: Check) -> Check:
    """Nothing, or what another check allows."""
    return lambda value, where: None if value is None else inner(value, where)


def each(inner: Check, length: int | None = None) -> Check:
    """A list, of some length if one is given, of what another check allows."""

    def look(value: Any, where: str) -> None:
        if type(value) is not list or (length is not None and len(value) != length):
            raise wrong(where, value, "a list" if length is None else f"a list of {length}")
        for i, item in enumerate(value):
            inner(item, f"{where}[{i}]")

    return look


def row(*inner: Check) -> Check:
    """A list with one check for each of its items."""

    def look(value: Any, where: str) -> None:
        if type(value) is not list or len(value) != len(inner):
            raise wrong(where, value, f"a list of {len(inner)}")
        for i, (one, item) in enumerate(zip(inner, value, strict=True)):
            one(item, f"{where}[{i}]")

    return look


def by_name(inner: Check, names: tuple[str, ...] = ()) -> Check:
    """An object of any names, these among them, with what another check allows."""

    def look(value: Any, where: str) -> None:
        if type(value) is not dict or any(name not in value for name in names):
            raise wrong(where, value, f"values for {', '.join(names) or 'names'}")
        for name, item in value.items():
            inner(item, f"{where}.{name[:40]}")

    return look


def fields(optional: tuple[str, ...] = (), **checks: Check) -> Check:
    """An object of these names and no others; a name of Python's is written with an underscore behind it."""

    def look(value: Any, where: str) -> None:
        if type(value) is not dict:
            raise wrong(where, value, "an object")
        for name, inner in checks.items():
            name = name.rstrip("_")  # `from_`
            if name in value:
                inner(value[name], f"{where}.{name}")
            elif name not in optional:
                raise ValueError(f"{where} has no {name!r}")
        if len(value) > len(checks) or any(name not in checks and f"{name}_" not in checks for name in value):
            raise ValueError(f"{where} has more than it should: {str(sorted(map(str, value)))[:100]}")

    return look


def array(kind: str, dims: int, last: tuple[int, ...] = ()) -> Check:
    """An array of a type and of so many dimensions, the last of which has one of these sizes."""

    def look(value: Any, where: str) -> None:
        fine = isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == dims
        if not fine or (last and value.shape[-1] not in last):
            raise wrong(where, value, f"an array of {kind} of {dims} dimensions")

    return look
