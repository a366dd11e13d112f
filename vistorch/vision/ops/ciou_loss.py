"""A loss that falls as a box comes to lie on another one: by the overlap, the centres and the shapes.

Invariant: it is 1 minus `complete_box_iou` of each pair.
"""

from __future__ import annotations

import math

from ... import Tensor, no_grad
from .diou_loss import loss_and_overlap
from .reduction import floating, reduced


def complete_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """As `distance_box_iou_loss`, and how far the shapes differ.

    Args:
        boxes1: (N, 4), as corners.
        boxes2: as many.
        reduction: `none`, `mean` or `sum`.
        eps: keeps a division from being by zero.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import complete_box_iou_loss
        >>> complete_box_iou_loss(vistorch.tensor([[0., 0., 2., 2.]]), vistorch.tensor([[2., 0., 4., 2.]]))
        tensor([1.2000])
    """
    boxes1, boxes2 = floating(boxes1), floating(boxes2)
    loss, iou = loss_and_overlap(boxes1, boxes2)
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    v = 4 / math.pi**2 * (((x2g - x1g) / (y2g - y1g)).atan() - ((x2 - x1) / (y2 - y1)).atan()) ** 2
    with no_grad():
        alpha = v / (1 - iou + v + eps)
    return reduced(loss + alpha * v, reduction)
