"""What the numbers of a layer say, and what usually helps: one sentence each.

A size alone says little: a small network, a bias that begins at 0 or targets in large units exceed any bound and learn
well. So gradients are held against those of the other layers and against what they were, and a step is called too
large or too small only where the loss says that nothing is learnt.
Invariant: every state but "in range" has a sentence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .units import FLAG, Activity

LOW, HIGH = 1e-4, 1e-2  # the band that is drawn, a rule of thumb
TINY, LARGE, HUGE = 1e-5, 0.03, 0.3  # update / weight where the loss says that it matters
WORTH = 1e-2  # gradient / weight from which there is something to learn
WARM = 20  # looks, or steps, before anything is said of sizes
VANISHED, EXPLODED = 1e-3, 1e3  # of the largest gradient, and of the middle or last one

CURES = {
    "dead units": "Bring the layer's inputs to mean 0 and deviation 1, or lower the learning rate; then begin anew.",
    "saturated units": "Scale the layer's inputs or weights down, normalise before it, or use ReLU.",
    "step too small": "Raise the learning rate, or give this layer a larger one of its own.",
    "step too large": "Lower the learning rate, warm it up, or clip the gradients.",
    "in no optimizer": "No optimizer that has made a step holds its parameters: give them to one.",
    "no gradient": "No backward pass has come to its parameters: its output is not in the loss, or history is cut.",
    "gradient is 0": "Every gradient was exactly 0: look for units that are off, a mask, or a product with 0.",
    "no step": "It has a gradient, and the optimizer does not move it: look at the learning rate of its group.",
    "gradient vanishes": "Use ReLU or residual connections, normalise, or initialise for the activation.",
    "gradient explodes": "Clip the gradients or lower the learning rate.",
    "not finite": "Rewind, lower the learning rate, and look for the first NaN with %%vt trace.",
}


@dataclass
class Layer:
    """What is known of a layer.

    Args:
        ratio: the mean of update / weight over the newest looks; None where it is not known.
        norm: the largest gradient norm of its parameters now; None without a gradient.
        bad: whether a gradient or a weight is not finite.
        activity: of its units; None without an activation that is looked at.
        course: of the loss: "falls", "stays", "rises"; "" where it is too early to say.
        bounds: the norms below and above which a gradient is out of range among the others.
        peak: the largest norm of its first looks; None where there are too few.
        relative: gradient norm / weight norm; None where it is not known.
        still: whether no look saw it move.
        held: whether an optimizer that has made a step holds its parameters.
        reached: whether a backward pass came to it; None where it was hardly looked at.
        cut: where its history ends, as a sentence goes on: "detach() in line 7".
    """

    ratio: float | None = None
    norm: float | None = None
    bad: bool = False
    activity: Activity | None = None
    course: str = ""
    bounds: tuple[float, float] = (0.0, math.inf)
    peak: float | None = None
    relative: float | None = None
    still: bool = False
    held: bool = True
    reached: bool | None = True
    cut: str = ""


def bounds_of(norms: Any) -> tuple[float, float]:
    """The norms that are far below the largest of a pass, and far above the middle one and the one it begins with.

    Args:
        norms: of all parameters, from the input to the output; what is 0 or not finite does not count.

    Example:
        >>> from vistorch.debug.watch.advice import bounds_of
        >>> bounds_of([1000.0, 5.0, 2.0])
        (1.0, 5000.0)
    """
    known = [x for x in norms if x is not None and math.isfinite(x) and x > 0]
    if not known:
        return 0.0, math.inf
    # what grows towards the input explodes; where it only shrinks, the output is large beside the rest
    return VANISHED * max(known), EXPLODED * max(sorted(known)[len(known) // 2], known[-1])


def state_of(layer: Layer) -> tuple[str, str]:
    """The state of a layer and its cure; the worst first.

    Args:
        layer: what is known of it.

    Example:
        >>> from vistorch.debug.watch.advice import Layer, state_of
        >>> state_of(Layer(ratio=0.5, norm=1.0))
        ('in range', '')
        >>> state_of(Layer(ratio=0.5, norm=1.0, course="rises"))[0]
        'step too large'
    """
    state = _state(layer)
    if state == "no gradient" and layer.cut:
        return f"cut by {layer.cut}", "Its history ends there: no gradient comes to its parameters."
    return state, CURES.get(state, "")


def _state(layer: Layer) -> str:
    ratio, norm = layer.ratio, layer.norm
    if layer.bad:
        return "not finite"
    if not layer.held:
        return "in no optimizer"
    if layer.reached is False:
        return "no gradient"
    if layer.activity is not None and layer.activity.dead().mean() >= FLAG:
        return "dead units"
    if layer.activity is not None and layer.activity.saturated().mean() >= FLAG:
        return "saturated units"
    if norm is not None and 0 < norm < layer.bounds[0]:
        return "gradient vanishes"
    if norm is not None and (norm > layer.bounds[1] or (layer.peak and norm > EXPLODED * layer.peak)):
        return "gradient explodes"
    if layer.still and layer.reached:
        return "gradient is 0" if norm == 0 else "no step"
    return _step(ratio, layer)


def _step(ratio: float | None, layer: Layer) -> str:
    """Whether a step is too small or too large: where nothing is learnt, and there is something to learn from."""
    if ratio is None:
        return "in range"
    if (layer.course == "rises" and ratio > LARGE) or (layer.course == "stays" and ratio > HUGE):
        return "step too large"
    if layer.course == "stays" and 0 < ratio < TINY and (layer.relative or 0) > WORTH:
        return "step too small"
    return "in range"
