"""What a pass knows of logits and labels: read from the nodes of the loss, so that a training step needs no op events.

The node of `nll_loss` keeps its targets, the one of `log_softmax` before it what it gave, those of binary cross
entropy and of distances their inputs: they are there when a backward pass is about to start, and cost a loop over a
few nodes. A difference that was written by hand keeps neither side, but the difference itself.
Invariant: nothing is computed here and nothing of the graph is kept but arrays.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...engine.core.graph import FREED, Leaf, Out
from ...engine.memory.placement import CPU
from ..source import source_of

NEAR = 64  # a loss is among the newest nodes of a pass
CLASSES, LOGITS, CHANCES, VALUES = "classes", "logits", "chances", "values"
DISTANCES = ("mse_loss", "smooth_l1_loss", "huber_loss")
SHAPED = ("view", "reshape", "squeeze", "squeeze_dim", "unsqueeze", "flatten", "clone", "contiguous", "alias")
# what a difference by hand goes through
BENT = {"pow": "squared difference", "square": "squared difference", "abs": "absolute difference"}


class LossInputs:
    """Scores and targets of one batch.

    Slots:
        kind: CLASSES (target are class numbers), LOGITS or CHANCES (binary: target 0 or 1, scores before or after
            the sigmoid), VALUES (a prediction and what it should have been).
        scores, target: arrays.
        place: where they are.
        ignore: the class number that does not count.
        logs: whether the scores are log-probabilities.
        inputs: what the model was given, an array; `version`: the version cell of that memory; `was`: its count then.
        indices: of the samples in the dataset.
        name: of the op or function; `form`: what makes a prediction of the scores: "", "sigmoid", "exp".
        tokens: what the model was given, where that is whole numbers.
        sequence: (sequences, positions) of flattened rows, where the graph says so; of values, what they were cut from.
        swapped: whether the loss was given the target first.
        echo: whether the target is what the model was given.
        value: what the loss came to, where only its op knows.
    """

    epoch: int
    step: int
    indices: list | None
    inputs: Any
    sequence: Any
    tokens: Any
    value: Any
    version: Any
    was: int

    __slots__ = (
        "echo",
        "epoch",
        "form",
        "ignore",
        "indices",
        "inputs",
        "kind",
        "logs",
        "name",
        "place",
        "scores",
        "sequence",
        "step",
        "swapped",
        "target",
        "tokens",
        "value",
        "version",
        "was",
    )

    def __init__(
        self, kind: str, scores: Any, target: Any, place: Any, ignore: int = -100, logs: bool = False
    ) -> None:
        self.kind, self.scores, self.target, self.place = kind, scores, target, place
        self.ignore, self.logs = ignore, logs
        self.inputs = self.version = self.indices = None
        self.tokens = self.sequence = self.value = None
        self.name, self.form, self.echo, self.swapped = "", "", False, False

    def untouched(self) -> bool:
        """Whether the inputs are what the model was given."""
        return self.version is None or self.version.n == self.was

    @property
    def nbytes(self) -> int:
        """What is held by it."""
        held = self.inputs.nbytes if self.inputs is not None else 0
        return self.scores.nbytes + self.target.nbytes + held


def _kept(node: Any, name: str) -> Any:
    """What a node saved under a name: an array or a constant; None if it is not there or was overwritten."""
    rule = node.rule
    if node.saved is FREED or name not in rule.saved_names:
        return None
    entry = node.saved[rule.saved_names.index(name)]
    if entry.__class__ is not tuple:
        return entry
    if len(entry) == 2 and hasattr(entry[0], "_data"):
        t, was = entry
        v = t._ver
        return t._data if v is None or v.n == was else None
    if len(entry) == 3 and hasattr(entry[0], "dtype"):
        d, v, was = entry
        return d if v.n == was else None
    return entry


_places: dict[
    Any, tuple
] = {}  # by class of node: where its row keeps targets and the class that does not count


def quick(node: Any) -> Any:
    """The cross entropy of logits with class numbers: `nll_loss` right after `log_softmax`; None for all else."""
    cls = node.__class__
    at = _places.get(cls)
    if at is None:
        row: Any = node.rule
        names: tuple = () if row is None or row.name != "nll_loss" else tuple(row.saved_names)
        at = _places[cls] = (names.index("target"), names.index("ignore_index")) if names else ()
    if not at:
        return None
    before = node.edges[0]
    rule: Any = getattr(before, "rule", None)
    if rule is None or rule.name != "log_softmax" or before.saved is FREED or node.saved is FREED:
        return None
    target, scores = node.saved[at[0]], before.saved[rule.saved_names.index("out")]
    if target.__class__ is not tuple or len(target) != 2 or scores.__class__ is not tuple or len(scores) != 3:
        return None
    d, cell, was = scores
    t, n = target
    if cell.n != was or (t._ver is not None and t._ver.n != n) or d.ndim != 2:
        return None
    sight = LossInputs(CLASSES, d, t._data, node.place, node.saved[at[1]], True)
    view: Any = before.edges[0]
    if getattr(view, "rule", None) is not None and view.rule.name in SHAPED:
        sight.sequence = _sequence_of(view, d.shape)
    return sight


def _sequence_of(node: Any, rows: tuple) -> tuple | None:
    """(sequences, positions) of the logits (sequences, positions, classes) that were flattened to these rows."""
    for _ in range(3):
        if getattr(node, "rule", None) is None or node.rule.name not in SHAPED:
            return None
        shape = _kept(node, "input_shape")
        if shape is not None and len(shape) == 3 and shape[2] == rows[1] and shape[0] * shape[1] == rows[0]:
            return tuple(shape[:2])
        node = node.edges[0]
    return None


def _of_classes(node: Any, last: Any) -> LossInputs | None:
    target = _kept(node, "target")
    edge = node.edges[0]
    before = edge.node if edge.__class__ is Out else edge
    scores, logs, sequence = None, True, ()
    if before is not None and before.__class__ is not Leaf and before.rule is not None:
        behind: Any = before.edges[0] if before.rule.name == "view" else None
        if getattr(behind, "rule", None) is not None and behind.rule.name == "log_softmax":
            before = behind  # logits of one more dimension are given one of size 1, and so are their targets
        if before.rule.name == "log_softmax":
            scores = _kept(before, "out")
            rows = () if scores is None else scores.shape[:1] + scores.shape[2:]
            if scores is None or not hasattr(target, "reshape"):
                pass
            elif (
                scores.ndim > 2
                and target.ndim == 1
                and target.size == prod(scores.shape[:-1])
                and _kept(before, "dim") in (-1, scores.ndim - 1)
            ):  # log-probabilities of each position, flattened
                sequence, scores = scores.shape[:-1], scores.reshape(-1, scores.shape[-1])
            elif target.shape != rows and target.size == prod(rows):
                target = target.reshape(rows)
    if scores is None and last is not None:
        scores, logs = last, False
    if target is None or scores is None or not hasattr(target, "dtype") or scores.ndim < 2:
        return None
    rows = scores.shape[:1] + scores.shape[2:]
    if tuple(target.shape) != rows:
        return None
    ignore = _kept(node, "ignore_index")
    sight = LossInputs(CLASSES, scores, target, node.place, ignore if isinstance(ignore, int) else -100, logs)
    sight.sequence = sequence if len(sequence) == 2 else None
    return sight


def values_of(name: str, prediction: Any, target: Any, place: Any) -> LossInputs | None:
    """A prediction beside its target; None where they are no real numbers of one shape.

    Args:
        name: of the loss.
        prediction: an array.
        target: an array.
        place: where they are.
    """
    if prediction.shape != target.shape or not prediction.ndim or prediction.dtype.kind not in "fiu":
        return None
    sight = LossInputs(VALUES, prediction, target, place)
    sight.name = name
    return sight


def _of_distance(node: Any) -> LossInputs | None:
    """What a distance was measured between; the prediction is the side that a gradient flows to."""
    prediction, target = _kept(node, "input"), _kept(node, "target")
    if prediction is None or target is None:
        return None
    if node.edges[0] is not None:
        return values_of(node.rule.name, prediction, target, node.place)
    sight = values_of(node.rule.name, target, prediction, node.place)
    if sight is not None:
        sight.swapped = True
    return sight


def by_hand(order: list, last: Any, made_by: Any) -> LossInputs | None:
    """A difference of the root's output from a target that was squared or taken absolutely without a loss function.

    Args:
        order: the nodes of the pass, the newest first.
        last: the array the root module returned.
        made_by: the node that made it.
    """
    if last is None or made_by is None:
        return None
    for node in order[:4]:
        if node.__class__ is Leaf or node.rule is None or node.rule.name not in BENT:
            continue
        before: Any = node.edges[0]
        if getattr(before, "rule", None) is None or before.rule.name != "sub" or len(before.edges) != 2:
            return None
        if node.rule.name == "pow" and _kept(node, "other") != 2:
            return None
        first, second = before.edges
        if (first is None) == (second is None):
            return None
        way, difference = (first if second is None else second), _kept(node, "input")
        for _ in range(4):
            if way is made_by or getattr(way, "rule", None) is None or way.rule.name not in SHAPED:
                break
            way = way.edges[0]
        if way is not made_by or difference is None or difference.size != last.size:
            return None
        prediction = last.reshape(difference.shape)
        target = prediction - difference if second is None else prediction + difference
        return values_of(BENT[node.rule.name], prediction, target, node.place)
    return None


def sight_of(order: list, last: Any = None) -> LossInputs | None:
    """The newest loss that knows classes among the nodes of a pass, else the newest distance; None if there is none.

    Args:
        order: the nodes, the newest first.
        last: the array the root module returned, where the loss does not keep its input.
    """
    values = None
    for node in order[:NEAR]:
        cls = node.__class__
        kind = _kinds.get(cls)
        if kind is None:
            kind = _kinds[cls] = _kind_of(node)
        if not kind:
            continue
        if kind == CLASSES:
            return _of_classes(node, last) or values
        if kind != VALUES:
            scores, target = _kept(node, "input"), _kept(node, "target")
            if scores is None or target is None or scores.shape != target.shape:
                return values
            sight = LossInputs(kind, scores, target, node.place)
            sight.name = node.rule.name
            return sight
        if values is None:
            values = _of_distance(node)
            if node is order[0]:  # nothing stands beside it
                return values
    return values


_kinds: dict[Any, str] = {}  # by class of node: what kind of loss it is; "" for all else


def _kind_of(node: Any) -> str:
    name = "" if node.__class__ is Leaf or node.rule is None else node.rule.name
    if name.startswith("nll_loss"):
        return CLASSES
    if name.startswith("binary_cross_entropy") and "backward" not in name:
        return LOGITS if "logits" in name else CHANCES
    return VALUES if name in DISTANCES else ""


def sight_of_op(name: str, ins: tuple) -> LossInputs | None:
    """The same from an op that has just run: what validation, which has no graph, is read from.

    Args:
        name: the row's name.
        ins: its inputs.
    """
    if len(ins) < 2:
        return None
    scores, target = getattr(ins[0], "_data", None), getattr(ins[1], "_data", None)
    if scores is None or target is None:
        return None
    if name.startswith("nll_loss"):
        if scores.ndim == 4 and scores.shape[2] == 1 and target.shape[1:2] == (1,):
            scores, target = scores[:, :, 0], target[:, 0]
        if scores.ndim < 2 or tuple(target.shape) != scores.shape[:1] + scores.shape[2:]:
            return None
        return LossInputs(CLASSES, scores, target, ins[0]._place, logs=True)
    if name in DISTANCES:
        return values_of(name, scores, target, ins[0]._place)
    if scores.shape == target.shape:
        sight = LossInputs(LOGITS if "logits" in name else CHANCES, scores, target, ins[0]._place)
        sight.name = name
        return sight
    return None


def observed(outputs: Any, labels: Any) -> LossInputs:
    """What a program gives of a batch.

    Args:
        outputs: scores, (N, classes), as a tensor or an array.
        labels: class numbers, (N,).
    """
    source, other = (None if isinstance(x, (list, tuple)) else source_of(x) for x in (outputs, labels))
    scores, place = (np.asarray(outputs), CPU) if source is None else source.placed(outputs)
    if other is not None:
        target, where = other.placed(labels)
        if where is not place:
            raise ValueError(f"outputs are on {place.name}, labels on {where.name}")
    else:
        with place:
            target = place.xp.asarray(labels)
    if scores.ndim != 2 or target.shape != scores.shape[:1] or target.dtype.kind not in "iu":
        raise ValueError(
            "observe takes scores (N, classes) and N class numbers, got shapes "
            f"{tuple(scores.shape)} and {tuple(target.shape)} of {target.dtype}"
        )
    return LossInputs("classes", scores.copy(), target, place)
