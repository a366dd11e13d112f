"""Schedules of learning rates: factors that are rates, measures that are watched the wrong way.

Invariant: what a scheduler did is read from the rates that the optimizer stepped with, and from what it was given.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line, cell_of
from ..course import Course
from ..finding import LINEAGE, MEASURED, WRONG, Finding, number
from ..ledger import Ledger
from ..written import given, returned, tree_of
from .base import Rule
from .bookkeeping import first_and_last

LOW = 0.05  # of the rate it was made with
SCORES = (
    "acc",
    "score",
    "f1",
    "auc",
    "iou",
    "dice",
    "psnr",
    "bleu",
    "r2",
    "recall",
    "precision",
    "reward",
    "correct",
)
HARMS = ("loss", "err", "mse", "mae", "rmse", "perplexity", "ppl")


class RateAsFactor(Rule):
    """A function of LambdaLR gives a learning rate where a factor is asked for, or one that never comes near 1.

    Meaning: LambdaLR multiplies the rate that the optimizer was made with by what its function gives.
    Fires: when a LambdaLR has been stepped four times or more, in twelve steps of its optimizer or more, and the
    largest rate of any group, at any of these steps, was less than a twentieth of what the group was made with; or
    less than half of it, rising to the end, where the scheduler took fewer than half as many steps as the optimizer;
    or when the first steps, five or more and no more than half, had a rate of 0, the next one at least half of the
    largest, and the function of the first group divides its argument, not within a power, by `//` and the number of
    those steps, or one more.
    Wrong if: the optimizer's rate is a scale of its own, such as 1 for a function that gives rates; then they are
    large enough.
    Healthy programs tried: warm-up and cosine factors, warm-ups that begin at 0 or rise in steps, late starts,
    functions that give rates to an optimizer made with 1, groups with factors of their own.
    """

    name, title, certainty, severity, cheap = (
        "rate as factor",
        "factors of learning rates",
        LINEAGE,
        WRONG,
        True,
    )

    def findings(self) -> Iterator[Finding]:
        """Say where the function ends."""
        for one, count, _ in self.ev.schedulers.values():
            ledger = self.ev.ledgers.get(id(getattr(one, "optimizer", None)))
            if type(one).__name__ != "LambdaLR" or ledger is None or count < 4 or len(ledger.rates) < 12:
                continue
            cut = _cut(one, ledger.rates)
            if cut is not None:
                yield self._cut_off(one, *cut, ledger)
                continue
            bases = [float(base) for base in one.base_lrs]
            groups = [float(group["lr"]) for group in one.optimizer.param_groups]
            share = max(ledger.rates) / bases[0] if bases[0] > 0 else 1.0
            others = [rate / base for rate, base in zip(groups[1:], bases[1:], strict=False) if base > 0]
            seldom = count < 0.5 * len(ledger.rates) and _climbs(ledger.rates) and share < 0.5
            if seldom and max(others, default=0.0) < 0.5 and bases[0] < 0.5:
                yield self._seldom(one, count, ledger, share, bases[0])
                continue
            if share >= LOW or max(others, default=0.0) >= LOW or not share or bases[0] >= 0.5:
                continue
            made = self.ev.origins.get(id(one))
            function = one.lr_lambdas[0]
            line = returned(function)
            rate = share <= 2 * bases[0]
            yield self.found(
                f"LambdaLR multiplies the learning rate by {number(share)} at most: it never comes above "
                f"{number(max(ledger.rates))}, of {number(bases[0])}.",
                line if line is not None else None if made is None else made[2],
                "gives a rate" if rate else "stays small",
                also=None if made is None or line is None else (made[2], "takes factors"),
                proof=[
                    ("steps", len(ledger.rates)),
                    ("largest factor", number(share)),
                    ("rate the optimizer was made with", number(bases[0])),
                    first_and_last(ledger.rates),
                ],
                confirm=(
                    "max(scheduler.lr_lambdas[0](i) for i in range(steps))",
                    f"{number(share)}, not about 1",
                ),
                unless="so small a rate is meant.",
                advice="Give back a factor, 1 at its height: without the learning rate in it."
                if rate
                else "Make the warm-up shorter than the run.",
                weight=7.0,
                explains=("learns nothing", "too small", "rate"),
            )

    def _cut_off(self, one: Any, line: Line, zeros: int, ledger: Ledger) -> Finding:
        made = self.ev.origins.get(id(one))
        return self.found(
            f"The warm-up is divided by //: the learning rate is 0 in the first {zeros} steps, and whole at once then.",
            line,
            "cuts off",
            also=None if made is None or self.ev.line(made[2]) == line else (made[2], "takes factors"),
            proof=[
                ("steps", len(ledger.rates)),
                ("first steps with a rate of 0", zeros),
                ("rate after these", number(ledger.rates[zeros])),
            ],
            confirm=(f"[scheduler.lr_lambdas[0](i) for i in range({zeros + 1})]", "0, and 1 at the end"),
            unless="the run is to wait so long.",
            advice="Divide by / instead.",
            weight=6.0,
            explains=("rate", "too small"),
        )

    def _seldom(self, one: Any, count: int, ledger: Ledger, share: float, base: float) -> Finding:
        made = self.ev.origins.get(id(one))
        return self.found(
            f"LambdaLR takes {count} steps while its optimizer takes {len(ledger.rates)}: the run "
            f"ends in its warm-up, at {number(100 * share)} % of the learning rate.",
            self.ev.schedulers[id(one)][2],
            "too seldom",
            also=None if made is None else (made[2], "made for batches"),
            proof=[
                ("steps of the optimizer", len(ledger.rates)),
                ("steps of the scheduler", count),
                ("rate the optimizer was made with", number(base)),
                first_and_last(ledger.rates),
            ],
            confirm=("scheduler.get_last_lr()", number(ledger.rates[-1])),
            unless="the run was ended long before its end.",
            advice="Step it after every step of the optimizer.",
            weight=7.0,
            explains=("learns nothing", "too small", "rate"),
        )


def _cut(one: Any, rates: list[float]) -> tuple[Line, int] | None:
    """The line that makes a warm-up 0 by a `//`, and how many steps have a rate of 0; None where none does."""
    zeros = next((i for i, rate in enumerate(rates) if rate > 0), 0)
    if not 5 <= zeros <= 0.5 * len(rates) or rates[zeros] < 0.5 * max(rates):
        return None
    function = one.lr_lambdas[0]
    code = getattr(function, "__code__", None)
    tree = None if code is None else tree_of(code.co_filename)
    if tree is None or code is None or not code.co_varnames:
        return None
    step = code.co_varnames[0]
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)) or node.lineno != code.co_firstlineno:
            continue
        powers = {id(x) for n in ast.walk(node) if _is(n, ast.Pow) for x in ast.walk(n)}
        for n in ast.walk(node):
            if not _is(n, ast.FloorDiv) or id(n) in powers or not isinstance(n, ast.BinOp):
                continue
            divided = any(isinstance(x, ast.Name) and x.id == step for x in ast.walk(n.left))
            if divided and _number(n.right, function) in (zeros, zeros + 1):
                file = code.co_filename
                text = linecache.getline(file, n.lineno).strip()
                return Line(file, n.lineno, code.co_name, text, cell_of(file)), zeros
    return None


def _is(node: ast.AST, op: type[ast.operator]) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, op)


def _number(node: ast.expr, function: Any) -> Any:
    """What a number or a variable is within a function; None where it is neither."""
    if isinstance(node, ast.Constant):
        return node.value
    if not isinstance(node, ast.Name):
        return None
    names = function.__code__.co_freevars
    if node.id in names:
        return function.__closure__[names.index(node.id)].cell_contents
    return function.__globals__.get(node.id)


def _climbs(rates: list[float]) -> bool:
    """Whether a learning rate only rises, to its last step."""
    return rates[-1] > rates[0] and all(b >= a for a, b in itertools.pairwise(rates))


class WatchedWrongWay(Rule):
    """ReduceLROnPlateau waits for a measure to fall that rises as the training goes well, or the other way round.

    Meaning: with mode="min" each measure that is not lower than the best is a bad one, and lowers the rate.
    Fires: when the scheduler was given eight measures or more and has lowered the rate at least twice; of pairs of
    measures that differ three in four went the way it calls bad; the loss of the run fell by a twentieth or more
    meanwhile; and the program calls the measure a score (accuracy, F1, IoU, reward and their like)
    while the scheduler waits for it to fall, or an error while it waits for it to rise.
    Wrong if: the name says otherwise than what it holds.
    Healthy programs tried: losses with mode="min", accuracies with mode="max", plateaus, validation losses that rise.
    """

    name, title, certainty, severity = "watched wrong way", "measures of schedulers", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Compare what it was given with what it waits for."""
        for one, _, place in self.ev.schedulers.values():
            seen = self.ev.reported.get(id(one), [])
            ledger = self.ev.ledgers.get(id(getattr(one, "optimizer", None)))
            if len(seen) < 8 or ledger is None or not np.all(np.isfinite(seen)):
                continue
            lowered = sum(b < a for a, b in zip(ledger.rates, ledger.rates[1:], strict=False))
            course = Course(self.ev)
            sign = 1 if one.mode == "min" else -1
            ahead = [
                np.sign(b - a) * sign for i, a in enumerate(seen[:200]) for b in seen[i + 1 : 200] if a != b
            ]
            wrong = float(np.mean(ahead)) if ahead else 0.0
            fell = course.known and course.late < 0.95 * abs(course.first)
            called = given(self.ev.line(place), "step").lower()
            named = any(word in called for word in (SCORES if sign > 0 else HARMS))
            if lowered < 2 or wrong < 0.5 or not fell or not named:
                continue
            made = self.ev.origins.get(id(one))
            better = "rises" if sign > 0 else "falls"
            yield self.found(
                f'ReduceLROnPlateau(mode="{one.mode}") is given a measure that {better} as the loss falls: it lowered '
                f"the learning rate {lowered} times.",
                place if made is None else made[2],
                "waits the wrong way",
                also=None if made is None else (place, "is given it"),
                proof=[
                    ("measure, first and last", f"{number(seen[0])}, {number(seen[-1])}"),
                    ("times it lowered the rate", lowered),
                    first_and_last(ledger.rates),
                    course.ends(),
                ],
                confirm=("scheduler.mode, scheduler.num_bad_epochs", f"'{one.mode}', bad ones only"),
                unless="the measure is one of harm.",
                advice=f'Make it with mode="{"max" if sign > 0 else "min"}", or give it the loss.',
                weight=6.0,
                explains=("too small", "rate"),
            )


RULES = (RateAsFactor, WatchedWrongWay)
