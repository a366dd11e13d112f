"""The exercise of the first notebook: one step of training for a neuron of three weights, with where it landed.

Invariant: the verdict is a sentence of what the given weights do; the picture shows the same error as the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

INPUTS, START, TARGET = (2.0, 1.0, -1.0), (0.5, -1.0, 0.25), 1.0
GOAL = 0.01
BEFORE = sum(x * w for x, w in zip(INPUTS, START, strict=True)) - TARGET
REASON = (
    "This is how every network learns, whether it has three weights or three billion: measure the error, step against "
    "the gradient, repeat."
)
NEXT = (
    ("01_tensors.ipynb", "Tensors", "20 minutes"),
    ("08_debugging.ipynb", "Debugging", "if you have a network that does not learn"),
)


@dataclass
class Verdict:
    """What an exercise shows: a line, a sentence, and a picture where there are numbers.

    Args:
        right: whether it is solved.
        title: the line.
        says: the sentence.
        error: where the step landed; None where that is not known.
    """

    right: bool
    title: str
    says: str
    error: float | None = None

    def __repr__(self) -> str:
        return f"{self.title}\n{self.says}"

    def _repr_html_(self) -> str:
        colour = "var(--vt-lesson-good)" if self.right else "var(--vt-lesson-warn)"
        picture = "" if self.error is None else _line(self.error, colour)
        return (
            f'<div class="vt-verdict" style="{FRAME};border-left:3px solid {colour}">{STYLE}'
            f'<b style="color:{colour}">{"✓" if self.right else "✕"}</b> <b>{escape(self.title)}</b>'
            f"<div>{escape(self.says)}</div>{picture}{_next() if self.right else ''}</div>"
        )


# Inks that can be read on a light and on a dark page; a dark JupyterLab says so on its body.
STYLE = (
    "<style>.vt-verdict{--vt-lesson-good:#23703f;--vt-lesson-warn:#8f5400;--vt-lesson-edge:#8a93a1}"
    '[data-jp-theme-light="false"] .vt-verdict,body[data-theme="dark"] .vt-verdict'
    "{--vt-lesson-good:#6cc48b;--vt-lesson-warn:#e0ab4a}"
    "@media(prefers-color-scheme:dark){body:not([data-jp-theme-light]):not([data-theme=light]) .vt-verdict"
    "{--vt-lesson-good:#6cc48b;--vt-lesson-warn:#e0ab4a}}</style>"
)
FRAME = "padding:6px 14px;line-height:1.55;border:1px solid rgba(127,127,127,.35);border-radius:4px;max-width:640px"


def _line(error: float, colour: str) -> str:
    """Where the step landed on a line of errors: the goal is shaded."""

    def x(value: float) -> float:
        return 300 + 200 * max(-1.4, min(1.2, value))

    low, high = x(-(GOAL**0.5)), x(GOAL**0.5)
    now = f"{error:+.3g}".replace("-", "−")
    return (
        '<svg viewBox="0 0 560 66" role="img" aria-label="error before and after the step" '
        'style="display:block;max-width:560px;width:100%;font:11px system-ui,sans-serif" fill="currentColor">'
        f'<rect x="{low:.1f}" y="20" width="{high - low:.1f}" height="24" fill="var(--vt-lesson-good)" opacity=".25"/>'
        f'<path d="M20 32H540M{low:.1f} 18v28M{high:.1f} 18v28" stroke="var(--vt-lesson-edge)" fill="none"/>'
        f'<text x="300" y="60" text-anchor="middle">loss below {GOAL}</text>'
        f'<circle cx="{x(BEFORE):.1f}" cy="32" r="5" fill="none" stroke="currentColor" stroke-width="1.8"/>'
        f'<text x="{x(BEFORE):.1f}" y="60" text-anchor="middle">error before −1.25</text>'
        f'<path d="M{x(BEFORE) + 9:.1f} 26C{x(-0.8):.1f} 0 {x(error) - 60:.1f} 0 {x(error) - 5:.1f} 23" fill="none" '
        f'stroke="{colour}" stroke-width="1.6"/><circle cx="{x(error):.1f}" cy="32" r="5" fill="{colour}"/>'
        f'<text x="{max(x(error) + 12, high + 9):.1f}" y="23" style="fill:{colour};font-weight:600">now {now}</text>'
        "</svg>"
    )


def _next() -> str:
    links = " · or ".join(f'<a href="{file}">{name}</a>, {why}' for file, name, why in NEXT)
    return f"<div><b>Next:</b> {links}</div>"


def verdict(answer: Any) -> Verdict:
    """Judge the weights after one step.

    Args:
        answer: three numbers, as a tensor, an array, a list or a tuple.

    Example:
        >>> from vistorch.tutorials.look import verdict
        >>> print(verdict([0.5 + 0.1 * 5, -1.0 + 0.1 * 2.5, 0.25 - 0.1 * 2.5]))
        Not yet: the loss is 0.0625
        You jumped past the goal: the prediction is now too high by 0.25. Try a smaller lr.
    """
    if answer is ...:
        return Verdict(False, "Still open", "Replace the ... and run this cell again.")
    try:
        if hasattr(answer, "detach"):
            answer = answer.detach()
        given = answer.tolist() if hasattr(answer, "tolist") else answer
        weights = [float(w) for w in given]
    except (TypeError, ValueError, AttributeError) as error:
        return Verdict(False, "Not yet", f"Three weights are asked for, and this cannot be read: {error}.")
    if len(weights) != len(INPUTS):
        return Verdict(False, "Not yet", f"The neuron has three weights, and these are {len(weights)}.")
    error = round(sum(x * w for x, w in zip(INPUTS, weights, strict=True)) - TARGET, 6)
    loss = error**2
    if not loss < float("inf"):
        return Verdict(False, "Not yet", "These weights are not finite. Try a smaller lr.")
    if loss < GOAL:
        small = f"{loss:.6f}".rstrip("0").rstrip(".")
        return Verdict(True, f"Right: the loss is {small}, after one step", REASON, error)
    by = f"{abs(error):.3g}"
    if error < BEFORE:
        says = f"You went the wrong way: the prediction is too low by {by}. Step against the gradient, with lr above 0."
    elif error < 0:
        says = f"You stopped short: the prediction is still too low by {by}. Try a larger lr."
    else:
        says = f"You jumped past the goal: the prediction is now too high by {by}. Try a smaller lr."
    return Verdict(False, f"Not yet: the loss is {loss:.3g}", says, error)
