"""Values and tokens in words: what a regression and a language model came to, as lines and a table.

Invariant: made of the state that travels, with no time in it, so the same training gives the same text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

LINES = 20  # of a table
NONE = "–"


def number_text(value: float | None) -> str:
    """A number in three digits, "–" where it is not known."""
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:.3g}" if value else "0"


def share(value: float | None) -> str:
    """A share per cent."""
    return NONE if value is None else f"{value * 100:.1f} %"


def shown(task: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]] | None:
    """What is shown of a regression or a language model: ("validation" or "window", counts); None of all else.

    Args:
        task: the section "task" of a state.
    """
    of = (task or {}).get("values") or (task or {}).get("tokens")
    if of is None:
        return None
    for name in ("validation", "window"):
        if of[name] is not None:
            return name, of[name]
    return None


def check_text(check: Mapping[str, Any]) -> str:
    """The one number of a validation; "" where it has none.

    Args:
        check: an item of the section "validation".
    """
    if check.get("perplexity") is not None:
        return f"perplexity {number_text(check['perplexity'])}"
    if "r2" in check:
        return "" if check["r2"] is None else f"R² {number_text(check['r2'])}"
    return f"accuracy {share(check['accuracy'])}"


def headline(task: Mapping[str, Any]) -> str:
    """What the newest training samples came to, as one sentence; "" where nothing is known.

    Args:
        task: the section "task" of a state.
    """
    values, tokens = task.get("values"), task.get("tokens")
    if values and (w := values["window"]):
        line, scores = f"R² {number_text(w['r2'])}", w["scores"]
        if len(scores) == 1:
            error, constant = scores[0]["mae"], scores[0]["constant_mae"]
            line += f", mean error {number_text(error)} (best constant {number_text(constant)})"
        elif scores:  # errors of several outputs have several units
            least, name = min(zip((_rank(one["r2"]) for one in scores), w["outputs"], strict=True))
            worst = number_text(least if math.isfinite(least) else None)
            line += f" (mean of {len(scores)} outputs; worst {worst}, {name})"
        line += f" of the last {w['n']:,} predictions"
        return line + (f", {w['bad']:,} not finite" if w["bad"] else "")
    if tokens and (w := tokens["window"]):
        line = f"perplexity {number_text(w['perplexity'])} (loss {number_text(w['loss'])} a token)"
        line += f", accuracy {share(w['accuracy'])} of the last {w['n']:,} tokens"
        return line + (f", {w['bad']:,} not finite" if w["bad"] else "")
    if task.get("constant"):
        return f"in each batch all targets of {task['constant']} are the same: there is nothing to predict"
    return ""


def lines_of(task: Mapping[str, Any]) -> list[str]:
    """A table of the outputs, or of the hardest tokens; of the newest validation where there is one.

    Args:
        task: the section "task" of a state.
    """
    found = shown(task)
    if found is None:
        return []
    of, w = found
    if task["kind"] == "regression":
        title = "output, validation" if of == "validation" else "output"
        rows: list[tuple[str, ...]] = [(title, "R²", "mean error", "best constant", "bias")]
        scores = sorted(zip(w["outputs"], w["scores"], strict=False), key=lambda one: _rank(one[1]["r2"]))
        for name, one in scores[:LINES]:
            rows.append((name, *(number_text(one[key]) for key in ("r2", "mae", "constant_mae", "bias"))))
        more = len(scores) - LINES
        return [*_columns(rows), *([f"and {more} more outputs"] if more > 0 else [])]
    names = w["names"]
    lines = []
    if w["hard"]:
        rows = [("hardest token" + (", validation" if of == "validation" else ""), "loss", "seen")]
        rows += [(repr(names[str(c)]), number_text(loss), f"{seen:,}") for c, loss, seen in w["hard"]]
        lines += _columns(rows)
    if w["pairs"]:
        pairs = [f"{names[str(a)]!r} as {names[str(b)]!r} ({n})" for a, b, n in w["pairs"][:6]]
        lines += ["", "most often confused: " + ", ".join(pairs)]
    return lines


def name_and_r2(name: str, scores: Sequence[Mapping[str, Any]], k: int) -> str:
    """An output with its R², for a legend.

    Args:
        name: what it is called.
        scores: of all outputs.
        k: its number.
    """
    return f"{name}, R² {number_text(scores[k]['r2'])}" if k < len(scores) else name


def _rank(r2: float | None) -> float:
    return -math.inf if r2 is None else r2


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            f"{x:<{w}}" if not i else f"{x:>{w}}" for i, (x, w) in enumerate(zip(row, wide, strict=True))
        )
        for row in rows
    ]
