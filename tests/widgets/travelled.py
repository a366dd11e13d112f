"""A state that travelled, against the type of it: what a page's check does, written once more in Python.

Invariant: a field that the type does not have is wrong too, which a page lets pass.
"""

import math
import types
import typing

import numpy as np

from docs.making.page_types import hints
from vistorch.debug.wire_types import FiniteMark

WORDS = ("nan", "inf", "-inf")  # of numbers that JSON cannot say


def wrong(hint, value, path):
    """Name the places where a value is not as its type says, each with what it is there."""
    if typing.is_typeddict(hint):
        return fields(hint, value, path)
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        tried = [wrong(one, value, path) for one in inside]
        return [] if [] in tried else min(tried, key=len)
    if origin is list and isinstance(value, list):
        return [line for i, one in enumerate(value) for line in wrong(inside[0], one, f"{path}[{i}]")]
    if origin is tuple and isinstance(value, list) and len(value) == len(inside):
        return [line for i, one in enumerate(value) for line in wrong(inside[i], one, f"{path}[{i}]")]
    if origin is dict and isinstance(value, dict):
        return [line for name, one in value.items() for line in wrong(inside[1], one, f"{path}.{name}")]
    return [] if fits(hint, origin, inside, value) else [f"{path}: expected {hint}, got {value!r:.60}"]


def fits(hint, origin, inside, value):
    """Say whether a value without parts fits."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is object:
        return True
    if hint in (None, type(None)):
        return value is None
    if hint is float:
        return number or value in WORDS if isinstance(value, (int, float, str)) else False
    if hint is int:
        return number and isinstance(value, int)
    if hint in (str, bool):
        return isinstance(value, hint)
    if origin is typing.Literal:
        return any(value == one and type(value) is type(one) for one in inside)
    if origin is not typing.Annotated:
        return False
    mark = hint.__metadata__[0]
    if isinstance(mark, FiniteMark):
        return number and math.isfinite(value)
    return isinstance(value, np.ndarray) and mark.number in (None, value.ndim)


def fields(hint, value, path):
    """The same of a record."""
    if not isinstance(value, dict):
        return [f"{path}: expected {hint.__name__}, got {value!r:.60}"]
    known = hints(hint)
    found = [f"{path}.{name}: the type does not have it" for name in value if name not in known]
    for name, (one, there) in known.items():
        if name in value:
            found += wrong(one, value[name], f"{path}.{name}")
        elif there:
            found.append(f"{path}.{name}: it is not there")
    return found
