"""Findings as an SVG drawing: the sentences, the lines, the proofs.

Invariant: the same record gives the same bytes.
"""

from __future__ import annotations

from ...debug.diagnose.finding import CERTAINTY
from ...debug.diagnose.record import DiagnoseRecord
from .._frame.ink import tag
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
BARS = {"bad": "bad", "wrong": "warn", "doubtful": "edge"}


def paint(record: DiagnoseRecord, theme: str = "light") -> bytes:
    """The drawing of a diagnosis.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    state = record.wire()
    sheet = Sheet(theme)
    sheet.head(state["title"], [f"{state['steps']} steps", f"{len(state['rules'])} rules"])
    if not state["findings"]:
        sheet.verdict(state["says"], "good", "panel")
    for one in state["findings"]:
        bar = BARS[one["severity"]]
        sheet.verdict(
            f"{one['text']}  {CERTAINTY[one['certainty']]}", bar, "badsoft" if bar == "bad" else "panel"
        )
        for line in one["source"]:
            sheet.y += 18
            if line["role"]:
                wide = 4 if line["role"] == "guilty" else 2
                sheet.add(tag("rect", x=1, y=sheet.y - 13, width=wide, height=18, fill=sheet.colour[bar]))
            sheet.code(PAD, sheet.y, f"{line['line']:>4}", 40, fill=sheet.colour["ink2"])
            sheet.code(PAD + 44, sheet.y, line["text"], sheet.width - 260)
            if line["label"]:
                sheet.code(sheet.width - 200, sheet.y, line["label"], 190, fill=sheet.colour["ink2"])
        sheet.y += 4
        for name, value in one["proof"]:
            sheet.say(f"{name}: {value}")
        if one["advice"]:
            sheet.say(one["advice"], "ink")
        sheet.y += 8
    sheet.y += 10
    return sheet.done(state["says"])
