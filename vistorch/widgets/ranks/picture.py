"""A run on ranks as an SVG drawing: the sentence, losses by rank, and one step as a time line.

Invariant: the same record gives the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...debug.ranks import RanksRecord
from .._frame.ink import SANS, tag, words
from .._frame.ink import number as place
from .._frame.sheet import PAD, Sheet

MIME = "image/svg+xml"
RANKS = 32  # lanes that are drawn
LEFT, LANE, TALL = 78, 36, 120
INKS = {
    "load": ("bg", "edge"),
    "forward": ("value", None),
    "backward": ("grad", None),
    "wait": ("panel", "edge"),
    "exchange": ("ink2", None),
    "optimizer": ("panel", "edge"),
}


def paint(record: RanksRecord, theme: str = "light") -> bytes:
    """The drawing of a run on ranks.

    Args:
        record: the run.
        theme: "light" or "dark".
    """
    state: Any = record.wire()
    sheet = Sheet(theme)
    facts = [state["state"], f"{state['done']:,} steps", f"{state['ranks']} ranks"]
    if state["speed"] is not None:
        facts.append(f"{state['speed']:.1f} steps/s")
    if state["waiting"] is not None:
        facts.append(f"waiting {100 * state['waiting']:.0f} %")
    sheet.head(state["title"], facts)
    if state["alarm"]:
        alarm = state["alarm"]
        sheet.verdict(alarm["title"], "bad" if alarm["bad"] else "warn")
        sheet.say(alarm["text"])
    if state["parting"]:
        _parting(sheet, state["parting"])
        return sheet.done(f"{state['title']}: {state['parting']['title']}.")
    if state["verdict"]:
        sheet.verdict(state["verdict"], "warn")
    if state["more"]:
        sheet.say(state["more"])
    if len(state["at"]) > 1:
        _losses(sheet, state)
    if state["middle"]:
        _step(sheet, state["middle"], state["of"])
    sheet.y += 12
    return sheet.done(f"{state['title']}: {state['state']}. {state['verdict']}")


def _parting(sheet: Sheet, parting: Any) -> None:
    """The sentence, a line for each tensor with its checksums by rank, the source, and the cure."""
    sheet.verdict(parting["title"], "warn" if parting["apart"] else "good")
    if parting["text"]:
        sheet.say(parting["text"])
    c = sheet.colour
    sheet.y += 8
    for row in parting["rows"]:
        sums = [f"{'≠ ' if odd else ''}{one}" for one, odd in zip(row["sums"], row["odd"], strict=True)]
        text = "   ".join([f"{row['tensor']}, {row['when']}:", *sums[:RANKS]])
        sheet.add(words(PAD, sheet.y + 13, text, font_size=11, fill=c["warn" if row["first"] else "ink2"]))
        sheet.y += 18
    sheet.y += 8 * bool(parting["code"])
    for line in parting["code"]:
        text = f"{line['number']:>5}  {line['text']}"
        sheet.add(words(PAD, sheet.y + 13, text, font_size=11, fill=c["warn" if line["hit"] else "ink2"]))
        sheet.y += 16
    if parting["cure"]:
        sheet.y += 6
        sheet.say(f"Cure: {parting['cure']}")
    sheet.y += 12


def _losses(sheet: Sheet, state: Any) -> None:
    c = sheet.colour
    at, low, high = state["at"], state["low"], state["high"]
    top, right = sheet.y + 26, sheet.width - 40
    bottom, left = top + TALL, LEFT
    floor, ceiling = min(0.0, float(np.min(low))), float(np.max(high))
    ceiling = ceiling if ceiling > floor else floor + 1

    def path(values: Any) -> str:
        def y_of(v: float) -> str:
            return place(bottom - (v - floor) / (ceiling - floor) * TALL)

        wide = (right - left) / (len(at) - 1)
        points = [
            f"{place(left + wide * i)} {y_of(v)}" for i, v in enumerate(values.tolist()) if np.isfinite(v)
        ]
        return "L".join(points)

    sheet.add(words(PAD, top - 8, "loss by rank: mean, lowest to highest", font_family=SANS, font_size=12))
    for value in (floor, ceiling):
        y = place(bottom - (value - floor) / (ceiling - floor) * TALL)
        sheet.add(
            tag("path", d=f"M{left} {y}H{right}", stroke=c["line"]),
            words(left - 6, float(y) + 4, f"{value:.3g}", text_anchor="end", font_size=11, fill=c["ink2"]),
        )
    sheet.add(
        tag("path", d=f"M{path(high)}", fill="none", stroke=c["ink2"], stroke_width=0.8),
        tag("path", d=f"M{path(low)}", fill="none", stroke=c["ink2"], stroke_width=0.8),
        tag("path", d=f"M{path(state['mean'])}", fill="none", stroke=c["value"], stroke_width=2),
        words(left, bottom + 16, f"step {int(at[0]):,}", font_size=11, fill=c["ink2"]),
        words(right, bottom + 16, f"{int(at[-1])}", text_anchor="end", font_size=11, fill=c["ink2"]),
    )
    sheet.y = bottom + 24


def _step(sheet: Sheet, step: Any, of: int) -> None:
    c, total = sheet.colour, max(step["total"], 1e-3)
    wide = sheet.width - PAD - LEFT
    title = f"one step: {step['total']:.1f} ms" + (f", the median of {of}" if of > 2 else "")
    sheet.add(words(PAD, sheet.y + 18, title, font_family=SANS, font_size=12))
    sheet.y += 28

    def bar(kind: str, begin: float, end: float, y: float, tall: float) -> None:
        fill, edge = INKS[kind]
        x, w = LEFT + wide * begin / total, max(1.0, wide * (end - begin) / total - 1)
        shape = {"x": place(x), "y": place(y), "width": place(w), "height": tall, "rx": 2, "fill": c[fill]}
        if edge:
            shape["stroke"] = c[edge]
        if kind == "wait":
            shape["stroke_dasharray"] = "3 2"
        sheet.add(tag("rect", **shape))
        if w > len(kind) * 6.2:
            ink = c["bg"] if edge is None else c["ink"]
            sheet.add(
                words(
                    x + w / 2,
                    y + tall - 4,
                    kind,
                    text_anchor="middle",
                    font_family=SANS,
                    font_size=11,
                    fill=ink,
                )
            )

    for lane in step["lanes"][:RANKS]:
        sheet.add(words(PAD, sheet.y + 13, f"rank {lane['rank']}", font_family=SANS, font_size=12))
        for one in lane["spans"]:
            bar(one["kind"], one["begin"], one["end"], sheet.y, 17)
        for one in lane["exchanges"]:
            if one["begin"] - one["ready"] > 0.05:
                bar("wait", one["ready"], one["begin"], sheet.y + 20, 9)
            bar("exchange", one["begin"], one["end"], sheet.y + 20, 9)
        sheet.y += LANE
    if len(step["lanes"]) > RANKS:
        sheet.add(words(PAD, sheet.y + 12, f"and {len(step['lanes']) - RANKS} more ranks", font_size=11))
        sheet.y += 18
    if step["last"] >= 0:
        x = place(LEFT + wide * step["meet"] / total)
        top = place(sheet.y - LANE * min(len(step["lanes"]), RANKS) - 4)
        sheet.add(tag("path", d=f"M{x} {top}V{place(sheet.y)}", stroke=c["ink"], stroke_dasharray="3 2"))
        said = f"all wait here for rank {step['last']}"
        sheet.add(words(float(x), sheet.y + 12, said, text_anchor="end", font_family=SANS, font_size=11))
        sheet.y += 18
