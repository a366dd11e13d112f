"""The data: its order, its labels, its scale, and whether inputs and targets belong together.

Invariant: of training, only batches of turns that were looked at; what is kept of them is small.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line
from ...lineage import Value, ancestors, beyond
from ..course import Course, entropy
from ..finding import DOUBTFUL, EXACT, LINEAGE, MEASURED, WRONG, Finding, number
from ..heads import array
from ..written import returned
from .base import Counting, Rule
from .meaning import Heads

PICKS = ("index", "index_select", "gather", "getitem", "take", "advanced_index")


class Collects(Heads):
    """Hands what the loss asks for to those that need it; it says nothing itself.

    Meaning: the targets of the turns that were looked at. Fires: never. Wrong if: never.
    Healthy programs tried: none, as nothing is said.
    """

    name, title, certainty, severity = "collects", "", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Take in the heads of a loss."""
        super().at_look(p)
        if self.ev.heads_of is not None and p.root is not None and p.accumulates:
            self.ev.targets.add(self.ev.heads_of[1], p)


class SortedLabels(Rule):
    """Batches hold few classes at a time, though the data has many: it is sorted.

    Meaning: the mix of classes in a batch should be that of the epoch, up to chance.
    Fires: when in at least five batches of eight samples or more the mean entropy of the labels is at most six tenths
    of what batches drawn from all labels that were seen have, and below the lowest of a hundred such draws; labels of
    a binary loss count as well.
    Wrong if: the order is meant, as in lessons that grow harder.
    Healthy programs tried: shuffled loaders, small batches, many classes, balanced samplers.
    """

    name, title, certainty, severity = "sorted", "order of the labels", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Compare with shuffled batches."""
        batches = [b for b in self.ev.targets.classes if len(b) >= 8]
        binary = [
            b.round().astype(np.int64)
            for b in self.ev.targets.binary
            if len(b) >= 8 and set(np.unique(b)) <= {0, 1}
        ]
        batches = batches or binary
        if len(batches) < 5 or not Course(self.ev).alone:
            return
        size = min(map(len, batches))
        every = np.concatenate(batches)
        if len(np.unique(every)) < 2:
            return
        seen = float(np.mean([entropy(b[:size]) for b in batches]))
        draw = np.random.default_rng(0)  # of our own: the program's generators are not touched
        means = [
            np.mean([entropy(draw.choice(every, size, replace=False)) for _ in batches[:32]])
            for _ in range(100)
        ]
        if seen >= min(means) or seen > 0.6 * float(np.mean(means)):
            return
        loader = self.ev.loaders[-1] if self.ev.loaders else None
        made = None if loader is None else self.ev.origins.get(id(loader[0]))
        source = self.ev.first_input_place
        yield self.found(
            f"Batches are sorted by class: {seen:.2f} nats of labels in a batch, {np.mean(means):.2f} if shuffled.",
            made[2] if made is not None else loader[1] if loader is not None else source,
            "keeps the order",
            related=self.lines((loader[1], "goes through it"))
            if made is not None and loader is not None
            else [],
            proof=[
                ("entropy of labels in a batch", f"{seen:.2f}"),
                ("in shuffled batches", f"{min(means):.2f} to {max(means):.2f}"),
                ("in all that was seen", f"{entropy(every):.2f}"),
                ("batches", len(batches)),
            ],
            confirm=("[y.unique() for _, y in loader]", "few classes in each"),
            unless="the order is meant.",
            advice="Shuffle: DataLoader(..., shuffle=True), or draw indices with randperm.",
            weight=4.0,
            explains=("learns nothing", "course", "one class", "diverges"),
        )


class SameBatch(Rule):
    """Each step begins the loader anew and takes its first batch: the rest of the data is never seen.

    Meaning: a loader that does not shuffle begins with the same batch each time.
    Fires: when at least four iterations over loaders begin, and eight for every ten steps, the last loader has
    several batches, and what the model was given was the same in all looks, four or more, in about eight of its rows.
    Wrong if: one batch is to be learned by heart, as a test; then it is taken once, before the loop.
    Healthy programs tried: training on all data at once, one batch on purpose, loaders with and without shuffling.
    """

    name, title, certainty, severity = "same batch", "batches that repeat", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.prints: list[int] = []
        self.picked = False  # whether batches are picked by indices out of more rows

    def at_look(self, p: Any) -> None:
        """Take a print of what the model was given."""
        for given in self.ev.fed(p)[-1:]:
            d = array(given)
            if not self.picked and p.turn:
                self.picked = picked(given)
            if self.ev.first_input_place is None:
                self.ev.first_input_place = given.place or (p.calls[-1].place if p.calls else None)
            if isinstance(d, np.ndarray) and len(self.prints) < 1000:
                self.prints.append(
                    hash((d.shape, d[:: max(1, len(d) // 8)].tobytes()[:4096])) if d.ndim else 0
                )

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        ev = self.ev
        if len(self.prints) < 4 or len(set(self.prints)) > 1 or len(ev.loaders) < 0.8 * max(4, ev.steps):
            return
        loader, place = ev.loaders[-1]
        try:
            many = len(loader)
        except TypeError:
            many = 2
        if many < 2:
            return
        yield self.found(
            f"Every step takes the same batch: the loader is begun anew {len(ev.loaders):,} times.",
            place,
            "begins anew",
            also=(self._made(loader), "made here"),
            proof=[
                ("iterations begun", len(ev.loaders)),
                ("steps", ev.steps),
                ("batches in the loader", many),
                ("different batches seen", 1),
            ],
            confirm=("next(iter(loader))[0].sum(), twice", "the same number"),
            unless="one batch is to be learned by heart.",
            advice="Write for x, y in loader: around the step.",
            weight=6.0,
        )

    def _made(self, loader: Any) -> Any:
        """The line that makes a loader."""
        made = self.ev.origins.get(id(loader))
        return None if made is None else made[2]


def picked(v: Value) -> bool:
    """Whether rows were picked, by indices or as a part, out of more than there are of them.

    Args:
        v: what was picked.
    """
    for _ in range(24):
        parents = v.parents
        if not parents:
            return False
        if v.op.startswith("index") or v.op in PICKS:
            return bool(parents[0].shape and v.shape and parents[0].shape[0] > v.shape[0])
        part = v.op in ("slice", "narrow", "split") or (
            v.op == "select" and len(v.shape) == len(parents[0].shape)
        )
        if part and v.shape and parents[0].shape[0] >= 4 * v.shape[0] > 0:
            return True
        v = parents[0]
    return False


class Apart(Counting):
    """Inputs and targets of a batch are picked by different indices: they do not belong together.

    Meaning: the target of a sample is the one with its index.
    Fires: when in three looks what the model was given and what the loss asked for were each picked once, by indices
    that differ, out of tensors with as many rows; or when one of the two was reordered by a permutation and nothing
    that the other was computed from was reordered by the same.
    Wrong if: samples are mixed on purpose.
    Healthy programs tried: one permutation for both, shuffled loaders, negative samples, inputs that noise is added
    to, or that are masked, after both were reordered.
    """

    name, title, certainty, severity = "apart", "inputs and targets that differ in order", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Compare the indices."""
        cached = self.ev.heads_of
        if p.root is None or cached is None or cached[0] != (id(p.root), p.number) or len(cached[1]) != 1:
            return
        target, fed = cached[1][0].target, self.ev.fed(p)
        if target is None or len(fed) != 1:
            return
        given = fed[0]
        a, b = self._picks(given), self._picks(target)
        if a is None or b is None:
            return
        if len(a) == len(b) == 1 and a[0][1] is not None and b[0][1] is not None and a[0][2] == b[0][2]:
            if a[0][1].shape == b[0][1].shape and not np.array_equal(a[0][1], b[0][1]):
                self.times.setdefault((b[0][0], "index"), [0, a[0][0]])[0] += 1
        permuted = [
            [x for x in one if x[1] is not None and len(x[1]) == x[2] and _permutes(x[1])] for one in (a, b)
        ]
        if len(permuted[0]) != len(permuted[1]) and len(permuted[0]) + len(permuted[1]) == 1:
            one, other = (permuted[0] or permuted[1])[0], given if permuted[1] else target
            if self._reordered(other, one[1]):
                return  # by the same permutation, before it was computed with
            self.times.setdefault((one[0], "order"), [0, None])[0] += 1

    @staticmethod
    def _reordered(v: Value, by: np.ndarray) -> bool:
        """Whether a permutation went into anything that a value was computed from, by any way."""
        for x in itertools.islice(ancestors(v), 400):
            if x.op.startswith("index") or x.op in PICKS:
                index = indices(x)
                if index is not None and np.array_equal(index, by):
                    return True
        return False

    @staticmethod
    def _picks(v: Value) -> list[tuple[Any, Any, int]] | None:
        """The picks of rows behind a value: (place, indices, rows there were); None where it is no plain one."""
        found, left = [], 24
        while left and v.ins:
            left -= 1
            parents = v.parents
            if v.op.startswith(("mean", "sum", "amax", "amin", "std", "var")):
                return found or None  # of many samples: their order is no matter
            if v.op.startswith("index") or v.op in PICKS:
                index = indices(v)
                if index is None or not parents or not parents[0].shape:
                    return None
                found.append((v.place, index, parents[0].shape[0]))
            elif len(parents) > 1 and sum(x.op == "source" for x in parents) < len(parents) - 1:
                return found  # it is computed from here on
            if not parents:
                break
            v = parents[0]
        return found

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, kind), (times, other) in self.times.items():
            if times < 3:
                continue
            yield self.found(
                "Inputs and targets are picked by different indices: they do not belong together."
                if kind == "index"
                else "Inputs and targets are reordered apart: a permutation is applied to one of them alone.",
                place,
                "other indices" if kind == "index" else "reorders one",
                related=self.lines((other, "picks the inputs")),
                proof=[("looks in which the indices differ", times)],
                confirm=("the two index tensors", "not equal"),
                unless="samples are mixed on purpose.",
                advice="Draw the indices once, and use them for both.",
                weight=6.0,
                explains=("learns nothing", "too small", "unrelated"),
            )


def indices(v: Value) -> np.ndarray | None:
    """The row numbers by which a value was picked; None where it was not picked by rows."""
    for x in v.ins[1:]:
        if x.__class__ is Value and x.data is not None and x.data.dtype.kind in "iu":
            return np.asarray(x.data)
    keys = getattr(v.consts[0], "key", None) if v.consts else None
    for key in keys or ():
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":
            return key
    return None


def _permutes(index: np.ndarray) -> bool:
    return (
        index.ndim == 1
        and len(index) > 2
        and not np.array_equal(index, np.arange(len(index)))
        and np.array_equal(np.sort(index), np.arange(len(index)))
    )


class OneClass(Rule):
    """All targets are one class; or the model answers with the most frequent class alone.

    Meaning: what is asked should vary; and a model that learned something tells classes apart.
    Fires: when all targets of a cross entropy over several classes, of five batches and 40 samples or more, are one
    class, and the scores were not put together of right answers and others; or when, in the last five of eight looks
    or more of a run that learns nothing, every answer is the class that eight tenths of all targets are, and two
    targets or more are another; there classes of a binary loss count as well.
    Wrong if: the data is so.
    Healthy programs tried: discriminators, early training, rare classes that are found later.
    """

    name, title, certainty, severity = "one class", "classes that are asked and answered", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say which."""
        targets = self.ev.targets
        asked = targets.classes or [b.round().astype(np.int64) for b in targets.binary]
        if len(asked) < 5:
            return
        every = np.concatenate(asked)
        if len(every) < 40:
            return
        made = self.ev.origins.get(id(targets.module))
        kinds, counts = np.unique(every, return_counts=True)
        if len(kinds) == 1 and targets.count > 1 and not targets.joined:
            yield self.found(
                f"All {len(every):,} targets that were seen are class {int(kinds[0])}, of {targets.count} "
                "that the model knows.",
                self.ev.last_place,
                "asks for one class",
                certainty=EXACT,
                severity=WRONG,
                proof=[("targets seen", len(every)), ("classes among them", 1)],
                confirm=("y.unique()", f"{int(kinds[0])}"),
                advice="Look at where the targets are made.",
                weight=5.0,
            )
            return
        share = counts.max() / counts.sum()
        course = Course(self.ev)
        if not course.stays or len(targets.read) < 8 or share < 0.8:
            return
        late = np.concatenate(targets.read[-5:])
        common = int(kinds[counts.argmax()])
        others = sum(int((b != common).sum()) for b in asked[-5:])
        if (late == common).all() and others >= 2:
            yield self.found(
                f"The model answers class {common} for every sample: {100 * share:.0f} % of the targets are "
                "that class.",
                targets.place if made is None else made[2],
                "learns the common class",
                severity=DOUBTFUL,
                proof=[
                    ("share of the class", f"{100 * share:.0f} %"),
                    ("answers that are another", 0),
                    ("loss", number(course.late)),
                    ("of the best constant", number(course.constant or 0.0)),
                ],
                confirm=("out.argmax(1).unique()", f"{common}"),
                unless="",
                advice="Weigh the classes in the loss, or sample them evenly.",
                weight=1.0,
            )


class NeverAsked(Rule):
    """A class that is asked for in evaluation was never asked for in training.

    Meaning: what is not among the training data is not learned; a split without shuffling may leave a class out.
    Fires: when answers of the model are compared with the classes of eight samples or more, and one class among them
    is in none of the training batches that were looked at; these batches hold on average three quarters or more of
    the classes that training asks for; the losses of training do not pass over it; and as many training
    samples as were seen would have missed that class, at its share in evaluation (a half at most), less than once in
    ten thousand times. Comparisons that are picked from, or joined with other tensors, before they are counted, are
    left out: what these leave of them is not known.
    Wrong if: unknown classes are what the evaluation is about.
    Healthy programs tried: rare classes, sorted and small batches, padding classes, padding that is left out by the
    loss or by a mask, several tasks.
    """

    name, title, certainty, severity = "never asked", "classes of training and evaluation", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.asked: dict[int, int] = {}
        self.place: Any = None
        self.cut: Any = None
        self.looks = 0
        self.passed: set[int] = set()  # classes that losses pass over

    def at_look(self, p: Any) -> None:
        """Where the targets of training were cut out."""
        cached = self.ev.heads_of
        if cached is None or cached[0] != (id(p.root), p.number):
            return
        for head in cached[1]:
            if head.value.op.startswith(("nll_loss", "cross_entropy")) and head.value.consts:
                self.passed.add(head.value.consts[0])
        if len(cached[1]) != 1:
            return
        target = cached[1][0].target
        if self.cut is None and target is not None and p.turn:
            self.cut = self.ev.prepared(target)

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """A number that comes of a comparison of answers with classes."""
        if self.looks > 40 or value.shape not in ((), (1,)):
            return
        left, waiting = 12, [value]
        while waiting and left:
            left -= 1
            v = waiting.pop()
            if v.op == "eq" and len(v.parents) == 2:
                answers = [x for x in v.parents if x.op.startswith(("argmax", "max"))]
                wanted = [x for x in v.parents if x not in answers]
                if len(answers) == len(wanted) == 1 and answers[0].parents[0].model is not None:
                    d = wanted[0].data
                    if isinstance(d, np.ndarray) and d.dtype.kind in "iu" and not self._trained(answers[0]):
                        self.looks += 1
                        self.place = v.place
                        for k, n in zip(*np.unique(d, return_counts=True), strict=True):
                            self.asked[int(k)] = self.asked.get(int(k), 0) + int(n)
                return
            if v.op.startswith(("index", "masked", "where")) or (
                len(v.parents) > 1 and any(x.shape not in ((), (1,)) for x in v.parents)
            ):
                return
            waiting += v.parents[:2]

    @staticmethod
    def _trained(answer: Any) -> bool:
        return bool(answer.parents[0].model.trained)

    def findings(self) -> Iterator[Finding]:
        """Say which class."""
        batches = self.ev.targets.classes
        if not self.asked or not batches or len(self.asked) > 100:
            return
        every = np.concatenate(batches)
        known = set(np.unique(every).tolist())
        if np.mean([len(np.unique(b)) for b in batches]) < 0.75 * len(known):
            return
        total = sum(self.asked.values())
        missing = {
            k: n / total
            for k, n in self.asked.items()
            if k not in known and k not in self.passed and 0 <= k < self.ev.targets.count
        }
        missing = {k: share for k, share in missing.items() if (1 - min(share, 0.5)) ** len(every) < 1e-4}
        if not missing or total < 8:
            return
        names = ", ".join(map(str, sorted(missing)))
        yield self.found(
            f"Class {names} is asked for in evaluation and never in training.",
            self.cut or self.ev.last_place,
            "leaves it out",
            related=self.lines((self.place, "asks for it")),
            proof=[
                ("share in evaluation", f"{100 * sum(missing.values()):.0f} %"),
                ("training targets seen", len(every)),
                ("of that class", 0),
            ],
            confirm=("y_train.unique(), y_test.unique()", "not the same"),
            unless="unknown classes are what is evaluated.",
            advice="Shuffle before the split, with one permutation for inputs and labels.",
            weight=4.0,
        )


class ByRow(Rule):
    """A table is scaled by the mean of each row, though its columns differ in size, or that mean is the answer.

    Meaning: to scale a table is to bring each column to mean 0 and deviation 1; a mean over a row mixes columns, and
    what it takes off is gone.
    Fires: when what a model is given was computed as a table of samples and columns minus its mean over the columns,
    and one column is more than ten times as large as their median; or when it was computed as samples minus their own
    mean, the run learns nothing or ends above nine tenths of what the best constant costs, and that mean, of 30
    samples or more, explains more than half of the variance of the targets; or when it was computed as a table of 64
    columns or fewer over one deviation, of all its numbers, and one column is a hundred times as wide as another.
    Wrong if: all columns are of one kind, as the pixels of a picture; then they are of one size.
    Healthy programs tried: signals scaled one by one, columns of one kind, layer norms, tables scaled by column,
    means of rows that do not tell the targets.
    """

    name, title, certainty, severity = "by row", "means that scale the data", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.place: tuple[Any, Any, float, tuple] | None = None
        self.one: tuple | None = None  # a deviation of all of a table: where, its use, sizes of columns
        self.taken: tuple | None = None  # where means of samples were taken that their targets go with
        self.done = 0

    def at_look(self, p: Any) -> None:
        """Look at how the inputs of the first passes were made."""
        if self.done > 4 or p.root is None or not p.accumulates:
            return
        self.done += 1
        cached = self.ev.heads_of
        asked = cached[1][0].target if cached is not None and len(cached[1]) == 1 else None
        for given in self.ev.fed(p):
            for v in itertools.islice(ancestors(given), 64):
                self._whole(v)
                if v.op != "sub" or len(v.parents) != 2 or v.model is not None:
                    continue
                table, mean = v.parents[0], beyond(v.parents[1])
                d = array(table)
                if asked is not None and mean.op == "mean_dims" and mean.parents[:1] == [table]:
                    share = explained(v.parents[1], asked)
                    if share > 0.5 and (self.taken is None or share > self.taken[2]):
                        self.taken = mean.place, v.place, share, table.shape
                if (
                    mean.op == "mean_dims"
                    and mean.parents
                    and mean.parents[0] is table
                    and len(table.shape) == 2
                    and v.parents[1].shape == (table.shape[0], 1)
                    and mean.shape[0] == table.shape[0]
                    and 2 <= table.shape[1] <= 4096
                    and d is not None
                ):
                    sizes = np.sqrt(np.mean(np.square(d[:4096], dtype=np.float64), 0))
                    if sizes.min() >= 0 and sizes.max() > 10 * max(float(np.median(sizes)), 1e-12):
                        self.place = (
                            mean.place,
                            v.place,
                            float(sizes.max() / max(sizes.min(), 1e-12)),
                            table.shape,
                        )

    def _whole(self, v: Value) -> None:
        """A table that is divided by one deviation, of all of it, so that small columns vanish beside large ones."""
        if (
            v.op != "div"
            or len(v.parents) != 2
            or v.model is not None
            or v.parents[1].shape not in ((), (1,))
        ):
            return
        d, spread = array(v), v.parents[1]
        if not spread.op.startswith(("std", "var", "sqrt")) or d is None or d.ndim != 2 or len(d) < 16:
            return
        if not 2 <= d.shape[1] <= 64:
            return
        sizes = d[:4096].astype(np.float64).std(0)
        kept = sizes[sizes > 0]
        if len(kept) >= 2 and kept.max() > 100 * kept.min():
            self.one = spread.place, v.place, float(kept.max() / kept.min()), v.shape

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        if self.one is not None:
            made, used, ratio, shape = self.one
            size = " × ".join(map(str, shape))
            yield self.found(
                f"A table of {size} is divided by one deviation, of all its numbers: small columns vanish beside large "
                "ones.",
                made,
                "over all columns",
                also=(used, "divides by it"),
                proof=[("largest deviation of a column beside the smallest", number(ratio)), ("table", size)],
                confirm=("x.std(0) of the result", "not 1"),
                unless="all columns are of one kind.",
                advice="Take the mean and the deviation over the samples: dim=0.",
                weight=4.0,
            )
            return
        course = Course(self.ev)
        poor = course.known and course.constant is not None and course.late > 0.9 * course.constant
        if self.place is None and self.taken is not None and (course.stays or poor):
            mean, used, share, shape = self.taken
            yield self.found(
                "Each sample loses its own mean, which is what the targets go with.",
                mean,
                "over each sample",
                related=self.lines((used, "takes it off")),
                certainty=MEASURED,
                proof=[
                    ("variance of the targets that the mean explains", f"{100 * share:.0f} %"),
                    ("samples", " × ".join(map(str, shape))),
                    course.ends(),
                ],
                confirm=("the means beside the targets", "they go together"),
                unless="the answer is to be found without it.",
                advice="Take the mean and the deviation over the samples: dim=0.",
                weight=4.0,
                explains=("learns nothing", "unrelated", "one class", "mean", "too small"),
            )
        if self.place is None:
            return
        mean, used, ratio, shape = self.place
        size = " × ".join(map(str, shape))
        yield self.found(
            f"A table of {size} is scaled by the mean of each row: its columns are of different sizes.",
            mean,
            "over columns",
            related=self.lines((used, "takes it off")),
            proof=[("largest column beside the smallest", number(ratio)), ("table", size)],
            confirm=("x.mean(0), x.std(0) of the result", "not 0 and 1"),
            unless="all columns are of one kind.",
            advice="Take the mean and the deviation over the samples: dim=0.",
            weight=4.0,
        )


def explained(means: Value, asked: Value) -> float:
    """The share of the targets' variance that goes with one number for each sample; 0 where it is not known.

    Args:
        means: one for each sample.
        asked: the targets of a batch, or what they were picked from.
    """
    m = array(means)
    if m is None or m.ndim < 2 or m.size != len(m) or m.size < 30:
        return 0.0
    one, y = asked, array(asked)
    for _ in range(32):  # what they were picked from, and not the indices
        if y is not None and y.shape[:1] == m.shape[:1] and y.size == len(y):
            break
        if not one.parents:
            return 0.0
        one = one.parents[0]
        y = array(one)
    if y is None or y.size != m.size:
        return 0.0
    x, y = m.reshape(-1).astype(np.float64), y.reshape(-1)
    whole = float(x.var()), float(y.var())
    if not all(np.isfinite(whole)) or not min(whole) > 0:
        return 0.0
    if y.dtype.kind in "iub":
        kinds, at = np.unique(y, return_inverse=True)
        if len(kinds) > 0.2 * len(y):
            return 0.0
        n = np.bincount(at)
        between = np.bincount(at, x) / n
        return float((n * (between - x.mean()) ** 2).sum() / (len(x) * whole[0]))
    return float(np.corrcoef(x, y.astype(np.float64))[0, 1] ** 2)


class Alike(Rule):
    """All samples that a model is given are the same numbers, though their targets differ.

    Meaning: what is the same for all samples tells none apart.
    Fires: when in four looks or more, and all, the model was given one tensor without a gradient, of eight samples or
    more that are equal, number by number, the targets were not, and nothing was picked from a table that learns.
    Wrong if: a start that is the same for all is learned from, with other inputs beside it, which are seen.
    Healthy programs tried: constant columns, generators, padded inputs, recurrent cells by hand that begin with zeros
    and are given rows of a table.
    """

    name, title, certainty, severity = "alike", "inputs that differ", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks = self.times = 0
        self.place: Any = None
        self.call: Any = None
        self.value = 0.0

    def at_look(self, p: Any) -> None:
        """Compare the samples of a batch."""
        cached = self.ev.heads_of
        if cached is None or cached[0] != (id(p.root), p.number) or len(cached[1]) != 1 or not p.accumulates:
            return
        target, fed = cached[1][0].target, self.ev.fed(p)
        d, y = array(fed[0]) if len(fed) == 1 else None, None if target is None else target.data
        if (
            d is None
            or not isinstance(y, np.ndarray)
            or d.ndim < 2
            or len(d) < 8
            or y.shape[:1] != d.shape[:1]
        ):
            return
        self.looks += 1
        if not np.array_equal(d[0], d[-1]) or not (d == d[:1]).all() or (y == y[:1]).all():
            return
        if any(_picks(v) for v in itertools.islice(ancestors(p.root), 3000)):
            return  # the first state of a cell that is given rows of a table
        self.times += 1
        self.value = float(d.reshape(-1)[0])
        self.call = p.calls[-1].place if p.calls else fed[0].place
        if p.turn:
            self.place = self.ev.prepared(fed[0], computed=True) or self.place

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        if self.times < 4 or self.times < self.looks:
            return
        yield self.found(
            "All samples that the model is given are the same numbers: it cannot tell them apart.",
            self.place or self._item() or self.call,
            "makes them equal",
            related=self.lines((self.call, "is given them")) if self.place else [],
            proof=[
                ("looks", self.looks),
                ("with equal samples", self.times),
                ("first number", number(self.value)),
            ],
            confirm=("x.std(0).max()", "0"),
            unless="",
            advice="Look at where the inputs are made: at a division of integers, an index, a sum over samples.",
            weight=6.0,
            explains=("learns nothing", "unrelated", "one class", "mean", "dead units"),
        )

    def _item(self) -> Line | None:
        """The line in which a data set of the user's gives a sample back."""
        if not self.ev.loaders:
            return None
        data = getattr(self.ev.loaders[-1][0], "dataset", None)
        return returned(getattr(type(data), "__getitem__", None)) if _own(type(data)) else None


def _picks(v: Value) -> bool:
    """Whether rows or entries of a table that learns are picked."""
    return v.op.startswith(("embedding", "index")) and any(
        x.needs and beyond(x).op == "source" for x in v.parents
    )


def _own(kind: type) -> bool:
    """Whether a class is the user's."""
    return kind.__module__.split(".")[0] not in ("vistorch", "torch", "builtins")


class OtherScale(Rule):
    """A model is measured on inputs of another scale than those it was trained on.

    Meaning: what is done to the training data has to be done to the data of the evaluation.
    Fires: when a model that passes came from was measured, without a history, on eight samples or more whose size
    (the median over the samples of their mean absolute value) is ten times that of the training batches or more, or a
    tenth or less, and the sizes of four training batches or more are within three times of one another.
    Wrong if: data from elsewhere is what the evaluation is about.
    Healthy programs tried: another batch size, few samples, a series that goes on, a test of twice the size, noise
    that is added in training.
    """

    name, title, certainty, severity = "other scale", "inputs of training and evaluation", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.trained: dict[int, list[float]] = {}  # by module: the sizes of its inputs
        self.measured: dict[int, list] = {}
        self.places: dict[int, Any] = {}
        self.prepared: dict[int, Any] = {}  # by module: where what it was trained on was computed

    def at_look(self, p: Any) -> None:
        """The size of what is trained on."""
        if not p.accumulates:
            return
        for call in p.calls:
            size = self._size(call)
            if size is not None and len(self.trained.setdefault(id(call.module), [])) < 200:
                self.trained[id(call.module)].append(size)
                self.places.setdefault(id(call.module), call.place)
                known = self.ev.table.get(id(call.inputs._data)) if p.turn else None
                if known is not None:
                    self.prepared.setdefault(id(call.module), self.ev.prepared(known, computed=True))

    @staticmethod
    def _size(call: Any) -> float | None:
        if call.inputs is None or call.inputs._rg:
            return None
        d = call.inputs._data
        if not isinstance(d, np.ndarray) or d.dtype.kind != "f" or d.ndim < 2 or len(d) < 8:
            return None
        return float(np.median(np.abs(d[:256].astype(np.float64)).reshape(min(len(d), 256), -1).mean(1)))

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """The size of what is measured on."""
        if len(self.measured) > 8:
            return
        for call in self.ev.calls_of(value, 60):
            if call.grad or call.trained or id(call.module) not in self.trained:
                continue
            i = id(call.module)
            entry = self.measured.setdefault(i, [[], call, place])
            size = self._size(call) if len(entry[0]) < 50 else None
            if size is not None:
                entry[0].append(size)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for i, (sizes, call, place) in self.measured.items():
            known = self.trained.get(i, [])
            if len(known) < 4 or not sizes or not all(map(np.isfinite, known)):
                continue
            usual, seen = float(np.median(known)), float(np.median(sizes))
            if usual <= 0 or not np.isfinite(seen) or max(known) > 3 * min(known):
                continue
            if 0.1 * usual < seen < 10 * usual:
                continue
            yield self.found(
                f"The model was trained on inputs of a size of {number(usual)}, and is measured on some of "
                f"{number(seen)}.",
                call.place,
                "another scale",
                also=(self.prepared.get(i), "what training has"),
                related=self.lines((self.places.get(i), "trained on"), (place, "measured")),
                proof=[("size in training", number(usual)), ("size in evaluation", number(seen))],
                confirm=("x.abs().mean() of both", f"{number(usual)}, {number(seen)}"),
                unless="data from elsewhere is what is measured.",
                advice="Do to these inputs what was done to those of the training, with the same mean and deviation.",
                weight=4.0,
            )


class Unrelated(Rule):
    """Samples that are alike have labels that are not: inputs and labels seem shuffled against each other.

    Meaning: near samples agree in their class more often than chance.
    Fires: when a run of thirty losses or more has learned nothing, and of at least 120 different samples the nearest
    neighbours agree no more often than chance and one standard deviation.
    Wrong if: the classes are no matter of nearness, as parity.
    Healthy programs tried: runs that learn, which are never asked, and a short one with labels drawn at random.
    """

    name, title, certainty, severity = "unrelated", "labels that neighbours share", MEASURED, DOUBTFUL

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.x: list[np.ndarray] = []
        self.y: list[np.ndarray] = []
        self.count = 0

    def at_look(self, p: Any) -> None:
        """Keep some samples."""
        cached = self.ev.heads_of
        if self.count > 600 or cached is None or len(cached[1]) != 1:
            return
        target, fed = cached[1][0].target, self.ev.fed(p)
        if len(fed) != 1:
            return
        y = None if target is None else target.data
        x = fed[0].data
        if (
            not isinstance(y, np.ndarray)
            or not isinstance(x, np.ndarray)
            or y.dtype.kind not in "iu"
            or y.ndim != 1
            or len(x) != len(y)
        ):
            return
        if x.dtype.kind != "f" or not np.isfinite(x).all():
            return
        flat = x.reshape(len(x), -1)
        self.x.append(flat[:64, :: max(1, flat.shape[1] // 256)].astype(np.float32))
        self.y.append(y[:64].copy())
        self.count += len(self.y[-1])

    def findings(self) -> Iterator[Finding]:
        """Ask the neighbours."""
        course = Course(self.ev)
        if (
            not course.stays
            or course.count < 30
            or self.count < 120
            or len({x.shape[1] for x in self.x}) != 1
        ):
            return
        x, y = np.concatenate(self.x), np.concatenate(self.y)
        x, at = np.unique(x, axis=0, return_index=True)
        y = y[at]
        if len(y) < 120:
            return
        apart = (x**2).sum(1)[:, None] - 2 * x @ x.T + (x**2).sum(1)
        np.fill_diagonal(apart, np.inf)
        agree = float((y[apart.argmin(1)] == y).mean())
        share = np.bincount(y) / len(y)
        chance = float((share**2).sum())
        if agree > chance + np.sqrt(chance * (1 - chance) / len(y)):
            return
        yield self.found(
            f"Nearest samples agree in their class in {100 * agree:.0f} % of cases, chance is "
            f"{100 * chance:.0f} %: labels may not fit.",
            self.ev.last_place,
            "asks for them",
            proof=[
                ("neighbours that agree", f"{100 * agree:.0f} %"),
                ("chance", f"{100 * chance:.0f} %"),
                ("samples", len(y)),
                course.ends(),
            ],
            confirm=("a few samples beside their labels", "they do not fit"),
            unless="classes are no matter of nearness.",
            advice="Look at how inputs and labels are brought together: one permutation for both.",
            weight=2.0,
        )


class Wraps(Rule):
    """Numbers of 8 bits were subtracted, added or multiplied beyond their range, and given to a model.

    Meaning: an unsigned byte goes from 0 to 255; 100 - 128 is 228 there.
    Fires: when in one of the first three looks what a model is given was computed from integers of 8 bits by a sum, a
    difference or a product whose results are not those of whole numbers.
    Wrong if: a remainder is what is meant, as in a code of bytes.
    Healthy programs tried: bytes brought to float first, sums that stay within the range, pictures of bytes.
    """

    name, title, certainty, severity = "wraps", "integers of 8 bits", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.done = 0
        self.wrong: tuple[Any, str, int, int, Any] | None = None

    def at_look(self, p: Any) -> None:
        """Compute it again in whole numbers."""
        if self.done >= 3 or self.wrong is not None or p.root is None:
            return
        self.done += 1
        for given in self.ev.fed(p):
            for v in itertools.islice(ancestors(given), 200):
                d = array(v)
                if v.op not in SUMS or d is None or d.dtype.kind not in "iu" or d.dtype.itemsize != 1:
                    continue
                sides = [array(x) if x.__class__ is Value else x for x in v.ins[:2]]
                if len(sides) < 2 or any(x is None or isinstance(x, (float, bool, complex)) for x in sides):
                    continue
                a, b = (np.asarray(x).astype(np.int64) for x in sides)
                off = int((SUMS[v.op](a, b) != d).sum())
                if off:
                    self.wrong = (v.place, str(d.dtype), off, d.size, given.place)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        if self.wrong is None:
            return
        place, kind, off, size, given = self.wrong
        yield self.found(
            f"This line leaves the range of {kind}: {off:,} of {size:,} results wrap around.",
            place,
            "wraps around",
            related=self.lines((given, "given to the model")),
            proof=[("results that wrap around", off), ("of", size), ("type", kind)],
            confirm=("x.min(), x.max(), before and after that line", "beyond its range"),
            unless="a remainder is meant.",
            advice="Bring it to float first: x.float() - 128.",
            weight=7.0,
            explains=("learns nothing", "unrelated", "one class", "big start", "mean"),
        )


SUMS = {"sub": np.subtract, "add": np.add, "mul": np.multiply}

RULES = (
    Wraps,
    Collects,
    SortedLabels,
    SameBatch,
    Apart,
    OneClass,
    NeverAsked,
    ByRow,
    Alike,
    OtherScale,
    Unrelated,
)
