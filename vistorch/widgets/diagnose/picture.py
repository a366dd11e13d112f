"""Findings as an SVG drawing: the sentences, the lines, the proofs.

Invariant: the same record gives the same bytes.
"""

from __future__ import annotations

from ...debug.diagnose.finding import CERTAINTY
from ...debug.diagnose.record import DiagnoseRecord
from ...debug.diagnose.schema import Trial
from ...debug.diagnose.trial import Tried
from .._frame.ink import tag
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
BARS = {"bad": "bad", "wrong": "warn", "doubtful": "edge"}


def said(tried: Trial) -> str:
    """What came of trying a cure, in a line.

    Args:
        tried: as it travels.
    """
    return f"tried: {Tried(**tried).text()}" if not tried["refused"] else Tried(**tried).text()


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
        for bar_ in one["bars"]:
            sheet.y += 18
            sheet.code(PAD, sheet.y, bar_["name"], 230, fill=sheet.colour["ink2"])
            wide = sheet.width - 2 * PAD - 330
            x, long = PAD + 240 + wide * bar_["start"], max(2, wide * (bar_["end"] - bar_["start"]))
            seen = bar_["role"] == "seen"
            fill = sheet.colour[bar] if seen else "none"
            edge = sheet.colour[bar if seen else "ink2"]
            sheet.add(tag("rect", x=x, y=sheet.y - 10, width=long, height=9, fill=fill, stroke=edge))
            sheet.code(sheet.width - 80, sheet.y, bar_["text"], 70)
        for number, sign, text in one["cure"]:
            sheet.y += 18
            ink = sheet.colour["ink" if sign == "+" else "ink2"]
            sheet.code(PAD, sheet.y, f"{sign} {number:>4}  {text}", sheet.width - 2 * PAD, fill=ink)
        if one["advice"]:
            sheet.say(one["advice"], "ink")
        if one["tried"] is not None:
            sheet.say(said(one["tried"]))
        sheet.y += 8
    sheet.y += 10
    return sheet.done(state["says"])
