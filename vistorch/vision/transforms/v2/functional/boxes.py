"""Boxes from one format into another, and boxes and points kept within their picture.

Invariant: numbers are computed in the order of PyTorch's own transforms, so that they are rounded alike.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch
from vistorch import Tensor

from .... import tv_tensors
from ....tv_tensors import BoundingBoxes, BoundingBoxFormat, KeyPoints, is_rotated_bounding_format
from .dispatch import is_pure_tensor

__all__ = ["clamp_bounding_boxes", "clamp_keypoints", "convert_bounding_box_format"]

XYXY, XYWH, CXCYWH = BoundingBoxFormat.XYXY, BoundingBoxFormat.XYWH, BoundingBoxFormat.CXCYWH
XYWHR, CXCYWHR, XYXYXYXY = (
    BoundingBoxFormat.XYWHR,
    BoundingBoxFormat.CXCYWHR,
    BoundingBoxFormat.XYXYXYXY,
)
CORNERS = [[0, 1], [2, 1], [2, 3], [0, 3]]


def format_of(given: Any) -> Any:
    """A format, from itself or from its name."""
    return BoundingBoxFormat[given.upper()] if isinstance(given, str) else given


def columns(format: BoundingBoxFormat) -> int:
    """How many numbers a box has."""
    return 8 if format is XYXYXYXY else 5 if is_rotated_bounding_format(format) else 4


def plainest(format: BoundingBoxFormat) -> BoundingBoxFormat:
    """The format of corners that boxes of this format have."""
    return XYXYXYXY if is_rotated_bounding_format(format) else XYXY


def _halves(sizes: Tensor) -> Tensor:
    return sizes.div(2, rounding_mode=None if sizes.is_floating_point() else "floor")


def _floats(boxes: Tensor) -> Tensor:
    """Boxes that may be written to, of a type that can hold a half."""
    return boxes if boxes.is_floating_point() else boxes.float()


def _xywh_xyxy(x: Tensor) -> Tensor:
    x[..., 2:] += x[..., :2]
    return x


def _xyxy_xywh(x: Tensor) -> Tensor:
    x[..., 2:] -= x[..., :2]
    return x


def _xywh_cxcywh(x: Tensor) -> Tensor:
    x[..., :2].add_(_halves(x[..., 2:]))
    return x


def _cxcywh_xywh(x: Tensor) -> Tensor:
    out = _floats(x)
    out[..., :2].sub_(out[..., 2:] / 2)
    if out is x:
        return x
    ends = (out[..., :2] + out[..., 2:]).to(x.dtype)
    x[...] = out.to(x.dtype)
    x[..., 2:] = ends - x[..., :2]
    return x


def _cxcywh_xyxy(x: Tensor) -> Tensor:
    out = _floats(x)
    out[..., :2].sub_(out[..., 2:] / 2)
    out[..., 2:].add_(out[..., :2])
    if out is not x:
        x[...] = out.to(x.dtype)
    return x


def _xyxy_cxcywh(x: Tensor) -> Tensor:
    x[..., 2:].sub_(x[..., :2])
    mode = None if x.is_floating_point() else "floor"
    x[..., :2].mul_(2).add_(x[..., 2:]).div_(2, rounding_mode=mode)
    return x


def _turned(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Half of width and height, and cosine and sine of the angle."""
    half = x[..., 2:-1].div(-2, rounding_mode=None if x.is_floating_point() else "floor").abs_()
    angle = x[..., 4].mul(math.pi).div(180.0)
    return half, angle.cos(), angle.sin()


def _cxcywhr_xywhr(x: Tensor) -> Tensor:
    half, cos, sin = _turned(x)
    x[..., 0].sub_(half[..., 0].mul(cos)).sub_(half[..., 1].mul(sin))
    x[..., 1].add_(half[..., 0].mul(sin)).sub_(half[..., 1].mul(cos))
    return x


def _xywhr_cxcywhr(x: Tensor) -> Tensor:
    half, cos, sin = _turned(x)
    x[..., 0].add_(half[..., 0].mul(cos)).add_(half[..., 1].mul(sin))
    x[..., 1].sub_(half[..., 0].mul(sin)).add_(half[..., 1].mul(cos))
    return x


def _xywhr_corners(x: Tensor) -> Tensor:
    wide, high = x[..., 2], x[..., 3]
    angle = x[..., 4].mul(math.pi).div(180.0)
    cos, sin = angle.cos(), angle.sin()
    out = x[..., :2].tile((1, 4))
    out[..., 2].add_(wide.mul(cos))
    out[..., 3].sub_(wide.mul(sin))
    out[..., 4].add_(wide.mul(cos).add(high.mul(sin)))
    out[..., 5].sub_(wide.mul(sin).sub(high.mul(cos)))
    out[..., 6].add_(high.mul(sin))
    out[..., 7].add_(high.mul(cos))
    return out


def _corners_xywhr(x: Tensor) -> Tensor:
    kind = x.dtype
    if kind not in (vistorch.float32, vistorch.float64):
        x = x.to(vistorch.float32)
    angle = vistorch.atan2(x[..., 1].sub(x[..., 3]), x[..., 2].sub(x[..., 0]))
    x[..., 4:6].sub_(x[..., 2:4])
    x[..., 2:4].sub_(x[..., :2])
    x[..., 2] = x[..., 2].pow(2).add(x[..., 3].pow(2)).sqrt()
    x[..., 3] = x[..., 4].pow(2).add(x[..., 5].pow(2)).sqrt()
    x[..., 4] = angle.div_(math.pi).mul_(180.0)
    return x.to(kind)[..., :5]


# Each way leads through the corners, or through XYWHR where boxes may be turned; two have one of their own.
_DIRECT = {(XYWH, CXCYWH): _xywh_cxcywh, (CXCYWH, XYWH): _cxcywh_xywh}
_FROM = {XYWH: _xywh_xyxy, CXCYWH: _cxcywh_xyxy, CXCYWHR: _cxcywhr_xywhr, XYXYXYXY: _corners_xywhr}
_TO = {XYWH: _xyxy_xywh, CXCYWH: _xyxy_cxcywh, CXCYWHR: _xywhr_cxcywhr, XYXYXYXY: _xywhr_corners}


def converted(boxes: Tensor, old: Any, new: Any, inplace: bool = False) -> Tensor:
    """Plain boxes in another format.

    Args:
        boxes: the boxes.
        old: their format.
        new: the format wanted.
        inplace: whether they may be written to.
    """
    if new is old:
        return boxes
    if is_rotated_bounding_format(old) != is_rotated_bounding_format(new):
        raise ValueError("Cannot convert between rotated and unrotated bounding boxes.")
    if not inplace:
        boxes = boxes.clone()
    if (old, new) in _DIRECT:
        return _DIRECT[old, new](boxes)
    for step in (_FROM.get(old), _TO.get(new)):
        boxes = boxes if step is None else step(boxes)
    return boxes


def convert_bounding_box_format(
    inpt: Any, old_format: Any = None, new_format: Any = None, inplace: bool = False
) -> Any:
    """Boxes in another format.

    Args:
        inpt: boxes; plain tensors need `old_format`.
        old_format: their format, or its name.
        new_format: the format wanted, or its name.
        inplace: write to their memory.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.convert_bounding_box_format(vistorch.tensor([[1, 2, 4, 6]]), "XYXY", "XYWH")
        tensor([[1, 2, 3, 4]])
    """
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    old, new = format_of(old_format), format_of(new_format)
    if is_pure_tensor(inpt):
        if old is None:
            raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
        return converted(inpt, old, new, inplace)
    if not isinstance(inpt, BoundingBoxes):
        raise TypeError(
            f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead."
        )
    if old is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    out = converted(inpt.as_subclass(Tensor), inpt.format, new, inplace)
    return tv_tensors.wrap(out, like=inpt, format=new)


# ---- boxes and points within their picture -------------------------------------------------------------------------
def clamp_bounding_boxes(
    inpt: Any, format: Any = None, canvas_size: Any = None, clamping_mode: str | None = "auto"
) -> Any:
    """Boxes without what lies outside of their picture.

    Args:
        inpt: boxes; plain tensors need the other arguments.
        format: their format.
        canvas_size: height and width of the picture.
        clamping_mode: "soft", "hard", None (nothing is cut off), or "auto", what the boxes say themselves; "hard"
            keeps boxes that may be turned wholly inside, "soft" as much of them as it can.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> boxes = tv_tensors.BoundingBoxes([[-1, 2, 30, 6]], format="XYXY", canvas_size=(8, 9))
        >>> F.clamp_bounding_boxes(boxes).tolist()
        [[0, 2, 9, 6]]
    """
    if clamping_mode not in (None, "soft", "hard", "auto"):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if is_pure_tensor(inpt):
        if format is None or canvas_size is None or clamping_mode == "auto":
            raise ValueError(
                "For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed."
            )
        return clamped(inpt, format_of(format), canvas_size, clamping_mode)
    if not isinstance(inpt, BoundingBoxes):
        raise TypeError(
            f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead."
        )
    if format is not None or canvas_size is not None:
        raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
    mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
    out = clamped(inpt.as_subclass(Tensor), inpt.format, inpt.canvas_size, mode)
    return tv_tensors.wrap(out, like=inpt)


def clamped(boxes: Tensor, format: Any, canvas_size: Any, mode: str | None) -> Tensor:
    """Plain boxes without what lies outside of a picture.

    Args:
        boxes: the boxes.
        format: their format.
        canvas_size: height and width of the picture.
        mode: "soft", "hard" or None.
    """
    if mode is None:
        return boxes.clone()
    if is_rotated_bounding_format(format):
        return _clamped_turned(boxes, format, canvas_size, mode)
    out = boxes.clone() if boxes.is_floating_point() else boxes.float()
    out = converted(out, format, XYXY, inplace=True)
    out[..., 0::2].clamp_(min=0, max=canvas_size[1])
    out[..., 1::2].clamp_(min=0, max=canvas_size[0])
    return converted(out, XYXY, format, inplace=True).to(boxes.dtype)


def _ordered(boxes: Tensor, order: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The corners from the leftmost one on, of equals the uppermost, and the order itself; or put into an order."""
    found: Any = order
    if found is None:
        flat = boxes.reshape(-1, 8)
        x, y = flat[..., 0::2], flat[..., 1::2]
        far = x / x.abs().amax(dim=1, keepdim=True) * 100 + y / y.abs().amax(dim=1, keepdim=True)
        _, begin = far.min(dim=1)
        found = vistorch.ones_like(flat)
        found[..., 0] = begin.mul(2)
        found.cumsum_(1).remainder_(8)
    return found, boxes.gather(1, found.to(vistorch.int64))


def _lines(box: Tensor) -> tuple[Tensor, Tensor]:
    """Slope and height at x = 0 of the four sides."""
    x, y = box[..., ::2], box[..., 1::2]
    slope = y.diff(append=y[..., 0:1]) / x.diff(append=x[..., 0:1])
    return slope, y - slope * x


def _crossings(slope: Tensor, height: Tensor) -> Tensor:
    """The corners of a box, from its sides."""
    x = height.diff(prepend=height[..., 3:4]).neg() / slope.diff(prepend=slope[..., 3:4])
    y = slope * x + height
    return vistorch.cat((x.unsqueeze(-1), y.unsqueeze(-1)), dim=-1).view(slope.shape[0], 8)


def _heights_within(boxes: Tensor, original: Tensor, canvas_size: Any, mode: str) -> Tensor:
    """The heights at x = 0 of the sides of boxes that end there."""
    slope, height = _lines(boxes)
    s1, s2, s3, s4 = slope.unbind(-1)
    h1, h2, h3, h4 = height.unbind(-1)
    o1, o2, o3, o4 = _lines(original)[1].unbind(-1)
    rows, wide = canvas_size
    h1 = h2.clamp(h1, h3).clamp(0, rows)
    h4 = h3.clamp(h2, h4).clamp(0, rows)
    if mode == "hard":
        h1 = h4 = (h1 + h4) / 2
        above = [h1 * s2 / s1, h3 * s2 / s3, (s1 - s2) * wide + h1, (s3 - s2) * wide + h3]
        h2 = vistorch.stack(above, dim=1).amax(dim=1).clamp(max=h2)
        below = [
            rows * (1 - s3 / s4) + h4 * s3 / s4,
            rows * (1 - s3 / s2) + h2 * s3 / s2,
            (s2 - s3) * wide + h2,
            (s4 - s3) * wide + h4,
        ]
        h3 = vistorch.stack(below, dim=1).amin(dim=1).clamp(min=h3)
    h1, h3 = h1.clamp(o1, o3), h3.clamp(o1, o3)
    h2, h4 = h2.clamp(o2, o4), h4.clamp(o2, o4)
    return vistorch.stack([h1, h2, h3, h4], dim=-1)


def _within_left(boxes: Tensor, original: Tensor, canvas_size: Any, mode: str) -> Tensor:
    """Boxes without what lies left of the picture."""
    shape = boxes.shape
    boxes, original = boxes.reshape(-1, 8), original.reshape(-1, 8)
    slope, _ = _lines(boxes)
    x1, y1, x2, y2, x3, y3, x4, y4 = boxes.unbind(-1)
    cut = _crossings(slope, _heights_within(boxes, original, canvas_size, mode))
    shoved = boxes.clone()
    shoved[..., 0].clamp_(0)
    shoved[..., 6].clamp_(0)
    leaves = (x1 < 0) & ~cut.isnan().any(-1)
    upright = y1.isclose(y2) | y3.isclose(y4)
    gone = (x1 <= 0) & (x2 <= 0) & (x3 <= 0) & (x4 <= 0)
    gone = gone | y1.isclose(y4) | y2.isclose(y3) | (upright & x1.isclose(x2))
    for where, instead in ((leaves, cut), (upright, shoved), (gone, vistorch.zeros_like(shoved))):
        boxes = vistorch.where(where.unsqueeze(1).repeat(1, 8), instead.reshape(-1, 8), boxes)
    return boxes.reshape(shape)


def _clamped_turned(boxes: Tensor, format: Any, canvas_size: Any, mode: str) -> Tensor:
    """The same for boxes that may be turned: the left side is cut off, four times, with a quarter turn between."""
    shape = boxes.shape
    out = converted(boxes.clone(), format, XYXYXYXY, inplace=True).reshape(-1, 8)
    original = out.clone()
    for _ in range(4):
        order, out = _ordered(out)
        _, original = _ordered(original, order)
        out = _within_left(out, original, canvas_size, mode)
        _, out = _ordered(out, order)
        _, original = _ordered(original, order)
        for one in (out, original):
            x, y = one[:, ::2].clone(), one[:, 1::2].clone()
            one[:, ::2], one[:, 1::2] = y, canvas_size[1] - x
        canvas_size = (canvas_size[1], canvas_size[0])
    return converted(out, XYXYXYXY, format, inplace=True).reshape(shape)


def clamp_keypoints(inpt: Any, canvas_size: Any = None) -> Any:
    """Points moved into their picture.

    Args:
        inpt: points; plain tensors need `canvas_size`.
        canvas_size: height and width of the picture.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.clamp_keypoints(tv_tensors.KeyPoints([[-1, 20]], canvas_size=(8, 9))).tolist()
        [[0, 7]]
    """
    if is_pure_tensor(inpt):
        if canvas_size is None:
            raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
        return _points_within(inpt, canvas_size)
    if not isinstance(inpt, KeyPoints):
        raise TypeError(
            f"Input can either be a plain tensor or a keypoints tv_tensor, but got {type(inpt)} instead."
        )
    if canvas_size is not None:
        raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    return tv_tensors.wrap(_points_within(inpt.as_subclass(Tensor), inpt.canvas_size), like=inpt)


def _points_within(points: Tensor, canvas_size: Any) -> Tensor:
    out = points.clone() if points.is_floating_point() else points.float()
    out[..., 0].clamp_(min=0, max=canvas_size[1] - 1)
    out[..., 1].clamp_(min=0, max=canvas_size[0] - 1)
    return out.to(points.dtype)


def enclosing(parallelograms: Tensor) -> Tensor:
    """Right-angled boxes around parallelograms, as eight numbers each.

    Args:
        parallelograms: eight numbers each: their corners, one after another.
    """
    shape, kind = parallelograms.shape, parallelograms.dtype
    if kind not in (vistorch.float32, vistorch.float64):
        parallelograms = parallelograms.to(vistorch.float32)
    x1, y1, x2, y2, x3, y3, x4, y4 = parallelograms.unbind(-1)
    cx, cy = (x1 + x3) / 2, (y1 + y3) / 2
    wide = vistorch.sqrt((x2 - x1).pow(2) + (y2 - y1).pow(2))
    high = vistorch.sqrt((x4 - x1).pow(2) + (y4 - y1).pow(2))
    along, across = vistorch.atan2(y1 - y2, x2 - x1), vistorch.atan2(y1 - y4, x4 - x1)
    between = along - across
    sign = vistorch.where(between > math.pi / 2, -1, 1)
    cos, sin = between.cos(), between.sin()
    w = vistorch.where(wide < high, wide * sin, wide + high * cos * sign)
    h = vistorch.where(wide > high, high * sin, high + wide * cos * sign)
    angle = vistorch.where(high > wide, across + math.pi / 2, along)
    cos, sin = angle.cos(), angle.sin()
    corners = [
        part
        for left, up in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        for part in (
            cx + left * (w / 2 * cos) + up * (h / 2 * sin),
            cy + up * (h / 2 * cos) - left * (w / 2 * sin),
        )
    ]
    return vistorch.stack(corners, dim=-1).reshape(shape).to(kind)
