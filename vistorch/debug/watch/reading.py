"""What a pass knows of logits and labels: read from the nodes of the loss, so that no op of a training step is heard.

The node of `nll_loss` keeps its targets, the one of `log_softmax` before it what it gave, those of binary cross
entropy their inputs: they are there when a backward pass is about to start, and cost a loop over a few nodes.
Invariant: nothing is computed here and nothing of the graph is kept but arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.graph import FREED, Leaf, Out
from ...engine.places import CPU
from ...engine.tensor import Tensor

NEAR = 64  # a loss is among the newest nodes of a pass
CLASSES, LOGITS, CHANCES = "classes", "logits", "chances"


class Sight:
    """Scores and targets of one batch.

    Slots:
        kind: CLASSES (target are class numbers), LOGITS or CHANCES (binary: target 0 or 1, scores before or after
            the sigmoid).
        scores, target: arrays.
        place: where they are.
        ignore: the class number that does not count.
        logs: whether the scores are log-probabilities.
        inputs: what the model was given, an array; `version`: the version cell of that memory; `was`: its count then.
        indices: of the samples in the dataset.
    """

    epoch: int
    step: int
    indices: list | None
    inputs: Any
    version: Any
    was: int

    __slots__ = (
        "epoch",
        "ignore",
        "indices",
        "inputs",
        "kind",
        "logs",
        "place",
        "scores",
        "step",
        "target",
        "version",
        "was",
    )

    def __init__(
        self, kind: str, scores: Any, target: Any, place: Any, ignore: int = -100, logs: bool = False
    ) -> None:
        self.kind, self.scores, self.target, self.place = kind, scores, target, place
        self.ignore, self.logs = ignore, logs
        self.inputs = self.version = self.indices = None

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
    return Sight(CLASSES, d, t._data, node.place, node.saved[at[1]], True)


def _of_classes(node: Any, last: Any) -> Sight | None:
    target = _kept(node, "target")
    edge = node.edges[0]
    before = edge.node if edge.__class__ is Out else edge
    scores, logs = None, True
    if before is not None and before.__class__ is not Leaf and before.rule is not None:
        if before.rule.name == "log_softmax":
            scores = _kept(before, "out")
    if scores is None and last is not None:
        scores, logs = last, False
    if target is None or scores is None or not hasattr(target, "dtype") or scores.ndim < 2:
        return None
    rows = scores.shape[:1] + scores.shape[2:]
    if tuple(target.shape) != rows:
        return None
    ignore = _kept(node, "ignore_index")
    return Sight(CLASSES, scores, target, node.place, ignore if isinstance(ignore, int) else -100, logs)


def sight_of(order: list, last: Any = None) -> Sight | None:
    """The newest classification loss among the nodes of a pass; None if there is none.

    Args:
        order: the nodes, the newest first.
        last: the array the root module returned, where the loss does not keep its input.
    """
    for node in order[:NEAR]:
        if node.__class__ is Leaf or node.rule is None:
            continue
        name = node.rule.name
        if name.startswith("nll_loss"):
            return _of_classes(node, last)
        if name.startswith("binary_cross_entropy") and "backward" not in name:
            scores, target = _kept(node, "input"), _kept(node, "target")
            if scores is None or target is None or scores.shape != target.shape:
                return None
            return Sight(LOGITS if "logits" in name else CHANCES, scores, target, node.place)
    return None


def sight_of_op(name: str, ins: tuple) -> Sight | None:
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
        if scores.ndim < 2 or tuple(target.shape) != scores.shape[:1] + scores.shape[2:]:
            return None
        return Sight(CLASSES, scores, target, ins[0]._place, logs=True)
    if scores.shape == target.shape:
        return Sight(LOGITS if "logits" in name else CHANCES, scores, target, ins[0]._place)
    return None


def observed(outputs: Any, labels: Any) -> Sight:
    """What a program tells of a batch.

    Args:
        outputs: scores, (N, classes), as a tensor or an array.
        labels: class numbers, (N,).
    """
    scores, place = (
        (outputs._data, outputs._place) if isinstance(outputs, Tensor) else (np.asarray(outputs), CPU)
    )
    if isinstance(labels, Tensor):
        target = labels._data
        if labels._place is not place:
            raise ValueError(f"outputs are on {place.name}, labels on {labels._place.name}")
    else:
        with place:
            target = place.xp.asarray(labels)
    if scores.ndim != 2 or target.shape != scores.shape[:1] or target.dtype.kind not in "iu":
        raise ValueError(
            "observe takes scores (N, classes) and N class numbers, got shapes "
            f"{tuple(scores.shape)} and {tuple(target.shape)} of {target.dtype}"
        )
    return Sight("classes", scores.copy(), target, place)
