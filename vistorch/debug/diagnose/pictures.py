"""Proofs that are drawn: a number beside its baseline, and the samples around the first that does not fit.

Invariant: what is drawn stands in the proof as words too; places on the scale are from 0 to 1, so that every front end
draws the same.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .finding import Finding
from .schema import Bar, Sample

# by rule: rows of the proof that belong together, what was seen first
PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "sorted": (("entropy of labels in a batch", "in shuffled batches"),),
    "big start": (
        ("first loss", "log(classes)"),
        ("deviation times the root of inputs", "as layers begin"),
        ("root mean square of the inputs", "as layers expect"),
    ),
    "small start": (("deviation times the root of inputs", "as layers begin"),),
    "too large": (("update / weight, median", "as usual"),),
    "too small": (("update / weight, median", "as usual"),),
    "unrelated": (("neighbours that agree", "chance"),),
    "one class": (("loss", "of the best constant"),),
    "soft twice": (("the least this loss can be", "log(classes)"),),
    "cleared": (("steps that found cleared gradients", "steps"),),
    "used twice": (("steps that used a gradient again", "steps"),),
    "trains in eval": (("steps in evaluation mode", "steps"),),
    "rate": (("steps with rate 0", "steps"),),
    "same batch": (("different batches seen", "batches in the loader"),),
    "not held": (("reached and in no optimizer", "in the optimizer"),),
    "never steps": (("steps", "passes"),),
}
WIDE = 30.0  # a ratio from which on the scale is logarithmic
AROUND = 4  # samples on either side of the first that does not fit
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def bars(finding: Finding) -> list[Bar]:
    """What was seen beside what it should be; nothing where the proof has no such pair.

    Args:
        finding: which.

    Example:
        >>> from vistorch.debug.diagnose.finding import EXACT, WRONG, Finding
        >>> from vistorch.debug.diagnose.pictures import bars
        >>> proof = [("first loss", "23"), ("log(classes)", "2.3")]
        >>> for bar in bars(Finding("big start", WRONG, EXACT, "", proof=proof)):
        ...     print(bar["name"], bar["text"], bar["role"], round(bar["end"], 2))
        first loss 23 seen 1.0
        log(classes) 2.3 baseline 0.1
    """
    rows = {name: str(value) for name, value in finding.proof}
    for pair in PAIRS.get(finding.rule, ()):
        texts = [rows.get(name) for name in pair]
        if any(text is None for text in texts):
            continue
        spans = [_span(str(text)) for text in texts]
        if any(not span or not all(math.isfinite(x) and x >= 0 for x in span) for span in spans):
            continue
        most = max(x for span in spans for x in span)
        least = min((x for span in spans for x in span if x > 0), default=0.0)
        if not most:
            continue
        log = least > 0 and most / least > WIDE

        def at(x: float, log: bool = log, most: float = most, least: float = least) -> float:
            if log:
                low = math.log10(least) - 0.5
                return max(0.0, (math.log10(x) - low) / (math.log10(most) - low)) if x > 0 else 0.0
            return x / most

        return [
            {
                "name": name,
                "text": str(text),
                "start": at(min(span)) if len(span) > 1 else 0.0,
                "end": at(max(span)),
                "role": role,
                "log": log,
            }
            for name, text, span, role in zip(pair, texts, spans, ("seen", "baseline"), strict=True)
        ]
    return []


def _span(text: str) -> list[float]:
    """The number of a text, or both of "0.6 to 1.4"; nothing where it has none."""
    found = [float(x.replace(",", "")) for x in NUMBER.findall(text)]
    return found[:2] if " to " in text else found[:1]


def samples_of(labels: Any, bad: Any) -> list[Sample]:
    """The samples around the first that does not fit.

    Args:
        labels: whole numbers.
        bad: the places of those that do not fit, in order.
    """
    flat, wrong = np.asarray(labels).reshape(-1), set(np.asarray(bad).tolist())
    first = min(wrong)
    near = range(max(0, first - AROUND), min(len(flat), first + AROUND + 1))
    return [{"index": i, "label": int(flat[i]), "bad": i in wrong} for i in near]
