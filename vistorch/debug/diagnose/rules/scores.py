"""What a loss is given: scores that cannot part, samples beside themselves, sides that are exchanged.

Invariant: bounds of scores are those of cosines, which are known whatever the weights are.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, Value, ancestors, beyond
from ..finding import EXACT, LINEAGE, WRONG, Finding, number
from ..heads import CLASSES, Head, array, outside, signed
from ..written import tree_of
from .base import Counting
from .data import indices
from .meaning import Heads

FLAT = 0.4  # of the loss of one who knows nothing
PRODUCTS = ("mm", "bmm", "matmul", "addmm", "einsum", "baddbmm")
NORMS = ("vector_norm_dims", "linalg_vector_norm", "norm", "norm_dims")
SIZES = ("pow", "square", "abs", "vector_norm_dims", "vector_norm_all", "linalg_vector_norm", "norm")
LESS_ONE = re.compile(r"-\s*1(\.0*)?\s*\)")  # (q - 1)


class FlatScores(Heads):
    """Scores are cosines times a number so small that the softmax over them stays nearly even.

    Meaning: cosines lie between -1 and 1; a softmax over n of them, times s, costs log(1 + (n - 1) exp(-2 s)) at
    best.
    Fires: when in four looks, the last of them included, a cross entropy takes products of normalised vectors, times
    numbers or not, and the least it could cost at the size they have is more than four tenths of log(n).
    Wrong if: few of the scores are meant to part.
    Healthy programs tried: cosines divided by a temperature, scales that are learned, cosines of few classes,
    margins.
    """

    name, title, certainty, severity = "flat scores", "cosines given as scores", LINEAGE, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Follow the scores to a product of unit vectors."""
        scores = array(head.prediction)
        if head.kind != CLASSES or scores is None or scores.ndim < 2 or not scores.size:
            return
        v, scaled = head.prediction, None
        for _ in range(12):
            if v.op in SHAPED and v.parents:
                v = v.parents[0]
            elif v.op in ("mul", "div") and v.parents:
                scaled = scaled or v
                v = max(v.parents, key=lambda x: int(np.prod(x.shape, dtype=int)))
            else:
                break
        if v.op not in PRODUCTS and v.op != "cosine_similarity":
            if not (v.op in ("sum_dims", "sum") and v.parents and v.parents[0].op == "mul"):
                return
        if v.op != "cosine_similarity" and not all(unit(x) for x in self._sides(v)):
            return
        n = scores.shape[1]
        with np.errstate(all="ignore"):
            size = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
        cosine = array(v)
        if cosine is None or not np.isfinite(size):
            return
        largest = float(np.abs(cosine).max(initial=0.0))
        bound = size / largest if largest > 1e-6 else 0.0  # what a cosine of 1 would give
        floor = float(np.log1p((n - 1) * np.exp(-2 * bound)))
        if n > 1 and bound and floor > FLAT * np.log(n):
            self.note(head.value.place, scaled, v, n, bound, floor, p.turn)
        else:
            self.times.pop(head.value.place, None)

    @staticmethod
    def _sides(v: Value) -> list[Value]:
        if v.op in ("sum_dims", "sum"):
            v = v.parents[0]
        return v.parents[-2:]

    def findings(self) -> Iterator[Finding]:
        """Say where they are made small."""
        for loss, (times, (scaled, product, n, bound, floor, _)) in self.times.items():
            if times < 4:
                continue
            less = scaled is not None and bound < 1
            yield self.found(
                f"The scores of {n} classes are cosines times {number(bound)}: the loss cannot come below "
                f"{number(floor)}, and log({n}) is {number(float(np.log(n)))}.",
                scaled.place if scaled is not None and less else product.place,
                "makes them small" if less else "cosines as scores",
                also=(product.place, "cosines") if less else (loss, "takes scores"),
                related=self.lines((loss, "takes scores")),
                proof=[
                    ("largest score that a cosine of 1 gives", number(bound)),
                    ("the least this loss can be", number(floor)),
                    ("log(classes)", number(float(np.log(n)))),
                    ("looks", times),
                ],
                confirm=("logits.abs().max()", f"never above {number(bound)}"),
                unless="few of the scores are meant to part.",
                advice="Divide the cosines by a temperature, such as 0.1.",
                weight=6.0,
                explains=("learns nothing", "too small"),
            )


def unit(v: Value) -> bool:
    """Whether a value is a tensor divided by a norm of its own.

    Args:
        v: which.
    """
    v = beyond(v, SHAPED | {"detach", "cat", "stack", "index", "index_select", "select"})
    if v.op in ("normalize", "renorm"):
        return True
    if v.op != "div" or len(v.parents) != 2:
        return False
    below = beyond(v.parents[1], SHAPED | {"clamp", "add", "clamp_min", "maximum", "sqrt"})
    return below.op in NORMS or (below.op in ("sum_dims", "sum") and below.parents[:1] != [])


class BesideItself(Heads):
    """Each sample stands among those it is to be kept apart from: the similarity with itself is the largest of all.

    Meaning: in a matrix of similarities of a set with itself the diagonal is each sample beside itself.
    Fires: when in three looks a cross entropy takes a product of a value with its own transpose, of 4 rows or more,
    in which the diagonal is the largest entry of nine rows of ten and not the one that is asked for; or is asked for
    in all rows.
    Wrong if: the samples themselves are to be recognised.
    Healthy programs tried: diagonals that are masked or left out, two views of a batch, apart or as halves of one
    result, prototypes.
    """

    name, title, certainty, severity = "beside itself", "samples beside themselves", LINEAGE, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Look at the diagonal."""
        scores, asked = array(head.prediction), array(head.target)
        if head.kind != CLASSES or scores is None or scores.ndim != 2 or len(scores) < 4:
            return
        if scores.shape[0] != scores.shape[1] or asked is None or asked.shape != scores.shape[:1]:
            return
        v = head.prediction
        for _ in range(12):
            if v.op in PRODUCTS or not v.parents:
                break
            v = v.parents[0]
        if v.op not in PRODUCTS or len(v.parents) < 2:
            return
        a, b = (beyond(x, SHAPED - {"slice", "select", "narrow"}) for x in v.parents[-2:])
        if a is not b:
            return
        rows = np.arange(len(scores))
        own = float(np.mean(scores.argmax(1) == rows))
        if own >= 0.9 and (np.mean(asked == rows) < 0.1 or np.all(asked == rows)):
            self.note(v.place, head.value.place, own, bool(np.all(asked == rows)))

    def findings(self) -> Iterator[Finding]:
        """Say where they meet."""
        for place, (times, (loss, own, right)) in self.times.items():
            if times >= 3:
                yield self.found(
                    "Each sample is compared with itself, and that is the right answer: nothing is to be learned."
                    if right
                    else "Each sample stands among the wrong answers to itself: the diagonal is the largest score.",
                    place,
                    "holds the diagonal",
                    also=(loss, "takes scores"),
                    proof=[("rows whose largest score is their own", f"{100 * own:.0f} %"), ("looks", times)],
                    confirm=("(logits.argmax(1) == torch.arange(len(logits))).float().mean()", number(own)),
                    unless="the samples themselves are to be recognised.",
                    advice="Compare with the other view." if right else "Set the diagonal to -inf first.",
                    weight=6.0,
                    explains=("learns nothing", "too small"),
                )


class SidesExchanged(Counting):
    """A loss whose two sides are not alike is given them in the wrong order.

    Meaning: a binary cross entropy takes probabilities first and labels second; a pinball loss takes target minus
    prediction, so that its 0.9 is the quantile with nine tenths below.
    Fires: when in three looks the first side of a binary cross entropy, with logits or not, has no gradient and the
    second has one; or when the larger of q e and (q - 1) e is taken, q - 1 being computed from q, or written so, and
    e is a value with a gradient minus one without, q being no half.
    Wrong if: never that was seen.
    Healthy programs tried: pinball losses of target minus prediction, (1 - q) and -q of prediction minus target,
    soft labels, distillation, two networks that teach each other.
    """

    name, title, certainty, severity = "sides exchanged", "sides of a loss", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Look at the ops that make the loss."""
        if p.root is None or not p.accumulates:
            return
        left = 400
        for v in ancestors(p.root, outside(p.root)):
            left -= 1
            if not left:
                break
            if v.op.startswith("binary_cross_entropy") and len(v.ins) >= 2:
                a, b = v.ins[:2]
                if a.__class__ is Value and b.__class__ is Value and b.needs and not a.needs:
                    self._count((v.place, "labels"), v.place)
            elif v.op in ("maximum", "max", "where") and len(v.parents) >= 2:
                self._pinball(v)

    def _count(self, key: Any, other: Any) -> None:
        entry = self.times.setdefault(key, [0, other])
        entry[0] += 1

    def _pinball(self, v: Value) -> None:
        a, b = v.parents[-2:]
        if a.op != "mul" or b.op != "mul":
            return
        shared = [x for x in a.parents if any(x is y for y in b.parents)]
        error = next((x for x in shared if x.op == "sub" and len(x.parents) == 2), None)
        if error is None or not error.parents[0].needs or error.parents[1].needs:
            return
        factors = [next((x for x in one.ins if x is not error), None) for one in (a, b)]
        values = [x for x in factors if isinstance(x, Value)]
        numbers = sorted(float(x) for x in factors if isinstance(x, (int, float)))
        low = next((x for x in values if x.op == "sub" and 1 in _numbers(x)), None)
        if len(numbers) == 2:
            line = self.ev.line(v.place)
            if line is None or not LESS_ONE.search(line.text) or abs(numbers[1] - numbers[0] - 1) > 1e-6:
                return
            if abs(numbers[1] - 0.5) > 1e-6:
                self._count((error.place, "quantile"), v.place)
        elif low is not None:
            other = next((x for x in values if x is not low), None)
            source = beyond(low.parents[0], SHAPED) if low.parents else None
            known = None if other is None else beyond(other, SHAPED)
            d = array(source)
            if source is known and d is not None and np.any(np.abs(d - 0.5) > 1e-6):
                self._count((error.place, "quantile"), v.place)

    def findings(self) -> Iterator[Finding]:
        """Say which."""
        for (place, kind), (times, other) in self.times.items():
            if times < 3:
                continue
            if kind == "labels":
                yield self.found(
                    "binary_cross_entropy takes predictions first and labels second, and is given them the other way.",
                    place,
                    "sides exchanged",
                    proof=[("looks", times), ("gradient of the first side", "none")],
                    confirm=("input.requires_grad, target.requires_grad", "False, True"),
                    advice="Exchange the two arguments.",
                    weight=8.0,
                    explains=("learns nothing", "too small", "odd targets", "diverges"),
                )
            else:
                yield self.found(
                    "The error is prediction minus target: q and q - 1 of it find the quantile 1 - q.",
                    place,
                    "turned round",
                    also=(other, "weighs it"),
                    proof=[("looks", times)],
                    confirm=("(target <= prediction).float().mean()", "1 - q, not q"),
                    advice="Take target minus prediction.",
                    weight=7.0,
                )


class FitTurned(Counting):
    """A loss written by hand grows as predictions come to fit: a likelihood or an overlap without its minus.

    Meaning: the likelihood of the right answers, and the overlap with a mask, are to become large; a loss is what
    becomes small.
    Fires: when in three looks a loss holds, with a positive sign, log-probabilities (log_softmax, logsigmoid, or the
    logarithm of a softmax or a sigmoid) times targets of 0 and 1, or picked by the classes that are asked for; or a
    quotient whose numerator holds a softmax or a sigmoid times such targets; in a run in which one optimizer steps.
    Wrong if: what is asked for is what should not be.
    Healthy programs tried: cross entropies, Dice and focal losses by hand, policy gradients, contrastive losses,
    label smoothing, entropy bonuses.
    """

    name, title, certainty, severity = "fit turned", "losses written by hand", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Follow the signs to what fits."""
        if p.root is None or not p.accumulates:
            return
        for v, sign, _ in signed(p.root):
            if sign > 0 and (self._likelihood(v) or self._overlap(v)):
                entry = self.times.setdefault((p.root.place, v.op == "div"), [0, v.place])
                entry[0] += 1
                return

    def _likelihood(self, v: Value) -> bool:
        if v.op == "mul" and len(v.parents) == 2:
            return any(_logs(x) and _zero_one(y) for x, y in (v.parents, v.parents[::-1]))
        if v.op in ("gather", "index", "advanced_index", "getitem") and v.parents and _logs(v.parents[0]):
            return indices(v) is not None and v.shape != () and not any(_drawn(x) for x in v.parents[1:])
        return False

    @staticmethod
    def _overlap(v: Value) -> bool:
        if v.op != "div" or len(v.parents) != 2 or not v.parents[1].needs:
            return False
        for x, sign, _ in signed(v.parents[0], 24):
            if sign > 0 and x.op == "mul" and len(x.parents) == 2:
                if any(_soft(a) and _zero_one(b) for a, b in (x.parents, x.parents[::-1])):
                    return True
        return False

    def findings(self) -> Iterator[Finding]:
        """Say where it ends."""
        if len([one for one in self.ev.ledgers.values() if one.steps]) != 1:
            return
        for (place, overlap), (times, inner) in self.times.items():
            if times >= 3:
                what = "an overlap with the targets" if overlap else "the likelihood of the right answers"
                yield self.found(
                    f"The loss is {what} itself: each step makes it smaller.",
                    place,
                    "lacks its minus",
                    also=(inner, "an overlap" if overlap else "a likelihood"),
                    proof=[("looks", times)],
                    confirm=("the loss over the steps, and how well predictions fit", "both fall"),
                    unless="what is asked for is what should not be.",
                    advice="Take 1 minus it." if overlap else "Put a minus before it.",
                    weight=7.0,
                    explains=("learns nothing", "diverges", "course", "dead units", "saturated", "one class"),
                )
                return


def _logs(v: Value) -> bool:
    """Whether a value is log-probabilities."""
    v = beyond(v, SHAPED)
    if v.op in ("log_softmax", "logsigmoid", "log_sigmoid"):
        return v.needs
    return (
        v.op == "log"
        and v.needs
        and bool(v.parents)
        and _soft(beyond(v.parents[0], SHAPED | {"clamp", "add"}))
    )


def _soft(v: Value) -> bool:
    v = beyond(v, SHAPED)
    return v.op in ("softmax", "sigmoid", "_softmax") and v.needs


def _zero_one(v: Value) -> bool:
    """Whether a value is targets of 0 and 1 that were given, and not computed."""
    d = array(v)
    if (
        d is None
        or v.needs
        or not d.size
        or beyond(v, SHAPED).op in ("sub", "rsub", "bitwise_not", "logical_not")
    ):
        return False
    return set(np.unique(d.reshape(-1)[:4096]).tolist()) == {0, 1}


def _drawn(v: Value) -> bool:
    """Whether indices were drawn in this turn, as actions are."""
    v = beyond(v, SHAPED)
    return v.op in ("multinomial", "bernoulli") or (v.op == "source" and v.place is None and v.tensor is None)


class OtherPick(Counting):
    """Probabilities are normalised along one axis, and the answers are picked along another.

    Meaning: what is picked by class has to sum to 1 over the classes.
    Fires: when in three looks log-probabilities of three axes or more, or of two, normalised along one of them, are
    picked from along another by gather or a negative log likelihood, with nothing between but reshapes that leave the
    last axis; or when in three looks probabilities of four axes or more are multiplied by as many numbers without a
    gradient, each 0 or 1, that sum to 1 along axis 1 and not along another one, that of the softmax, along which the
    probabilities do.
    Wrong if: places compete, and not classes.
    Healthy programs tried: cross entropies by hand over tokens and pixels, overlaps of each class, pointers,
    attention.
    """

    name, title, certainty, severity = "other pick", "axes of log-probabilities", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Compare the axes."""
        if p.root is None or not p.accumulates:
            return
        for v in itertools.islice(ancestors(p.root, outside(p.root)), 400):
            likely = v.op.startswith("nll_loss")
            if v.op == "mul" and len(v.parents) == 2 and len(v.shape) >= 4:
                self._marked(v)
            if not likely and v.op not in ("gather", "take_along_dim"):
                continue
            given = v.parents[0] if v.parents else v
            before = beyond(given, frozenset(("view", "reshape", "flatten", "contiguous", "clone")))
            if before.op not in ("log_softmax", "softmax") or not before.consts or len(before.shape) < 2:
                continue
            rank = len(before.shape)
            over = before.consts[0] % rank
            if given is before:
                picked = (
                    1 if likely else (v.consts[0] if v.consts and isinstance(v.consts[0], int) else over)
                ) % rank
            elif given.shape[-1] == before.shape[-1] and likely and len(given.shape) == 2:
                picked = rank - 1
            else:
                continue
            if picked != over:
                entry = self.times.setdefault(before.place, [0, v.place, before.shape, over, picked])
                entry[0] += 1

    def _marked(self, v: Value) -> None:
        """Probabilities times marks of the right classes."""
        for given, marks in (v.parents, v.parents[::-1]):
            before = beyond(given, frozenset(("contiguous", "clone")))
            if before.op != "softmax" or not before.consts or marks.needs or marks.shape != before.shape:
                continue
            over, d, q = before.consts[0] % len(before.shape), array(marks), array(before)
            if over == 1 or d is None or q is None or d.shape[1] < 2 or abs(q.sum(over) - 1).max() > 1e-3:
                continue
            if not ((d == 0) | (d == 1)).all():
                continue
            if (d.sum(1) == 1).all() and not (d.sum(over) == 1).all():
                entry = self.times.setdefault(before.place, [0, v.place, before.shape, over, 1])
                entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, pick, shape, over, picked) in self.times.items():
            if times >= 3:
                size = " × ".join(map(str, shape))
                yield self.found(
                    f"Probabilities of {size} sum to 1 along axis {over}, and answers are picked along axis {picked}.",
                    place,
                    f"along axis {over}",
                    also=(pick, f"along axis {picked}"),
                    proof=[("looks", times), ("shape", size)],
                    confirm=(f"out.exp().sum({picked})", "not 1"),
                    unless="places compete, and not classes.",
                    advice=f"Normalise along axis {picked}: dim={'-1' if picked == len(shape) - 1 else picked}.",
                    weight=7.0,
                    explains=("learns nothing", "too small", "no logs"),
                )


class ThroughNothing(Counting):
    """The whole of a straight-through sum is detached, and not the difference: no gradient goes through.

    Meaning: z + (q - z).detach() is q in its value and z in its gradient; (z + (q - z)).detach() has none.
    Fires: when in three looks a value is detached that is z plus the difference of something and z, and z has a
    gradient.
    Wrong if: only the value is wanted; then the sum says nothing more than q.
    Healthy programs tried: straight-through estimators, codes that are looked up, averages that are detached.
    """

    name, title, certainty, severity = "through nothing", "straight-through sums", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at what is detached."""
        if p.root is None or not p.accumulates:
            return
        for v in itertools.islice(ancestors(p.root), 1500):
            if v.op in ("detach", "data", "no history") and v.ins and v.ins[0].__class__ is Value:
                total = beyond(v.ins[0])
                if total.op != "add" or len(total.parents) != 2:
                    continue
                for z, step in (total.parents, total.parents[::-1]):
                    if z.needs and step.op == "sub" and len(step.parents) == 2 and step.parents[1] is z:
                        entry = self.times.setdefault(total.place, [0, v.place])
                        entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, cut) in self.times.items():
            if times >= 3:
                yield self.found(
                    "The whole sum is detached, and not the difference: no gradient goes through.",
                    place,
                    "detaches all",
                    also=(cut, "detaches"),
                    proof=[("looks", times)],
                    confirm=("the sum's requires_grad", "False"),
                    unless="only the value is wanted.",
                    advice="Detach the difference alone: z + (q - z).detach().",
                    weight=6.0,
                    explains=("too small",),
                )


class SpreadForVariance(Counting):
    """A likelihood that takes a variance is given a deviation, or one that takes a deviation a variance.

    Meaning: `gaussian_nll_loss` takes variances; `Normal` takes deviations.
    Fires: when in three looks the loss comes from a line that gives `gaussian_nll_loss`, or a `GaussianNLLLoss`, as
    its third argument something that the program calls a sigma, a std, a deviation or a scale, neither squared nor
    exponentiated there; or that gives `Normal` as its second argument something called a variance or its logarithm,
    as it is.
    Wrong if: the name says otherwise than what it holds.
    Healthy programs tried: squares of deviations, roots of variances, exponentials of logarithms.
    """

    name, title, certainty, severity = "spread for variance", "deviations and variances", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.lines: dict[str, dict[int, tuple[str, str]]] = {}

    def at_look(self, p: Any) -> None:
        """Whether the loss comes from such a line."""
        if p.root is None or not p.accumulates:
            return
        found = set()
        for v in itertools.islice(ancestors(p.root, outside(p.root)), 200):
            if v.place is None or v.place[0].co_filename not in self.lines:
                if v.place is None:
                    continue
                self.lines[v.place[0].co_filename] = _spreads(v.place[0].co_filename)
            known = self.lines[v.place[0].co_filename]
            line = self.ev.line(v.place) if known else None
            if line is not None and line.line in known:
                found.add(line)
        for line in found:
            self.times[line] = self.times.get(line, 0) + 1

    def findings(self) -> Iterator[Finding]:
        """Say which."""
        for line, times in self.times.items():
            if times >= 3:
                given, wanted = self.lines[line.file][line.line]
                yield self.found(
                    f"The likelihood takes a {wanted}, and is given {given}.",
                    line,
                    f"takes a {wanted}",
                    proof=[("looks", times), ("given", given)],
                    confirm=("the share of targets within 1.96 deviations", "not 0.95"),
                    unless="the name says otherwise than what it holds.",
                    advice=f"Give it {given} ** 2."
                    if wanted == "variance"
                    else f"Give it the root of {given}.",
                    weight=5.0,
                )


def _spreads(file: str) -> dict[int, tuple[str, str]]:
    """By line: what a likelihood is given there by a name that says otherwise, and what it takes."""
    tree = tree_of(file)
    found: dict[int, tuple[str, str]] = {}
    if tree is None:
        return found
    made = {
        ast.unparse(t)
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign)
        and isinstance(n.value, ast.Call)
        and "GaussianNLLLoss" in ast.unparse(n.value.func)
        for t in n.targets
    }
    for n in ast.walk(tree):
        if not isinstance(n, ast.Call):
            continue
        called = ast.unparse(n.func)
        if called.rpartition(".")[2] == "gaussian_nll_loss" or called in made:
            given = next(
                (k.value for k in n.keywords if k.arg == "var"), n.args[2] if len(n.args) > 2 else None
            )
            wanted, wrong = "variance", r"sigma|std|deviation|scale|spread"
        elif called.rpartition(".")[2] == "Normal":
            given = next(
                (k.value for k in n.keywords if k.arg == "scale"), n.args[1] if len(n.args) > 1 else None
            )
            wanted, wrong = "deviation", r"var"
        else:
            continue
        if isinstance(given, (ast.Name, ast.Attribute)) and re.search(wrong, ast.unparse(given).lower()):
            for at in range(n.lineno, (n.end_lineno or n.lineno) + 1):
                found[at] = ast.unparse(given), wanted
    return found


class PenaltyTurned(Counting):
    """A penalty on the weights is taken off the loss: large weights are rewarded.

    Meaning: a penalty is added, so that the optimizer keeps what it measures small.
    Fires: when in three looks a square, an absolute value or a norm of a parameter that an optimizer holds stands in
    the loss with a negative sign, followed through sums, means and products with numbers, in a run in which one
    optimizer steps.
    Wrong if: weights are to grow.
    Healthy programs tried: added penalties, losses written by hand, policy gradients, likelihoods with a variance.
    """

    name, title, certainty, severity = "penalty turned", "penalties on weights", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Follow the signs to the penalties."""
        if p.root is None or not p.accumulates:
            return
        found = set()
        for v, sign, place in signed(p.root):
            if (
                v.op in SIZES
                and v.parents
                and v.parents[0].tensor is not None
                and v.parents[0].needs
                and sign < 0
            ):
                found.add(place)
        for place in found:
            if place is not None:
                self.times[place] = self.times.get(place, 0) + 1

    def findings(self) -> Iterator[Finding]:
        """Say where the sign is turned."""
        active = [one for one in self.ev.ledgers.values() if one.steps]
        for place, times in self.times.items():
            if times >= 3 and len(active) == 1:
                yield self.found(
                    "A penalty on the weights is taken off the loss: each step makes them larger.",
                    place,
                    "takes it off",
                    proof=[("looks", times)],
                    confirm=("sum(p.pow(2).sum() for p in model.parameters()), over the steps", "it grows"),
                    unless="weights are to grow.",
                    advice="Add it.",
                    weight=6.0,
                    explains=("diverges", "course"),
                )
                return


def _numbers(v: Value) -> list[float]:
    return [float(x) for x in v.ins if x.__class__ is not Value]


RULES = (
    FlatScores,
    BesideItself,
    SidesExchanged,
    FitTurned,
    OtherPick,
    ThroughNothing,
    SpreadForVariance,
    PenaltyTurned,
)
