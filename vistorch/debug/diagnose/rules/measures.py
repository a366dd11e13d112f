"""What an evaluation computes: answers over the wrong axis, thresholds beside raw scores, rows that were trained on.

Invariant: a measure is judged by the scores that training compared with targets, which are known by the weights of
their last layer; of rows only hashes are kept.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from typing import Any

import numpy as np

from ....engine.base.events import OUTSIDE, kind_of
from ...line_lookup import Line
from ...lineage import SHAPED, Value, ancestors
from ..evidence import LAYERS
from ..finding import LINEAGE, WRONG, Finding
from ..heads import CLASSES, LOGITS, Head, array, dim_of
from ..written import at_line, tree_of
from .base import Counting, Rule
from .meaning import Heads

TURNED = frozenset(("t", "transpose", "permute", "movedim", "swapaxes"))
CASTS = frozenset(
    "to float double half long int bool type byte short cpu cuda numpy_T where detach data".split()
)
PLAIN = (SHAPED - TURNED) | CASTS | {"detach", "no history", "squeeze_dim", "dropout"}
LARGEST = ("argmax", "argmax_at", "max", "max_dim", "topk", "topk_dim")
ABOVE, BELOW = ("gt", "ge"), ("lt", "le")
NEAR = 60  # values of a measure that are looked at
MEETS = frozenset(
    "eq ne mul and or xor bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor sub".split()
)
MOST = 3000  # measures
BINARY = "binary_cross_entropy_with_logits"


def near(ev: Any, value: Value) -> list[Value]:
    """A value that a number was taken out of, and what it was computed from outside of models, a few dozen.

    Args:
        ev: the evidence.
        value: which.
    """
    if ev.near_of[0] is not value:
        found, left = [], NEAR
        for v in ancestors(value, lambda v: v.model is None):
            found.append(v)
            left -= 1
            if not left:
                break
        ev.near_of = (value, found)
    return ev.near_of[1]


def plain(v: Value, more: tuple[str, ...] = ()) -> Value:
    """The value behind casts, views and picks, none of which turns axes.

    Args:
        v: where to begin.
        more: ops that are passed as well.
    """
    for _ in range(16):
        if (v.op not in PLAIN and v.op not in more) or not v.parents:
            break
        v = v.parents[0]
    return v


def layer_of(v: Value) -> tuple[int, tuple] | None:
    """The weights of the last layer whose raw results a value is, and their shape; None where they are no such.

    Args:
        v: which.
    """
    for _ in range(16):
        if v.op in LAYERS:
            for x in v.parents:
                for _ in range(4):
                    if x.op == "source" and x.tensor is not None and x.needs:
                        if len(x.shape) > 1:
                            return id(x.tensor), tuple(v.shape)
                        break
                    if not x.parents or (x.op not in SHAPED and x.op not in PLAIN):
                        break
                    x = x.parents[0]
            return None
        if v.op in ("add", "sub") and v.parents:
            inner = [x for x in v.parents if plain(x).op in LAYERS]
            if len(inner) != 1:
                return None
            v = inner[0]
        elif v.op in PLAIN and v.parents:
            v = v.parents[0]
        else:
            return None
    return None


def modelled(v: Value, most: int = 60) -> bool:
    """Whether a model, or something that learns, has a part in a value.

    Args:
        v: which.
        most: values that are looked at.
    """
    for x in ancestors(v, lambda x: x.model is None):
        most -= 1
        if x.model is not None or (x.op == "source" and x.needs):
            return True
        if not most:
            break
    return False


def beside(values: list[Value], v: Value) -> Value | None:
    """The op that compares an answer, behind casts and views, with something that no model computed.

    Args:
        values: of a measure.
        v: the answer.
    """
    for one in values:
        parents = one.parents
        if one.op not in MEETS or len(parents) != 2:
            continue
        for a, b in (parents, parents[::-1]):
            if _behind(a, v) and not modelled(b):
                return one
    return None


def _behind(a: Value, v: Value) -> bool:
    for _ in range(12):
        if a is v:
            return True
        if not a.parents or (
            a.op not in PLAIN and a.op not in ("index", "mul", "bitwise_not", "logical_not")
        ):
            return False
        a = a.parents[0]
    return False


class AnswerAxis(Heads):
    """The answer is looked for over the samples: the largest score of each class, not the class of each sample.

    Meaning: the answer for a sample is the class whose score is the largest: along the axis of the classes.
    Fires: when a cross entropy compared the raw results of a last layer, N samples by C classes, with classes along
    axis 1, and in a measure `argmax`, `max` or `topk` ran over axis 0 of such results of that layer, or over all of
    several samples, also behind a softmax, and what came of it met, in `==`, `!=` or a product, whole numbers that
    no model computed, or was taken out as a list within three lines of such numbers, one for each sample; or when a
    softmax outside of a model ran over axis 0 of several of them.
    Wrong if: never that was seen: the scores are those that the loss compares along the other axis.
    Healthy programs tried: the sample that excites each class the most, scores of (C, N) that the loss gets turned,
    retrieval in both directions, one sample without a batch.
    """

    name, title, certainty, severity = "answer axis", "answers over samples", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.scores: dict[int, int] = {}  # by weights of the last layer: classes
        self.lists: list[tuple] = []  # what was taken out as a list: value, place, whether it is an answer
        self.count = 0

    def look(self, head: Head, p: Any) -> None:
        """Learn which scores are compared along axis 1."""
        v = head.prediction
        if head.kind != CLASSES or len(v.shape) != 2 or dim_of(v, head.axis) != 1 or head.target is None:
            return
        layer = layer_of(v)
        if layer is not None and layer[1] == tuple(v.shape) and head.target.shape == v.shape[:1]:
            self.scores[layer[0]] = v.shape[1]

    def at_taken(self, kind: str, value: Value, place: Any) -> None:
        """Look for answers over samples in a measure."""
        self.count += 1
        if self.count > MOST or not self.scores:
            return
        every, listed = near(self.ev, value), kind in ("tolist", "numpy") and len(value.shape) == 1
        for v in every:
            if v.op in LARGEST and self._over(v):
                met = beside(every, v)
                if met is not None and self._whole(met, v):
                    self._note(v, met.place)
                elif met is None and listed and plain(value) is v:
                    self.lists.append((v, place, True))
            elif v.op in ("softmax", "_softmax", "log_softmax") and v.model is None and v.consts:
                x = v.parents[0]
                if len(x.shape) == 2 and x.shape[0] > 1 and dim_of(x, v.consts[0]) == 0 and self._known(x):
                    self._note(v, None)
        d = array(value)
        if listed and d is not None and d.dtype.kind in "iu" and not modelled(value):
            self.lists.append((value, place, False))
        self._pair()

    def _note(self, v: Value, met: Any) -> None:
        entry = self.times.setdefault((v.place, v.op), [0, v.parents[0].shape, met])
        entry[0] += 1

    def _pair(self) -> None:
        """Answers and classes, one for each sample, that were taken out near by."""
        self.lists = self.lists[-8:]
        for v, place, answer in self.lists if len(self.lists) > 1 else ():
            here = self.ev.line(place) if answer else None
            for other, at, is_answer in self.lists if here is not None else ():
                line = None if is_answer or other.shape != v.parents[0].shape[:1] else self.ev.line(at)
                if line is not None and here is not None and here.function == line.function:
                    if abs(here.line - line.line) <= 3:
                        self._note(v, at)
                        self.lists = []
                        return

    def _known(self, x: Value) -> bool:
        layer = layer_of(plain(x, ("softmax", "_softmax", "log_softmax", "sigmoid")))
        return layer is not None and layer[1] == tuple(x.shape) and self.scores.get(layer[0]) == x.shape[1]

    def _over(self, v: Value) -> bool:
        x = v.parents[0] if v.parents else None
        if (
            x is None
            or len(x.shape) != 2
            or x.shape[1] < 2
            or (x.data is not None and x.data.dtype.kind != "f")
        ):
            return False
        axis = v.consts[0] if v.consts and v.consts[0].__class__ is int else None
        over = (
            dim_of(x, axis) == 0
            if axis is not None
            else v.op == "argmax" and x.shape[0] > 1 and v.shape == ()
        )
        return over and self._known(x)

    @staticmethod
    def _whole(met: Value, v: Value) -> bool:
        """Whether the other side are whole numbers."""
        other = next((x for x in met.parents if not _behind(x, v)), None)
        d = array(other)
        return d is not None and (d.dtype.kind in "iu" or bool((d == np.round(d)).all()))

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, op), (times, shape, met) in self.times.items():
            size = " × ".join(map(str, shape))
            name = op.strip("_").removesuffix("_at").removesuffix("_dim")
            yield self.found(
                f"{name} runs over the samples: axis 0 of {size}; the classes are along axis 1.",
                place,
                "over samples",
                also=(met, "compares the answers"),
                proof=[("scores", size), ("axis that the loss compares", 1), ("measures", times)],
                confirm=(f"{name}(...).shape", f"{shape[1]} answers for {shape[0]} samples"),
                advice="Give it the axis of the classes: dim=1 or dim=-1.",
                weight=6.0,
                explains=("never asked",),
            )


class Threshold(Heads):
    """A measure takes raw scores for probabilities, or probabilities for scores: its threshold is that of the other.

    Meaning: a loss with logits compares scores, whose sigmoid is the probability: 0.5 there is 0 in the scores.
    Fires: when the raw results of a last layer are what a binary loss with logits compares with targets (or, of two
    classes, a cross entropy), and in a measure they are compared with 0.5 or rounded; or when in a measure the result
    of a sigmoid is found to be above 0 in all its elements, eight or more, or brought to whole numbers, by which all
    of them are 0; and what comes of it meets, in `==`, `!=`, a difference or a product, something that no model
    computed, or is taken out as a list.
    Wrong if: a margin of 0.5 in the scores is meant.
    Healthy programs tried: scores beside 0, probabilities beside 0.5, hinge losses, a regression on 0 and 1 beside
    0.5, margins, scores that are rounded to be printed.
    """

    name, title, certainty, severity = "threshold", "thresholds of measures", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.scores: set[int] = set()  # weights of last layers whose scores are compared
        self.count = 0

    def at_look(self, p: Any) -> None:
        """Look at weighted losses as well."""
        super().at_look(p)
        if p.root is None or not p.accumulates:
            return
        left = 100
        for v in ancestors(p.root, lambda v: v.needs and v.model is None):
            left -= 1
            if v.op.startswith(BINARY) and v.parents:
                self._learn(v.parents[0])
            if not left:
                break

    def look(self, head: Head, p: Any) -> None:
        """Learn which scores are compared."""
        v = head.prediction
        if head.kind == LOGITS:
            self._learn(v)
        elif head.kind == CLASSES and len(v.shape) == 2 and v.shape[1] == 2 and dim_of(v, head.axis) == 1:
            self._learn(v)

    def _learn(self, v: Value) -> None:
        layer = layer_of(v)
        if layer is not None:
            self.scores.add(layer[0])

    def at_taken(self, kind: str, value: Value, place: Any) -> None:
        """Look for thresholds in a measure."""
        self.count += 1
        if self.count > MOST or not self.ev.passes:
            return
        every = near(self.ev, value)
        for v in every:
            what = self._wrong(v)
            if what is None:
                continue
            met = beside(every, v)
            listed = kind in ("tolist", "numpy") and len(value.shape) > 0 and _behind(value, v)
            if met is not None or (listed and what != "rounded"):
                entry = self.times.setdefault((v.place, what), [0, None, 0])
                entry[0] += 1
                entry[1] = None if met is None else met.place
                entry[2] += int(np.prod(v.shape))

    def _wrong(self, v: Value) -> str | None:
        """What is wrong with an op of a measure, if anything."""
        if not v.parents:
            return None
        x = plain(v.parents[0])
        if v.op in (*ABOVE, *BELOW) and len(v.ins) > 1:
            bound: Any = v.ins[1]
            if bound.__class__ is Value:
                d = array(bound)
                bound = (
                    float(d.reshape(-1)[0]) if d is not None and d.size == 1 and not modelled(bound) else None
                )
            if bound is None or bound.__class__ is bool:
                return None
            if abs(float(bound) - 0.5) < 1e-6:
                return "beside 0.5" if self._raw(x) else None
            d = array(v)
            if float(bound) == 0 and x.op == "sigmoid" and d is not None and d.size and d.dtype.kind == "b":
                return "above 0" if (d == (v.op in ABOVE)).all() else None
        if v.op == "round" and self._raw(x):
            return "rounded"
        d = array(v)
        if (
            v.op in ("cast", "long", "int", "to", "type", "byte", "short")
            and d is not None
            and d.dtype.kind in "iu"
        ):
            if x.op == "sigmoid" and d.size and not d.any() and v.parents[0].data is not None:
                return "cut" if v.parents[0].data.dtype.kind == "f" else None
        return None

    def _raw(self, x: Value) -> bool:
        layer = layer_of(x) if self.scores else None
        return layer is not None and layer[0] in self.scores

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, what), (times, met, elements) in self.times.items():
            if what in ("above 0", "cut") and elements < 8:
                continue
            text, confirm, advice = {
                "beside 0.5": (
                    "Raw scores are compared with 0.5, the threshold of probabilities: half is 0 in scores.",
                    ("(out > 0).float().mean(), (out > 0.5).float().mean()", "not the same"),
                    "Compare torch.sigmoid(out) with 0.5, or out with 0.",
                ),
                "rounded": (
                    "Raw scores are rounded as if they were probabilities: half is 0 in scores.",
                    ("out.min(), out.max()", "beyond 0 to 1"),
                    "Round torch.sigmoid(out), or compare out with 0.",
                ),
                "above 0": (
                    f"A sigmoid is always above 0: all {elements:,} answers are the same.",
                    ("(torch.sigmoid(out) > 0).all()", "True"),
                    "Compare the sigmoid with 0.5, or the scores with 0.",
                ),
                "cut": (
                    f"Whole numbers of a sigmoid are 0: all {elements:,} answers are the same.",
                    ("torch.sigmoid(out).long().any()", "False"),
                    "Compare with 0.5 before that: (torch.sigmoid(out) > 0.5).long().",
                ),
            }[what]
            yield self.found(
                text,
                place,
                "the other threshold",
                also=(met, "compares the answers"),
                proof=[("measures", times), ("answers", elements)],
                confirm=confirm,
                unless="a margin in the scores is meant." if what == "beside 0.5" else "",
                advice=advice,
                weight=6.0,
                explains=("never asked",),
            )


class NeverEqual(Counting):
    """Scores are compared with classes by `==`: they are never equal, so the measure is 0.

    Meaning: `max(1)` gives the largest scores and where they are; classes are compared with the second.
    Fires: when measures compared, by `==`, whole numbers that no model computed with the values that `max` or `topk`
    gave of scores, 20 or more, and at most a fiftieth of them were equal; or with other numbers that a model
    computed, neither rounded nor whole, 200 or more, and none was equal.
    Wrong if: never that was seen.
    Healthy programs tried: indices of `max`, masks of the largest score, rounded counts, thresholds.
    """

    name, title, certainty, severity = "never equal", "scores compared with classes", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.count = 0
        self.newest = 0

    def at_taken(self, kind: str, value: Value, place: Any) -> None:
        """Look at what is compared in a measure."""
        self.count += 1
        if self.count > MOST:
            return
        for v in near(self.ev, value):
            if v.op != "eq" or len(v.parents) != 2 or v.seq <= self.newest:
                continue
            d = array(v)
            if d is None or not d.size:
                continue
            for a, b in (v.parents, v.parents[::-1]):
                x, y = array(a), array(b)
                if x is None or y is None or x.dtype.kind != "f" or modelled(b) or not modelled(a):
                    continue
                if y.dtype.kind == "f" and not (y == np.round(y)).all():
                    continue
                source = plain(a)
                best = source.op in ("max_dim", "max", "topk_dim", "topk", "amax")
                if (x == np.round(x)).mean() > 0.1:
                    continue
                entry = self.times.setdefault((v.place, best), [0, 0, 0, source.place])
                entry[0] += 1
                entry[1] += int(d.size)
                entry[2] += int(d.sum())
        self.newest = max(self.newest, value.seq)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, best), (times, size, equal, source) in self.times.items():
            if not self.ev.steps or size < (20 if best else 200) or equal > (0.02 * size if best else 0):
                continue
            yield self.found(
                f"{'The largest scores themselves are' if best else 'Raw results of a model are'} compared with "
                f"whole numbers: {equal:,} of {size:,} are equal.",
                source if best else place,
                "takes the values" if best else "compares scores",
                also=(place if best else None, "compares them"),
                proof=[("compared", size), ("equal", equal), ("measures", times)],
                confirm=("prediction.dtype", "a float"),
                advice="Take the second of what max gives, its indices, or argmax(1)."
                if best
                else "Bring the scores to an answer first: argmax(1), or a threshold.",
                weight=6.0,
            )


HELD = frozenset(
    "val va valid validation validate validating test te testing tests heldout holdout held dev unseen".split()
)
TAUGHT = frozenset("train training trained tr fit fitting trainval".split())
SPLITS = ("random_split", "Subset", "train_test_split", "KFold", "SubsetRandomSampler")
SETS = frozenset(
    "loader set ds data dl dataset dataloader x xs y inputs features images iter batches split".split()
)
MOVING = frozenset(
    "to cuda cpu float double long view reshape unsqueeze squeeze flatten permute transpose argmax max min mean sum eq "
    "size append extend update len range enumerate zip int print item tolist numpy format round".split()
)
ROWS, COLUMNS, FEWEST = 4096, 64, 20
KEPT = 200_000  # hashes


def words_of(name: str) -> set[str]:
    """The words that a name is made of.

    Args:
        name: an identifier, or a key.

    Example:
        >>> from vistorch.debug.diagnose.rules.measures import words_of
        >>> sorted(words_of("X_val2")), sorted(words_of("testLoader"))
        (['val', 'x'], ['loader', 'test', 'testloader'])
    """
    split = "".join(f" {c.lower()}" if c.isupper() else c if c.isalpha() else " " for c in name)
    words = {*split.split(), *"".join(c if c.isalpha() else " " for c in name.lower()).split()}
    return words | {w[1:] for w in words if w[0] in "xy" and len(w) > 2}


def held_in(name: str) -> str:
    """The word by which a name says that it is held out, "" where it says no such thing.

    Args:
        name: an identifier, or a key.

    Example:
        >>> from vistorch.debug.diagnose.rules.measures import held_in
        >>> held_in("val_loader"), held_in("valid"), held_in("dev"), held_in("x_dev")
        ('val', '', '', 'dev')
    """
    words = words_of(name)
    found = words & HELD
    if not found or words & TAUGHT or (name.lower() in ("dev", "valid")):
        return ""
    if "valid" in found and not words & SETS:
        return ""
    return min(found)


def hashes(d: Any) -> Any:
    """A number for each row of a batch; None where rows are no samples of three features or more.

    Args:
        d: the batch.
    """
    if not isinstance(d, np.ndarray) or d.dtype.kind != "f" or d.ndim < 2 or not len(d) or d[0].size < 3:
        return None
    flat = d[:ROWS].reshape(len(d[:ROWS]), -1)
    flat = np.ascontiguousarray(flat[:, :: max(1, -(-flat.shape[1] // COLUMNS))], dtype=np.float64)
    odd = (np.arange(1, flat.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    mixed = (flat.view(np.uint64) >> np.uint64(11)) ^ (flat.view(np.uint64) >> np.uint64(29))
    return (mixed * odd).sum(1)


class SeenRows(Rule):
    """What is called validation or test are samples that the model was trained on.

    Meaning: a validation asks for samples that the training has not seen; those that it has seen say nothing.
    Fires: when a model without a history, or in evaluation mode, was given rows of three numbers or more, of which
    three in ten at least are not whole and nine in ten differ from each other, in a place whose text calls what it
    is given, or what that was taken from, val, valid, test, held, holdout, dev or the like and not train, as it does
    not call what a training call is given; and of 20
    such rows or more, a fifth had been in training batches of this model before, its parameters not having been
    written since. Where these are all rows of the training, the program's text has to split something.
    Wrong if: the data holds the same samples several times.
    Healthy programs tried: a split by slices, `random_split` or permutations, evaluation on the training data that
    is called train or nothing, one full data set without a split, batches that are tested before they are trained
    on, folds with a new model each, or whose first weights are loaded again, a temperature that is fitted on the
    validation, masks of valid rows, loops over `key, val`.
    """

    name, title, certainty, severity = "seen rows", "validation on training rows", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.rows: dict[int, set[int]] = {}  # by model: hashes of what it was trained on
        self.marks: dict[int, int] = {}
        self.prints: dict[int, set] = {}
        self.models: list[Any] = []
        self.texts: dict[tuple, tuple] = {}  # by places of the frames: what is given there
        self.asked: dict[tuple, list] = {}
        self.calls = 0
        self.trained_at: dict[int, Any] = {}
        self.own: dict[Any, bool] = {}  # by place of a call: whether training is given what is called so, too

    def at_pass(self, p: Any) -> None:
        """Take the rows of a training batch."""
        if not p.accumulates:
            return
        for call in p.calls:
            if call.inputs is not None and not call.inputs._rg and not self.own.get(call.place):
                self._take(call.module, call.inputs._data, call.place)

    def _take(self, module: Any, d: Any, place: Any) -> None:
        i = id(module)
        rows = self.rows.get(i)
        if rows is None:
            if len(self.rows) > 32:
                return
            rows = self.rows[i] = set()
            self.models.append(module)
            self.prints[i] = set()
        if self._written(module):
            rows.clear()
            self.prints[i].clear()
        if not isinstance(d, np.ndarray) or d.ndim < 2 or len(rows) > KEPT:
            return
        few = d[:: max(1, len(d) // 4)][:4]
        mark = (d.shape, few.tobytes()[:512])
        if mark in self.prints[i]:
            return
        found = hashes(d)
        if found is not None:
            if len(self.prints[i]) < 10_000:
                self.prints[i].add(mark)
            rows.update(found.tolist())
            self.trained_at[i] = place

    def _written(self, module: Any) -> bool:
        """Whether the parameters were written, but by an optimizer, since they were looked at before."""
        if not self.ev.hand:
            return False
        first = next(iter(module.parameters()), None) if hasattr(module, "parameters") else None
        now = 0 if first is None else self.ev.hand.get(id(first), 0)
        before = self.marks.get(id(module), 0)
        self.marks[id(module)] = now
        return before != now

    def at_call(self, call: Any) -> None:
        """Look at what a model is given in an evaluation."""
        if call.grad:
            if call.place not in self.own and len(self.own) < 50:
                self.own[call.place] = bool(_given(_frames())[0])
            if call.training:
                return
        rows = self.rows.get(id(call.module))
        if not rows or call.inputs is None or self.calls > MOST:
            return
        self.calls += 1
        if self._written(call.module):
            rows.clear()
            self.prints[id(call.module)].clear()
            return
        d = call.inputs._data
        found = hashes(d)
        if found is None:
            return
        frames = _frames()
        key = tuple((code, line) for code, line, _ in frames)
        strings = _strings(frames)
        key = (*key, *strings)
        known = self.texts.get(key)
        if known is None:
            if len(self.texts) > 200:
                return
            known = self.texts[key] = _given(frames)
        word, made = known
        if not word:
            return
        entry = self.asked.setdefault(
            (call.place, word, id(call.module)), [set(), set(), 0, made, None, False]
        )
        sample = d[:256].reshape(len(d[:256]), -1)
        if (sample != np.round(sample)).mean() < 0.3 or len(np.unique(found)) < 0.9 * len(found):
            return
        if len(entry[0]) < KEPT:
            entry[0].update(found.tolist())
            entry[1].update(x for x in found.tolist() if x in rows)
        entry[2] = len(rows)
        value = self.ev.table.get(id(d))
        if value is not None and value.data is d and entry[4] is None:
            entry[4] = self.ev.prepared(value)

    def findings(self) -> Iterator[Finding]:
        """Say where those rows were picked."""
        for (place, word, module), (asked, seen, rows, made, prepared, _) in self.asked.items():
            if len(asked) < FEWEST or len(seen) < max(0.2 * len(asked), FEWEST / 2):
                continue
            call = self.ev.line(place)
            tree = None if call is None else tree_of(call.file)
            if len(seen) >= 0.95 * rows and (tree is None or not _splits(tree)):
                continue  # one data set, which nobody split
            at = made[0] if made else None
            source = self.ev.line(prepared)
            other = made[1] if len(made) > 1 else None
            if at is None:
                at, source = source, None
            at = at or call
            teaches = self._loader() or self.ev.line(self.trained_at.get(module))
            if tree is not None and forgotten(tree) and teaches is not None:
                at, other = teaches, at  # the split is as it should be
            other = next((x for x in (other, teaches, source, call) if x is not None and x != at), None)
            yield self.found(
                f"{len(seen):,} of {len(asked):,} rows of {word} are rows that the model was trained on.",
                at,
                "makes that set",
                also=(other, "also made of them"),
                related=self.lines((place, "measured on them")),
                proof=[
                    (f"rows of {word}", len(asked)),
                    ("that were trained on before", len(seen)),
                    ("rows trained on", rows),
                ],
                confirm=(f"(x_{word}[:, None] == x_train).all(-1).any(1).float().mean()", "above 0"),
                unless="the data holds the same samples several times.",
                advice="Split once, by one permutation, and train on the one part only.",
                weight=6.0,
            )
            return

    def _loader(self) -> Any:
        """The line that made the loader of the training."""
        place = self.ev.loaders[0][0] if self.ev.loaders else None
        made = self.ev.origins.get(id(place))
        return None if made is None else self.ev.line(made[2])


def _frames() -> list[tuple]:
    """The user's frames, the innermost first: code, line, frame."""
    found: list[tuple] = []
    frame: Any = sys._getframe(2)
    while frame is not None and len(found) < 5:
        code = frame.f_code
        if kind_of(code.co_filename) == OUTSIDE:
            found.append((code, frame.f_lineno, frame))
        frame = frame.f_back
    return found


def _strings(frames: list[tuple]) -> list[str]:
    """The strings that a loop over names of parts, as in `for phase in ("train", "val")`, is at."""
    found = []
    for code, _, frame in frames:
        for name in ("phase", "split", "mode", "part", "name", "key", "stage", "subset", "which"):
            if name in code.co_varnames or name in code.co_names:
                value = _local(frame, code, name)
                if isinstance(value, str):
                    found.append(value)
    return found


def _local(frame: Any, code: Any, name: str) -> Any:
    own = frame.f_locals
    value = own.get(name)
    if own.__class__ is dict and code.co_flags & CO_OPTIMIZED:
        own.clear()  # a copy that the frame keeps, and with it all that its variables held by now
    return value


class _Trace:
    """What a model is given, followed back through a program's text.

    Args:
        frames: of the user, as they are.
    """

    def __init__(self, frames: list[tuple]) -> None:
        self.frames = frames
        self.word = ""
        self.made: list[Line] = []

    def begin(self) -> None:
        """Begin at the line of the call."""
        code, number, _frame = self.frames[0]
        tree = tree_of(code.co_filename)
        if tree is None:
            return
        statement = _statement(tree, number)
        calls: list[Any] = [n for n in ast.walk(statement) if _gives(n)] if statement is not None else []
        given = [n.args[0] for n in calls if not any(_gives(x) for one in n.args for x in ast.walk(one))]
        words = [self._follow(tree, one, 0, 5) for one in given]
        held = [w for w in words if w]
        if held and len({w for w in words if w is not None}) == 1 and held[0] in HELD:
            self.word = held[0]

    def _follow(self, tree: ast.Module, node: ast.expr, level: int, deep: int) -> str | None:
        """The word for an expression; "" where it is called nothing, or a part of the training."""
        names = [n for n in _spoken(node) if isinstance(n, (ast.Name, ast.Attribute, ast.Constant))]
        words: set[str] = set()
        held: set[str] = set()
        code, number, frame = self.frames[level]
        for n in names:
            text = n.id if isinstance(n, ast.Name) else n.attr if isinstance(n, ast.Attribute) else n.value
            if isinstance(text, str) and len(text) < 40:
                words |= words_of(text)
                if text != "val" or not isinstance(n, ast.Name) or self._beside(tree, text):
                    held.add(held_in(text))
            if isinstance(n, ast.Name):
                value = (
                    _local(frame, code, n.id) if n.id in code.co_varnames or n.id in code.co_names else None
                )
                if isinstance(value, str) and len(value) < 20:
                    words |= words_of(value)
                    held.add(held_in(value))
        held.discard("")
        if words & TAUGHT:
            return ""
        if held:
            self._origin(tree, node, level)
            return min(held)
        if not deep:
            return ""
        for n in names:
            if not isinstance(n, ast.Name):
                continue
            for source in _sources(tree, n.id, code, number):
                word = self._follow(tree, source, level, deep - 1)
                if word is not None:
                    return word
            if n.id in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                return self._outer(n.id, level, deep - 1)
        return ""

    @staticmethod
    def _beside(tree: ast.Module, name: str) -> bool:
        """Whether a variable that may be any value is assigned, in a program that names a training part as well."""
        taught = any(
            isinstance(n, ast.Name) and words_of(n.id) & (TAUGHT | {"rest", "kept"}) for n in ast.walk(tree)
        )
        return taught and bool(_given_to(tree, name)) and not _loops_of(tree, name)

    def _outer(self, name: str, level: int, deep: int) -> str | None:
        """The word for what a function was given, one frame further out."""
        if level + 1 >= len(self.frames):
            return ""
        code = self.frames[level][0]
        outer, number, _ = self.frames[level + 1]
        tree = tree_of(outer.co_filename)
        if tree is None:
            return ""
        statement = _statement(tree, number)
        every = code.co_varnames[: code.co_argcount]
        words = []
        for n in ast.walk(statement) if statement is not None else ():
            if not isinstance(n, ast.Call):
                continue
            called = getattr(n.func, "attr", getattr(n.func, "id", ""))
            own = every[1:] if every[:1] == ("self",) else every
            if called != code.co_name and not (every[:1] == ("self",) and code.co_name == "__call__"):
                continue
            given = next((k.value for k in n.keywords if k.arg == name), None)
            if given is None and name in own and own.index(name) < len(n.args):
                given = n.args[own.index(name)]
            if given is not None:
                words.append(self._follow(tree, given, level + 1, deep))
        return words[0] if len(set(words)) == 1 else ""

    def _origin(self, tree: ast.Module, node: ast.AST, level: int) -> None:
        """The lines that made a set: the nearest that is no loader's, and the one before."""
        file = self.frames[level][0].co_filename
        base = Line(file, 1, self.frames[level][0].co_name, "", None)
        names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and words_of(n.id) & HELD]
        found: list[int] = []
        for one in [n.id for n in ast.walk(node) if isinstance(n, ast.Name)] if not names else ():
            for _, table in _given_to(tree, one):  # a table of parts, by name
                pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
                for key, value in pairs:
                    if (
                        isinstance(key, ast.Constant)
                        and isinstance(key.value, str)
                        and words_of(key.value) & HELD
                    ):
                        found.append(value.lineno)
                        names = [
                            n.id for n in ast.walk(value) if isinstance(n, ast.Name) and words_of(n.id) & HELD
                        ]
        for _ in range(4):
            values = [n for name in names[:1] for n in _given_to(tree, name)]
            if not values and names:
                values = [(n.lineno, n) for n in _loops_of(tree, names[0])][:1]
            if len(values) != 1:
                break
            number, value = values[0]
            if isinstance(value, ast.For):
                names = [
                    n.id for n in ast.walk(value.iter) if isinstance(n, ast.Name) and words_of(n.id) & HELD
                ]
                continue
            called = value.func if isinstance(value, ast.Call) else None
            loads = "Loader" in getattr(called, "attr", getattr(called, "id", ""))
            if not loads:
                found.append(number)
            inner = value.args[0] if loads and isinstance(value, ast.Call) and value.args else value
            if loads and not (isinstance(inner, ast.Name) and words_of(inner.id) & HELD):
                found.append(number)
            within = [n.id for n in ast.walk(inner) if isinstance(n, ast.Name)]
            held = [
                n
                for n in within
                if words_of(n) & (HELD | {"idx", "index", "indices", "perm", "order", "rows"})
            ]
            names = held or (within if loads else [])
            if not names:
                break
        self.made = [at_line(base, n) for n in found]


def _spoken(node: ast.AST) -> list[ast.AST]:
    """The nodes of an expression, without where tensors are moved to."""
    found, waiting = [], [node]
    while waiting:
        n = waiting.pop(0)
        found.append(n)
        if isinstance(n, ast.Call) and getattr(n.func, "attr", "") in ("to", "cuda", "type"):
            waiting.append(n.func)
        else:
            waiting += list(ast.iter_child_nodes(n))
    return found


def _gives(node: ast.AST) -> bool:
    """Whether a node is a call that may be that of a model, and no method that moves or reduces a tensor."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return called not in MOVING


def _statement(tree: ast.Module, number: int) -> ast.AST | None:
    """The smallest statement that covers a line."""
    found: ast.AST | None = None
    for n in ast.walk(tree):
        if isinstance(n, ast.stmt) and n.lineno <= number <= (n.end_lineno or n.lineno):
            if isinstance(n, (ast.For, ast.While, ast.If, ast.With)) and n.body[0].lineno <= number:
                continue
            if found is None or n.lineno >= found.lineno:  # type: ignore[attr-defined]
                found = n
    return found


def _function(tree: ast.Module, code: Any) -> ast.AST:
    for n in ast.walk(tree):
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == code.co_name:
            first = n.decorator_list[0].lineno if n.decorator_list else n.lineno
            if code.co_firstlineno in (first, n.lineno):
                return n
    return tree


def _sources(tree: ast.Module, name: str, code: Any, number: int) -> list[ast.expr]:
    """What a variable comes from in its function: the loop that it counts, or the newest assignment above a line."""
    loops: list[tuple[int, ast.expr]] = []
    values: list[tuple[int, ast.expr]] = []
    for n in ast.walk(_function(tree, code)):
        if isinstance(n, (ast.For, ast.comprehension)):
            held = {x.id for x in ast.walk(n.target) if isinstance(x, ast.Name)}
            first = getattr(n, "lineno", n.iter.lineno)
            last = getattr(n, "end_lineno", number)
            if name in held and first <= number <= last:
                loops.append((first, n.iter))
        elif isinstance(n, ast.Assign) and n.lineno < number:
            for t in n.targets:
                held = {x.id for x in ast.walk(t) if isinstance(x, ast.Name)}
                if name in held and not any(
                    isinstance(x, ast.Name) and x.id == name for x in ast.walk(n.value)
                ):
                    values.append((n.lineno, n.value))
    best = max(loops + values, key=lambda pair: pair[0], default=None)
    return [] if best is None else [best[1]]


def _loops_of(tree: ast.Module, name: str) -> list[ast.For]:
    """The loops that count a variable."""
    return [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.For)
        and any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(n.target))
    ]


def forgotten(tree: ast.Module) -> bool:
    """Whether a part that is called training is made and never used.

    Args:
        tree: of a program.
    """
    made, used = set(), set()
    for n in ast.walk(tree):
        if (
            isinstance(n, ast.Name)
            and words_of(n.id) & TAUGHT
            and not words_of(n.id) & {"y", "labels", "target"}
        ):
            (made if isinstance(n.ctx, ast.Store) else used).add(n.id)
    return bool(made - used)


def _given_to(tree: ast.Module, name: str) -> list[tuple[int, Any]]:
    """All assignments of a variable, also in a tuple."""
    found: list[tuple[int, Any]] = []
    for n in ast.walk(tree):
        if isinstance(n, ast.Assign):
            for t in n.targets:
                pairs: list[tuple[ast.expr, ast.expr]] = [(t, n.value)]
                if isinstance(t, ast.Tuple):
                    each = n.value.elts if isinstance(n.value, ast.Tuple) else [n.value] * len(t.elts)
                    pairs = list(zip(t.elts, each, strict=False))
                found += [
                    (n.lineno, value) for one, value in pairs if isinstance(one, ast.Name) and one.id == name
                ]
    return found


def _splits(tree: ast.Module) -> bool:
    """Whether a program splits its data."""
    for n in ast.walk(tree):
        text = n.attr if isinstance(n, ast.Attribute) else n.id if isinstance(n, ast.Name) else ""
        if text in SPLITS or ("split" in words_of(text) - {"torch"} and text != "split"):
            return True
        if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice) and isinstance(n.ctx, ast.Load):
            if n.slice.step is None and (n.slice.lower is None) != (n.slice.upper is None):
                return True
    return False


def _given(frames: list[tuple]) -> tuple[str, list[Line]]:
    """The word that a program calls by what a model is given, "" for none, and the lines that made it."""
    trace = _Trace(frames)
    if frames:
        trace.begin()
    return trace.word, trace.made


class WrongCount(Counting):
    """Right answers are added up over batches and divided by the number of batches: the accuracy is above 1.

    Meaning: a count of samples is divided by the number of samples; a sum of means by the number of batches.
    Fires: when a line adds, by `+=`, numbers that were taken out of sums of `==` over several elements, more than one
    for each time on average; and after the loop around it, in the same function, that sum, or a hundred times it, is
    divided by the length of what the loop runs over, or by what the loop adds 1 to, in a statement that speaks of an
    accuracy or of a hundred, and by or with nothing else that is no number.
    Wrong if: the right answers of a batch are what is asked for.
    Healthy programs tried: counts by the number of samples, means by the number of batches, a division by the size of
    the batches as well, batches of one sample.
    """

    name, title, certainty, severity = "wrong count", "what a measure is divided by", LINEAGE, WRONG

    def at_taken(self, kind: str, value: Value, place: Any) -> None:
        """A count of equal elements."""
        if (
            value.op in ("sum_all", "sum_dims")
            and value.shape == ()
            and value.parents
            and len(self.times) < 50
        ):
            v = plain(value.parents[0])
            d = array(value)
            if v.op == "eq" and d is not None:
                entry = self.times.setdefault(place, [0, 0.0, 0])
                entry[0] += 1
                entry[1] += float(d)
                entry[2] += int(np.prod(v.shape))

    def findings(self) -> Iterator[Finding]:
        """Say where it is divided."""
        for place, (times, total, size) in self.times.items():
            line = self.ev.line(place)
            tree = tree_of(line.file) if line is not None and total > times and size > times else None
            number = None if tree is None or line is None else self._divided(tree, line.line)
            if number is None or line is None:
                continue
            yield self.found(
                f"Right answers are divided by the number of batches: {int(total):,} by {times:,}.",
                at_line(line, number),
                "by the batches",
                also=(line, "counts samples"),
                proof=[("right answers", int(total)), ("batches", times), ("answers", size)],
                confirm=("the accuracy", "above 1"),
                unless="the right answers of a batch are asked for.",
                advice="Divide by the number of samples: len(loader.dataset).",
                weight=6.0,
            )

    @staticmethod
    def _divided(tree: ast.Module, number: int) -> int | None:
        """The line that divides what a line adds up by the rounds of the loop around it."""
        added = _statement(tree, number)
        if not isinstance(added, ast.AugAssign) or not isinstance(added.op, ast.Add):
            return None
        if any(isinstance(n, ast.BinOp) for n in ast.walk(added.value)):
            return None
        name = ast.unparse(added.target)
        loop: ast.For | None = None
        scope: ast.AST = tree
        for n in ast.walk(tree):
            if getattr(n, "lineno", 0) <= number <= (getattr(n, "end_lineno", 0) or 0):
                if isinstance(n, ast.For):
                    loop = n
                elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    scope = n
        if loop is None:
            return None
        over = [loop.iter, *(loop.iter.args[:1] if isinstance(loop.iter, ast.Call) else [])]
        rounds = {f"len({ast.unparse(one)})" for one in over}
        for n in loop.body:
            if isinstance(n, ast.AugAssign) and isinstance(n.value, ast.Constant) and n.value.value == 1:
                rounds.add(ast.unparse(n.target))
        for one in ast.walk(scope):
            if not isinstance(one, (ast.Assign, ast.Return, ast.Expr)) or one.lineno <= (
                loop.end_lineno or 0
            ):
                continue
            text = ast.unparse(one).lower()
            every = [
                n for n in ast.walk(one) if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Div, ast.Mult))
            ]
            for n in every:
                left = (
                    {ast.unparse(x) for x in (n.left.left, n.left.right)}
                    if isinstance(n.left, ast.BinOp)
                    else set()
                )
                mine = ast.unparse(n.left) == name or (name in left and left - {name} <= {"100", "100.0"})
                if not isinstance(n.op, ast.Div) or not mine or ast.unparse(n.right) not in rounds:
                    continue
                outer = [b for b in every if n in (b.left, b.right)]
                if all(isinstance(x, ast.Constant) for b in outer for x in (b.left, b.right) if x is not n):
                    if "acc" in text or "100" in text or "%" in text:
                        return n.lineno
        return None


RULES = (AnswerAxis, Threshold, NeverEqual, SeenRows, WrongCount)
