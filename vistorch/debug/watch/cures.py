"""What the numbers of a layer say, with the threshold, and what usually helps: one sentence each.

Invariant: every state but "in range" has a sentence.
"""

from __future__ import annotations

import math

from .units import FLAG, Activity

LOW, HIGH = 1e-4, 1e-2
VANISHED, EXPLODED = 1e-6, 1e3

CURES = {
    "dead units": "Lower the learning rate, use LeakyReLU, or rewind to before they died.",
    "saturated units": "Scale the layer's inputs or weights down, normalise before it, or use ReLU.",
    "step too small": "Raise the learning rate, or give this layer a larger one of its own.",
    "step too large": "Lower the learning rate, warm it up, or clip the gradients.",
    "no step": "Check that the optimizer holds this layer's parameters and that its gradient is not cut.",
    "gradient vanishes": "Use ReLU or residual connections, normalise, or initialise for the activation.",
    "gradient explodes": "Clip the gradients or lower the learning rate.",
    "not finite": "Rewind, lower the learning rate, and look for the first NaN with %%vt trace.",
}


def state_of(ratio: float | None, activity: Activity | None, norm: float | None) -> tuple[str, str]:
    """The state of a layer and its cure; the worst first.

    Args:
        ratio: the mean of update / weight over the newest looks; None where it is not known.
        activity: of its units; None without an activation that is looked at.
        norm: the largest gradient norm of its parameters; None where it is not known.

    Example:
        >>> from vistorch.debug.watch.cures import state_of
        >>> state_of(1e-3, None, 1.0)
        ('in range', '')
        >>> state_of(0.5, None, 1.0)[0]
        'step too large'
    """
    state = "in range"
    if (ratio is not None and not math.isfinite(ratio)) or (norm is not None and not math.isfinite(norm)):
        state = "not finite"
    elif activity is not None and activity.dead().mean() >= FLAG:
        state = "dead units"
    elif activity is not None and activity.saturated().mean() >= FLAG:
        state = "saturated units"
    elif norm is not None and 0 < norm < VANISHED:
        state = "gradient vanishes"
    elif norm is not None and norm > EXPLODED:
        state = "gradient explodes"
    elif ratio is not None and ratio == 0:
        state = "no step"
    elif ratio is not None and ratio < LOW:
        state = "step too small"
    elif ratio is not None and ratio > HIGH:
        state = "step too large"
    return state, CURES.get(state, "")
