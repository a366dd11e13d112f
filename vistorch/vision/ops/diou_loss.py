"""A loss that falls as a box comes to lie on another one: by the overlap and the distance of the centres.

Invariant: it is 1 minus `distance_box_iou` of each pair.
"""

from __future__ import annotations

from ... import Tensor
from .reduction import around, floating, reduced, shared_area


def distance_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """One minus the overlap of each box and its counterpart, and how far their centres are apart.

    Args:
        boxes1: (N, 4), as corners.
        boxes2: as many.
        reduction: `none`, `mean` or `sum`.
        eps: keeps a division from being by zero.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import distance_box_iou_loss
        >>> distance_box_iou_loss(vistorch.tensor([[0., 0., 2., 2.]]), vistorch.tensor([[2., 0., 4., 2.]]))
        tensor([1.2000])
    """
    return reduced(loss_and_overlap(floating(boxes1), floating(boxes2), eps)[0], reduction)


def loss_and_overlap(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> tuple[Tensor, Tensor]:
    """The loss of each pair, and the intersection over the union.

    Args:
        boxes1: (N, 4), as corners.
        boxes2: as many.
        eps: keeps a division from being by zero.
    """
    shared, union = shared_area(boxes1, boxes2)
    iou = shared / (union + eps)
    width, height = around(boxes1, boxes2)
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    apart = ((x2 + x1) / 2 - (x1g + x2g) / 2) ** 2 + ((y2 + y1) / 2 - (y1g + y2g) / 2) ** 2
    return 1 - iou + apart / (width**2 + height**2 + eps), iou
