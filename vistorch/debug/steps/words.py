"""How numbers, shapes and small arrays are written in sentences.

Invariant: four digits, and the same number is always written the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def number(value: Any) -> str:
    """A number in four digits: 0.75, 1.5e-07, nan, -inf, 1+2j."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return f"{number(value.real)}{'-' if value.imag < 0 else '+'}{number(abs(value.imag))}j"
    value = float(value)
    if not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    text = f"{value:.4g}"
    return "0" if text == "-0" else text


def shape(of: Any) -> str:
    """A shape as people say it: "2 × 3", "a number"."""
    of = tuple(of)
    return " × ".join(str(n) for n in of) if of else "a number"


def index(at: Any) -> str:
    """A place in an array: "[1, 0]"."""
    return "[" + ", ".join(str(int(i)) for i in at) + "]"


def count(n: int, what: str, plural: str = "") -> str:
    """A number of things: "1 op", "3 ops"."""
    return f"{n:,} {what if n == 1 else plural or what + 's'}"


def columns(table: list[tuple[str, ...]], head: bool = False) -> list[str]:
    """Rows of text as lines, each column as wide as it must be; one that is empty in every row is left out.

    Args:
        table: the rows, all of one length.
        head: the first row names the columns.

    Example:
        >>> columns([("op", "layer", "bytes"), ("mul", "", "8 B"), ("softmax", "", "16 B")], head=True)
        ['op       bytes', 'mul      8 B', 'softmax  16 B']
    """
    kept = [i for i in range(len(table[0]) if table else 0) if any(row[i] for row in table[head:])]
    wide = [max(len(row[i]) for row in table) for i in kept]
    return ["  ".join(f"{row[i]:<{w}}" for i, w in zip(kept, wide, strict=True)).rstrip() for row in table]
