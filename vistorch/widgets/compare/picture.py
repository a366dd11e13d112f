"""A comparison as an SVG drawing: the sentence, the ops that differ, and the gradients that do.

Invariant: what is not drawn is counted; the same record gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...debug.compare.record import CompareRecord, differs
from ...debug.steps.words import count, number
from .._frame.ink import SANS, tag, words
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
ROWS = 24
COLUMNS = (PAD, 60, 262, 508)
WORDS = {"same": ("clean", "same"), "own": ("own", "its own"), "inherited": ("inherited", "inherited")}


def paint(record: CompareRecord, theme: str = "light") -> bytes:
    """The drawing of a comparison.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    state = record.wire()
    sheet = Sheet(theme)
    rows = [row for row in state["rows"] if differs(row)]
    differing = state["differing"]
    facts = [count(state["ops"], "op")]
    sheet.head(state["title"], facts + ([f"{differing:,} differ"] if differing else []))
    sheet.verdict(state["sentence"], "warn" if rows or state["leaves"] else "good")
    if rows:
        _rows(sheet, rows, differing, state["first"], state["names"])
    for leaf in state["leaves"][:12]:
        far = _far(leaf, state["names"])
        sheet.y += 18
        sheet.code(COLUMNS[1] + 4, sheet.y, f"{leaf['name']}.grad {far}", sheet.width - 80, font_size=11)
    if len(state["leaves"]) > 12:
        sheet.y += 18
        sheet.add(words(COLUMNS[1] + 4, sheet.y, f"and {len(state['leaves']) - 12} more", font_size=11))
    sheet.y += 12
    return sheet.done(state["sentence"])


def _far(leaf: Mapping[str, Any], names: Sequence[str]) -> str:
    """How far apart the gradients of a leaf are."""
    if leaf["only"]:
        return f"only in {names[leaf['only'] == 'b']}"
    return leaf["shapes"] or f"differs by {number(leaf['largest'])}"


def _rows(
    sheet: Sheet,
    rows: Sequence[Mapping[str, Any]],
    differing: int,
    first: Mapping[str, Any] | None,
    names: Sequence[str],
) -> None:
    c = sheet.colour
    sheet.y += 10
    for x, head in zip(COLUMNS, ("", "op", "forward ↓", "backward ↑"), strict=True):
        sheet.add(words(x + 4, sheet.y + 12, head, font_family=SANS, font_size=11, fill=c["ink2"]))
    sheet.y += 18
    for row in rows[:ROWS]:
        y = sheet.y
        if first is not None and row["id"] == first["row"]:
            sheet.add(tag("rect", x=PAD, y=y, width=sheet.width - 2 * PAD, height=26, fill=c["chosen"]))
        sheet.add(tag("path", d=f"M{PAD} {y:g}H{sheet.width - PAD}", stroke=c["line"]))
        look = {"fill": c["ink2"], "font_size": 11}
        sheet.add(words(COLUMNS[1] - 8, y + 17, str(row["id"] + 1), text_anchor="end", **look))
        left = COLUMNS[1] + 4
        sheet.called(left, y + 17, row, row["op"], COLUMNS[2] - left - 8)
        if row["a"] is None or row["b"] is None:
            sheet.sign("only", COLUMNS[2] + 4, y + 6)
            only = f"only in {names[row['a'] is None]}"
            sheet.code(
                COLUMNS[2] + 24, y + 17, only, sheet.width - COLUMNS[2] - 48, font_family=SANS, fill=c["warn"]
            )
        else:
            _side(sheet, COLUMNS[2] + 4, y, COLUMNS[3], row["forward"])
            _side(sheet, COLUMNS[3] + 4, y, sheet.width - PAD, row["backward"])
        sheet.y += 26
    if differing > ROWS:
        sheet.add(words(COLUMNS[1] + 4, sheet.y + 15, f"and {differing - ROWS:,} more", fill=c["ink2"]))
        sheet.y += 20


def _side(sheet: Sheet, x: float, y: float, end: float, side: Mapping[str, Any] | None) -> None:
    c = sheet.colour
    if side is None:
        sheet.add(words(x, y + 17, "–", fill=c["ink2"]))
        return
    sign, word = WORDS.get(side["state"], ("differs", "differs"))
    ink = c["ink2"] if side["state"] == "same" else c["warn"]
    sheet.sign(sign, x, y + 6)
    sheet.add(words(x + 20, y + 17, word, font_family=SANS, fill=ink))
    if side["state"] != "same":
        far = side["shapes"] or f"{number(side['largest'])} in {side['beyond']:,} of {side['size']:,}"
        used = 26 + len(word) * 6.2
        sheet.code(x + used, y + 17, far, end - x - used - 8, font_size=11, fill=c["ink2"])
