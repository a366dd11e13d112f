"""Rare and frequent classes: what each weighs in the loss, and how often each is drawn.

Invariant: weights are compared with how often classes were asked for; of a data set only labels that it keeps in one
array are read, and no sample is fetched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line
from ...lineage import Value, ancestors
from ..evidence import MOVES
from ..finding import LINEAGE, WRONG, Finding, number
from ..heads import array
from ..written import argument, at_line, tree_of
from .base import Counting, Rule
from .data import indices

LEAST = 40  # targets, or samples
MANY = 1000  # classes
SLOPES = (0.4, 2.5)  # of the logarithm of weights beside that of counts: 1 where they are proportional
CLASSES = ("nll_loss", "cross_entropy")
BINARY = "binary_cross_entropy_with_logits"
SCALES = ("div", "mul")
LABELS = ("targets", "labels", "y", "target", "label", "classes", "ys")
COMPUTES = frozenset("div mul pow sqrt rsqrt reciprocal rdiv rpow log log1p exp sub add neg softmax".split())


class UpsideDown(Counting):
    """The weights of a loss grow with how frequent the classes are: the rare ones count even less.

    Meaning: weights of classes are there to make up for rare ones: they go with the inverse of the counts.
    Fires: when in three looks or more a cross entropy or a negative log likelihood was given weights, or its losses
    of single samples were multiplied by weights that were picked by the targets; 40 targets or more were seen; and
    among the classes that were asked for three times or more and whose weight is not 0 both the counts and the
    weights differ by a factor of 2 or more, their ranks correlate by 0.8 or more, and weights go with a power of 0.4
    to 2.5 of the counts; those that no op computed have to be within 35 % of that power as well, and three times the
    chance of a count. Or when a binary loss with logits was given a `pos_weight` that is a power of 0.4 to 2.5 of
    positives by negatives, where one is twice the other or more; of several labels all that are so uneven, three or
    more.
    Wrong if: answers for a rare class are to be avoided, as alarms that cost much.
    Healthy programs tried: inverse counts, their roots, negatives by positives, weights of 0 for a padding class,
    weights for classes that are about as frequent, balanced batches that are weighted by what is frequent elsewhere.
    """

    name, title, certainty, severity = "upside down", "weights of classes", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at the weights of each comparison."""
        if p.root is None or not p.accumulates:
            return
        left = 300
        for v in ancestors(p.root, lambda v: v.needs and not v.op.startswith((*CLASSES, BINARY))):
            left -= 1
            if not left:
                return
            if v.op.startswith(CLASSES) and len(v.ins) > 2:
                self._of_classes(v, v.ins[1], v.ins[2])
            elif v.op.startswith(BINARY) and len(v.ins) > 3:
                self._of_answers(v, v.ins[1], v.ins[3])
            elif v.op == "mul" and len(v.parents) == 2:
                for one, other in (v.parents, v.parents[::-1]):
                    if one.op.startswith(CLASSES) and other.op.startswith("index") and other.parents:
                        d, y = indices(other), array(one.ins[1] if len(one.parents) > 1 else None)
                        if d is not None and y is not None and np.array_equal(d, y):
                            self._of_classes(v, one.ins[1], other.parents[0])

    def _of_classes(self, v: Value, target: Any, weight: Any) -> None:
        if target.__class__ is not Value or weight.__class__ is not Value or weight.needs:
            return
        w, y = array(weight), array(target)
        if w is None or y is None or w.ndim != 1 or not 2 <= len(w) <= MANY or y.dtype.kind not in "iu":
            return
        y = y.reshape(-1)[: 1 << 16]
        ignored = v.consts[0] if v.consts and isinstance(v.consts[0], int) else -100
        y = y[(y >= 0) & (y < len(w)) & (y != ignored)]
        self._add((v.place, "classes"), v, weight, w, np.bincount(y, minlength=len(w)), 0)

    def _of_answers(self, v: Value, target: Any, weight: Any) -> None:
        if target.__class__ is not Value or weight.__class__ is not Value or weight.needs:
            return
        w, y = array(weight), array(target)
        if w is None or y is None or not y.ndim or w.size > MANY or y.dtype.kind != "f" or not y.size:
            return
        if not ((y == 0) | (y == 1)).all() or (w.size > 1 and (w.size != y.shape[-1] or w.ndim != 1)):
            return
        y = y.reshape(-1, w.size)
        yes = y.sum(0).astype(np.int64)
        self._add((v.place, "answers"), v, weight, w.reshape(-1), yes, len(y) - yes)

    def _add(self, key: Any, v: Value, weight: Value, w: Any, counts: Any, others: Any) -> None:
        entry = self.times.get(key)
        if entry is None or len(entry[1]) != len(w):
            computed, place = made_at(weight)
            known = self.ev.origins.get(id(v.module)) if not getattr(v.model, "owns", False) else None
            given = known[2] if known is not None else v.place
            zeros = np.zeros(len(w))
            entry = self.times[key] = [0, zeros, zeros.copy(), zeros.copy(), computed, place, given]
        entry[0] += 1
        entry[1] += w
        entry[2] += counts
        entry[3] += others

    def findings(self) -> Iterator[Finding]:
        """Compare weights with counts."""
        for (_, kind), (times, w, counts, others, computed, place, given) in self.times.items():
            if times < 3 or counts.sum() + others.sum() < LEAST:
                continue
            if kind == "classes":
                seen = (counts >= 3) & (w > 0)
                if not grows(w[seen] / times, counts[seen], computed):
                    continue
                most, least = (int(np.flatnonzero(seen)[i]) for i in order(counts[seen]))
                text = (
                    f"Class weights are upside down: the most frequent class, {most}, weighs "
                    f"{number(float(w[most] / w[least]))} times as much as class {least}, the rarest."
                )
                proof = [
                    ("targets of these classes", f"{int(counts[most]):,}, {int(counts[least]):,}"),
                    ("their weights", f"{number(float(w[most] / times))}, {number(float(w[least] / times))}"),
                ]
                confirm = ("weight[y.bincount().argsort()]", "grows")
                advice = "Weigh by the inverse of the counts: weight = counts.sum() / (len(counts) * counts)."
            else:
                share, weight = uneven(w / times, counts, others)
                if share is None:
                    continue
                text = (
                    f"pos_weight is {number(weight)}, though {100 * share:.0f} % of the targets are positive: "
                    f"{'the rare positives count even less' if share < 0.5 else 'the frequent ones count even more'}."
                )
                proof = [("positive targets", f"{100 * share:.1f} %"), ("pos_weight", number(weight))]
                confirm = ("(y == 0).sum() / (y == 1).sum()", number((1 - share) / share))
                advice = "Give it negatives by positives: (y == 0).sum() / (y == 1).sum()."
            at, loss = self._written(place, given), self.ev.line(given)
            yield self.found(
                text,
                at or loss,
                "weighs the classes",
                also=(loss if at is not None and loss != at else None, "given to the loss"),
                proof=[*proof, ("looks", times)],
                confirm=confirm,
                unless="answers for a rare class are to be avoided.",
                advice=advice,
                weight=6.0,
                explains=("one class",),
            )

    def _written(self, place: Any, given: Any) -> Line | None:
        """The line that computed weights, or that of the numbers they were made of."""
        line = self.ev.line(place)
        if line is None:
            line = self.ev.line(given)
            tree = None if line is None else tree_of(line.file)
            return None if tree is None or line is None else written(line, ("weight", "pos_weight"))
        return (assigned(line, argument(line, 0)) if "tensor(" in line.text.lower() else None) or line


def made_at(v: Value) -> tuple[bool, Any]:
    """Whether an op computed weights, and the line that did; what only scales them is no such op.

    Args:
        v: the weights.
    """
    last = picked = None
    for _ in range(24):
        parents = v.parents
        if parents and (v.op in MOVES or v.op.startswith("index") or v.op == "detach"):
            picked = picked or (v.place if v.op.startswith("index") else None)
            v = parents[0]
            continue
        if v.op not in COMPUTES or not parents:
            return last is not None or v.op not in ("source", "alias"), last or picked or v.place
        last = last or v.place
        one = parents[0]
        scaled = v.op in SCALES and (
            len(parents) == 1
            or (not parents[1].shape and any(one in x.parents or x is one for x in ancestors_of(parents[1])))
        )
        if not scaled:
            return True, v.place
        v = one
    return last is not None, last


def ancestors_of(v: Value, most: int = 6) -> list[Value]:
    """The nearest values that a value came from."""
    found = []
    for one in ancestors(v):
        found.append(one)
        if len(found) >= most:
            break
    return found


def order(counts: Any) -> tuple[int, int]:
    """Where the largest and the smallest are."""
    return int(np.argmax(counts)), int(np.argmin(counts))


def grows(w: Any, counts: Any, computed: bool) -> bool:
    """Whether weights grow with counts.

    Args:
        w: of each class.
        counts: of its samples.
        computed: whether an op made the weights; numbers that were written have to fit better.

    Example:
        >>> import numpy as np
        >>> from vistorch.debug.diagnose.rules.classes import grows
        >>> n = np.array([90.0, 30.0, 10.0])
        >>> grows(n / 10, n, True), grows(10 / n, n, True), grows(np.array([2.0, 1.0, 4.0]), n, False)
        (True, False, False)
    """
    if len(w) < 2 or counts.max() < 2 * counts.min() or w.max() < 2 * w.min():
        return False
    x, y = np.log(counts), np.log(w)
    if len(w) > 2:
        a, b = (np.argsort(np.argsort(one)).astype(float) for one in (x, y))
        if np.corrcoef(a, b)[0, 1] < 0.8:
            return False
    slope, begin = np.polyfit(x, y, 1, w=np.sqrt(counts))
    if not SLOPES[0] <= slope <= SLOPES[1]:
        return False
    off = np.abs(y - slope * x - begin)
    return computed or bool((off < 0.35 + 3 / np.sqrt(counts)).all())


def uneven(w: Any, yes: Any, no: Any) -> tuple[float | None, float]:
    """The share of positives and the weight of the label that is weighed the wrong way most; None where none is.

    Args:
        w: of the positives, for each label.
        yes: positives.
        no: negatives.
    """
    seen = (yes >= 3) & (no >= 3) & (w > 0)
    ratio = np.log(np.where(seen, yes, 1) / np.where(seen, no, 1))
    far = seen & (np.abs(ratio) >= np.log(2))
    if not far.any() or (len(w) > 1 and far.sum() < 3):
        return None, 0.0
    power = np.log(w[far]) / ratio[far]
    if not ((power >= SLOPES[0]) & (power <= SLOPES[1])).all():
        return None, 0.0
    i = int(np.flatnonzero(far)[np.abs(ratio[far]).argmax()])
    return float(yes[i] / (yes[i] + no[i])), float(w[i])


def assigned(line: Line | None, name: str) -> Line | None:
    """The only line of a file that gives a variable its value.

    Args:
        line: of that file.
        name: of the variable.
    """
    tree = tree_of(line.file) if line is not None and name else None
    if tree is None or line is None:
        return None
    found = {
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
    }
    return at_line(line, found.pop()) if len(found) == 1 else None


def written(line: Line, names: tuple[str, ...]) -> Line | None:
    """The line that gave an argument of a call its value; None where it is not written as a variable.

    Args:
        line: of the call.
        names: of the argument.
    """
    tree = tree_of(line.file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line.line <= (node.end_lineno or node.lineno):
            for one in node.keywords:
                if one.arg in names and isinstance(one.value, ast.Name):
                    return assigned(line, one.value.id)
    return None


class UnevenDraws(Rule):
    """A weighted sampler that has too few weights, or whose weights draw the frequent classes even more often.

    Meaning: it needs a weight for each sample, and draws a sample as often as its weight says.
    Fires: when a loader that was iterated over draws by weights and has fewer of them than its data set has samples;
    or when the samples of each class have one weight, 40 samples or more, counts and weights of the classes differ by
    a factor of 2 or more, and weights grow with counts as in `UpsideDown`; where a data set keeps no labels in one
    array, samples of equal weight are taken for a class, two to a hundred of them, and weights have to be
    proportional to counts within 2 %.
    Wrong if: only the first samples are to be drawn, or the frequent ones more often.
    Healthy programs tried: inverse counts, their roots, weights that all differ, clean samples that are drawn more
    often than noisy ones, a subset with weights of its own.
    """

    name, title, certainty, severity = "uneven draws", "weights of a sampler", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.known = 0
        self.seen: dict[int, list] = {}  # by loader: it, what is wrong, where its weights were made

    def at_pass(self, p: Any) -> None:
        """Look at loaders that have begun since."""
        loaders = self.ev.loaders
        if len(loaders) == self.known or len(self.seen) > 8:
            return
        for loader, _ in loaders[self.known :][:8]:
            if id(loader) not in self.seen:
                self._look(loader)
        self.known = len(loaders)

    def _look(self, loader: Any) -> None:
        sampler = getattr(loader, "sampler", None)
        for name in ("batch_sampler", "sampler"):
            if not hasattr(sampler, "weights"):
                sampler = getattr(loader if name == "batch_sampler" else sampler, name, None)
        weights, data = getattr(sampler, "weights", None), getattr(loader, "dataset", None)
        d = getattr(weights, "_data", None)
        if type(sampler).__name__ != "WeightedRandomSampler" or not isinstance(d, np.ndarray):
            return
        try:
            samples = len(data)  # type: ignore[arg-type]
        except TypeError:
            return
        _computed, place = made_at(self.ev.of(weights))
        entry = self.seen[id(loader)] = [loader, None, place, len(d), samples]
        if len(d) < samples:
            entry[1] = "few"
        elif len(d) == samples and samples >= LEAST:
            entry[1] = self._upside_down(d, data)

    @staticmethod
    def _upside_down(d: Any, data: Any) -> tuple | None:
        """The shares and weights of the most frequent and the rarest class, where they are upside down."""
        labels = labels_of(data, len(d))
        kinds, at = np.unique(d if labels is None else labels, return_inverse=True)
        counts = np.bincount(at)
        if not 2 <= len(kinds) <= 100 or counts.min() < 2:
            return None
        first = np.zeros(len(kinds))
        first[at] = d
        if (first <= 0).any() or not np.allclose(first[at], d):
            return None
        if counts.max() < 2 * counts.min() or not grows(first, counts.astype(float), False):
            return None
        apart = np.log(first / counts)
        if labels is None and np.ptp(apart) > 0.02:
            return None
        i, j = order(counts)
        return int(counts[i]), int(counts[j]), float(first[i]), float(first[j])

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for loader, what, place, weights, samples in self.seen.values():
            if what is None:
                continue
            made = self.ev.origins.get(id(loader))
            begun = next((p for one, p in self.ev.loaders if one is loader), None)
            near = self.ev.line(made[2] if made is not None else begun)
            sampler = called(near, "WeightedRandomSampler") or near
            at = self._line(place, sampler)
            if what == "few":
                yield self.found(
                    f"The sampler has {weights:,} weights for {samples:,} samples: it draws only the first "
                    f"{weights:,}.",
                    sampler,
                    "draws the first",
                    also=(at if at != sampler else None, "makes the weights"),
                    proof=[
                        ("weights", weights),
                        ("samples", samples),
                        ("never drawn", samples - weights),
                    ],
                    confirm=("len(sampler.weights), len(dataset)", f"{weights}, {samples}"),
                    unless="only the first samples are to be drawn.",
                    advice="Give it a weight for each sample: class_weights[labels].",
                    weight=7.0,
                    explains=("one class", "learns nothing", "alike", "unrelated"),
                )
                continue
            many, few, one, other = what
            yield self.found(
                f"The sampler makes batches more uneven than the data: the class of {many:,} samples weighs "
                f"{number(one / other)} times as much as that of {few:,}.",
                at or sampler,
                "weighs the samples",
                also=(sampler if at is not None and at != sampler else None, "draws by them"),
                certainty=LINEAGE,
                proof=[
                    ("samples of these classes", f"{many:,}, {few:,}"),
                    ("share of draws", f"{100 * many * one / (many * one + few * other):.0f} % of the two"),
                ],
                confirm=("y.bincount() of the data and of an epoch", "more uneven"),
                unless="the frequent class is to be drawn more often.",
                advice="Weigh each sample by the inverse of the count of its class: 1 / counts[y].",
                weight=6.0,
                explains=("one class",),
            )

    def _line(self, place: Any, sampler: Line | None) -> Line | None:
        """Where the weights were computed: the line of the op, or that gives the variable its value."""
        line = self.ev.line(place)
        if line is None or (sampler is not None and line == sampler) or "WeightedRandomSampler" in line.text:
            at = line or sampler
            name = "" if at is None else argument(at, 0)
            return assigned(at, name) or (None if at is None else written(at, ("weights",)))
        return (assigned(line, argument(line, 0)) if "tensor(" in line.text.lower() else None) or line


def labels_of(data: Any, count: int) -> Any:
    """The class numbers of a data set, where it keeps them in one array; None where it does not."""
    found = list(getattr(data, "tensors", ()))[::-1]
    found += [vars(data)[name] for name in LABELS if hasattr(data, "__dict__") and name in vars(data)]
    if hasattr(data, "indices") and hasattr(data, "dataset"):
        inner = data.dataset
        try:
            every = labels_of(inner, len(inner))
            return None if every is None else every[np.asarray(list(data.indices), dtype=np.int64)]
        except (TypeError, ValueError, IndexError):
            return None
    for one in found:
        d = getattr(one, "_data", one)
        if isinstance(d, list) and d and all(x.__class__ is int for x in d[:8]):
            try:
                d = np.asarray(d)
            except ValueError:
                continue
        if isinstance(d, np.ndarray) and d.dtype.kind in "iub" and d.shape == (count,):
            return d
    return None


def called(near: Line | None, name: str) -> Line | None:
    """The only line of a file that calls something.

    Args:
        near: any line of that file.
        name: of what is called.
    """
    tree = None if near is None else tree_of(near.file)
    if tree is None or near is None:
        return None
    found = {
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and getattr(n.func, "attr", getattr(n.func, "id", "")) == name
    }
    return at_line(near, found.pop()) if len(found) == 1 else None


RULES = (UpsideDown, UnevenDraws)
