"""A run in words: a line while it runs, a table at its end.

Invariant: the table holds no time, so the same training gives the same text.
"""

from __future__ import annotations

import math
from typing import Any

from .confusion import ClassCounts
from .taskwords import check_text, headline, lines_of, number_text


def loss_text(value: float | None) -> str:
    """A loss in three digits below 10, "–" where it is not known."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(value)
    return f"{value:.3f}" if abs(value) < 10 and abs(value) >= 0.001 else f"{value:.3g}"


def rate_text(value: float) -> str:
    """A learning rate as people write it: 0.001, 3e-4.

    Example:
        >>> from vistorch.debug.watch.words import rate_text
        >>> rate_text(3e-4), rate_text(0.1), rate_text(1e-3)
        ('3e-4', '0.1', '1e-3')
    """
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 0.01 <= abs(value) < 10000:
        return f"{value:.4g}"
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def share_text(value: float | None) -> str:
    """A share per cent."""
    return "–" if value is None else f"{value * 100:.1f} %"


def line_of(run: Any) -> str:
    """One line: where the run is.

    Args:
        run: the run.
    """
    parts = [f"step {run.step:,}" + (f"/{run.steps:,}" if run.steps else "")]
    if run.epoch:
        parts.append(f"epoch {run.epoch:,}" + (f"/{run.epochs_total:,}" if run.epochs_total else ""))
    parts.append(f"loss {loss_text(run.loss)}")
    tally, name, value = run.tally(), *run.tasks.number
    if name:
        parts.append(f"{name} {number_text(value)}")
    elif tally is not None:
        parts.append(f"accuracy {share_text(tally.accuracy)}")
    if run.metrics.checks and (said := check_text(run.metrics.checks[-1])):
        parts.append(f"validation {said.removeprefix('accuracy ')}")
    if run.speed:
        parts.append(f"{run.speed:.3g} steps/s")
    return ", ".join(parts)


def table_text(run: Any) -> str:
    """Status, loss, accuracy and the classes, the worst first.

    Args:
        run: the run.
    """
    word = run.status.capitalize()
    out = [run.title] if run.title else []
    head = f"{word} after step {run.step:,}" if run.step else word
    if run.step and run.steps:
        head += f" of {run.steps:,}"
    if run.epoch:
        head += f", epoch {run.epoch:,}"
    out.append(head)
    if run.alarm is not None:
        out += alarm_lines(run.alarm)
    if run.say and run.status in ("error", "interrupted"):
        out.append(run.say)
    rates = [] if run.metrics.lr is None else run.metrics.lr.mean()
    if run.loss is not None:
        line = f"loss {loss_text(run.loss)}"
        if math.isfinite(run.loss):
            line += f" (mean of {sum(map(math.isfinite, run.metrics.recent))})"
        if len(rates):
            line += ", learning rate " + ", ".join(f"{x:.4g}" for x in rates[-1] if x == x)
        out.append(line)
    task = run.tasks.wire()
    if said := headline(task):
        out.append(said)
    window = None if task["kind"] in ("regression", "language") else run.tally()
    if window is not None:
        out.append(f"accuracy {share_text(window.accuracy)} of the last {window.samples:,}")
    if without := sum(n for _, n in run.metrics.without):
        out.append(f"{without:,} outputs not finite, no predictions: since step {run.metrics.without_from:,}")
    if run.metrics.checks:
        newest = run.metrics.checks[-1]
        said = [check_text(newest)] if check_text(newest) else []
        if newest["loss"] is not None:
            said.append(f"loss {loss_text(newest['loss'])}")
        said.append(f"{newest['samples']:,} samples after step {newest['step']:,}")
        out.append(f"validation {', '.join(said)}")
    out += run.says
    lines = lines_of(task)
    if lines:
        out += ["", *lines]
    tally = None if lines else run.tally("validation") or window
    if tally is not None:
        out += ["", *class_table(run.metrics.class_names, tally)]
    return "\n".join(out)


def alarm_lines(alarm: Any) -> list[str]:
    """The sentence of an alarm, and what is known beside it.

    Args:
        alarm: the alarm.
    """
    way = alarm.way()
    if alarm.snapshot is not None:
        way += f" run.rewind({alarm.snapshot}) goes back to it."
    return [f"✹ {alarm.say()}", *[f"  {part}" for part in (alarm.cause, alarm.rest(), way) if part]]


def health_text(run: Any) -> str:
    """A line for each layer that is not in range; how often layers are looked at depends on time, so this may differ.

    Args:
        run: the run.
    """
    found = [h for h in run.health() if h["state"] != "in range"]
    return "\n".join(f"{h['name']}: {h['state']}. {h['cure']}" for h in found)


def class_table(names: list[str], tally: ClassCounts, most: int = 100) -> list[str]:
    """The classes that were seen, the worst first.

    Args:
        names: their names.
        tally: the counts.
        most: so many lines.
    """
    seen = [c for c in range(tally.classes) if tally.seen[c]]
    seen.sort(key=lambda c: (tally.right[c] / tally.seen[c], c))
    rows = [("class", "accuracy", "right / seen", "most often read as")]
    for c in seen[:most]:
        share = share_text(tally.right[c] / tally.seen[c])
        rows.append((names[c], share, f"{tally.right[c]} / {tally.seen[c]}", _mistaken(names, tally, c)))
    if not any(row[3] for row in rows[1:]):
        rows = [(*row[:3], "") for row in rows]
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d}".rstrip() for a, b, c, d in rows]
    if len(seen) > most:
        lines.append(f"and {len(seen) - most} more classes")
    return lines


def _mistaken(names: list[str], tally: ClassCounts, c: int) -> str:
    if tally.confusion is None:
        return ""
    row = tally.confusion[c].copy()
    row[c] = 0
    worst = int(row.argmax())
    return f"{names[worst]} ({row[worst]})" if row[worst] else ""
