"""A kata as an SVG drawing: the symptom, the cell with its numbers, the rows to earn; or the table of all twelve.

Invariant: the same record gives the same bytes.
"""

from __future__ import annotations

from ...debug.kata.kata import EACH
from ...debug.kata.record import Belt, Card, KataRecord
from .._frame.ink import tag, words
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
SIGNS = {"right": "fine", "not yet": "differs", "": "clean"}
INK = {"right": "good", "not yet": "warn", "": "edge"}


def paint(record: KataRecord, theme: str = "light") -> bytes:
    """The drawing.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    state = record.wire()
    sheet = Sheet(theme)
    for card in state["cards"]:
        _card(sheet, card)
    if not state["cards"]:
        sheet.head(state["title"], [f"{state['solved']} solved"])
        for belt in state["belts"]:
            _belt(sheet, belt)
    sheet.y += 12
    return sheet.done(state["title"])


def _plain(text: str) -> str:
    return text.replace("`", "")


def _card(sheet: Sheet, card: Card) -> None:
    facts = [f"{card['belt']} belt", f"about {card['minutes']} minutes", card["status"]]
    sheet.head(f"kata {card['number']}  {card['title']}", facts)
    sheet.verdict(_plain(card["symptom"]))
    sheet.say(_plain(card["rules"]))
    sheet.y += 8
    for number, line in enumerate(card["code"], 1):
        sheet.y += 18
        if number == card["guilty"]:
            sheet.add(tag("rect", x=1, y=sheet.y - 13, width=4, height=18, fill=sheet.colour["warn"]))
        sheet.code(PAD, sheet.y, f"{number:>3}", 30, fill=sheet.colour["ink2"])
        sheet.code(PAD + 34, sheet.y, line, sheet.width - 60)
    sheet.y += 8
    for row in card["rows"]:
        sheet.say(row["title"], "ink", SIGNS[row["state"]])
        sheet.say(_plain(row["says"]), left=34)
    for i, hint in enumerate(card["hints"], 1):
        sheet.say(f"Hint {i}: {_plain(hint)}")
    if card["lesson"]:
        sheet.y += 8
        sheet.verdict(f"Solved. {_plain(card['lesson'])}", "good")


def _belt(sheet: Sheet, belt: Belt) -> None:
    sheet.y += 22
    solved = f"{belt['name']} belt, {belt['solved']} of {EACH}"
    sheet.add(words(PAD, sheet.y, solved, font_weight=600, fill=sheet.colour["ink"]))
    for entry in belt["entries"]:
        done = entry["state"] in ("solved", "helped")
        more = " (with hints)" if entry["state"] == "helped" else ""
        sheet.say(f"{entry['number']}  {entry['title']}{more}", "ink", "fine" if done else "clean")
