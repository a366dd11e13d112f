"""The frame of an image moved and resized: crops, flips, padding, resize, erase.

Invariant: the given image is never changed, but by `erase(inplace=True)`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor
from vistorch.nn import functional as F

from ..images import as_batch, get_dimensions, is_pil, must_be_image
from ..modes import BILINEAR, PILLOW, InterpolationMode, mode_of, tensor_mode

PADDINGS = ("constant", "edge", "reflect", "symmetric")
RESIZES = ("nearest", "nearest-exact", "bilinear", "bicubic")


def resized_to(height: int, width: int, size: Sequence[int] | None, max_size: int | None) -> list[int]:
    """The height and width an image of this size gets."""
    if size is not None and len(size) == 2:
        return list(size)
    short, long = sorted((height, width))
    if size is None:
        new_long: int = max_size  # type: ignore[assignment]
        new_short = int(new_long * short / long)
    else:
        new_short, new_long = size[0], int(size[0] * long / short)
        if max_size is not None:
            if max_size <= size[0]:
                raise ValueError(
                    f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge "
                    f"size = {list(size)}"
                )
            if new_long > max_size:
                new_short, new_long = int(max_size * new_short / new_long), max_size
    return [new_long, new_short] if width <= height else [new_short, new_long]


def resize(
    img: Any,
    size: Any,
    interpolation: Any = BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """An image of another size.

    Args:
        img: an image.
        size: (height, width), or the length of the shorter side.
        interpolation: an InterpolationMode.
        max_size: what the longer side may be at most.
        antialias: smooth what gets smaller; Pillow always does.

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.resize(vistorch.zeros(3, 20, 40), 10).shape
        vistorch.Size([3, 10, 20])
    """
    mode = mode_of(interpolation)
    if isinstance(size, list | tuple):
        if len(size) not in (1, 2):
            raise ValueError(
                f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element tuple/list"
            )
        if max_size is not None and len(size) != 1:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge, i.e. size should be "
                "an int or a sequence of length 1 in torchscript mode."
            )
    elif size is None and max_size is None:
        raise ValueError("max_size must be an integer when size is None.")
    _, height, width = get_dimensions(img)
    new = resized_to(height, width, [size] if isinstance(size, int) else size, max_size)
    if new == [height, width]:
        return img
    smooth = mode in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
    if is_pil(img):
        if antialias is False and smooth:
            warnings.warn(
                "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.",
                stacklevel=2,
            )
        return img.resize((new[1], new[0]), PILLOW[mode])
    name = tensor_mode(mode, RESIZES)
    corners, alias = (False, bool(antialias)) if smooth else (None, False)

    def resized(x: Tensor) -> Tensor:
        out = F.interpolate(x, size=new, mode=name, align_corners=corners, antialias=alias)
        return out.clamp(0, 255) if img.dtype is vistorch.uint8 and name == "bicubic" else out

    return as_batch(img, resized)


def _sides(padding: Any) -> list[int]:
    """Left, top, right, bottom."""
    if not isinstance(padding, int | list | tuple):
        raise TypeError("Got inappropriate padding arg")
    given = [padding] if isinstance(padding, int) else list(padding)
    if len(given) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(given)} element tuple"
        )
    return given * (4 // len(given))


def pillow_fill(fill: Any, img: Any) -> Any:
    """A color for an image of Pillow's: one number for all its bands, or one for each."""
    bands = len(img.getbands())
    if fill is None:
        fill = 0
    if isinstance(fill, int | float) and bands > 1:
        fill = (fill,) * bands
    if isinstance(fill, list | tuple):
        if len(fill) == 1:
            fill = tuple(fill) * bands
        if len(fill) != bands:
            raise ValueError(
                f"The number of elements in 'fill' does not match the number of channels of the image ({len(fill)} "
                f"!= {bands})"
            )
        fill = tuple(fill)
        if img.mode != "F":
            fill = tuple(int(x) for x in fill)
        return fill if bands > 1 else fill[0]
    return fill


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """An image with a border.

    Args:
        img: an image.
        padding: how wide: for all sides, (left and right, top and bottom), or (left, top, right, bottom).
        fill: the border's color.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.pad(vistorch.ones(1, 1, 2), (1, 0), fill=3)
        tensor([[[3., 1., 1., 3.]]])
    """
    sides = _sides(padding)
    if not isinstance(fill, int | float | str | list | tuple):
        raise TypeError("Got inappropriate fill arg")
    if not isinstance(padding_mode, str):
        raise TypeError("Got inappropriate padding_mode arg")
    if padding_mode not in PADDINGS:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    left, top, right, bottom = sides
    if is_pil(img):
        from PIL import Image, ImageOps

        if padding_mode == "constant":
            out = ImageOps.expand(img, (left, top, right, bottom), pillow_fill(fill, img))
        else:
            array = np.asarray(img)
            widths = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
            out = Image.fromarray(np.pad(array, widths, mode=padding_mode))  # type: ignore[call-overload]
        if img.mode == "P":
            out.putpalette(img.getpalette())
        return out
    must_be_image(img)
    if padding_mode == "constant":
        value = fill[0] if isinstance(fill, list | tuple) else fill
        return F.pad(img, [left, right, top, bottom], value=float(value))
    height, width = img.shape[-2:]
    rows = np.pad(np.arange(height), (top, bottom), mode=padding_mode)  # type: ignore[call-overload]
    columns = np.pad(np.arange(width), (left, right), mode=padding_mode)  # type: ignore[call-overload]
    return img[..., vistorch.from_numpy(rows)[:, None], vistorch.from_numpy(columns)]


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of an image; black where it reaches beyond.

    Args:
        img: an image.
        top: the first row.
        left: the first column.
        height: how many rows.
        width: how many columns.

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.crop(vistorch.ones(1, 2, 2), 1, 1, 2, 2)
        tensor([[[1., 0.],
                 [0., 0.]]])
    """
    if is_pil(img):
        return img.crop((left, top, left + width, top + height))
    rows, columns = must_be_image(img).shape[-2:]
    bottom, right = top + height, left + width
    part = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if left < 0 or top < 0 or right > columns or bottom > rows:
        sides = [
            max(min(right, 0) - left, 0),
            max(right - max(columns, left), 0),
            max(min(bottom, 0) - top, 0),
            max(bottom - max(rows, top), 0),
        ]
        return F.pad(part, sides)
    return part


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of an image; with a black border if it is smaller.

    Args:
        img: an image.
        output_size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.center_crop(vistorch.arange(12).reshape(1, 3, 4), (1, 2))
        tensor([[[5, 6]]])
    """
    given = [output_size] if isinstance(output_size, int | float) else list(output_size)
    height, width = (int(x) for x in (given * 2 if len(given) == 1 else given))
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        more_x, more_y = max(width - columns, 0), max(height - rows, 0)
        img = pad(img, [more_x // 2, more_y // 2, (more_x + 1) // 2, (more_y + 1) // 2])
        _, rows, columns = get_dimensions(img)
        if (height, width) == (rows, columns):
            return img
    return crop(img, round((rows - height) / 2.0), round((columns - width) / 2.0), height, width)


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    interpolation: Any = BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """A part of an image, resized.

    Args:
        img: an image.
        top: the first row.
        left: the first column.
        height: how many rows.
        width: how many columns.
        size: as `resize` has it.
        interpolation: likewise.
        antialias: likewise.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.resized_crop(vistorch.zeros(3, 20, 30), 0, 0, 10, 10, (4, 4)).shape
        vistorch.Size([3, 4, 4])
    """
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img: Any) -> Any:
    """Left and right exchanged.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.hflip(vistorch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])
    """
    return img.transpose(0) if is_pil(img) else must_be_image(img).flip(-1)


def vflip(img: Any) -> Any:
    """Top and bottom exchanged.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.vflip(vistorch.tensor([[[1], [2]]])).flatten()
        tensor([2, 1])
    """
    return img.transpose(1) if is_pil(img) else must_be_image(img).flip(-2)


def five_crop(img: Any, size: Any) -> tuple:
    """The four corners and the middle.

    Args:
        img: an image.
        size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> [part.item() for part in functional.five_crop(vistorch.arange(9).reshape(1, 3, 3), 1)]
        [0, 2, 6, 8, 4]
    """
    given = [int(size)] if isinstance(size, int | float) else list(size)
    given = given * 2 if len(given) == 1 else given
    if len(given) != 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    height, width = given
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(rows, columns)}")
    corners = [(top, left) for top in (0, rows - height) for left in (0, columns - width)]
    return (*(crop(img, *corner, height, width) for corner in corners), center_crop(img, given))


def ten_crop(img: Any, size: Any, vertical_flip: bool = False) -> tuple:
    """The four corners and the middle, and those of the flipped image.

    Args:
        img: an image.
        size: (height, width), or one number for both.
        vertical_flip: flip top and bottom instead of left and right.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> len(functional.ten_crop(vistorch.zeros(3, 16, 16), 8))
        10
    """
    return five_crop(img, size) + five_crop((vflip if vertical_flip else hflip)(img), size)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """A tensor with a rectangle filled.

    Args:
        img: a tensor.
        i: the first row.
        j: the first column.
        h: how many rows.
        w: how many columns.
        v: what to put there.
        inplace: change the tensor itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.erase(vistorch.ones(1, 2, 3), i=0, j=1, h=2, w=1, v=0)
        tensor([[[1., 0., 1.],
                 [1., 0., 1.]]])
    """
    if not isinstance(img, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    out = img if inplace else img.clone()
    out[..., i : i + h, j : j + w] = v
    return out
