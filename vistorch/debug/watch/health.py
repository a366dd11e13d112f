"""Each layer of a run: the size of its steps, its units, what that means and what usually helps.

Invariant: what is said of a layer follows from numbers that were looked at; the first steps, in which weights that
begin at 0 and fresh averages of an optimizer move fast, are left out of what is judged.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .advice import WARM, Layer, bounds_of, state_of
from .layers import owner_of
from .metrics import Metrics
from .model_probe import ModelProbe
from .optimizers import Optimizers

MEAN = 20  # looks that the mean is of
ENOUGH = 2  # looks at gradients before a missing one is reported


def layers_of(metrics: Metrics, probe: ModelProbe, optimizers: Optimizers, step: int) -> list[dict[str, Any]]:
    """The health of each layer of a model; nothing where the model is not known.

    Args:
        metrics: what was measured.
        probe: the model.
        optimizers: what changes it.
        step: whole steps so far.
    """
    sizes, out = probe.sizes, []
    if sizes is None:
        return out
    steps = np.array([step for step, _ in metrics.ratios])
    history = np.array([row for _, row in metrics.ratios]) if len(steps) else np.zeros((0, len(sizes.layers)))
    warm = steps > WARM
    norms = metrics.known_norms()
    bounds = bounds_of([] if norms is None else norms.tolist())
    course = metrics.course.word()
    held = optimizers.parameter_ids()
    for i, name in enumerate(sizes.layers):
        own = [j for j, n in enumerate(sizes.names) if owner_of(n) == name]
        column = history[:, i]
        judged = column[warm]
        known, judged = column[~np.isnan(column)], judged[~np.isnan(judged)]
        activity = metrics.units.layers.get(name)
        mean = float(known[-MEAN:].mean()) if len(known) else None
        state, cure = state_of(
            Layer(
                ratio=float(judged[-MEAN:].mean()) if len(judged) else None,
                norm=_largest(norms, own),
                bad=_bad(metrics, own, known),
                activity=activity,
                course=course,
                bounds=bounds,
                peak=_largest(metrics.peak, own) if metrics.looks > WARM else None,
                relative=_relative(norms, sizes.weights, own),
                still=len(known) >= ENOUGH and not known.any(),
                held=not step or any(id(sizes.parameters[j][1]) in held for j in own),
                reached=_reached(metrics, own),
                cut=probe.cuts.of(name) if probe.cuts is not None else "",
            )
        )
        out.append(
            {
                "name": name or "(root)",
                "module": sizes.kinds[i],
                "parameters": sum(sizes.parameters[j][1].numel() for j in own),
                "ratio": float(column[-1]) if len(column) and not math.isnan(column[-1]) else None,
                "mean": mean,
                "low": float(known.min()) if len(known) else None,
                "high": float(known.max()) if len(known) else None,
                "kind": "" if activity is None else activity.kind,
                "units": None if activity is None else activity.levels(),
                "dead": None if activity is None else activity.dead().astype(np.uint8),
                "saturated": None if activity is None else activity.saturated().astype(np.uint8),
                "seen": 0 if activity is None else activity.seen,
                "state": state,
                "cure": cure,
            }
        )
    return out


def _largest(norms: Any, own: list[int]) -> float | None:
    known = [] if norms is None else [float(norms[j]) for j in own if np.isfinite(norms[j])]
    return max(known) if known else None


def _bad(metrics: Metrics, own: list[int], ratios: Any) -> bool:
    if len(ratios) and not math.isfinite(ratios[-1]):
        return True
    norms, there = metrics.norms, metrics.has_norm
    return (
        norms is not None and there is not None and any(there[j] and not math.isfinite(norms[j]) for j in own)
    )


def _relative(norms: Any, weights: list[float], own: list[int]) -> float | None:
    if norms is None or not weights:
        return None
    g = math.hypot(*[norms[j] for j in own if np.isfinite(norms[j])])
    w = math.hypot(*[weights[j] for j in own if math.isfinite(weights[j])])
    return g / w if w else None


def _reached(metrics: Metrics, own: list[int]) -> bool | None:
    if metrics.reached is None or metrics.looks < ENOUGH:
        return None
    return any(bool(metrics.reached[j]) for j in own)
