"""A trace as an SVG drawing: the sentence, the lines, the ops with their marks, the first bad value from close by.

Invariant: what is not drawn is counted; the same record gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...debug.steps.words import count, index, number, shape
from ...debug.trace.record import TraceRecord
from .._frame.ink import SANS, tag, words
from .._frame.sheet import PAD, SMALL, Sheet

MIME = "image/svg+xml"
ROWS = 16
LINES = 16
COLUMNS = (PAD, 52, 300, 524)  # line, op, forward, backward


def paint(record: TraceRecord, theme: str = "light") -> bytes:
    """The drawing of a trace.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    state = record.wire()
    sheet = Sheet(theme)
    first = state["first"]
    wrong = any(not _good(row) for row in state["rows"])
    sheet.head(state["title"], [f"{count(state['forward'], 'op')} forward", f"{state['backward']} back"])
    bar = "bad" if first else "edge" if wrong else "good"
    sheet.verdict(state["sentence"], bar, "badsoft" if first else "panel")
    for text in (state["course"], state["more"], *state["says"]):
        if text:
            sheet.say(text.replace("`", ""))
    if state["error"]:
        sheet.say(f"The cell ended with {state['error']}", "ink", "failed", 2)
    if (wrong or first or state["error"]) and state["source"] is not None:
        _lines(sheet, state["source"]["lines"])
    if wrong or first:
        _rows(sheet, state["rows"], first)
    if first:
        _close(sheet, first)
    sheet.y += 10
    return sheet.done(state["sentence"] or state["title"])


def _good(row: Mapping[str, Any]) -> bool:
    return all(m is None or m["state"] == "clean" for m in (row["forward"], row["backward"]))


def _lines(sheet: Sheet, lines: Sequence[Mapping[str, Any]]) -> None:
    origin_at = next((i for i, line in enumerate(lines) if _starts(line)), 0)
    start = max(0, min(origin_at - LINES // 2, len(lines) - LINES))
    c = sheet.colour
    sheet.y += 10
    top = sheet.y
    shown = lines[start : start + LINES]
    for line in shown:
        y = sheet.y
        if _starts(line):
            sheet.add(tag("rect", x=PAD, y=y, width=sheet.width - 2 * PAD, height=20, fill=c["badsoft"]))
            sheet.add(tag("rect", x=PAD, y=y, width=3, height=20, fill=c["bad"]))
        sheet.add(words(46, y + 14, str(line["number"]), fill=c["ink3"], text_anchor="end"))
        right = sheet.width - PAD - 8.0
        for text, state in reversed(line["marks"]):
            look = {"font_family": SANS, "font_size": 11, "font_weight": 600, "text_anchor": "end"}
            ink = c["good"] if state == "healed" else c["bad"]
            sheet.add(words(right, y + 14, text, fill=ink, **look))
            right -= len(text) * 7 + 22
            sheet.sign(state, right + 6, y + 5, 10)
        sheet.code(58, y + 14, line["text"], right - 66)
        sheet.y += 20
    size = {"width": sheet.width - 2 * PAD, "height": sheet.y - top, "rx": 4}
    sheet.add(tag("rect", x=PAD, y=top, fill="none", stroke=c["line"], **size))


def _starts(line: Mapping[str, Any]) -> bool:
    return any(text.startswith("starts here") for text, _ in line["marks"])


def _rows(sheet: Sheet, rows: Sequence[Mapping[str, Any]], first: Mapping[str, Any] | None) -> None:
    c = sheet.colour
    bad = [row for row in rows if not _good(row)]
    shown = rows if len(rows) <= ROWS else bad[:ROWS]
    sheet.y += 10
    heads = ("line", "op", "forward ↓", "backward ↑")
    for x, head in zip(COLUMNS, heads, strict=True):
        sheet.add(words(x + 4, sheet.y + 12, head, font_family=SANS, font_size=11, fill=c["ink2"]))
    sheet.y += 18
    for row in shown:
        y = sheet.y
        if first is not None and row["id"] == first["row"]:
            sheet.add(tag("rect", x=PAD, y=y, width=sheet.width - 2 * PAD, height=26, fill=c["chosen"]))
        sheet.add(tag("path", d=f"M{PAD} {y:g}H{sheet.width - PAD}", stroke=c["line"]))
        sheet.add(words(COLUMNS[0] + 4, y + 17, str(row["line"] or ""), fill=c["ink2"], font_size=11))
        left = COLUMNS[1] + 4
        sheet.called(left, y + 17, row, row["op"], COLUMNS[2] - left - 8, row["code"])
        for x, end, mark in (
            (COLUMNS[2], COLUMNS[3], row["forward"]),
            (COLUMNS[3], sheet.width - PAD, row["backward"]),
        ):
            _mark(sheet, x + 4, y, end - x - 8, mark)
        sheet.y += 26
    if len(shown) < len(rows):
        sheet.add(words(COLUMNS[1] + 4, sheet.y + 15, f"and {len(rows) - len(shown):,} more", fill=c["ink2"]))
        sheet.y += 20


def _mark(sheet: Sheet, x: float, y: float, space: float, mark: Mapping[str, Any] | None) -> None:
    c = sheet.colour
    if mark is None:
        sheet.add(words(x, y + 17, "–", fill=c["ink2"]))
        return
    state = mark["state"]
    ink = {"origin": "bad", "propagated": "bad", "healed": "good"}.get(state, "ink2")
    sheet.sign(state, x, y + 6)
    weight = 600 if state == "origin" else None
    sheet.add(words(x + 20, y + 17, state, font_family=SANS, fill=c[ink], font_weight=weight))
    used = 26 + len(state) * 6.8
    sheet.code(x + used, y + 17, mark["text"], space - used, font_size=11, fill=c["ink2"])


def _close(sheet: Sheet, first: Mapping[str, Any]) -> None:
    c = sheet.colour
    sheet.y += 12
    top = len(sheet.parts)
    start = sheet.y
    sheet.y += 20
    sheet.code(PAD + 12, sheet.y, first["op"], 200, font_weight=600, font_size=13)
    left = PAD + 22 + min(len(first["op"]), 26) * 7.9
    aside = {"font_family": SANS, "font_size": 11, "fill": c["ink2"]}
    sheet.code(left, sheet.y, f"{first['pass']}, {first['where']}", sheet.width - left - 30, **aside)
    sheet.y += 6
    for role, tables in (("in", first["inputs"]), ("out", first["outputs"])):
        for table in tables:
            _table(sheet, role, table)
    at = [index(place) for place in np.asarray(first["at"])[:4]]
    if at and at[0] != "[]":
        more = first["count"] - len(at)
        sheet.say(f"at {', '.join(at)}" + (f" and {more:,} more" if more > 0 else ""), most=1, left=24)
    if first["cure"]:
        sheet.say(f"Cure: {first['cure']}.".replace("`", ""), most=3, left=24)
    sheet.y += 8
    size = {"width": sheet.width - 2 * PAD, "height": sheet.y - start, "rx": 6}
    sheet.parts.insert(top, tag("rect", x=PAD, y=start, fill=c["panel"], stroke=c["line"], **size))


def _table(sheet: Sheet, role: str, table: Mapping[str, Any]) -> None:
    c = sheet.colour
    values, bad = np.asarray(table["values"]), np.asarray(table["bad"])
    lead = index([*table["lead"]])[:-1] + ", :, :]" if table["lead"] else ""
    sheet.y += 18
    aside = {"font_family": SANS, "font_size": 11, "fill": c["ink2"]}
    sheet.add(words(PAD + 12, sheet.y, role, **aside))
    sheet.code(PAD + 38, sheet.y, table["name"] + lead, 380)
    about = f"{shape(table['shape'])} {table['dtype']}{'' if table['whole'] else ' · a part'}"
    sheet.add(words(sheet.width - 2 * PAD, sheet.y, about, text_anchor="end", **aside))
    sheet.y += 5
    wide = min(112, (sheet.width - 4 * PAD - 30) / max(1, values.shape[1] if values.ndim > 1 else 1))
    flat = len(table["shape"]) < 2
    for i, row in enumerate(values):
        if not flat:
            look = {"font_size": 10, "fill": c["ink3"], "text_anchor": "end"}
            sheet.add(words(PAD + 32, sheet.y + 14, str(table["start"][0] + i), **look))
        for j, value in enumerate(row):
            x = PAD + 38 + j * wide
            wrong = bool(bad[i, j])
            ground = c["bad"] if wrong else c["bg"]
            sheet.add(tag("rect", x=x, y=sheet.y, width=wide - 2, height=19, rx=3, fill=ground))
            text = number(value).replace("-", "−")
            text = ("× " if value != value else "▲ " if value > 0 else "▼ ") + text if wrong else text
            ink = {"fill": c["onbad"], "font_weight": 600} if wrong else {}
            space = int((wide - 8) / SMALL)
            sheet.add(words(x + wide - 8, sheet.y + 14, text[:space], text_anchor="end", font_size=11, **ink))
        sheet.y += 21
