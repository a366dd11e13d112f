"""What losses take: logarithms, and lists of labels, where they are given rates, scores, or marks.

Invariant: what a loss is given is read from its history and its numbers; a name accuses nobody.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, Value, ancestors, beyond
from ..finding import EXACT, LINEAGE, WRONG, Finding, number
from ..heads import array, outside
from .base import Counting

LOOKS = 3
SEEN = 4000  # values of a loss that are looked at
ROWS = 256
RATES = ("exp", "softplus", "relu", "square", "abs")  # what makes rates of scores


def counts(v: Value) -> tuple[Value, Value] | None:
    """What a Poisson loss that takes logarithms is given: predictions and counts; None for all else.

    Args:
        v: of a loss.
    """
    if v.op == "poisson_nll_loss":
        return (v.parents[0], v.parents[1]) if v.consts[:1] == (True,) and len(v.parents) > 1 else None
    if v.op == "sub" and len(v.parents) == 2:  # exp(x) - y * x
        e, product = v.parents
        if e.op == "exp" and product.op == "mul" and len(product.parents) == 2:
            x = e.ins[0]
            for a, b in (product.parents, product.parents[::-1]):
                if a is x and not b.needs:
                    return a, b
    return None


def positive(v: Value) -> Value | None:
    """The op that makes a value positive, behind those that keep it so; None where none does."""
    for _ in range(8):
        v = beyond(v)
        numbers = [float(x) for x in v.ins if x.__class__ is not Value]
        if v.op in RATES or (v.op == "pow" and numbers == [2.0]):
            return v
        parents = v.parents
        if not parents:
            return None
        if v.op in ("add", "mul", "div") and len(parents) == 1 and all(x >= 0 for x in numbers):
            v = parents[0]
        elif v.op in ("mul", "div") and len(parents) == 2 and parents[0].needs != parents[1].needs:
            d = array(next(x for x in parents if not x.needs))
            if d is None or not d.size or float(d.min()) < 0 or (v.op == "div" and not parents[0].needs):
                return None
            v = next(x for x in parents if x.needs)
        elif v.op in ("clamp", "clamp_min"):
            v = parents[0]
        else:
            return None
    return None


class RatesForLogs(Counting):
    """A Poisson loss that takes logarithms of rates is given rates.

    Meaning: `PoissonNLLLoss` takes logarithms unless `log_input=False`: it takes the exponential itself.
    Fires: when in three looks, and in all, what it is given comes from an exponential, a softplus, a relu, a square
    or an absolute value, behind nothing but reshapes, products and quotients with what is nowhere negative, sums with
    positive numbers and clamps; and some of the counts are 0, which the exponential of a positive number cannot meet,
    or it is an exponential. A loss written by hand, exp(x) - y * x, counts as well.
    Wrong if: rates below 1 are not to be.
    Healthy programs tried: scores, `log_input=False` with rates, logarithms of rates, scores that are clamped, offsets
    of exposures.
    """

    name, title, certainty, severity = "rates for logs", "rates of Poisson losses", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at what is given."""
        if p.root is None or not p.accumulates:
            return
        for v in itertools.islice(ancestors(p.root, outside(p.root)), SEEN):
            given = counts(v)
            if given is None or v.place is None or not given[0].needs:
                continue
            made, d = positive(given[0]), array(given[1])
            entry = self.times.setdefault(v.place, [0, 0, False, None])
            entry[0] += 1
            if made is not None and d is not None and d.size:
                entry[1] += 1
                entry[2] = entry[2] or made.op == "exp" or bool((d == 0).any())
                entry[3] = (made.op, self.ev.blamed(made), made.place)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (looks, times, below, made) in self.times.items():
            if times < LOOKS or times < looks or not below:
                continue
            op, blamed, used = made
            yield self.found(
                f"A Poisson loss takes logarithms of rates, and is given the result of {op}: rates.",
                place,
                "takes logarithms",
                also=(blamed if blamed is not None else used, "makes rates"),
                proof=[("looks", times), ("of them given what is positive by", op)],
                confirm=("out.min()", "not below 0"),
                unless="rates below 1 are not to be.",
                advice=f"Give it log_input=False, or leave {op} out.",
                weight=6.0,
                explains=("too small", "learns nothing", "dead units"),
            )
            return


class PathsNoLogs(Counting):
    """The loss of label sequences is given something that is no log-probability.

    Meaning: `ctc_loss` takes log-probabilities over the last of its axes, and does not normalise them.
    Fires: when in three looks, and in all, the sums of the exponentials over the last axis differ from 1 by more than
    a tenth, on average over the first 256 steps.
    Wrong if: never that was seen.
    Healthy programs tried: `log_softmax` over the classes, logarithms of probabilities, `CTCLoss` and `ctc_loss`.
    """

    name, title, certainty, severity = "paths without logs", "scores of label sequences", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Sum the exponentials."""
        if p.root is None or not p.accumulates:
            return
        for v in itertools.islice(ancestors(p.root, outside(p.root)), SEEN):
            if v.op != "ctc_loss" or not v.parents or v.place is None:
                continue
            d = array(v.parents[0])
            if d is None or d.ndim < 2 or d.shape[-1] < 2:
                continue
            rows = d.reshape(-1, d.shape[-1])[:ROWS].astype(np.float64)
            with np.errstate(all="ignore"):
                off = float(np.mean(np.abs(np.exp(rows).sum(1) - 1)))
            if not np.isfinite(rows).all() and not off <= 0.1:
                continue
            entry = self.times.setdefault(v.place, [0, 0, 0.0, "", None])
            entry[0] += 1
            if off > 0.1:
                entry[1] += 1
                near = bool((rows >= 0).all()) and float(np.mean(np.abs(rows.sum(1) - 1))) < 0.01
                a = beyond(v.parents[0], SHAPED)
                other = a.op == "log_softmax"
                entry[2:] = off, "probabilities" if near else "another axis" if other else "scores", a.place

    def findings(self) -> Iterator[Finding]:
        """Say what it is given."""
        for place, (looks, times, off, what, behind) in self.times.items():
            if times < LOOKS or times < looks:
                continue
            given = "logarithms over another axis" if what == "another axis" else what
            yield self.found(
                f"ctc_loss takes log-probabilities over its last axis, and is given {given}.",
                place,
                "takes logs",
                also=(behind, "makes them"),
                proof=[("sum of exp over the classes, off 1 by", number(off)), ("looks", times)],
                confirm=("out.exp().sum(-1)", "not 1"),
                advice="Give it out.log_softmax(-1).",
                weight=6.0,
                explains=("learns nothing", "too small", "diverges", "course"),
            )
            return


class MarksForLabels(Counting):
    """A loss of several labels is given marks of 0 and 1 where it takes numbers of classes, or the other way round.

    Meaning: `multilabel_margin_loss` takes, in each row, the numbers of the classes that are right, and -1 after the
    last; `multilabel_soft_margin_loss` takes marks of 0 and 1.
    Fires: when in three looks, and in all, the first is given, with three classes or more, nothing but 0 and 1, so
    that a class comes twice; or the targets of the second go beyond 0 to 1 by more than 0.01.
    Wrong if: never that was seen.
    Healthy programs tried: lists of classes that end with -1, marks, smoothed marks.
    """

    name, title, certainty, severity = "marks for labels", "targets of several labels", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Look at the targets."""
        if p.root is None or not p.accumulates:
            return
        for v in itertools.islice(ancestors(p.root, outside(p.root)), SEEN):
            found = None
            if v.op == "multilabel_margin_loss" and len(v.parents) >= 2:
                d = array(v.parents[1])
                if d is not None and d.ndim == 2 and d.shape[1] > 2:
                    marks = bool(((d == 0) | (d == 1)).all())
                    found = "multilabel_margin_loss takes numbers of classes, and is given marks of 0 and 1."
                    found = found if marks else ""
            elif (d := array(_marks(v))) is not None and d.size:
                low, high = float(d.min()), float(d.max())
                found = "multilabel_soft_margin_loss takes marks of 0 and 1, and is given "
                found = f"{found}{number(low)} to {number(high)}." if low < -0.01 or high > 1.01 else ""
            if found is None or v.place is None:
                continue
            entry = self.times.setdefault(v.place, [0, 0, "", v.op])
            entry[0] += 1
            entry[1] += bool(found)
            entry[2] = found or entry[2]

    def findings(self) -> Iterator[Finding]:
        """Say which."""
        for place, (looks, times, text, op) in self.times.items():
            if times >= LOOKS and times == looks:
                margin = op == "multilabel_margin_loss"
                yield self.found(
                    text,
                    place,
                    "takes other targets",
                    proof=[("looks", times)],
                    confirm=("target.unique()", "0, 1" if margin else "beyond 0 to 1"),
                    advice="Use multilabel_soft_margin_loss, or binary_cross_entropy_with_logits."
                    if margin
                    else "Give it 1 for each class that is right, and 0 for the others.",
                    weight=7.0,
                    explains=("learns nothing", "too small"),
                )
                return


def _marks(v: Value) -> Value | None:
    """The targets of a soft margin loss of several labels; None where a value is none."""
    if v.op == "multilabel_soft_margin_loss":
        return v.parents[1] if len(v.parents) > 1 else None
    if v.op == "add" and len(v.parents) == 2 and all(x.op == "mul" for x in v.parents):
        one, other = v.parents  # y * log_sigmoid(x) + (1 - y) * log_sigmoid(-x)
        if len(one.parents) == 2 and len(other.parents) == 2 and other.parents[0].op in ("rsub", "sub"):
            if one.parents[1].op == other.parents[1].op == "log_sigmoid":
                y = one.parents[0]
                if any(x is y for x in other.parents[0].parents) and not y.needs:
                    return y
    return None


RULES = (RatesForLogs, PathsNoLogs, MarksForLabels)
