"""The table of a notebook's names as an SVG drawing: a row a name, with its small picture.

Invariant: every text is escaped; nothing in the file is fetched from elsewhere.
"""

from __future__ import annotations

import base64
import re
from html import escape
from typing import Any

import numpy as np

from ...debug.variables import Vars
from .._frame import png
from .._frame.colours import sampled

MIME = "image/svg+xml"
INKS = {
    "light": ("#1b1f27", "#545d6b", "#dfe3ea", "c0302a", "#ffffff"),
    "dark": ("#e7eaf0", "#aab3c1", "#333945", "ff8172", "#14161b"),
}
MONO = "ui-monospace, Menlo, Consolas, monospace"
HEAD = ("name", "", "kind", "shape", "dtype", "device", "bytes", "grad", "grad norm", "")
RIGHT = {"bytes", "grad norm"}
LETTER = 7.3  # a letter's width at 12 px
TALL, GAP, PICTURE = 26, 16, 72  # a row, between columns, the column of pictures
FEW = 24  # rows of a small drawing
ROWS = 60  # more are counted, not drawn
LONGEST = 72  # letters of a cell
NO_TEXT = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what no XML file may hold


def _cells(row: dict[str, Any]) -> list[str]:
    """A row's words, the picture's left empty."""
    norm = row["grad_norm"]
    words = (
        row["name"],
        "",
        row["kind"],
        "" if row["shape"] is None else " × ".join(map(str, row["shape"])) or "scalar",
        row["dtype"],
        row["device"],
        f"{row['nbytes']:,}",
        "" if row["requires_grad"] is None else "yes" if row["requires_grad"] else "no",
        "" if norm is None else f"{float(norm):.4g}".replace("-", "−"),
        row["says"],
    )
    return [word if len(word) <= LONGEST else word[: LONGEST - 1] + "…" for word in words]


def _picture(thumb: dict[str, Any], theme: str, x: float, y: float) -> str:
    """A small picture in its box, its cells square where that leaves enough to see."""
    codes = np.asarray(thumb["codes"], np.uint8)
    red = INKS[theme][3]
    bad = [[int(red[i : i + 2], 16) for i in (0, 2, 4)]] * 3
    palette = np.concatenate([sampled(thumb["map"], theme, bool(thumb["centre"]), 253), np.array(bad)])
    data = base64.b64encode(png.indexed(codes, palette.astype(np.uint8))).decode()
    rows, cols = codes.shape
    side = min(PICTURE / cols, (TALL - 6) / rows)
    wide, tall = max(side * cols, 4), max(side * rows, 9)
    return (
        f'<image x="{x:g}" y="{y + (TALL - tall) / 2:g}" width="{wide:g}" height="{tall:g}" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _text(x: float, y: float, text: str, fill: str, end: bool, bold: bool = False) -> str:
    """A word at its place."""
    look = f'fill="{fill}"' + (' text-anchor="end"' if end else "") + (' font-weight="600"' if bold else "")
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(NO_TEXT.sub(" ", text))}</text>'


def paint(record: Vars, theme: str = "light", small: bool = False) -> bytes:
    """The drawing of a table of names.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
        small: fewer rows and no pictures in them, to stand in for a page.
    """
    state = record.wire()
    limit = FEW if small else ROWS
    rows = [{**row, "thumb": None if small else row["thumb"]} for row in state["rows"][:limit]]
    ink, faint, line, _, paper = INKS[theme]
    table = [_cells(row) for row in rows]
    wide = [
        max([len(head), *(len(words[column]) for words in table)]) * LETTER
        for column, head in enumerate(HEAD)
    ]
    wide[1] = PICTURE if any(row["thumb"] or row.get("number") for row in rows) else 0
    left = [12.0]
    for column in range(len(HEAD) - 1):
        left.append(left[-1] + wide[column] + (GAP if wide[column] else 0))
    width = max(left[-1] + wide[-1] + 12, 12 + len(state["title"]) * LETTER + 12)

    def words_of(words: Any, y: float, fill: str, first: str) -> list[str]:
        return [
            _text(
                left[i] + (wide[i] if HEAD[i] in RIGHT else 0),
                y,
                word,
                fill if i else first,
                HEAD[i] in RIGHT,
                not i,
            )
            for i, word in enumerate(words)
            if word
        ]

    # A front end of either theme may show it: it brings its own paper.
    parts = [
        f'<rect width="100%" height="100%" rx="6" fill="{paper}"/>',
        _text(12, 22, state["title"], ink, False, True),
    ]
    y = 34.0
    if rows:
        parts += words_of(HEAD, y + 16, faint, faint)
        y += TALL - 2
    for row, words in zip(rows, table, strict=True):
        parts.append(f'<path d="M12 {y:g}H{width - 12:g}" stroke="{line}"/>')
        parts += words_of(words, y + 17, faint, ink)
        if row.get("number"):
            parts.append(_text(left[1], y + 17, row["number"].replace("-", "−"), ink, False))
        if row["thumb"]:
            parts.append(_picture(row["thumb"], theme, left[1], y))
        y += TALL
    if len(state["rows"]) > limit:
        parts.append(_text(12, y + 17, f"and {len(state['rows']) - limit:,} more", faint, False))
        y += TALL
    drawn = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{y + 8:g}" '
        f'viewBox="0 0 {width:g} {y + 8:g}" font-family="{MONO}" font-size="12" role="img" '
        f'aria-label="{escape(NO_TEXT.sub(" ", state["title"]))}">\n{drawn}\n</svg>\n'
    ).encode("utf-8", "replace")
