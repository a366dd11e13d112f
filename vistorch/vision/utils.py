"""Many pictures as one, pictures into files, and boxes drawn on them.

Invariant: what is given is never changed.
"""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

import vistorch
from vistorch import Tensor

from ..serialization.atomic import whole

__all__ = ["draw_bounding_boxes", "make_grid", "save_image"]

Color = str | tuple[int, ...]


def _rescaled(images: Tensor, low: float, high: float) -> Tensor:
    """From low..high to 0..1."""
    return images.clamp(min=low, max=high).sub_(low).div_(max(high - low, 1e-5))


@vistorch.no_grad()
def make_grid(
    tensor: Tensor | list[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Lay pictures out in rows, as one picture.

    Args:
        tensor: (pictures, channels, height, width), or a list of pictures of the same size.
        nrow: how many stand in a row.
        padding: pixels between them.
        normalize: stretch the values to 0..1.
        value_range: what becomes 0 and what 1; the least and the greatest value if None.
        scale_each: stretch each picture for itself.
        pad_value: what stands between them.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.utils import make_grid
        >>> make_grid(vistorch.zeros(6, 3, 8, 8), nrow=3).shape
        vistorch.Size([3, 22, 32])
    """
    if isinstance(tensor, list):
        for image in tensor:
            if not isinstance(image, Tensor):
                raise TypeError(f"tensor or list of tensors expected, got a list containing {type(image)}")
        images = vistorch.stack(tensor, dim=0)
    elif not isinstance(tensor, Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    else:
        images = tensor

    if images.dim() == 2:
        images = images.unsqueeze(0)
    if images.dim() == 3:
        images = images.unsqueeze(0)
    if images.dim() == 4 and images.size(1) == 1:  # grey
        images = vistorch.cat((images, images, images), 1)

    if normalize is True:
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")

        def stretched(part: Tensor) -> Tensor:
            low, high = value_range or (float(part.min()), float(part.max()))
            return _rescaled(part, low, high)

        if scale_each is True:
            images = vistorch.stack([stretched(image) for image in images])
        else:
            images = stretched(images)

    count = images.size(0)
    if count == 1:
        return images.squeeze(0)
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = images.size(2) + padding, images.size(3) + padding
    grid = images.new_full((images.size(1), height * rows + padding, width * columns + padding), pad_value)
    for k in range(count):
        top, left = k // columns * height + padding, k % columns * width + padding
        grid[:, top : top + height - padding, left : left + width - padding] = images[k]
    return grid


@vistorch.no_grad()
def save_image(
    tensor: Tensor | list[Tensor], fp: str | os.PathLike | BinaryIO, format: str | None = None, **kwargs: Any
) -> None:
    """Write pictures with values from 0 to 1 into a file, several as a grid.

    Args:
        tensor: a picture or many, as `make_grid` takes them.
        fp: a file name or an open file.
        format: "png", "jpeg", ...; by the ending of the name if None.
        **kwargs: for `make_grid`.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.vision import io, utils
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     utils.save_image(vistorch.rand(8, 3, 4, 4), os.path.join(folder, "grid.png"), nrow=4, padding=1)
        ...     io.read_image(os.path.join(folder, "grid.png")).shape
        vistorch.Size([3, 11, 21])
    """
    from PIL import Image

    grid = make_grid(tensor, **kwargs)
    # Half a shade more: what follows cuts off, and should round.
    shades = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to("cpu", vistorch.uint8).numpy()
    held: Any = io.BytesIO()
    name = fp if isinstance(fp, (str, os.PathLike)) else getattr(fp, "name", None)
    if isinstance(name, (str, os.PathLike)):
        held.name = os.fspath(name)  # Pillow finds the format by its ending
    Image.fromarray(np.ascontiguousarray(shades)).save(held, format=format)
    with whole(fp) as file:
        file.write(held.getbuffer())


def _palette(count: int) -> list[tuple[int, ...]]:
    """A colour for each of so many things."""
    return [tuple(i * step % 255 for step in (2**25 - 1, 2**15 - 1, 2**21 - 1)) for i in range(count)]


def _colors(colors: Any, count: int) -> list[tuple[int, ...]]:
    """A colour for each box, as numbers."""
    from PIL import ImageColor

    if colors is None:
        return _palette(count)
    if isinstance(colors, list):
        if len(colors) < count:
            raise ValueError(
                f"Number of colors must be equal or larger than the number of objects, but got {len(colors)} < {count}."
            )
    elif isinstance(colors, (str, tuple)):
        colors = [colors] * count
    else:
        raise ValueError(f"`colors` must be a tuple or a string, or a list thereof, but got {colors}.")
    return [ImageColor.getrgb(color) if isinstance(color, str) else color for color in colors]


@vistorch.no_grad()
def draw_bounding_boxes(
    image: Tensor,
    boxes: Tensor,
    labels: Sequence[str | None] | None = None,
    colors: list[Color] | Color | None = None,
    fill: bool | None = False,
    width: int = 1,
    font: str | None = None,
    font_size: int | None = None,
    label_colors: list[Color] | Color | None = None,
    label_background_colors: list[Color] | Color | None = None,
    fill_labels: bool = False,
) -> Tensor:
    """Draw boxes on a picture; gives a new picture.

    Args:
        image: (1 or 3, height, width), uint8 or floating point from 0 to 1.
        boxes: (boxes, 4): left, top, right, bottom, in pixels.
        labels: a text for each box.
        colors: a colour for all boxes or a list; "red", "#FF00FF" or (240, 10, 157).
        fill: fill the boxes, half transparent.
        width: of the lines, in pixels.
        font: a TrueType file for the labels.
        font_size: in points.
        label_colors: of the labels; those of the boxes if None.
        label_background_colors: behind the labels, with `fill_labels`; those of the boxes if None.
        fill_labels: paint the ground of the labels.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import utils
        >>> boxes = vistorch.tensor([[1, 1, 6, 6]])
        >>> drawn = utils.draw_bounding_boxes(vistorch.zeros(3, 8, 8), boxes, colors="red")
        >>> drawn[:, 1, 1]
        tensor([1., 0., 0.])
    """
    _check_drawing(image, boxes, labels)
    count = boxes.shape[0]
    if count == 0:
        warnings.warn("boxes doesn't contain any box. No box was drawn", stacklevel=2)
        return image
    from PIL import Image, ImageDraw, ImageFont

    outlines = _colors(colors, count)
    inks = _colors(label_colors, count) if label_colors else list(outlines)
    grounds = _colors(label_background_colors, count) if label_background_colors else list(outlines)
    if font is None:
        if font_size is not None:
            warnings.warn("Argument 'font_size' will be ignored since 'font' is not set.", stacklevel=2)
        letters: Any = ImageFont.load_default()
    else:
        letters = ImageFont.truetype(font=font, size=font_size or 10)

    shades = image.detach().cpu()
    if image.is_floating_point():
        shades = shades.mul(255.999).clamp_(0, 255).to(vistorch.uint8)
    if shades.size(0) == 1:
        shades = shades.repeat(3, 1, 1)
    picture = Image.fromarray(np.ascontiguousarray(shades.permute(1, 2, 0).numpy()))
    draw = ImageDraw.Draw(picture, "RGBA" if fill else None)
    for k, box in enumerate(boxes.to(vistorch.int64).tolist()):
        draw.rectangle(box, width=width, outline=outlines[k], fill=(*outlines[k], 100) if fill else None)
        label = None if labels is None else labels[k]
        if label is not None:
            place = (box[0] + width + 1, box[1] + width + 1)
            if fill_labels:
                left, top, right, bottom = draw.textbbox(place, label, font=letters)
                draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), fill=grounds[k])
            draw.text(place, label, fill=inks[k], font=letters)
    out = vistorch.from_numpy(np.array(picture)).permute(2, 0, 1)
    return out.to(image.dtype).div_(255) if image.is_floating_point() else out


def _check_drawing(image: Any, boxes: Tensor, labels: Sequence[str | None] | None) -> None:
    """Refuse what is no picture, or no boxes on it."""
    if not isinstance(image, Tensor):
        raise TypeError(f"Tensor expected, got {type(image)}")
    if not (image.dtype is vistorch.uint8 or image.is_floating_point()):
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.dim() != 3:
        raise ValueError("Pass individual images, not batches")
    if image.size(0) not in (1, 3):
        raise ValueError("Only grayscale and RGB images are supported")
    if bool((boxes[:, 0] > boxes[:, 2]).any()) or bool((boxes[:, 1] > boxes[:, 3]).any()):
        raise ValueError("Boxes need to be in (xmin, ymin, xmax, ymax) format.")
    if labels is not None and len(labels) != boxes.shape[0]:
        raise ValueError(
            f"Number of boxes ({boxes.shape[0]}) and labels ({len(labels)}) mismatch. "
            "Please specify labels for each box."
        )
