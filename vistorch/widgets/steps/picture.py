"""The steps of a pass as an SVG drawing: a line a step, and what each leaf receives.

Invariant: every text is escaped, nothing is fetched, and the same record gives the same bytes.
"""

from __future__ import annotations

from typing import Any

from ...debug.graph.words import cells, cut
from ...debug.steps.record import StepsRecord
from .._frame.ink import COLOURS, MONO, SANS, clean, tag, words

__all__ = ["MIME", "paint", "svg"]

MIME = "image/svg+xml"
LINES = 48  # more are counted, not drawn
ROW, HEAD, COLUMN = 19, 38, 6.93
WIDE = (420, 900)


def _rows(record: Any) -> list[tuple[str, str, str, str]]:
    """Number, name, what is said, and a colour's name, for each line."""
    found = []
    for i, frame in enumerate(record.frames):
        node = record.nodes[frame["node"]]
        state = "done" if i < record.at - 1 else "here" if i == record.at - 1 else ""
        if record.ask and frame["question"] is not None:
            found.append((str(i + 1), node["label"] or node["name"], f"? {frame['question']['asks']}", state))
            continue
        found.append((str(i + 1), node["label"] or node["name"], frame["says"], state))
        for grad in frame["grads"]:
            leaf = record.nodes[grad["node"]]
            found.append(("", f"→ {leaf['label'] or 'leaf'}.grad", grad["sum"], "grad"))
    return found


def svg(record: Any, theme: str = "light") -> bytes:
    """The drawing of a record of steps.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    colour, rows = COLOURS[theme], _rows(record)
    more, rows = len(rows) - LINES, rows[:LINES]
    names = max([cells(name) for _, name, _, _ in rows], default=8)
    said = max([cells(text) for _, _, text, _ in rows], default=8)
    ends = 60 + cells(record.failed or "") * COLUMN
    width = int(min(max(52 + (names + said + 4) * COLUMN, ends, WIDE[0]), WIDE[1]))
    space = int((width - 64 - names * COLUMN) / COLUMN)
    below = [*([f"and {more} more lines"] if more > 0 else []), *([record.failed] if record.failed else [])]
    height = HEAD + ROW * (len(rows) + len(below)) + 14
    look = {"fill": colour["ink2"], "font_size": 11}
    head = tag("tspan", clean(record.title), font_weight=600, font_size=13)
    facts = f"{record.count} steps, {record.at} taken" if record.at else f"{record.count} steps"
    head += tag("tspan", facts, dx=10, font_family=SANS, **look)
    parts = [
        tag(
            "rect",
            x=0.5,
            y=0.5,
            width=width - 1,
            height=height - 1,
            rx=6,
            fill=colour["bg"],
            stroke=colour["line"],
        ),
        tag("text", head, x=12, y=24),
        tag("path", d=f"M0 {HEAD - 0.5}H{width}", stroke=colour["line"]),
    ]
    y = HEAD + 4
    for number, name, text, state in rows:
        if state in ("done", "here"):
            soft = colour["soft"] if state == "done" else colour["panel"]
            parts.append(tag("rect", x=1, y=y, width=width - 2, height=ROW, fill=soft))
        ink = colour["grad"] if state == "grad" else colour["ink"]
        parts += [
            words(36, y + 14, number, text_anchor="end", **look),
            words(48, y + 14, name, fill=ink, font_weight=600 if number else None),
            words(
                64 + names * COLUMN, y + 14, cut(text, space), fill=ink if state == "grad" else colour["ink2"]
            ),
        ]
        y += ROW
    for text in below:
        ink = colour["bad"] if text == record.failed else colour["ink2"]
        parts.append(words(48, y + 14, cut(text, int((width - 60) / COLUMN)), fill=ink))
        y += ROW
    about = clean(f"{record.title}: {record.count} steps")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{about}" font-family="{MONO}" font-size="11.5" fill="{colour["ink"]}">\n'
        + "\n".join([part for part in parts if part])
        + "\n</svg>\n"
    ).encode()


def paint(record: StepsRecord, theme: str = "light") -> bytes:
    """The picture of a record of steps: the drawing itself.

    Args:
        record: what is drawn.
        theme: "light" or "dark".
    """
    return svg(record, theme)
