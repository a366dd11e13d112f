"""Gradient flow as an SVG drawing: a row a parameter, its gradient's norm on one logarithmic scale.

Invariant: what is not drawn is counted; the same record gives the same bytes.
"""

from __future__ import annotations

import math
from typing import Any

from ...debug.steps.words import count, number, shape
from ...debug.watch.flow import FlowRecord, Row
from .._frame.ink import SANS, tag, words
from .._frame.ink import number as place
from .._frame.sheet import PAD, SMALL, Sheet, wrapped

MIME = "image/svg+xml"
ROWS = 48
BAR, WIDE, NUMBER = 300, 250, 618  # where bars begin, how wide they may be, where numbers end


def paint(record: FlowRecord, theme: str = "light") -> bytes:
    """The drawing of a gradient flow.

    Args:
        record: the gradients of a pass.
        theme: "light" or "dark".
    """
    state = record.wire()
    rows, sheet = state["rows"], Sheet(theme)
    sheet.head(state["title"], [count(len(rows), "parameter")])
    wrong = any(row["cure"] or row["state"] == "exactly zero" for row in rows)
    said = state["verdict"]
    sheet.verdict(said, "warn" if wrong else "grad")
    for text in dict.fromkeys(f"{r['state']}: {r['cure']}" for r in rows if r["cure"]):
        sheet.say(f"{text[0].upper()}{text[1:]}")
    for text in state["says"]:
        sheet.say(text)
    _rows(sheet, rows, state["scale"], state["bounds"])
    sheet.y += 12
    return sheet.done(f"{state['title']}: {said}")


def _rows(sheet: Sheet, rows: list[Row], scale: tuple[int, int], bounds: tuple[float, float]) -> None:
    low, high = scale
    c, small = sheet.colour, {"font_size": 11, "fill": sheet.colour["ink2"]}
    each = max(1, -(-(high - low) // 6))
    sheet.y += 10
    top = sheet.y + 18

    def x_of(value: float) -> float:
        return BAR + WIDE * (math.log10(value) - low) / (high - low)

    heads = (
        (PAD, "parameter", "start"),
        (NUMBER, "norm", "end"),
        (sheet.width - PAD, "grad / weight", "end"),
    )
    for x, text, anchor in heads:
        sheet.add(words(x, sheet.y + 12, text, text_anchor=anchor, font_family=SANS, **small))
    shown = rows[:ROWS]
    end = top + 21 * len(shown)
    for decade in range(low, high + 1, each):
        x = place(BAR + WIDE * (decade - low) / (high - low))
        sheet.add(tag("path", d=f"M{x} {place(top)}V{place(end)}", stroke=c["line"]))
        sheet.add(words(float(x), sheet.y + 12, f"1e{decade}", text_anchor="middle", **small))
    for value in bounds:
        if value > 0 and math.isfinite(value) and low <= math.log10(value) <= high:
            x = place(x_of(value))
            sheet.add(
                tag("path", d=f"M{x} {place(top)}V{place(end)}", stroke=c["warn"], stroke_dasharray="3 3")
            )
    sheet.y = top
    for row in shown:
        _row(sheet, row, x_of)
        sheet.y += 21
    if len(rows) > ROWS:
        sheet.add(words(PAD, sheet.y + 15, f"and {len(rows) - ROWS:,} more parameters", **small))
        sheet.y += 20
    legend = "bar: norm of the gradient · tick: its largest entry · logarithmic"
    for line in wrapped(legend, 90, 2):
        sheet.y += 16
        sheet.add(words(BAR, sheet.y, line, font_family=SANS, **small))


def _row(sheet: Sheet, row: Row, x_of: Any) -> None:
    c, y, small = sheet.colour, sheet.y, {"font_size": 11, "fill": sheet.colour["ink2"]}
    sheet.add(tag("path", d=f"M{PAD} {place(y)}H{sheet.width - PAD}", stroke=c["line"]))
    shape_text = shape(row["shape"])
    space = BAR - PAD - 20 - len(shape_text) * SMALL
    sheet.code(PAD, y + 15, row["name"], space)
    sheet.add(words(BAR - 10, y + 15, shape_text, text_anchor="end", **small))
    norm, fine = row["norm"], row["state"] == "in range"
    if norm is None or not math.isfinite(norm) or norm == 0:
        ink = "bad" if row["bad"] else "warn" if norm == 0 else "ink2"
        text = f"{row['bad']:,} not finite" if row["bad"] else row["state"]
        sheet.add(words(BAR + 6, y + 15, text, font_family=SANS, font_size=11, fill=c[ink]))
    else:
        ink = "grad" if fine else "warn"
        sheet.add(tag("rect", x=BAR, y=y + 6, width=max(1, x_of(norm) - BAR), height=9, rx=2, fill=c[ink]))
        if row["max"] and math.isfinite(row["max"]):
            sheet.add(tag("rect", x=x_of(row["max"]) - 1, y=y + 3, width=2, height=15, fill=c["ink"]))
        sheet.add(words(NUMBER, y + 15, number(norm), text_anchor="end", font_weight=None if fine else 600))
        if not fine:
            sheet.sign("own", NUMBER + 6, y + 4, 12)
    relative = "–" if row["relative"] is None else number(row["relative"])
    sheet.add(words(sheet.width - PAD, y + 15, relative, text_anchor="end"))
