"""Boxes from one way of writing them to another: corners, a corner and a size, a centre and a size, and turned ones.

Invariant: every way goes to every other of its own kind: upright boxes to upright ones, turned ones to turned ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ... import Tensor, atan2, cos, sin, stack

FORMATS = ("xyxy", "xywh", "cxcywh", "xywhr", "cxcywhr", "xyxyxyxy")


def _centre_to_corners(boxes: Tensor) -> Tensor:
    cx, cy, w, h = boxes.unbind(-1)
    return stack((cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h), dim=-1)


def _corners_to_centre(boxes: Tensor) -> Tensor:
    x1, y1, x2, y2 = boxes.unbind(-1)
    return stack(((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1), dim=-1)


def _size_to_corners(boxes: Tensor) -> Tensor:
    x, y, w, h = boxes.unbind(-1)
    return stack((x, y, x + w, y + h), dim=-1)


def _corners_to_size(boxes: Tensor) -> Tensor:
    x1, y1, x2, y2 = boxes.unbind(-1)
    return stack((x1, y1, x2 - x1, y2 - y1), dim=-1)


def _turned(r: Tensor) -> tuple[Tensor, Tensor]:
    angle = r * math.pi / 180.0
    return cos(angle), sin(angle)


def _as_given(found: Tensor, given: Tensor) -> Tensor:
    """In the type of the boxes: whole numbers are rounded."""
    return found if given.is_floating_point() else found.round().to(given.dtype)


def _turned_centre_to_corner(boxes: Tensor) -> Tensor:
    cx, cy, w, h, r = boxes.unbind(-1)
    c, s = _turned(r)
    found = stack((cx - w / 2 * c - h / 2 * s, cy - h / 2 * c + w / 2 * s, w, h, r), dim=-1)
    return _as_given(found, boxes)


def _turned_corner_to_centre(boxes: Tensor) -> Tensor:
    x1, y1, w, h, r = boxes.unbind(-1)
    c, s = _turned(r)
    found = stack((x1 + w / 2 * c + h / 2 * s, y1 - w / 2 * s + h / 2 * c, w, h, r), dim=-1)
    return _as_given(found, boxes)


def _turned_to_corners(boxes: Tensor) -> Tensor:
    x1, y1, w, h, r = boxes.unbind(-1)
    c, s = _turned(r)
    x2, y2 = x1 + w * c, y1 - w * s
    found = stack((x1, y1, x2, y2, x2 + h * s, y2 + h * c, x1 + h * s, y1 + h * c), dim=-1)
    return _as_given(found, boxes)


def _corners_to_turned(boxes: Tensor) -> Tensor:
    x1, y1, x2, y2, x3, y3, _, _ = boxes.unbind(-1)
    r = atan2(y1 - y2, x2 - x1) * 180 / math.pi
    w = ((x2 - x1) ** 2 + (y1 - y2) ** 2).sqrt()
    h = ((x3 - x2) ** 2 + (y3 - y2) ** 2).sqrt()
    return _as_given(stack((x1, y1, w, h, r), dim=-1), boxes)


STEPS: dict[tuple[str, str], tuple[Callable[[Tensor], Tensor], ...]] = {
    ("xywh", "xyxy"): (_size_to_corners,),
    ("cxcywh", "xyxy"): (_centre_to_corners,),
    ("xyxy", "xywh"): (_corners_to_size,),
    ("xyxy", "cxcywh"): (_corners_to_centre,),
    ("xywh", "cxcywh"): (_size_to_corners, _corners_to_centre),
    ("cxcywh", "xywh"): (_centre_to_corners, _corners_to_size),
    ("cxcywhr", "xywhr"): (_turned_centre_to_corner,),
    ("xywhr", "cxcywhr"): (_turned_corner_to_centre,),
    ("cxcywhr", "xyxyxyxy"): (_turned_centre_to_corner, _turned_to_corners),
    ("xyxyxyxy", "cxcywhr"): (_corners_to_turned, _turned_corner_to_centre),
    ("xywhr", "xyxyxyxy"): (_turned_to_corners,),
    ("xyxyxyxy", "xywhr"): (_corners_to_turned,),
}


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Write boxes in another way.

    Args:
        boxes: (..., 4), or (..., 5) and (..., 8) for turned ones.
        in_fmt: `xyxy`, `xywh`, `cxcywh`, `xywhr`, `cxcywhr` or `xyxyxyxy`; `r` is an angle in degrees.
        out_fmt: one of these.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import box_convert
        >>> box_convert(vistorch.tensor([[1., 2., 5., 4.]]), "xyxy", "cxcywh")
        tensor([[3., 3., 4., 2.]])
    """
    if in_fmt not in FORMATS or out_fmt not in FORMATS:
        raise ValueError(
            f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}"
        )
    if in_fmt == out_fmt:
        return boxes.clone()
    steps = STEPS.get((in_fmt, out_fmt))
    if steps is None:
        raise NotImplementedError(
            f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}"
        )
    for step in steps:
        boxes = step(boxes)
    return boxes
