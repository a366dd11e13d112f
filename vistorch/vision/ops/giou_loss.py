"""A loss that falls as a box comes to lie on another one: by the overlap and the box around both.

Invariant: it is 1 minus `generalized_box_iou` of each pair.
"""

from __future__ import annotations

from ... import Tensor
from .reduction import around, floating, reduced, shared_area


def generalized_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """One minus the generalized intersection over union of each box and its counterpart.

    Args:
        boxes1: (N, 4), as corners.
        boxes2: as many.
        reduction: `none`, `mean` or `sum`.
        eps: keeps a division from being by zero.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import generalized_box_iou_loss
        >>> generalized_box_iou_loss(vistorch.tensor([[0., 0., 1., 1.]]), vistorch.tensor([[3., 0., 4., 1.]]))
        tensor([1.5000])
    """
    boxes1, boxes2 = floating(boxes1), floating(boxes2)
    shared, union = shared_area(boxes1, boxes2)
    width, height = around(boxes1, boxes2)
    area = width * height
    loss = 1 - (shared / (union + eps) - (area - union) / (area + eps))
    return reduced(loss, reduction)
