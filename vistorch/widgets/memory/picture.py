"""Memory over time as an SVG drawing: the peak in a sentence, the curve, the nodes that keep most.

Invariant: what is not drawn is counted; the same record gives the same bytes.
"""

from __future__ import annotations

import numpy as np

from ...debug.steps.words import count
from ...debug.timeline import MemoryRecord, State, size
from .._frame.ink import SANS, number, tag, words
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
ROWS = 16
HIGH = 120
POINTS = 1200  # of the curve; a longer one is drawn by the largest of each piece
COLUMNS = (100, 108, 210, 620)  # bytes end, the bar, the node, its life


def paint(record: MemoryRecord, theme: str = "light") -> bytes:
    """The drawing of memory over time.

    Args:
        record: what was kept, over time.
        theme: "light" or "dark".
    """
    state = record.wire()
    sheet = Sheet(theme)
    peak = state["peak"]
    sheet.head(state["title"], [f"{count(state['nodes'], 'node')} kept something"])
    after = f", after {peak['what']}" if peak["what"] else ""
    where = f" ({peak['where']})" if peak["where"] else ""
    said = f"At most {size(peak['bytes'])} are kept for backward{after}{where}."
    said = said if peak["bytes"] else "Nothing is kept for backward."
    sheet.verdict(said, "value")
    for text in state["says"]:
        sheet.say(text)
    if state["rows"]:
        _curve(sheet, state)
        _rows(sheet, state)
    sheet.y += 12
    return sheet.done(said)


def _curve(sheet: Sheet, state: State) -> None:
    c, wide = sheet.colour, sheet.width - 2 * PAD
    values = np.asarray(state["bytes"], float)
    ticks = len(values)
    sheet.y += 12
    top = sheet.y
    for first, last in state["backward"]:
        x = PAD + wide * first / ticks
        size_of = {"width": wide * (last + 1 - first) / ticks, "height": HIGH}
        sheet.add(tag("rect", x=x, y=top, fill=c["soft"], **size_of))
    if ticks > POINTS:
        piece = -(-ticks // POINTS)
        values = np.array([values[i : i + piece].max() for i in range(0, ticks, piece)])
    most, step, space = max(1.0, values.max()), wide / len(values), HIGH - 14
    way, before = [f"M{PAD} {number(top + HIGH)}"], None
    for i, value in enumerate(values):
        if value != before:
            y = top + HIGH - space * value / most
            way.append(f"H{number(PAD + i * step)}V{number(y)}")
            before = value
    way.append(f"H{PAD + wide}V{number(top + HIGH)}z")
    sheet.add(tag("path", d="".join(way), fill=c["value"], fill_opacity=0.16, stroke=c["value"]))
    x = PAD + wide * (state["peak"]["tick"] + 0.5) / ticks
    sheet.add(tag("path", d=f"M{number(x)} {number(top + 2)}l5 5-5 5-5-5z", fill=c["value"]))
    sheet.add(tag("path", d=f"M{PAD} {number(top + HIGH)}h{wide}", stroke=c["edge"]))
    look = {"font_family": SANS, "font_size": 11, "fill": c["ink2"]}
    sheet.y = top + HIGH + 14
    passes = "; passes back are shaded" if state["backward"] else ""
    sheet.add(words(PAD, sheet.y, f"each tick is one op forward or one node backward{passes}", **look))


def _rows(sheet: Sheet, state: State) -> None:
    c = sheet.colour
    rows, ticks = state["rows"], len(state["bytes"])
    most = max(1, *[row["bytes"] for row in rows], 1)
    sheet.y += 10
    for row in rows[:ROWS]:
        y = sheet.y
        sheet.add(tag("path", d=f"M{PAD} {y:g}H{sheet.width - PAD}", stroke=c["line"]))
        amount = size(row["bytes"]) if row["bytes"] or not row["shared"] else f"shares {size(row['shared'])}"
        weight = 600 if row["bytes"] else None
        sheet.add(words(COLUMNS[0], y + 16, amount, text_anchor="end", font_weight=weight, font_size=11))
        bar = 90 * row["bytes"] / most
        if bar:
            sheet.add(tag("rect", x=COLUMNS[1], y=y + 8, width=max(1, bar), height=8, rx=2, fill=c["value"]))
        shapes = ", ".join(" × ".join(map(str, s)) or "a number" for s in row["shapes"])
        sheet.called(
            COLUMNS[2], y + 16, row, row["name"], COLUMNS[3] - COLUMNS[2] - 8, shapes and f"· {shapes}"
        )
        wide = sheet.width - PAD - COLUMNS[3]
        end = ticks if row["freed"] is None else row["freed"]
        life = {"y": y + 10, "height": 5, "rx": 2}
        sheet.add(tag("rect", x=COLUMNS[3], width=wide, fill=c["line"], **life))
        x, length = COLUMNS[3] + wide * row["made"] / ticks, max(1, wide * (end - row["made"]) / ticks)
        sheet.add(tag("rect", x=x, width=length, fill=c["value" if row["at_peak"] else "edge"], **life))
        sheet.y += 24
    if state["nodes"] > ROWS:
        sheet.add(
            words(COLUMNS[2], sheet.y + 14, f"and {state['nodes'] - ROWS:,} more nodes", fill=c["ink2"])
        )
        sheet.y += 20
