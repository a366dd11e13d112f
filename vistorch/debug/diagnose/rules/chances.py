"""Distributions: probabilities given to them as scores, and logarithms as probabilities.

Invariant: what a distribution was given is known by how it brings it to a sum of 1, which is in the history of a loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...lineage import Value, ancestors, beyond
from ..finding import LINEAGE, WRONG, Finding
from ..heads import array
from .base import Counting
from .meaning import PASSED, SOFT

LOOKS = 3
DEEP = 4000  # values of a loss that are looked at
SUMS = ("sum_dims", "sum", "sum_all")
LOGS = ("log_softmax", "_log_softmax")
SCORES = "probabilities as scores"
PROBABILITIES = "logarithms as probabilities"


class GivenChances(Counting):
    """A distribution that takes scores is given probabilities, or one that takes probabilities their logarithms.

    Meaning: `Categorical(logits=x)` takes a softmax of x itself; `Categorical(x)` takes x for probabilities and
    divides them by their sum, so that of logarithms the least likely becomes the likeliest.
    Fires: when in three looks the way from a loss holds x minus the logsumexp of x over the last axis, of two entries
    or more, and x, behind nothing but reshapes, picks, joins and dropout, is the result of a softmax, or of a quotient
    or the exponential of a log_softmax, all of x is 0 or more and each row sums to 1 but for 1e-3; or x divided by its
    sum over the last axis, where x, behind the same, is the result of a log_softmax.
    Wrong if: bounded scores are wanted.
    Healthy programs tried: probabilities as `probs`, scores, log-probabilities and logarithms of probabilities as
    `logits`, attention within a policy, scaled probabilities, mixtures, cross entropies written by hand.
    """

    name, title, certainty, severity = "given chances", "what distributions are given", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look for what brings a distribution to a sum of 1."""
        if p.root is None or not p.accumulates:
            return
        seen = set()
        for v in islice(ancestors(p.root), DEEP):
            if v.op not in ("sub", "div") or len(v.parents) != 2:
                continue
            x, by = v.parents
            if x.op == "source" or not x.needs or not x.shape or x.shape[-1] < 2:
                continue
            by = beyond(by)
            if (
                not by.ins
                or by.ins[0] is not x
                or by.shape == ()
                or by.shape[: len(x.shape) - 1] != x.shape[:-1]
            ):
                continue
            if v.op == "sub" and by.op in ("logsumexp", "logsumexp_dims"):
                soft = _soft(x)
                if soft is not None:
                    seen.add((SCORES, v.place, soft))
            elif v.op == "div" and by.op in SUMS and beyond(x, PASSED).op in LOGS:
                seen.add((PROBABILITIES, v.place, beyond(x, PASSED)))
        for kind, place, soft in seen:
            entry = self.times.setdefault((kind, place), [set(), soft, self.ev.blamed(soft), soft.module])
            entry[0].add(p.number)

    def findings(self) -> Iterator[Finding]:
        """Say where it is made."""
        for (kind, place), (looks, soft, behind, module) in self.times.items():
            if len(looks) < LOOKS:
                continue
            op = soft.op.strip("_")
            scores = kind == SCORES
            yield self.found(
                "The distribution takes scores, and is given probabilities: a softmax is applied twice."
                if scores
                else "The distribution takes probabilities, and is given their logarithms: it turns them around.",
                place,
                "takes scores" if scores else "takes probabilities",
                also=(behind, "makes probabilities" if scores else "makes logarithms"),
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[("looks", len(looks)), ("what it is given comes from", op)],
                confirm=("x.sum(-1)", "1 in each row") if scores else ("x.max()", "0 or less"),
                unless="bounded scores are wanted." if scores else "",
                advice="Give them as probs=, or leave the softmax out."
                if scores
                else "Give them as logits=.",
                weight=7.0,
                explains=("learns nothing", "too small", "one class", "bounded"),
            )
            return


def _soft(x: Value) -> Value | None:
    """What made probabilities of a value; None where they are none."""
    v = beyond(x, PASSED)
    if v.op in SOFT:
        return v
    made = v.op == "div" or (v.op == "exp" and bool(v.parents) and beyond(v.parents[0]).op in LOGS)
    d = array(x)
    if not made or d is None or not d.size or d.dtype.kind != "f":
        return None
    rows = d.reshape(-1, d.shape[-1])[:64]
    if float(rows.min()) < 0 or not bool((abs(rows.sum(-1, dtype=np.float64) - 1) < 1e-3).all()):
        return None
    return v


RULES = (GivenChances,)
