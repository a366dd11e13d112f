"""The frame of images, videos, masks, boxes and points: flips, sizes, borders, crops.

Invariant: a picture and what lies in it are changed alike, and what lies in it learns the picture's new size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn import functional as nnf

from ....tv_tensors import is_rotated_bounding_format
from ... import functional as first
from ...functional.frame import resized_to
from ...modes import BILINEAR, InterpolationMode, mode_of
from .boxes import (
    CXCYWH,
    XYWH,
    XYWHR,
    XYXY,
    XYXYXYXY,
    clamped,
    columns,
    converted,
    enclosing,
)
from .dispatch import boxes, flat, images, masks, pillow, points, run

__all__ = [
    "center_crop",
    "crop",
    "five_crop",
    "hflip",
    "horizontal_flip",
    "pad",
    "resize",
    "resized_crop",
    "ten_crop",
    "vertical_flip",
    "vflip",
]

NEAREST = (InterpolationMode.NEAREST, InterpolationMode.NEAREST_EXACT)
SMOOTH = (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC, InterpolationMode.LANCZOS)


def mode(given: Any) -> InterpolationMode:
    """An interpolation mode, from itself, its name or Pillow's number."""
    if isinstance(given, str):
        names = [one.value for one in InterpolationMode]
        if given not in names:
            raise ValueError(f"Invalid interpolation mode: '{given}'. Supported string values are: {names}.")
        return InterpolationMode(given)
    if not isinstance(given, (int, InterpolationMode)):
        raise ValueError(
            "Argument interpolation should be an `InterpolationMode` or a corresponding Pillow integer constant, but "
            f"got {given}."
        )
    return mode_of(given)


# ---- flips ---------------------------------------------------------------------------------------------------------
def horizontal_flip(inpt: Any) -> Any:
    """Left and right exchanged.

    Args:
        inpt: an image, a video, a mask, boxes or points.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.horizontal_flip(vistorch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])
    """
    return run(horizontal_flip, inpt)


@images(horizontal_flip)
def horizontal_flip_image(image: Tensor) -> Tensor:
    """`horizontal_flip` of a tensor."""
    return image.flip(-1)


pillow(horizontal_flip, first.hflip)


@masks(horizontal_flip)
def horizontal_flip_mask(mask: Tensor) -> Tensor:
    """`horizontal_flip` of a mask."""
    return mask.flip(-1)


@points(horizontal_flip)
def horizontal_flip_keypoints(keypoints: Tensor, canvas_size: Any) -> Tensor:
    """`horizontal_flip` of points."""
    out = keypoints.clone()
    out[..., 0].sub_(canvas_size[1] - 1).neg_()
    return out


@boxes(horizontal_flip)
def horizontal_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Any) -> Tensor:
    """`horizontal_flip` of boxes."""
    out, width = bounding_boxes.clone().reshape(-1, columns(format)), canvas_size[1]
    if format is XYXY:
        out[:, [2, 0]] = out[:, [0, 2]].sub_(width).neg_()
    elif format is XYWH:
        out[:, 0].add_(out[:, 2]).sub_(width).neg_()
    elif format is CXCYWH:
        out[:, 0].sub_(width).neg_()
    elif format is XYXYXYXY:
        out[:, 0::2].sub_(width).neg_()
        out = out[:, [2, 3, 0, 1, 6, 7, 4, 5]]
    else:
        if format is XYWHR:
            angle = out[:, 4].mul(math.pi).div(180)
            out[:, 0].add_(out[:, 2].mul(angle.cos()))
            out[:, 1].sub_(out[:, 2].mul(angle.sin()))
        out[:, 0].sub_(width).neg_()
        out[:, 4].neg_()
    return out.reshape(bounding_boxes.shape)


def vertical_flip(inpt: Any) -> Any:
    """Top and bottom exchanged.

    Args:
        inpt: an image, a video, a mask, boxes or points.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.vertical_flip(vistorch.tensor([[[1], [2]]])).flatten()
        tensor([2, 1])
    """
    return run(vertical_flip, inpt)


@images(vertical_flip)
def vertical_flip_image(image: Tensor) -> Tensor:
    """`vertical_flip` of a tensor."""
    return image.flip(-2)


pillow(vertical_flip, first.vflip)


@masks(vertical_flip)
def vertical_flip_mask(mask: Tensor) -> Tensor:
    """`vertical_flip` of a mask."""
    return mask.flip(-2)


@points(vertical_flip)
def vertical_flip_keypoints(keypoints: Tensor, canvas_size: Any) -> Tensor:
    """`vertical_flip` of points."""
    out = keypoints.clone()
    out[..., 1].sub_(canvas_size[0] - 1).neg_()
    return out


@boxes(vertical_flip)
def vertical_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Any) -> Tensor:
    """`vertical_flip` of boxes."""
    out, height = bounding_boxes.clone().reshape(-1, columns(format)), canvas_size[0]
    if format is XYXY:
        out[:, [1, 3]] = out[:, [3, 1]].sub_(height).neg_()
    elif format is XYWH:
        out[:, 1].add_(out[:, 3]).sub_(height).neg_()
    elif format is CXCYWH:
        out[:, 1].sub_(height).neg_()
    elif format is XYXYXYXY:
        out[:, 1::2].sub_(height).neg_()
        out = out[:, [2, 3, 0, 1, 6, 7, 4, 5]]
    else:
        if format is XYWHR:
            angle = out[:, 4].mul(math.pi).div(180)
            out[:, 1].sub_(out[:, 2].mul(angle.sin()))
            out[:, 0].add_(out[:, 2].mul(angle.cos()))
        out[:, 1].sub_(height).neg_()
        out[:, 4].neg_().add_(180)
    return out.reshape(bounding_boxes.shape)


# ---- sizes ---------------------------------------------------------------------------------------------------------
def resize(
    inpt: Any,
    size: Any,
    interpolation: Any = BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """Of another size.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        size: (height, width), the length of the shorter side, or None, where `max_size` is given.
        interpolation: an InterpolationMode, or its name; masks take the nearest value.
        max_size: what the longer side may be at most.
        antialias: smooth what gets smaller; Pillow always does.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.resize(vistorch.zeros(3, 20, 40), 10).shape
        vistorch.Size([3, 10, 20])
    """
    return run(resize, inpt, size=size, interpolation=interpolation, max_size=max_size, antialias=antialias)


def _new_size(old: Any, size: Any, max_size: int | None) -> tuple[int, int]:
    if isinstance(size, int):
        size = [size]
    elif max_size is not None and size is not None and len(size) != 1:
        raise ValueError(
            "max_size should only be passed if size is None or specifies the length of the smaller edge, i.e. size "
            "should be an int or a sequence of length 1 in torchscript mode."
        )
    if size is None and not isinstance(max_size, int):
        raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
    height, width = resized_to(old[0], old[1], size, max_size)
    return height, width


_EXACT = (vistorch.float32, vistorch.float64, vistorch.uint8)


@images(resize)
def resize_image(
    image: Tensor,
    size: Any,
    interpolation: Any = BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Tensor:
    """`resize` of a tensor."""
    how = mode(interpolation)
    if how is InterpolationMode.LANCZOS and not antialias:
        raise ValueError("InterpolationMode.LANCZOS requires antialias=True")
    old = tuple(image.shape[-2:])
    new = _new_size(old, size, max_size)
    if new == old:
        return image
    shape = (*image.shape[:-2], *new)
    if image.numel() == 0:
        return image.reshape(shape)
    kind = image.dtype
    x = image.reshape(-1, *image.shape[-3:])
    x = x if kind in _EXACT else x.to(vistorch.float32)
    smooth = how in SMOOTH
    x = nnf.interpolate(
        x,
        size=list(new),
        mode=how.value,
        align_corners=False if smooth else None,
        antialias=bool(antialias) and smooth,
    )
    if kind not in _EXACT:
        x = (x if kind.is_floating_point or kind is vistorch.bool else x.round_()).to(kind)
    return x.reshape(shape)


def _pillow_resize(
    image: Any, size: Any, interpolation: Any, max_size: Any = None, antialias: Any = True
) -> Any:
    new = list(_new_size((image.height, image.width), size, max_size))
    return first.resize(image, new, mode(interpolation), None, antialias)


pillow(resize, _pillow_resize)


@masks(resize)
def resize_mask(
    mask: Tensor, size: Any, interpolation: Any = BILINEAR, max_size: int | None = None
) -> Tensor:
    """`resize` of a mask."""
    how = mode(interpolation)
    how = how if how in NEAREST else InterpolationMode.NEAREST
    return flat(lambda x: resize_image(x, size, how, max_size), mask)


def _ratios(old: Any, new: Any, times: int, like: Tensor) -> Tensor:
    return vistorch.tensor([new[1] / old[1], new[0] / old[0]] * times, device=like.device)


@points(resize)
def resize_keypoints(
    keypoints: Tensor, size: Any, canvas_size: Any, max_size: int | None = None
) -> tuple[Tensor, tuple[int, int]]:
    """`resize` of points."""
    new = _new_size(canvas_size, size, max_size)
    if new == tuple(canvas_size):
        return keypoints, canvas_size
    return keypoints.mul(_ratios(canvas_size, new, 1, keypoints)).to(keypoints.dtype), new


@boxes(resize)
def resize_bounding_boxes(
    bounding_boxes: Tensor,
    canvas_size: Any,
    size: Any,
    max_size: int | None = None,
    format: Any = XYXY,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """`resize` of boxes."""
    new = _new_size(canvas_size, size, max_size)
    if new == tuple(canvas_size):
        return bounding_boxes, canvas_size
    kind = bounding_boxes.dtype
    if not is_rotated_bounding_format(format):
        return bounding_boxes.mul(_ratios(canvas_size, new, 2, bounding_boxes)).to(kind), new
    out = converted(bounding_boxes, format, XYXYXYXY).reshape(-1, 8)
    out = enclosing(out.mul(_ratios(canvas_size, new, 4, bounding_boxes)))
    out = clamped(out, XYXYXYXY, new, clamping_mode)
    return converted(out, XYXYXYXY, format).to(kind).reshape(bounding_boxes.shape), new


# ---- borders -------------------------------------------------------------------------------------------------------
def pad(inpt: Any, padding: Any, fill: Any = None, padding_mode: str = "constant") -> Any:
    """With a border.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        padding: how wide: for all sides, (left and right, top and bottom), or (left, top, right, bottom).
        fill: its value, or one for each channel.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.pad(vistorch.ones(1, 1, 2), [1, 0], fill=9)
        tensor([[[9., 1., 1., 9.]]])
    """
    return run(pad, inpt, padding=padding, fill=fill, padding_mode=padding_mode)


def sides(padding: Any) -> list[int]:
    """Left, right, top, bottom."""
    if isinstance(padding, int):
        return [padding] * 4
    if not isinstance(padding, (tuple, list)):
        raise TypeError(f"`padding` should be an integer or tuple or list of integers, but got {padding}")
    if len(padding) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple or list. Found {len(padding)}"
        )
    if len(padding) == 4:
        left, top, right, bottom = padding
        return [left, right, top, bottom]
    return [padding[0], padding[0], padding[-1], padding[-1]]


@images(pad)
def pad_image(image: Tensor, padding: Any, fill: Any = None, padding_mode: str = "constant") -> Tensor:
    """`pad` of a tensor."""
    left, right, top, bottom = sides(padding)
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(
            "`padding_mode` should be either `'constant'`, `'edge'`, `'reflect'` or `'symmetric'`, but got "
            f"`'{padding_mode}'`."
        )
    fill = 0 if fill is None else fill
    if not isinstance(fill, (int, float)) and len(fill) == 1:
        fill = fill[0]
    if isinstance(fill, (int, float)):
        out = image.reshape(-1, *image.shape[-3:])
        ours = [left, top, right, bottom]
        out = first.pad(out, ours, fill, padding_mode) if out.numel() else _border(out, ours, fill)
        return out.reshape(*image.shape[:-2], *out.shape[-2:])
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar")
    out = pad_image(image, padding)
    color = vistorch.tensor(fill, device=image.device).to(image.dtype).reshape(-1, 1, 1)
    for width, where in (
        (top, (..., slice(None, top), slice(None))),
        (left, (..., slice(None), slice(None, left))),
        (bottom, (..., slice(-bottom, None), slice(None))),
        (right, (..., slice(None), slice(-right, None))),
    ):
        if width > 0:
            out[where] = color
    return out


def _border(image: Tensor, widths: Sequence[int], fill: Any) -> Tensor:
    left, top, right, bottom = widths
    return nnf.pad(image, [left, right, top, bottom], value=float(fill))


pillow(
    pad,
    lambda image, padding, fill=None, padding_mode="constant": first.pad(
        image,
        padding,
        0 if fill is None else tuple(int(v) for v in fill) if isinstance(fill, (list, tuple)) else fill,
        padding_mode,
    ),
)


@masks(pad)
def pad_mask(mask: Tensor, padding: Any, fill: Any = None, padding_mode: str = "constant") -> Tensor:
    """`pad` of a mask."""
    if isinstance(fill, (tuple, list)):
        raise ValueError("Non-scalar fill value is not supported")
    return flat(lambda x: pad_image(x, padding, fill, padding_mode), mask)


def _grown(canvas_size: Any, padding: Any) -> tuple[int, int]:
    left, right, top, bottom = sides(padding)
    return canvas_size[0] + top + bottom, canvas_size[1] + left + right


def _shift(format: Any, x: int, y: int) -> list[int]:
    """What is added to a box where its picture's corner moves."""
    if format is XYXYXYXY:
        return [x, y] * 4
    if is_rotated_bounding_format(format):
        return [x, y, 0, 0, 0]
    return [x, y, x, y] if format is XYXY else [x, y, 0, 0]


@points(pad)
def pad_keypoints(
    keypoints: Tensor, canvas_size: Any, padding: Any, padding_mode: str = "constant"
) -> tuple[Tensor, tuple[int, int]]:
    """`pad` of points."""
    if padding_mode != "constant":
        raise ValueError(
            f"Padding mode '{padding_mode}' is not supported with KeyPoints (supported modes are constant)"
        )
    left, _, top, _ = sides(padding)
    moved = keypoints + vistorch.tensor([left, top], dtype=keypoints.dtype, device=keypoints.device)
    return moved, _grown(canvas_size, padding)


@boxes(pad)
def pad_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    padding: Any,
    padding_mode: str = "constant",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """`pad` of boxes."""
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes")
    left, _, top, _ = sides(padding)
    by = vistorch.tensor(_shift(format, left, top), dtype=bounding_boxes.dtype, device=bounding_boxes.device)
    new = _grown(canvas_size, padding)
    return clamped(bounding_boxes + by, format, new, clamping_mode), new


# ---- crops ---------------------------------------------------------------------------------------------------------
def crop(inpt: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part; black where it reaches beyond.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        top: the first row.
        left: the first column.
        height: how many rows.
        width: how many columns.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.crop(vistorch.ones(1, 1, 2), 0, 1, 1, 2)
        tensor([[[1., 0.]]])
    """
    return run(crop, inpt, top=top, left=left, height=height, width=width)


@images(crop)
def crop_image(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """`crop` of a tensor."""
    return first.crop(image, top, left, height, width)


pillow(crop, first.crop)


@masks(crop)
def crop_mask(mask: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """`crop` of a mask."""
    return flat(lambda x: crop_image(x, top, left, height, width), mask)


@points(crop)
def crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int
) -> tuple[Tensor, tuple[int, int]]:
    """`crop` of points."""
    corner = vistorch.tensor([left, top], dtype=keypoints.dtype, device=keypoints.device)
    return keypoints - corner, (height, width)


@boxes(crop)
def crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """`crop` of boxes."""
    by = vistorch.tensor(_shift(format, left, top), dtype=bounding_boxes.dtype, device=bounding_boxes.device)
    out = bounding_boxes - by
    out = enclosing(out) if format is XYXYXYXY else out
    return clamped(out, format, (height, width), clamping_mode), (height, width)


def center_crop(inpt: Any, output_size: Any) -> Any:
    """The middle; with a black border if it is smaller.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        output_size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.center_crop(vistorch.arange(12).reshape(1, 3, 4), (1, 2))
        tensor([[[5, 6]]])
    """
    return run(center_crop, inpt, output_size=output_size)


def _height_width(size: Any) -> list[int]:
    if isinstance(size, (int, float)):
        return [int(size)] * 2
    return [size[0], size[0]] if len(size) == 1 else list(size)


@images(center_crop)
def center_crop_image(image: Tensor, output_size: Any) -> Tensor:
    """`center_crop` of a tensor."""
    if image.numel() == 0:
        return image.reshape(*image.shape[:-2], *_height_width(output_size))
    return first.center_crop(image, _height_width(output_size))


pillow(center_crop, first.center_crop)


@masks(center_crop)
def center_crop_mask(mask: Tensor, output_size: Any) -> Tensor:
    """`center_crop` of a mask."""
    return flat(lambda x: center_crop_image(x, output_size), mask)


def _middle(canvas_size: Any, output_size: Any) -> dict[str, int]:
    height, width = _height_width(output_size)
    top, left = round((canvas_size[0] - height) / 2.0), round((canvas_size[1] - width) / 2.0)
    return {"top": top, "left": left, "height": height, "width": width}


@points(center_crop)
def center_crop_keypoints(
    keypoints: Tensor, canvas_size: Any, output_size: Any
) -> tuple[Tensor, tuple[int, int]]:
    """`center_crop` of points."""
    return crop_keypoints(keypoints, **_middle(canvas_size, output_size))


@boxes(center_crop)
def center_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    output_size: Any,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """`center_crop` of boxes."""
    where = _middle(canvas_size, output_size)
    return crop_bounding_boxes(bounding_boxes, format, **where, clamping_mode=clamping_mode)


def resized_crop(
    inpt: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    interpolation: Any = BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """A part, of another size.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        top: the first row.
        left: the first column.
        height: how many rows.
        width: how many columns.
        size: as `resize` has it.
        interpolation: likewise.
        antialias: likewise.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.resized_crop(vistorch.zeros(3, 20, 30), 0, 0, 10, 10, [4, 4]).shape
        vistorch.Size([3, 4, 4])
    """
    where = {"top": top, "left": left, "height": height, "width": width}
    return run(resized_crop, inpt, **where, size=size, interpolation=interpolation, antialias=antialias)


@images(resized_crop)
def resized_crop_image(
    image: Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    interpolation: Any = BILINEAR,
    antialias: bool | None = True,
) -> Tensor:
    """`resized_crop` of a tensor."""
    part = crop_image(image, top, left, height, width)
    return resize_image(part, size, interpolation, antialias=antialias)


def _pillow_resized_crop(
    image: Any, top: int, left: int, height: int, width: int, size: Any, interpolation: Any, antialias: Any
) -> Any:
    part = first.crop(image, top, left, height, width)
    return _pillow_resize(part, size, interpolation, antialias=antialias)


pillow(resized_crop, _pillow_resized_crop)


@masks(resized_crop)
def resized_crop_mask(mask: Tensor, top: int, left: int, height: int, width: int, size: Any) -> Tensor:
    """`resized_crop` of a mask."""
    return resize_mask(crop_mask(mask, top, left, height, width), size)


@points(resized_crop)
def resized_crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int, size: Any
) -> tuple[Tensor, tuple[int, int]]:
    """`resized_crop` of points."""
    out, canvas_size = crop_keypoints(keypoints, top, left, height, width)
    return resize_keypoints(out, size, canvas_size)


@boxes(resized_crop)
def resized_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """`resized_crop` of boxes."""
    out, canvas_size = crop_bounding_boxes(bounding_boxes, format, top, left, height, width, clamping_mode)
    return resize_bounding_boxes(out, canvas_size, size, format=format, clamping_mode=clamping_mode)


def five_crop(inpt: Any, size: Any) -> Any:
    """The four corners and the middle.

    Args:
        inpt: an image or a video.
        size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> [part.item() for part in F.five_crop(vistorch.arange(9).reshape(1, 3, 3), 1)]
        [0, 2, 6, 8, 4]
    """
    return run(five_crop, inpt, size=size)


def ten_crop(inpt: Any, size: Any, vertical_flip: bool = False) -> Any:
    """The four corners and the middle, and those of the flipped picture.

    Args:
        inpt: an image or a video.
        size: (height, width), or one number for both.
        vertical_flip: flip top and bottom instead of left and right.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> len(F.ten_crop(vistorch.zeros(3, 16, 16), 8))
        10
    """
    return run(ten_crop, inpt, size=size, vertical_flip=vertical_flip)


five_crop_image: Callable = images(five_crop)(first.five_crop)
ten_crop_image: Callable = images(ten_crop)(first.ten_crop)
pillow(five_crop, first.five_crop)
pillow(ten_crop, first.ten_crop)

hflip, vflip = horizontal_flip, vertical_flip
horizontal_flip_video, vertical_flip_video = horizontal_flip_image, vertical_flip_image
resize_video, pad_video, crop_video = resize_image, pad_image, crop_image
center_crop_video, resized_crop_video = center_crop_image, resized_crop_image
five_crop_video, ten_crop_video = five_crop_image, ten_crop_image
