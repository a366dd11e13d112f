"""Words about arrays: a number in a sentence, what blocks show, several arrays as a table.

Invariant: a line of the table holds no newline, whatever a name holds.
"""

from __future__ import annotations

from typing import Any

from .state import Item

HEAD = ("name", "shape", "dtype", "min", "max", "mean", "std", "")
LINES = 60
MINUS = "\N{MINUS SIGN}"
TIMES = " \N{MULTIPLICATION SIGN} "


def short(value: float) -> str:
    """A number for a sentence: four figures, a real minus."""
    return f"{value:.4g}".replace("-", MINUS)


def pooled_words(block: tuple[int, ...], mean: bool, complexes: bool) -> str:
    """The sentence about blocks; empty if every value is there."""
    if max(block, default=1) == 1:
        return ""
    sizes = TIMES.join(map(str, block))
    if mean:
        return f"each block is {sizes} values, drawn by their mean; NaN and ±inf always show"
    by = "whose magnitude is furthest from the mean" if complexes else "furthest from their mean"
    both = "hatched with the other end where that is at least half as far"
    return f"each block is {sizes} values, drawn by the one {by}, {both}; NaN and ±inf always show"


def table(items: list[Item], says: list[str]) -> str:
    """The table, then the notes."""
    if not items:
        return "\n".join(["nothing to show", *says])
    rows = [HEAD, *[_row(item) for item in items[:LINES]]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    right = (False, False, False, True, True, True, True, False)
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if r else text.ljust(width)
            for text, width, r in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    if len(items) > LINES:
        lines.append(f"... and {len(items) - LINES} more")
    return "\n".join([*lines, *says])


def _row(item: Item) -> tuple[str, ...]:
    stats = item.layers[0].stats
    numbers = [_number(v) for v in (stats.min, stats.max, stats.mean, stats.std)]
    bad = [
        f"{n:,} {word}"
        for n, word in ((stats.nan, "NaN"), (stats.posinf, "inf"), (stats.neginf, "-inf"))
        if n
    ]
    shape = TIMES.join(map(str, item.shape)) or "scalar"
    name = " ".join(item.name.split()) + {"gradient": ".grad", "update": ", update"}.get(item.role, "")
    return (name, shape, item.dtype, *numbers, ", ".join(bad))


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}"
