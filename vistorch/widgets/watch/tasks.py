"""What stands beside the loss of a regression and of a language model: predictions against targets, loss by position.

Invariant: only what is finite is drawn, and only of the record's state, so the same training gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...debug.graph.words import cut
from ...debug.watch.taskwords import number_text
from .._frame.ink import SANS, number, tag, words
from .._frame.sheet import PAD, Sheet

HIGH = 152  # as tall as the curve of the loss
POINTS = 300
ROWS = 8
BARS = 64


def beside(sheet: Sheet, found: tuple[str, Mapping[str, Any]], left: float, top: float) -> float:
    """Draw it; returns where it ends.

    Args:
        sheet: the drawing.
        found: what is shown: "window" or "validation", and its counts.
        left: where it begins.
        top: the same, downwards.
    """
    of, w = found
    where = "last validation" if of == "validation" else "newest training"
    if "predicted" in w:
        return _values(sheet, w, where, left, top)
    return _tokens(sheet, w, where, left, top)


def _small(sheet: Sheet) -> dict[str, Any]:
    return {"font_family": SANS, "font_size": 11, "fill": sheet.colour["ink2"]}


def _values(sheet: Sheet, w: Mapping[str, Any], where: str, left: float, top: float) -> float:
    small, c = _small(sheet), sheet.colour
    k = _worst_output(w)
    name = f": {cut(w['outputs'][k], 18)}" if len(w["outputs"]) > 1 else ""
    sheet.add(words(left, top + 8, f"prediction against target, {where}{name}", **small))
    x0, y0, wide = left + 40, top + 16, sheet.width - PAD - left - 40
    target, predicted = (np.asarray(w[side], float)[k] for side in ("target", "predicted"))
    each = max(1, -(-len(target) // POINTS))
    target, predicted = target[::each], predicted[::each]
    if not len(target):
        sheet.add(words(x0, y0 + HIGH / 2, "nothing finite to show", **small))
        return y0 + HIGH + 20
    low = float(min(target.min(), predicted.min()))
    high = float(max(target.max(), predicted.max()))
    if high <= low:
        low, high = low - 0.5 * abs(low or 1), high + 0.5 * abs(high or 1)

    def x_of(value: float) -> float:
        return x0 + wide * (value - low) / (high - low)

    def y_of(value: float) -> float:
        return y0 + HIGH * (1 - (value - low) / (high - low))

    line = f"M{number(x_of(low))} {number(y_of(low))}L{number(x_of(high))} {number(y_of(high))}"
    sheet.add(
        tag("path", d=f"M{number(x0)} {number(y0)}v{HIGH}h{number(wide)}", fill="none", stroke=c["edge"])
    )
    sheet.add(tag("path", d=line, stroke=c["ink2"], stroke_dasharray="4 3"))
    for a, b in zip(target, predicted, strict=True):
        sheet.add(tag("circle", cx=x_of(a), cy=y_of(b), r=2, fill=c["value"], fill_opacity=0.55))
    for value, y in ((high, y0 + 8), (low, y0 + HIGH)):
        sheet.add(words(x0 - 6, y, f"{value:.3g}", text_anchor="end", font_size=11, fill=c["ink2"]))
    y = y0 + HIGH + 14
    sheet.add(words(x0, y, f"{low:.3g}", font_size=11, fill=c["ink2"]))
    sheet.add(words(x0 + wide, y, f"{high:.3g}", text_anchor="end", font_size=11, fill=c["ink2"]))
    sheet.add(words(x0 + wide / 2, y, "target", text_anchor="middle", **small))
    y += 18
    ends = (left + 158, left + 242, sheet.width - PAD)
    for x, head in zip(ends, ("R²", "mean error", "best constant"), strict=True):
        sheet.add(words(x, y, head, text_anchor="end", **small))
    scores = sorted(enumerate(w["scores"]), key=lambda one: _key(one[1]["r2"]))
    y += 17
    for i, one in scores[:ROWS]:
        sheet.code(left, y, w["outputs"][i], 100)
        for x, name in zip(ends, ("r2", "mae", "constant_mae"), strict=True):
            sheet.add(words(x, y, number_text(one[name]), text_anchor="end"))
        y += 17
    if len(scores) > ROWS:
        sheet.add(words(left, y, f"and {len(scores) - ROWS:,} more outputs", **small))
        y += 17
    if w["broadcast"]:
        sheet.add(words(left, y, "prediction and target had different shapes and were broadcast", **small))
        y += 17
    return y


def _key(r2: float | None) -> float:
    return -math.inf if r2 is None else r2


def _worst_output(w: Mapping[str, Any]) -> int:
    known = [(one["r2"], k) for k, one in enumerate(w["scores"]) if one["r2"] is not None]
    return min(known)[1] if known else 0


def _tokens(sheet: Sheet, w: Mapping[str, Any], where: str, left: float, top: float) -> float:
    small, c = _small(sheet), sheet.colour
    x0, y0, wide = left + 40, top + 16, sheet.width - PAD - left - 40
    y = y0
    if w["position"] is not None:
        sheet.add(words(left, top + 8, f"loss by position, {where}", **small))
        loss, seen = np.asarray(w["position"], float), np.asarray(w["positions"], float)
        each = max(1, -(-len(loss) // BARS))
        bars = []
        for at in range(0, len(loss), each):
            part = np.isfinite(loss[at : at + each])
            weight = seen[at : at + each][part]
            bars.append(
                float((loss[at : at + each][part] * weight).sum() / weight.sum()) if weight.sum() else None
            )
        guess = math.log(max(2, w["vocabulary"]))
        most = 1.1 * max([guess, *[b for b in bars if b is not None]])
        step = wide / len(bars)
        for i, bar in enumerate(bars):
            if bar is not None:
                high = HIGH * bar / most
                place = {
                    "x": x0 + i * step,
                    "y": y0 + HIGH - high,
                    "width": max(0.5, step - 1),
                    "height": high,
                }
                sheet.add(tag("rect", **place, fill=c["value"]))
        at = y0 + HIGH * (1 - guess / most)
        sheet.add(
            tag(
                "path",
                d=f"M{number(x0)} {number(at)}h{number(wide)}",
                stroke=c["ink"],
                stroke_dasharray="4 3",
            )
        )
        said = f"at random {number_text(guess)}"
        sheet.add(words(x0 + wide, at - 4, said, text_anchor="end", **small))
        sheet.add(
            tag("path", d=f"M{number(x0)} {number(y0)}v{HIGH}h{number(wide)}", fill="none", stroke=c["edge"])
        )
        sheet.add(words(x0 - 6, y0 + 8, f"{most:.2g}", text_anchor="end", font_size=11, fill=c["ink2"]))
        sheet.add(words(x0 - 6, y0 + HIGH, "0", text_anchor="end", font_size=11, fill=c["ink2"]))
        y = y0 + HIGH + 14
        sheet.add(words(x0, y, "0", font_size=11, fill=c["ink2"]))
        last = f"{len(loss) - 1:,}"
        sheet.add(words(x0 + wide, y, last, text_anchor="end", font_size=11, fill=c["ink2"]))
        y += 20
    sheet.add(words(left, y, f"hardest tokens, {where}", **small))
    y += 17
    for token, loss, seen in w["hard"][:ROWS]:
        sheet.code(left, y, w["names"][str(token)], 120)
        sheet.add(words(left + 190, y, number_text(loss), text_anchor="end"))
        sheet.add(words(left + 260, y, f"seen {seen:,}", text_anchor="end", **small))
        y += 17
    return y
