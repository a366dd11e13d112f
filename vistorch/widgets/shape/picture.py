"""A shape error as an SVG drawing: the sentence, the line, the operands as boxes with the sides that differ.

Invariant: what is drawn where is the record's own drawing, the same as on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...debug.shapes.record import ShapeRecord
from .._frame.ink import number, tag, words
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
BOXES = {
    "value": ("soft", "value", ""),
    "result": ("none", "edge", "4 3"),
    "excess": ("badsoft", "bad", "3 2"),
}
LINES = {"bad": 4.0, "bar": 1.6}
VALUES = {"light": {"soft": "#e3f3ee", "value": "#14705f"}, "dark": {"soft": "#17322e", "value": "#5cc4b0"}}


def paint(record: ShapeRecord, theme: str = "light") -> bytes:
    """The drawing.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    state = record.wire()
    drawn = state["drawing"]
    sheet = Sheet(theme, int(max(760, drawn["width"] + 4 * PAD)))
    sheet.head(state["title"], [fact for fact in (state["place"], state["module"]) if fact])
    sheet.verdict(state["sentence"], "bad", "badsoft")
    for line, text, role in state["source"]:
        sheet.y += 20
        if role:
            sheet.add(
                tag(
                    "rect",
                    x=1,
                    y=sheet.y - 14,
                    width=sheet.width - 2,
                    height=20,
                    fill=sheet.colour["badsoft"],
                )
            )
            sheet.add(tag("rect", x=1, y=sheet.y - 14, width=4, height=20, fill=sheet.colour["bad"]))
        sheet.code(PAD, sheet.y, f"{line:>4}", 40, fill=sheet.colour["ink2"])
        sheet.code(PAD + 44, sheet.y, text, sheet.width - 80)
    sheet.y += 18
    _drawing(sheet, drawn, theme)
    sheet.y += 4
    sheet.say(state["error"], most=3)
    sheet.y += 12
    return sheet.done(f"{state['title']}: {state['sentence']}")


def _drawing(sheet: Sheet, drawn: Mapping[str, Any], theme: str) -> None:
    """The boxes, their sides and their names."""
    ink = {
        **sheet.colour,
        **VALUES[theme],
        "none": "none",
        "faint": sheet.colour["ink2"],
        "bar": sheet.colour["bad"],
    }
    x, y = 2 * PAD, sheet.y
    for kind, *part in drawn["parts"]:
        if kind == "box":
            left, top, wide, tall, role = part
            fill, edge, dashed = BOXES[role]
            look = {"stroke_dasharray": dashed} if dashed else {}
            sheet.add(tag("rect", x=number(x + left), y=number(y + top), width=number(wide), height=number(tall),
                          rx=3, fill=ink[fill], stroke=ink[edge], **look))  # fmt: skip
        elif kind == "line":
            left, top, right, bottom, role = part
            way = f"M{number(x + left)} {number(y + top)}L{number(x + right)} {number(y + bottom)}"
            sheet.add(tag("path", d=way, stroke=ink[role], stroke_width=LINES[role]))
        else:
            left, top, text, role, anchor = part
            look = {"font_weight": 600} if role in ("name", "bad", "op") else {}
            colour = ink.get(role, ink["ink"])
            sheet.add(words(x + left, y + top, text, text_anchor=anchor, fill=colour, **look))
    sheet.y += drawn["height"]
