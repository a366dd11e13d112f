"""Shapes, bytes, counts and norms as a person reads them: one spelling for text, picture and page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

MINUS = "−"
KINDS = ("op", "parameter", "input", "constant", "failed")  # of a node
MARKS = ("", "healed", "propagated", "origin")  # what a trace found at it


def shape_text(shape: Sequence[int]) -> str:
    """A shape: "32 × 10"; "scalar" for no dims.

    Example:
        >>> from vistorch.debug.graph.words import shape_text
        >>> shape_text((32, 10))
        '32 × 10'
    """
    return " × ".join(map(str, shape)) if len(shape) else "scalar"


def bytes_text(count: int) -> str:
    """A number of bytes in the unit that suits it."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.5 or unit == "TB":
            return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"
    return ""


def number_text(value: float, digits: int = 4) -> str:
    """A number in few signs: `digits` of them, e-notation outside 1e-3 ... 1e5."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+inf" if value > 0 else f"{MINUS}inf"
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e5:
        mantissa, _, power = f"{value:.{max(0, digits - 2)}e}".partition("e")
        text = f"{mantissa}e{int(power)}"
    elif abs(value) >= 1000:
        text = f"{value:.0f}"
    else:
        # as many places as make `digits` significant ones
        text = f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.replace("-", MINUS)


def count_text(count: int, noun: str) -> str:
    """A count with its noun: "1 op", "3 ops", "2 boxes"."""
    many = "" if count == 1 else "es" if noun.endswith("x") else "s"
    return f"{count} {noun}{many}"


def ordinal(count: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    last = 0 if 10 < count % 100 < 20 else count % 10
    return f"{count}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"


def cells(text: str) -> int:
    """How many columns of a fixed-width font a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        [0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text]
    )


def cut(text: str, most: int) -> str:
    """A text that takes at most so many columns, with an ellipsis where something is missing."""
    if not text or cells(text) <= most:
        return text
    if most < 1:
        return ""
    kept, used = [], 0
    for c in text:
        used += cells(c)
        if used > most - 1:
            break
        kept.append(c)
    return "".join(kept) + "…"


def one_line(text: str) -> str:
    """A text without line breaks and control characters."""
    return "".join([c if c.isprintable() else " " for c in text])
