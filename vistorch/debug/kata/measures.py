"""What a trained network is worth, measured on the kata's own data and not on what its cell calls a loss.

Invariant: the network is asked in evaluation mode and without a graph, and is left in the mode it was in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.base.modes import no_grad
from ...engine.core.tensor import wrap
from .kata import Picture


def answers(net: Any, x: np.ndarray) -> np.ndarray:
    """What a network gives for inputs.

    Args:
        net: a module.
        x: inputs.
    """
    training = net.training
    net.eval()
    try:
        with no_grad():
            return np.asarray(net(wrap(x.astype(np.float32))).tolist(), np.float64)
    finally:
        net.train(training)


def fit(truth: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> tuple[Any, Any]:
    """The mean squared error of `net` as a function of one variable, and its picture.

    Args:
        truth: what it should be.
        low: where it begins.
        high: where it ends.
    """
    x = np.linspace(low, high, 41)

    def measure(names: dict[str, Any]) -> float:
        got = answers(names["net"], x[:, None]).reshape(-1)
        return float(np.mean((got - truth(x)) ** 2))

    def picture(names: dict[str, Any]) -> Picture:
        got = answers(names["net"], x[:, None]).reshape(-1)
        return Picture("fit", x.tolist(), truth(x).tolist(), got.tolist(), [])

    return measure, picture


def bars(names: Sequence[str], target: Sequence[int], got: Sequence[int]) -> Picture:
    """The share right of each class.

    Args:
        names: of the classes.
        target: the class of each sample.
        got: the class that was said.
    """
    wanted, given = np.asarray(target), np.asarray(got)
    shares = [
        float(np.mean(given[wanted == i] == i)) if np.any(wanted == i) else 0.0 for i in range(len(names))
    ]
    return Picture("bars", [float(i) for i in range(len(names))], [1.0] * len(names), shares, list(names))


def right(x: np.ndarray, y: np.ndarray, names: Sequence[str]) -> tuple[Any, Any]:
    """The share of samples that `net` puts into their class, and its picture.

    Args:
        x: samples.
        y: their classes.
        names: of the classes.
    """

    def said(found: dict[str, Any]) -> np.ndarray:
        out = answers(found["net"], x)
        if out.ndim == 1 or out.shape[1] == 1:  # one logit: the second class above 0
            return (out.reshape(-1) > 0).astype(int) if np.all(np.isfinite(out)) else np.full(len(y), -1)
        return np.where(np.isfinite(out).all(1), out.argmax(1), -1)

    def measure(found: dict[str, Any]) -> float:
        return float(np.mean(said(found) == y))

    return measure, lambda found: bars(names, y.tolist(), said(found).tolist())


def ring(classes: int, each: int, spread: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Points around places on a circle, one place for each class.

    Args:
        classes: how many.
        each: points of a class.
        spread: how far they lie from their place.
        seed: of the points.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(classes * each) % classes
    angle = 2 * math.pi * y / classes
    return np.stack([np.cos(angle), np.sin(angle)], 1) + spread * rng.standard_normal((len(y), 2)), y
