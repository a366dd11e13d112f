"""What a pass knows of scores and labels: read from the nodes of a torch loss, and from the loss functions themselves.

The node of `nll_loss` keeps its targets, the one of `log_softmax` before it what it gave, those of binary cross entropy
and of distances their inputs. A difference that was written by hand keeps neither side, but the difference itself.
Invariant: nothing is computed, no hook runs, and arrays share the memory of the tensors they are of.
"""

from __future__ import annotations

import heapq
from typing import Any

from ..debug.source import Unsupported
from ..debug.watch.loss_inputs import BENT, CHANCES, CLASSES, LOGITS, VALUES, LossInputs, values_of
from ..engine.memory.placement import CPU
from . import private, values
from .nodes import key_of
from .real import torch

NEAR = 64  # a loss is among the newest nodes of a pass
FAR = 4000  # nodes that are walked to find a parameter of the model
_KINDS = {
    "NllLossBackward0": CLASSES,
    "NllLoss2DBackward0": CLASSES,
    "BinaryCrossEntropyBackward0": CHANCES,
    "BinaryCrossEntropyWithLogitsBackward0": LOGITS,
    "MseLossBackward0": VALUES,
    "SmoothL1LossBackward0": VALUES,
    "HuberLossBackward0": VALUES,
}
_NAMES = {
    "MseLossBackward0": "mse_loss",
    "SmoothL1LossBackward0": "smooth_l1_loss",
    "HuberLossBackward0": "huber_loss",
    "BinaryCrossEntropyBackward0": "binary_cross_entropy",
    "BinaryCrossEntropyWithLogitsBackward0": "binary_cross_entropy_with_logits",
}
_SHAPED = frozenset(
    (
        "ViewBackward0",
        "UnsafeViewBackward0",
        "ReshapeAliasBackward0",
        "SqueezeBackward0",
        "SqueezeBackward1",
        "UnsqueezeBackward0",
        "CloneBackward0",
        "AliasBackward0",
        "SliceBackward0",
        "ToCopyBackward0",
    )
)
_BENT = {"PowBackward0": "pow", "AbsBackward0": "abs"}
# Loss functions, as they are called, and what they compare.
FUNCTIONS = {
    "cross_entropy": CLASSES,
    "cross_entropy_loss": CLASSES,
    "nll_loss": CLASSES,
    "nll_loss_nd": CLASSES,
    "binary_cross_entropy": CHANCES,
    "binary_cross_entropy_with_logits": LOGITS,
    "mse_loss": VALUES,
    "l1_loss": VALUES,
    "smooth_l1_loss": VALUES,
    "huber_loss": VALUES,
}
_IGNORED = {"cross_entropy": 4, "cross_entropy_loss": 4, "nll_loss": 4, "nll_loss_nd": 4}  # where it stands


def array_of(t: Any) -> Any:
    """The values of a tensor, sharing its memory on the CPU; None where it has none."""
    if not isinstance(t, torch.Tensor):
        return None
    try:
        return values.placed(t)[0]
    except (Unsupported, RuntimeError):
        return None


def _kept(node: Any, name: str) -> Any:
    """What a node saved: an array or a constant; None if it is not there, was overwritten, or packed by a hook."""
    try:
        if private.packed(node, name):
            return None
        value = private.saved(node, name)
    except (RuntimeError, AttributeError):
        return None
    return array_of(value) if isinstance(value, torch.Tensor) else value


def _next(node: Any, edge: int = 0) -> Any:
    return node.next_functions[edge][0] if edge < len(node.next_functions) else None


def _name(node: Any) -> str:
    return "" if node is None else node.name()


def reaches(node: Any, parameter_ids: set[int]) -> bool:
    """Whether a pass from a node comes to a parameter of the model.

    Args:
        node: where it begins.
        parameter_ids: ids of the parameters.
    """
    seen, waiting = {node}, [node]
    while waiting and len(seen) < FAR:
        n = waiting.pop()
        if private.sequence(n) >= private.FIRST_SEQUENCE_OF_LEAVES and id(n.variable) in parameter_ids:
            return True
        for below, _ in reversed(n.next_functions):
            if below is not None and below not in seen:
                seen.add(below)
                waiting.append(below)
    return len(seen) >= FAR


def newest(root: Any) -> list[Any]:
    """The newest nodes of a pass, at most `NEAR`, leaves left out.

    Args:
        root: where it begins.
    """
    heap, seen, found, count = [(key_of(root), 0, root)], {root}, [], 0
    while heap and len(found) < NEAR:
        n = heapq.heappop(heap)[2]
        found.append(n)
        for below, _ in n.next_functions:
            if below is not None and below not in seen and not hasattr(below, "variable"):
                seen.add(below)
                count += 1
                heapq.heappush(heap, (key_of(below), count, below))
    return found


def sight_of(root: Any, last: Any, made: int | None) -> LossInputs | None:
    """The newest loss that knows classes among the nodes of a pass, else the newest distance; None if there is none.

    Args:
        root: the node that the pass begins with.
        last: the array the root module returned, where the loss does not keep its input.
        made: the number of the node that made it.
    """
    if root is None:
        return None
    if _KINDS.get(root.name()) == CLASSES and (sight := _of_classes(root, last)) is not None:
        return sight
    nodes, found = newest(root), None
    for node in nodes:
        name = node.name()
        kind = _KINDS.get(name)
        if kind is None:
            continue
        if kind == CLASSES:
            return _of_classes(node, last) or found
        scores, target = _kept(node, "self"), _kept(node, "target")
        if scores is None or target is None or scores.shape != target.shape:
            if kind != VALUES:
                return found
            continue
        if kind != VALUES:
            sight = LossInputs(kind, scores, target, CPU)
            sight.name = _NAMES[name]
            return sight
        if found is None:
            swapped = _next(node) is None
            found = values_of(_NAMES[name], *((target, scores) if swapped else (scores, target)), CPU)
            if found is not None:
                found.swapped = swapped
    return found or _by_hand(nodes, last, made)


def _of_classes(node: Any, last: Any) -> LossInputs | None:
    target, before = _kept(node, "target"), _next(node)
    scores, logs, sequence = None, True, None
    shaped = before
    for _ in range(3):
        if _name(shaped) not in _SHAPED:
            break
        shaped = _next(shaped)
    if _name(before) == "LogSoftmaxBackward0":
        scores = _kept(before, "result")
        sequence = None if scores is None else _sequence(_next(before), scores.shape)
    elif _name(shaped) == "LogSoftmaxBackward0" and target is not None:
        scores = _kept(shaped, "result")
        if scores is None or scores.ndim < 3 or target.ndim != 1:
            pass
        elif target.size * scores.shape[-1] == scores.size:
            sequence, scores = scores.shape[:-1], scores.reshape(-1, scores.shape[-1])
    if scores is None and last is not None:
        scores, logs = last, False
    if target is None or scores is None or scores.ndim < 2:
        return None
    rows = scores.shape[:1] + scores.shape[2:]
    if target.shape != rows and target.size == _product(rows):
        target = target.reshape(rows)
    if tuple(target.shape) != tuple(rows):
        return None
    ignore = _kept(node, "ignore_index")
    sight = LossInputs(CLASSES, scores, target, CPU, _signed(ignore), logs)
    sight.sequence = sequence if sequence is not None and len(sequence) == 2 else None
    return sight


def _signed(ignore: Any) -> int:
    """The class that does not count; PyTorch keeps it without a sign."""
    if not isinstance(ignore, int):
        return -100
    return ignore - (1 << 64) if ignore >= 1 << 63 else ignore


def _product(sides: tuple) -> int:
    total = 1
    for side in sides:
        total *= side
    return total


def _sequence(node: Any, rows: tuple) -> tuple | None:
    """(sequences, positions) of the logits (sequences, positions, classes) that were flattened to these rows."""
    for _ in range(3):
        if _name(node) not in _SHAPED:
            return None
        shape = _kept(node, "self_sym_sizes")
        if shape is not None and len(shape) == 3 and len(rows) == 2:
            if shape[2] == rows[1] and shape[0] * shape[1] == rows[0]:
                return tuple(int(n) for n in shape[:2])
        node = _next(node)
    return None


def _by_hand(nodes: list, last: Any, made: int | None) -> LossInputs | None:
    """A difference of the root's output from a target that was squared or taken absolutely without a loss function."""
    if last is None or made is None:
        return None
    for node in nodes[:4]:
        bent = _BENT.get(node.name())
        if bent is None:
            continue
        before = _next(node)
        if _name(before) != "SubBackward0" or (bent == "pow" and _kept(node, "exponent") != 2):
            return None
        first, second = _next(before, 0), _next(before, 1)
        if (first is None) == (second is None):
            return None
        way, difference = (first if second is None else second), _kept(node, "self")
        for _ in range(4):
            if private.sequence(way) == made or _name(way) not in _SHAPED:
                break
            way = _next(way)
        if way is None or private.sequence(way) != made or difference is None or difference.size != last.size:
            return None
        prediction = last.reshape(difference.shape)
        target = prediction - difference if second is None else prediction + difference
        return values_of(BENT[bent], prediction, target, CPU)
    return None


def divisor_of(node: Any) -> float:
    """The number that a loss was divided by at last, as for gradients that add up over several passes; 1 where by none.

    Args:
        node: the node of the loss.
    """
    if node is None or node.name() != "DivBackward0" or _next(node, 1) is not None:
        return 1.0
    by = _kept(node, "other")
    return float(by) if by is not None and getattr(by, "size", 1) == 1 else 1.0


def sight_of_labels(result: Any, labels: Any) -> LossInputs | None:
    """Scores and labels of a model that was given its labels and computes its loss itself.

    Which score belongs to which label (a language model's to the next one) is what the model's own loss says: the one
    whose cross entropy it is.

    Args:
        result: what the model returned: has "loss" and "logits".
        labels: the labels it was given.
    """
    found = result if isinstance(result, dict) else vars(result) if hasattr(result, "__dict__") else {}
    loss: Any = found.get("loss")
    logits: Any = found.get("logits")
    if not all(isinstance(t, torch.Tensor) for t in (loss, logits, labels)) or loss.numel() != 1:
        return None
    if labels.is_floating_point() or logits.dim() != labels.dim() + 1 or logits.shape[:-1] != labels.shape:
        return None
    with torch.no_grad(), private.without_modes():
        for ahead in range(min(2, labels.dim())):
            last = labels.shape[-1] - ahead
            scores = logits if labels.dim() == 1 else logits[:, :last]
            target = labels if labels.dim() == 1 else labels[:, ahead:]
            flat = scores.reshape(-1, scores.shape[-1]).float(), target.reshape(-1)
            if torch.isclose(torch.nn.functional.cross_entropy(*flat), loss.float(), rtol=1e-3):
                sight = LossInputs(CLASSES, array_of(flat[0]), array_of(flat[1]), CPU)
                sight.sequence = tuple(target.shape) if target.dim() == 2 else None
                sight.value = array_of(loss.detach()).copy()
                return sight
    return None


def sight_of_call(name: str, args: tuple, kwargs: dict, swapped: bool = False) -> LossInputs | None:
    """The same from a loss function that has just run: what a validation, which has no graph, is read from.

    Args:
        name: of the function.
        args: what it was given.
        kwargs: what it was given by name.
        swapped: whether the loss is given the target first.
    """
    kind = FUNCTIONS[name]
    given = dict(zip(("input", "target"), args[:2], strict=False)) | kwargs
    scores, target = array_of(given.get("input", given.get("self"))), array_of(given.get("target"))
    if scores is None or target is None:
        return None
    if kind == CLASSES:
        if target.dtype.kind not in "iu" or scores.ndim < 2:
            return None
        if tuple(target.shape) != scores.shape[:1] + scores.shape[2:]:
            return None
        at = _IGNORED[name]
        ignore = kwargs.get("ignore_index", args[at] if len(args) > at else -100)
        return LossInputs(
            CLASSES, scores, target, CPU, ignore if isinstance(ignore, int) else -100, "nll" in name
        )
    if kind == VALUES:
        sight = values_of(name, *((target, scores) if swapped else (scores, target)), CPU)
        return sight
    if scores.shape != target.shape:
        return None
    sight = LossInputs(kind, scores, target, CPU)
    sight.name = name
    return sight
