"""What a loss compares: the ops that end it, found from its value upwards.

Invariant: only values that the history of this loss holds; nothing is computed but slices of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lineage import SHAPED, Value, ancestors, beyond

CLASSES, PROBABILITIES, LOGITS, VALUES = "classes", "log-probabilities", "logits", "values"
DISTANCES = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")
BENT = ("pow", "square", "abs", "mul")
ADDED = (
    "add",
    "add_scaled",
    "sum_all",
    "mean_all",
    "sum_dims",
    "mean_dims",
    "sum",
    "mean",
    "stack",
    "cat",
    "sqrt",
    "log",
    "relu",
    "softplus",
    "clamp",
)
JOINED = ("mean_all", "sum_all", "mean_dims", "sum_dims", "mean", "sum", "sqrt")


@dataclass
class Head:
    """One comparison in a loss.

    Args:
        kind: CLASSES (cross entropy of logits), PROBABILITIES (negative log likelihood of what should be
            log-probabilities), LOGITS (binary), VALUES (a distance).
        prediction, target: values.
        value: the op's own.
        axis: of the classes.
    """

    kind: str
    prediction: Value
    target: Value | None
    value: Value
    axis: int = 1
    name: str = ""


def outside(root: Value) -> Callable[[Value], bool]:
    """Whether to go beyond a value on the way from a loss: not into models, but for one that computes the loss itself.

    Args:
        root: the loss.
    """
    inside = root.model
    return lambda v: v.model is None or v is root or (v.model is inside and of(v) is None)


def heads(root: Value, most: int = 4000) -> list[Head]:
    """The comparisons that a loss is made of.

    Args:
        root: the loss.
        most: values that are looked at.
    """
    found = []
    for v in ancestors(root, outside(root)):
        most -= 1
        head = of(v)
        if head is not None:
            found.append(head)
        if not most:
            break
    return found


def of(v: Value) -> Head | None:
    """The comparison that an op is, if it is one.

    Args:
        v: its value.
    """
    ins = v.ins
    if (
        v.op in ("nll_loss", "nll_loss_weighted", "nll_loss2d")
        and len(ins) >= 2
        and ins[0].__class__ is Value
    ):
        before = beyond(ins[0], frozenset(("view", "reshape", "transpose", "permute", "flatten")))
        if before.op == "log_softmax" and before.ins and before.ins[0].__class__ is Value:
            return Head(
                CLASSES, before.ins[0], ins[1], v, before.consts[0] if before.consts else 1, "cross_entropy"
            )
        return Head(PROBABILITIES, ins[0], ins[1], v, 1, "nll_loss")
    if v.op.startswith("cross_entropy") and len(ins) >= 2 and ins[0].__class__ is Value:
        return Head(CLASSES, ins[0], ins[1] if ins[1].__class__ is Value else None, v, 1, "cross_entropy")
    if v.op.startswith("binary_cross_entropy_with_logits"):
        return Head(LOGITS, ins[0], ins[1], v, name=v.op)
    if v.op in DISTANCES or v.op == "binary_cross_entropy":
        a, b = ins[0], ins[1]
        if a.__class__ is Value and b.__class__ is Value:
            if b.needs and not a.needs:
                a, b = b, a
            return Head(VALUES, a, b, v, name=v.op)
    if v.op in BENT and ins and ins[0].__class__ is Value and ins[0].op == "sub" and len(ins[0].parents) == 2:
        if v.op == "mul" and not (len(ins) > 1 and ins[1] is ins[0]):
            return None
        a, b = ins[0].ins
        if b.needs and not a.needs:
            a, b = b, a
        if a.needs:
            return Head(VALUES, a, b, v, name="difference")
    return None


def signed(root: Value, most: int = 600) -> Iterator[tuple[Value, float, Any]]:
    """Values on the way from a loss with the sign they stand in it with, and the place where that was turned last.

    Goes through sums, means, products and quotients with numbers or with values that are nowhere negative, numerators,
    logarithms and roots; ends elsewhere.

    Args:
        root: the loss.
        most: values that are looked at.
    """
    waiting: list[tuple[Value, float, Any]] = [(root, 1.0, None)]
    while waiting and most:
        v, sign, place = waiting.pop()
        most -= 1
        yield v, sign, place
        parents = v.parents
        numbers = [float(x) for x in v.ins if x.__class__ is not Value]
        if v.op == "neg":
            waiting.append((parents[0], -sign, v.place))
        elif v.op in ("mul", "div") and len(numbers) == 1 and len(parents) == 1:
            if v.op == "mul" or v.ins[0].__class__ is Value:
                turned = numbers[0] < 0
                waiting.append((parents[0], -sign if turned else sign, v.place if turned else place))
        elif v.op in ("sub", "sub_scaled", "rsub") and len(v.ins) == 2:
            for i, x in enumerate(v.ins):
                if x.__class__ is Value:
                    turned = (i == 1) != (v.op == "rsub")
                    waiting.append((x, -sign if turned else sign, v.place if turned else place))
        elif v.op in ADDED or v.op in SHAPED:
            waiting += [(x, sign, place) for x in parents]
        elif v.op == "div" and len(parents) == 2:
            waiting.append((parents[0], sign, place))
        elif v.op == "mul" and len(parents) == 2:
            for x, y in (parents, parents[::-1]):
                d = array(y)
                if x.needs and not y.needs and d is not None and d.size and bool((d >= 0).all()):
                    waiting.append((x, sign, place))


def dim_of(value: Value, axis: int) -> int:
    """An axis counted from the front."""
    return axis + len(value.shape) if axis < 0 else axis


def array(value: Value | None) -> np.ndarray | None:
    """The numbers of a value, where they are at hand."""
    d = None if value is None else value.data
    return d if isinstance(d, np.ndarray) else None


def rms(d: Any) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(d, dtype=np.float64)))) if d.size else 0.0
