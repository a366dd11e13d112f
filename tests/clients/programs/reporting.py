"""How a program of this folder says what it found: one line of JSON for each result, which the run compares."""

import json
import math
from collections import Counter
from typing import Any


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = [value.real, value.imag] if value.is_complex() else value.double().flatten().tolist()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in _numbers(_plain(part))]
    return _spelled(value)


def _numbers(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def _spelled(number: Any) -> Any:
    """A number that JSON can hold."""
    number = float(number)
    return number if math.isfinite(number) else repr(number)


_said: Counter[str] = Counter()


def report(name: str, value: Any) -> None:
    """Write down one result: a text, which must be the same, or numbers, which must be close.

    Args:
        name: what it is; a second result of that name gets a number.
        value: a text, a number, a tensor or an array; lists and dictionaries of those are laid out flat.
    """
    _said[name] += 1
    own = name if _said[name] == 1 else f"{name} {_said[name]}"
    print("RESULT " + json.dumps([own, _plain(value)]), flush=True)
