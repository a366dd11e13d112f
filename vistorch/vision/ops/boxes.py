"""Boxes in pictures: their areas, how far they overlap, and which of many that overlap are kept.

Invariant: a box is (x1, y1, x2, y2) unless a format says otherwise; numbers too small for areas are widened first.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import vistorch

from ... import Tensor
from .formats import box_convert

__all__ = [
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "complete_box_iou",
    "distance_box_iou",
    "generalized_box_iou",
    "masks_to_boxes",
    "nms",
    "remove_small_boxes",
]

UPRIGHT = ("xyxy", "xywh", "cxcywh")
TURNED = ("cxcywhr", "xywhr", "xyxyxyxy")


def _widened(t: Tensor) -> Tensor:
    """In a type that holds products of its numbers."""
    if t.is_floating_point():
        return t if t.dtype in (vistorch.float32, vistorch.float64) else t.float()
    return t if t.dtype in (vistorch.int32, vistorch.int64) else t.int()


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Which boxes are kept where each, from the best on, removes those that overlap it by more than a threshold.

    Args:
        boxes: (N, 4), as corners.
        scores: (N,), the better the larger.
        iou_threshold: the overlap, as intersection over union, above which the worse box goes.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import nms
        >>> boxes = vistorch.tensor([[0., 0., 4., 4.], [0., 0., 4., 5.], [8., 8., 9., 9.]])
        >>> nms(boxes, vistorch.tensor([0.5, 0.9, 0.7]), 0.5)
        tensor([1, 2])
    """
    if boxes.dim() != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {boxes.dim()}D")
    if boxes.size(1) != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {boxes.size(1)}")
    if scores.dim() != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.dim()}D")
    if boxes.size(0) != scores.size(0):
        raise RuntimeError(
            f"boxes and scores should have same number of elements in dimension 0, got {boxes.size(0)} and "
            f"{scores.size(0)}"
        )
    if boxes.dtype != scores.dtype:
        raise RuntimeError("dets should have the same type as scores")
    order = scores.detach().sort(stable=True, descending=True)[1].cpu().numpy()
    x1, y1, x2, y2 = boxes.detach().cpu().numpy()[order].T
    areas = (x2 - x1) * (y2 - y1)
    left, kept = np.arange(len(order)), []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        w = np.maximum(np.minimum(x2[best], x2[left]) - np.maximum(x1[best], x1[left]), 0)
        h = np.maximum(np.minimum(y2[best], y2[left]) - np.maximum(y1[best], y1[left]), 0)
        shared = w * h
        with np.errstate(invalid="ignore", divide="ignore"):  # boxes without an area
            overlap = shared / (areas[best] + areas[left] - shared)
        left = left[~(overlap.astype(np.float64) > iou_threshold)]
    return vistorch.from_numpy(order[np.array(kept, np.int64)]).to(boxes.device)


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """As `nms`, where boxes of one category do not remove those of another.

    Args:
        boxes: (N, 4), as corners.
        scores: (N,).
        idxs: (N,), the category of each.
        iou_threshold: as of `nms`.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import batched_nms
        >>> boxes = vistorch.tensor([[0., 0., 4., 4.], [0., 0., 4., 5.]])
        >>> batched_nms(boxes, vistorch.tensor([0.5, 0.9]), vistorch.tensor([0, 1]), 0.5)
        tensor([1, 0])
    """
    if boxes.numel() == 0:
        return vistorch.empty((0,), dtype=vistorch.int64, device=boxes.device)
    if boxes.numel() <= (4000 if boxes.device.type == "cpu" else 100_000):
        # every category in a place of its own, then all at once
        apart = idxs.to(boxes) * (boxes.max() + 1)
        return nms(boxes + apart[:, None], scores, iou_threshold)
    kept = vistorch.zeros_like(scores, dtype=vistorch.bool)
    for category in idxs.unique():
        own = (idxs == category).nonzero()[:, 0]
        kept[own[nms(boxes[own], scores[own], iou_threshold)]] = True
    found = kept.nonzero()[:, 0]
    return found[scores[found].sort(descending=True)[1]]


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """The numbers of the boxes of which no side is shorter than `min_size`.

    Args:
        boxes: (N, 4), as corners.
        min_size: the length.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import remove_small_boxes
        >>> remove_small_boxes(vistorch.tensor([[0., 0., 4., 1.], [0., 0., 4., 5.]]), 2)
        tensor([1])
    """
    ws, hs = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    return vistorch.where((ws >= min_size) & (hs >= min_size))[0]


def clip_boxes_to_image(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """The boxes as far as they lie in a picture.

    Args:
        boxes: (..., 4), as corners.
        size: height and width of the picture.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import clip_boxes_to_image
        >>> clip_boxes_to_image(vistorch.tensor([[-1., 2., 9., 9.]]), (5, 6))
        tensor([[0., 2., 6., 5.]])
    """
    height, width = size
    x = boxes[..., 0::2].clamp(min=0, max=width)
    y = boxes[..., 1::2].clamp(min=0, max=height)
    return vistorch.stack((x, y), dim=boxes.dim()).reshape(boxes.shape)


def box_area(boxes: Tensor, fmt: str = "xyxy") -> Tensor:
    """The area of each box.

    Args:
        boxes: (..., 4).
        fmt: `xyxy`, `xywh` or `cxcywh`.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import box_area
        >>> box_area(vistorch.tensor([[1., 2., 5., 4.]]))
        tensor([8.])
    """
    if fmt not in UPRIGHT:
        raise ValueError(f"Unsupported Bounding Box area for given format {fmt}")
    boxes = _widened(boxes)
    if fmt == "xyxy":
        return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return boxes[..., 2] * boxes[..., 3]


def _corners(boxes: Tensor, fmt: str) -> tuple[Tensor, Tensor]:
    """The upper left and the lower right of each."""
    first, last = boxes[..., :2], boxes[..., 2:]
    if fmt == "xyxy":
        return first, last
    return (first, first + last) if fmt == "xywh" else (first - last / 2, first + last / 2)


def _shared(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> tuple[Tensor, Tensor]:
    """The area that each pair shares, and the area of both together."""
    area1, area2 = box_area(boxes1, fmt), box_area(boxes2, fmt)
    (first1, last1), (first2, last2) = _corners(boxes1, fmt), _corners(boxes2, fmt)
    first = vistorch.max(first1[..., None, :], first2[..., None, :, :])
    last = vistorch.min(last1[..., None, :], last2[..., None, :, :])
    sides = _widened(last - first).clamp(min=0)
    shared = sides[..., 0] * sides[..., 1]
    return shared, area1[..., None] + area2[..., None, :] - shared


def _around(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """The sides of the smallest box around each pair."""
    first = vistorch.min(boxes1[..., None, :2], boxes2[..., None, :, :2])
    last = vistorch.max(boxes1[..., None, 2:], boxes2[..., None, :, 2:])
    return _widened(last - first).clamp(min=0)


def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """How far each box of one set overlaps each of another: the intersection over the union.

    Args:
        boxes1: (..., N, 4).
        boxes2: (..., M, 4).
        fmt: `xyxy`, `xywh` or `cxcywh`.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import box_iou
        >>> box_iou(vistorch.tensor([[0., 0., 4., 4.]]), vistorch.tensor([[0., 0., 4., 4.], [2., 0., 6., 4.]]))
        tensor([[1.0000, 0.3333]])
    """
    if fmt in TURNED:
        raise NotImplementedError(
            f"box_iou measures upright boxes, not {fmt}; use the corners of upright boxes around them"
        )
    if fmt not in UPRIGHT:
        raise ValueError(
            f"Unsupported format '{fmt}'. Supported axis-aligned formats: {UPRIGHT}. Supported rotated formats: "
            f"{TURNED}."
        )
    shared, union = _shared(boxes1, boxes2, fmt)
    return shared / union


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """As `box_iou`, less the part of the box around both that neither covers.

    Args:
        boxes1: (..., N, 4), as corners.
        boxes2: (..., M, 4), as corners.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import generalized_box_iou
        >>> generalized_box_iou(vistorch.tensor([[0., 0., 1., 1.]]), vistorch.tensor([[3., 0., 4., 1.]]))
        tensor([[-0.5000]])
    """
    shared, union = _shared(boxes1, boxes2)
    sides = _around(boxes1, boxes2)
    area = sides[..., 0] * sides[..., 1]
    return shared / union - (area - union) / area


def _distance(boxes1: Tensor, boxes2: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    iou = box_iou(boxes1, boxes2)
    sides = _around(boxes1, boxes2)
    diagonal = sides[..., 0] ** 2 + sides[..., 1] ** 2 + eps
    apart: Any = 0
    for k in (0, 1):
        centre1, centre2 = (
            (boxes1[..., k] + boxes1[..., k + 2]) / 2,
            (boxes2[..., k] + boxes2[..., k + 2]) / 2,
        )
        apart = apart + _widened(centre1[..., None] - centre2[..., None, :]) ** 2
    return iou - apart / diagonal, iou


def distance_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """As `box_iou`, less how far the centres are apart, measured by the diagonal of the box around both.

    Args:
        boxes1: (..., N, 4), as corners.
        boxes2: (..., M, 4), as corners.
        eps: keeps a division from being by zero.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import distance_box_iou
        >>> distance_box_iou(vistorch.tensor([[0., 0., 2., 2.]]), vistorch.tensor([[2., 0., 4., 2.]]))
        tensor([[-0.2000]])
    """
    return _distance(_widened(boxes1), _widened(boxes2), eps)[0]


def complete_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """As `distance_box_iou`, less how far the shapes differ.

    Args:
        boxes1: (..., N, 4), as corners.
        boxes2: (..., M, 4), as corners.
        eps: keeps a division from being by zero.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import complete_box_iou
        >>> complete_box_iou(vistorch.tensor([[0., 0., 2., 2.]]), vistorch.tensor([[0., 0., 2., 2.]]))
        tensor([[1.]])
    """
    boxes1, boxes2 = _widened(boxes1), _widened(boxes2)
    distance, iou = _distance(boxes1, boxes2, eps)
    shape1 = ((boxes1[..., 2] - boxes1[..., 0]) / (boxes1[..., 3] - boxes1[..., 1])).atan()[..., None]
    shape2 = ((boxes2[..., 2] - boxes2[..., 0]) / (boxes2[..., 3] - boxes2[..., 1])).atan()[..., None, :]
    v = 4 / math.pi**2 * (shape1 - shape2) ** 2
    with vistorch.no_grad():
        alpha = v / (1 - iou + v + eps)
    return distance - alpha * v


def masks_to_boxes(masks: Tensor) -> Tensor:
    """The smallest box around what each mask marks; zeros for an empty mask.

    Args:
        masks: (N, height, width).

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import masks_to_boxes
        >>> mask = vistorch.zeros(1, 4, 5)
        >>> mask[0, 1:3, 2:5] = 1
        >>> masks_to_boxes(mask)
        tensor([[2., 1., 4., 2.]])
    """
    if masks.numel() == 0:
        return vistorch.zeros((0, 4), device=masks.device, dtype=vistorch.float32)
    _, h, w = masks.shape
    rows, columns = masks.bool().any(2), masks.bool().any(1)
    first_row, first_column = rows.float().argmax(1), columns.float().argmax(1)
    last_row, last_column = (
        h - 1 - rows.flip(1).float().argmax(1),
        w - 1 - columns.flip(1).float().argmax(1),
    )
    found = vistorch.stack((first_column, first_row, last_column, last_row), 1).float()
    found[~rows.any(1)] = 0
    return found
