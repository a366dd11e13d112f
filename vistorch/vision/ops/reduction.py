"""What a loss for each of many becomes: itself, a mean or a sum.

Invariant: a mean of nothing is zero, and has a gradient.
"""

from __future__ import annotations

import vistorch

from ... import Tensor


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The losses as they are, or as one number.

    Args:
        loss: of each.
        reduction: `none`, `mean` or `sum`.
    """
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(
            f"Invalid Value for arg 'reduction': '{reduction} \n Supported reduction modes: 'none', 'mean', 'sum'"
        )
    return loss


def floating(boxes: Tensor) -> Tensor:
    """The boxes in float32, or as they are in float64.

    Args:
        boxes: of any type.
    """
    return boxes if boxes.dtype in (vistorch.float32, vistorch.float64) else boxes.float()


def shared_area(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    """The area that each box shares with its counterpart, and the area of both together.

    Args:
        boxes1: (..., 4), as corners.
        boxes2: as many.
    """
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    w = vistorch.min(x2, x2g) - vistorch.max(x1, x1g)
    h = vistorch.min(y2, y2g) - vistorch.max(y1, y1g)
    shared = vistorch.where((w > 0) & (h > 0), w * h, vistorch.zeros_like(x1))
    return shared, (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - shared


def around(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    """The width and the height of the smallest box around each box and its counterpart.

    Args:
        boxes1: (..., 4), as corners.
        boxes2: as many.
    """
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    return vistorch.max(x2, x2g) - vistorch.min(x1, x1g), vistorch.max(y2, y2g) - vistorch.min(y1, y1g)
