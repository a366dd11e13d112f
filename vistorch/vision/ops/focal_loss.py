"""Cross entropy that looks less at what is right already.

Invariant: `gamma` 0 and `alpha` -1 are the cross entropy itself.
"""

from __future__ import annotations

from ... import Tensor
from ...nn import functional as F
from .reduction import reduced


def sigmoid_focal_loss(
    inputs: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none"
) -> Tensor:
    """The focal loss of scores before their sigmoid.

    Args:
        inputs: scores.
        targets: as many, 0 or 1.
        alpha: the weight of the ones, between 0 and 1; -1 for no weights.
        gamma: how much less what is right already counts.
        reduction: `none`, `mean` or `sum`.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import sigmoid_focal_loss
        >>> sigmoid_focal_loss(vistorch.tensor([0., 4.]), vistorch.tensor([1., 1.]))
        tensor([4.3322e-02, 1.4679e-06])
    """
    if not 0 <= alpha <= 1 and alpha != -1:
        raise ValueError(f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore.")
    p = inputs.sigmoid()
    right = p * targets + (1 - p) * (1 - targets)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none") * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return loss.mean() if reduction == "mean" else reduced(loss, reduction)
