"""A training as an SVG drawing: how it stands, the loss with its band, accuracy by class, what was done to it.

Invariant: nothing in it is a time or depends on one, so the same training gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...debug.steps.words import count
from ...debug.watch.record import WatchRecord
from ...debug.watch.schema import FEW
from ...debug.watch.taskwords import headline, shown
from ...debug.watch.words import loss_text, share_text
from .._frame.ink import SANS, number, tag, words
from .._frame.sheet import PAD, TEXT, Sheet
from .tasks import beside

MIME = "image/svg+xml"
CLASSES, LINES, POINTS = 12, 8, 240
SPLIT, HIGH = 400, 152  # where the classes begin, and how tall the curve is
BARS = {
    "error": "bad",
    "ended": "bad",
    "interrupted": "warn",
    "paused": "warn",
    "stopped": "edge",
    "finished": "good",
}


def paint(record: WatchRecord, theme: str = "light") -> bytes:
    """The drawing of a training.

    Args:
        record: anything with `wire()` of kind "watch".
        theme: "light" or "dark".
    """
    state = record.wire()
    head, sheet = state["head"], Sheet(theme)
    facts = [_of("step", head["step"], head["steps"])]
    if head["epoch"]:
        facts.append(_of("epoch", head["epoch"], head["epochs"]))
    if head["parameters"]:
        facts.append(count(head["parameters"], "parameter"))
    sheet.head(state["title"] or "Training", [*facts, head["device"]])
    said = f"{head['status'].capitalize()}. {_plain(head, state.get('task') or {})}".strip()
    alarm = head.get("alarm")
    bad = head["status"] in ("error", "ended") or (alarm is not None and alarm["now"])
    sheet.verdict(said, "bad" if bad else BARS.get(head["status"], "value"), "badsoft" if bad else "panel")
    for text in head["says"]:
        sheet.say(text)
    top = sheet.y + 14
    task = state.get("task") or {}  # files of earlier versions have none
    found, counts = shown(task), _counts(state["accuracy"]) if task.get("kind") != "loss" else None
    left = _loss(sheet, state, top, SPLIT - 24 if found or counts else sheet.width)
    right = 0.0
    if found:
        right = beside(sheet, found, SPLIT, top)
    elif counts:
        right = _classes(sheet, state["classes"], counts, top)
    sheet.y = max(left, right, top)
    _log(sheet, state["log"]["items"] if isinstance(state["log"], dict) else state["log"])
    sheet.y += 12
    return sheet.done(said)


def _of(word: str, now: int, total: int | None) -> str:
    return f"{word} {now:,}" + (f" of {total:,}" if total else "")


def _plain(head: Mapping[str, Any], task: Mapping[str, Any]) -> str:
    """What the run says of its state; how late a click was done is left out."""
    if head["status"] in ("error", "interrupted"):
        return head["say"]
    alarm = head.get("alarm")
    if alarm is not None and alarm["now"]:
        return alarm["say"]
    parts = []
    if head["loss"] is not None:
        parts.append(f"Loss {loss_text(head['loss'])}")
    if head["accuracy"] is not None:
        parts.append(f"accuracy {share_text(head['accuracy'])} of the last samples")
    if notes := headline(task):
        parts = [*parts[:1], notes]
    return f"{', '.join(parts)}." if parts else ""


# ---- the curve -----------------------------------------------------------------------------------------------------
def _thin(curve: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Steps, mean, low and high of at most so many columns; lowest and highest of those that are merged."""
    low, high, mean = (np.asarray(curve[name], float)[0] for name in ("low", "high", "mean"))
    each = max(1, -(-len(mean) // POINTS))
    steps, merged = [], []
    for i in range(0, len(mean), each):
        part = slice(i, i + each)
        fine = np.isfinite(mean[part])
        if fine.any():
            middle = (curve["from"] + i + (min(each, len(mean) - i) - 1) / 2 + 0.5) * curve["width"]
            steps.append(middle)
            merged.append((mean[part][fine].mean(), np.nanmin(low[part][fine]), np.nanmax(high[part][fine])))
    found = np.array(merged, float).reshape(-1, 3)
    return np.array(steps), found[:, 0], found[:, 1], found[:, 2]


def _nice(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers between two."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    raw = span / most
    step = 10.0 ** math.floor(math.log10(raw))
    step = next(step * m for m in (1, 2, 5, 10) if step * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _loss(sheet: Sheet, state: Mapping[str, Any], top: float, right: float) -> float:
    """The curve; returns where it ends."""
    c, small = sheet.colour, {"font_family": SANS, "font_size": 11, "fill": sheet.colour["ink2"]}
    steps, mean, low, high = _thin(state["loss"]["curve"])
    sheet.add(words(PAD, top + 8, "loss by step", **small))
    x0, y0 = PAD + 44, top + 16
    wide, space = right - PAD - x0, HIGH
    if not len(steps):
        sheet.add(words(x0, y0 + space / 2, "no loss was seen yet", **small))
        return y0 + space + 20
    checks = [v for v in state["validation"] if v["loss"] is not None and math.isfinite(float(v["loss"]))]
    others = [float(v["loss"]) for v in checks]
    undone = [found for found in map(_thin, state["loss"]["undone"]) if len(found[0])]
    others += [value for found in undone for value in (found[1].min(), found[1].max())]
    lowest = min([float(np.nanmin(low)), *others])
    highest = max([float(np.nanmax(high)), *others])
    if highest - lowest < 1e-12:
        lowest, highest = lowest - 0.5 * abs(lowest or 1), highest + 0.5 * abs(highest or 1)
    last = max(float(state["head"]["step"]), *[found[0][-1] for found in (*undone, [steps])], 1.0)

    def x_of(step: float) -> float:
        return x0 + wide * step / last

    def y_of(value: float) -> float:
        return y0 + space * (1 - (min(value, highest) - lowest) / (highest - lowest))

    for tick in _nice(lowest, highest):
        y = y_of(tick)
        sheet.add(tag("path", d=f"M{number(x0)} {number(y)}h{number(wide)}", stroke=c["line"]))
        sheet.add(words(x0 - 6, y + 4, f"{tick:.4g}", text_anchor="end", font_size=11, fill=c["ink2"]))
    up = [f"{number(x_of(s))} {number(y_of(v))}" for s, v in zip(steps, high, strict=True)]
    down = [f"{number(x_of(s))} {number(y_of(v))}" for s, v in zip(steps, low, strict=True)]
    middle = [f"{number(x_of(s))} {number(y_of(v))}" for s, v in zip(steps, mean, strict=True)]
    for at, lost, _, _ in undone:
        way = "L".join(f"{number(x_of(s))} {number(y_of(v))}" for s, v in zip(at, lost, strict=True))
        sheet.add(tag("path", d=f"M{way}", fill="none", stroke=c["edge"], stroke_dasharray="4 3"))
    sheet.add(tag("path", d=f"M{'L'.join([*up, *down[::-1]])}z", fill=c["value"], fill_opacity=0.2))
    sheet.add(tag("path", d=f"M{'L'.join(middle)}", fill="none", stroke=c["value"], stroke_width=1.5))
    for check in checks:
        x, y = x_of(check["step"]), y_of(float(check["loss"]))
        sheet.add(tag("circle", cx=x, cy=y, r=3.5, fill=c["bg"], stroke=c["ink"], stroke_width=1.5))
    sheet.add(tag("path", d=f"M{number(x0)} {number(y0 + space)}h{number(wide)}", stroke=c["edge"]))
    y = y0 + space + 14
    sheet.add(words(x0, y, "0", font_size=11, fill=c["ink2"]))
    sheet.add(words(x0 + wide, y, f"{last:,.0f}", text_anchor="end", font_size=11, fill=c["ink2"]))
    bad = int(np.asarray(state["loss"]["curve"]["bad"], np.int64).sum())
    notes = ["— mean, with lowest and highest"]
    notes += ["○ validation"] if checks else []
    notes += ["- - undone by a rewind"] if undone else []
    notes += [f"{bad} not finite"] if bad else []
    sheet.add(words(x0, y + 16, " · ".join(notes), **small))
    return y + 20


# ---- classes -------------------------------------------------------------------------------------------------------
def _counts(accuracy: Mapping[str, Any]) -> tuple[str, np.ndarray, np.ndarray] | None:
    """Which counts are shown: of the newest validation, else of the window."""
    for name, said in (("validation", "of the last validation"), ("window", "of the last samples")):
        found = accuracy[name]
        if found is not None and np.asarray(found["seen"]).any():
            return said, np.asarray(found["right"], np.int64), np.asarray(found["seen"], np.int64)
    return None


def _classes(sheet: Sheet, names: list[str], shown: tuple[str, np.ndarray, np.ndarray], top: float) -> float:
    """Bars of the classes, the worst first; returns where they end."""
    said, right, seen = shown
    c, small = sheet.colour, {"font_size": 11, "fill": sheet.colour["ink2"]}
    order = [k for k in range(len(seen)) if seen[k]]
    order.sort(key=lambda k: (right[k] / seen[k], k))
    sheet.add(words(SPLIT, top + 8, f"accuracy by class, {said}", font_family=SANS, **small))
    y, end = top + 16, sheet.width - PAD
    bar, space = SPLIT + 96, 150
    for k in order[:CLASSES]:
        share = right[k] / seen[k]
        sheet.code(SPLIT, y + 12, names[k] if k < len(names) else str(k), 90)
        sheet.add(tag("rect", x=bar, y=y + 4, width=space, height=9, rx=2, fill=c["line"]))
        if share:
            thin = 0.45 if seen[k] < FEW else None
            sheet.add(
                tag(
                    "rect",
                    x=bar,
                    y=y + 4,
                    width=max(1, space * share),
                    height=9,
                    rx=2,
                    fill=c["value"],
                    fill_opacity=thin,
                )
            )
        sheet.add(words(bar + space + 40, y + 12, f"{100 * share:.0f} %", text_anchor="end"))
        sheet.add(words(end, y + 12, f"{right[k]:,}/{seen[k]:,}", text_anchor="end", **small))
        y += 17
    if len(order) > CLASSES:
        sheet.add(
            words(SPLIT, y + 12, f"and {len(order) - CLASSES:,} more classes", font_family=SANS, **small)
        )
        y += 17
    return y


def _log(sheet: Sheet, log: Sequence[Mapping[str, Any]]) -> None:
    """What was done to the run, newest last."""
    if not log:
        return
    c = sheet.colour
    sheet.y += 10
    space = int((sheet.width - PAD - 96) / TEXT)
    if len(log) > LINES:
        sheet.add(
            words(96, sheet.y + 14, f"{len(log) - LINES:,} earlier entries", font_family=SANS, fill=c["ink2"])
        )
        sheet.y += 18
    for entry in log[-LINES:]:
        sheet.add(tag("path", d=f"M{PAD} {number(sheet.y)}H{sheet.width - PAD}", stroke=c["line"]))
        effect = "" if entry["what"] == "paused" else entry["effect"]  # how late it was is a time
        text = f"{entry['what']}: {effect}" if effect else entry["what"]
        sheet.add(
            words(
                88, sheet.y + 15, f"step {entry['step']:,}", text_anchor="end", fill=c["ink2"], font_size=11
            )
        )
        sheet.add(
            words(
                96,
                sheet.y + 15,
                text if len(text) <= space else text[: space - 1] + "…",
                font_family=SANS,
                font_size=12.5,
                text_decoration="line-through" if entry["undone"] else None,
            )
        )
        sheet.y += 21
