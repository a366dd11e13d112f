"""Transforms of the frame: flips, sizes, borders, crops.

Invariant: what is random is drawn in torchvision's order and by its calls, once for a picture and what lies in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch import Tensor

from ...ops import box_iou
from ...tv_tensors import BoundingBoxes, BoundingBoxFormat, Image, KeyPoints, Mask
from .. import crops as first
from ..images import is_pil
from ..sizes import TWO, pair, sequence
from . import functional as F
from .arguments import below, check_padding, check_padding_mode, fill_of, fills, rectangle
from .functional.frame import sides
from .queries import get_bounding_boxes, has_all, has_any, query_size
from .transform import RandomApplied, Transform


class RandomHorizontalFlip(RandomApplied):
    """Some pictures with left and right exchanged.

    Args:
        p: how many of them, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomHorizontalFlip(p=1.0)(vistorch.tensor([[[1, 2]]]))
        tensor([[[2, 1]]])
    """

    _v1_transform_cls = first.RandomHorizontalFlip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.horizontal_flip, inpt)


class RandomVerticalFlip(RandomApplied):
    """Some pictures with top and bottom exchanged.

    Args:
        p: how many of them, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomVerticalFlip(p=1.0)(vistorch.tensor([[[1], [2]]])).flatten()
        tensor([2, 1])
    """

    _v1_transform_cls = first.RandomVerticalFlip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.vertical_flip, inpt)


class _Resizing(Transform):
    """What all that resize have in common."""

    interpolation: Any
    antialias: bool | None

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"interpolation": self.interpolation, "antialias": self.antialias}
        return self._call_kernel(F.resize, inpt, params["size"], **how)


class Resize(Transform):
    """A picture of another size.

    Args:
        size: (height, width), the length of the shorter side, or None, where `max_size` is given.
        interpolation: an InterpolationMode, or its name; masks take the nearest value.
        max_size: what the longer side may be at most.
        antialias: smooth what gets smaller; Pillow always does.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.Resize(8)(vistorch.zeros(3, 16, 32)).shape
        vistorch.Size([3, 8, 16])
    """

    _v1_transform_cls = first.Resize

    def __init__(
        self,
        size: Any,
        interpolation: Any = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if isinstance(size, int):
            size = [size]
        elif isinstance(size, Sequence) and len(size) in (1, 2):
            size = list(size)
        elif size is not None:
            raise ValueError(
                f"size can be an integer, a sequence of one or two integers, or None, but got {size} instead."
            )
        elif not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        self.size = size
        self.interpolation = interpolation
        self.max_size = max_size
        self.antialias = antialias

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(
            F.resize,
            inpt,
            self.size,
            interpolation=self.interpolation,
            max_size=self.max_size,
            antialias=self.antialias,
        )


class ScaleJitter(_Resizing):
    """A picture of a random size near another one, its sides in the same relation.

    Args:
        target_size: (height, width).
        scale_range: from where to where it is multiplied.
        interpolation: an InterpolationMode, or its name.
        antialias: smooth what gets smaller.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.ScaleJitter((8, 8), scale_range=(1.0, 1.0))(vistorch.zeros(3, 16, 16)).shape
        vistorch.Size([3, 8, 8])
    """

    def __init__(
        self,
        target_size: tuple[int, int],
        scale_range: tuple[float, float] = (0.1, 2.0),
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.target_size = target_size
        self.scale_range = scale_range
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        low, high = self.scale_range
        scale = low + vistorch.rand(1) * (high - low)
        ratio = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": (int(height * ratio), int(width * ratio))}


class RandomShortestSize(_Resizing):
    """A picture whose shorter side is one of several lengths.

    Args:
        min_size: the lengths, or one.
        max_size: what the longer side may be at most.
        interpolation: an InterpolationMode, or its name.
        antialias: smooth what gets smaller.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomShortestSize(8)(vistorch.zeros(3, 16, 32)).shape
        vistorch.Size([3, 8, 16])
    """

    def __init__(
        self,
        min_size: Any,
        max_size: int | None = None,
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        ratio = self.min_size[int(vistorch.randint(len(self.min_size), ()))] / min(height, width)
        if self.max_size is not None:
            ratio = min(ratio, self.max_size / max(height, width))
        return {"size": (int(height * ratio), int(width * ratio))}


class RandomResize(_Resizing):
    """A picture whose shorter side is of a random length.

    Args:
        min_size: the smallest length.
        max_size: one more than the largest.
        interpolation: an InterpolationMode, or its name.
        antialias: smooth what gets smaller.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomResize(8, 9)(vistorch.zeros(3, 16, 32)).shape
        vistorch.Size([3, 8, 16])
    """

    def __init__(
        self, min_size: int, max_size: int, interpolation: Any = "bilinear", antialias: bool | None = True
    ) -> None:
        super().__init__()
        self.min_size = min_size
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"size": [int(vistorch.randint(self.min_size, self.max_size, ()))]}


class CenterCrop(Transform):
    """The middle of a picture.

    Args:
        size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.CenterCrop((1, 2))(vistorch.arange(12).reshape(1, 3, 4))
        tensor([[[5, 6]]])
    """

    _v1_transform_cls = first.CenterCrop

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = pair(size, TWO)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.center_crop, inpt, output_size=self.size)


class RandomResizedCrop(Transform):
    """A random part of a picture, of one size.

    Args:
        size: (height, width), or one number for both.
        scale: from which to which part of its area.
        ratio: from which to which width / height.
        interpolation: an InterpolationMode, or its name.
        antialias: smooth what gets smaller.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomResizedCrop(8)(vistorch.zeros(3, 16, 32)).shape
        vistorch.Size([3, 8, 8])
    """

    _v1_transform_cls = first.RandomResizedCrop

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = pair(size, TWO)
        for name, value in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(value, Sequence) or len(value) != 2:
                raise TypeError(f"{name} should be a sequence of two floats.")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.antialias = antialias
        self._log_ratio = vistorch.log(vistorch.tensor(self.ratio))

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        for _ in range(10):
            h, w = rectangle(self.scale, self._log_ratio, height * width, upright=False)
            if 0 < w <= width and 0 < h <= height:
                top, left = below(0, height - h + 1), below(0, width - w + 1)
                return {"top": top, "left": left, "height": h, "width": w}
        ratio = float(width) / float(height)
        w, h = width, height
        if ratio < min(self.ratio):
            h = round(w / min(self.ratio))
        elif ratio > max(self.ratio):
            w = round(h * max(self.ratio))
        return {"top": (height - h) // 2, "left": (width - w) // 2, "height": h, "width": w}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"interpolation": self.interpolation, "antialias": self.antialias}
        return self._call_kernel(F.resized_crop, inpt, **params, size=self.size, **how)


class _Crops(Transform):
    """What is the same of five and of ten crops."""

    def _call_kernel(self, functional: Any, inpt: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inpt, (BoundingBoxes, KeyPoints, Mask)):
            warnings.warn(
                f"{type(self).__name__}() is currently passing through inputs of type "
                f"tv_tensors.{type(inpt).__name__}. This will likely change in the future.",
                stacklevel=2,
            )
        return super()._call_kernel(functional, inpt, *args, **kwargs)

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """See `Transform`."""
        if has_any(flat_inputs, BoundingBoxes, Mask):
            raise TypeError(f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}()")


class FiveCrop(_Crops):
    """The four corners and the middle of a picture.

    Args:
        size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> [part.item() for part in v2.FiveCrop(1)(vistorch.arange(9).reshape(1, 3, 3))]
        [0, 2, 6, 8, 4]
    """

    _v1_transform_cls = first.FiveCrop

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = pair(size, TWO)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.five_crop, inpt, self.size)


class TenCrop(_Crops):
    """The four corners and the middle of a picture, and those of the flipped one.

    Args:
        size: (height, width), or one number for both.
        vertical_flip: flip top and bottom instead of left and right.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> len(v2.TenCrop(8)(vistorch.zeros(3, 16, 16)))
        10
    """

    _v1_transform_cls = first.TenCrop

    def __init__(self, size: Any, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = pair(size, TWO)
        self.vertical_flip = vertical_flip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.ten_crop, inpt, self.size, vertical_flip=self.vertical_flip)


class Pad(Transform):
    """A picture with a border.

    Args:
        padding: how wide: for all sides, (left and right, top and bottom), or (left, top, right, bottom).
        fill: its value, one for each channel, or a dict of them by the class of the input.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.Pad([1, 0], fill=9)(vistorch.ones(1, 1, 2))
        tensor([[[9., 1., 1., 9.]]])
    """

    _v1_transform_cls = first.Pad

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        check_padding(padding)
        check_padding_mode(padding_mode)
        self.padding = padding if isinstance(padding, int) else list(padding)
        self.fill = fill
        self._fill = fills(fill)
        self.padding_mode = padding_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"fill": fill_of(self._fill, inpt), "padding_mode": self.padding_mode}
        return self._call_kernel(F.pad, inpt, padding=self.padding, **how)


class RandomZoomOut(RandomApplied):
    """Some pictures somewhere in a larger one.

    Args:
        fill: the value around it, one for each channel, or a dict of them by the class of the input.
        side_range: from how many to how many times as large.
        p: how many of the pictures, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomZoomOut(side_range=(2.0, 2.0), p=1.0)(vistorch.zeros(3, 4, 6)).shape
        vistorch.Size([3, 8, 12])
    """

    def __init__(self, fill: Any = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5) -> None:
        super().__init__(p=p)
        self.fill = fill
        self._fill = fills(fill)
        sequence(side_range, "side_range", (2,))
        self.side_range = side_range
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        low, high = self.side_range
        by = low + vistorch.rand(1) * (high - low)
        wide, tall = int(width * by), int(height * by)
        where = vistorch.rand(2)
        left, top = int((wide - width) * where[0]), int((tall - height) * where[1])
        return {"padding": [left, top, wide - (left + width), tall - (top + height)]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.pad, inpt, **params, fill=fill_of(self._fill, inpt))


class RandomCrop(Transform):
    """A part of a picture from anywhere.

    Args:
        size: (height, width), or one number for both.
        padding: a border before, as `Pad` has it.
        pad_if_needed: a border where the picture is too small.
        fill: the border's value, one for each channel, or a dict of them by the class of the input.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomCrop(4)(vistorch.zeros(3, 8, 8)).shape
        vistorch.Size([3, 4, 4])
    """

    _v1_transform_cls = first.RandomCrop

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = pair(size, TWO)
        if padding is not None:
            check_padding(padding)
        if pad_if_needed or padding is not None:
            check_padding_mode(padding_mode)
        self.padding = sides(padding) if padding else None
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self._fill = fills(fill)
        self.padding_mode = padding_mode

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        left, right, top, bottom = self.padding or [0, 0, 0, 0]
        height, width = height + top + bottom, width + left + right
        tall, wide = self.size
        if self.pad_if_needed and height < tall:
            more = tall - height
            top, bottom, height = top + more, bottom + more, height + 2 * more
        if self.pad_if_needed and width < wide:
            more = wide - width
            left, right, width = left + more, right + more, width + 2 * more
        if height < tall or width < wide:
            raise ValueError(
                f"Required crop size {(tall, wide)} is larger than {'padded ' if self.padding is not None else ''}"
                f"input image size {(height, width)}."
            )
        padding = [left, top, right, bottom]
        at_top = int(vistorch.randint(0, height - tall + 1, size=())) if height > tall else 0
        at_left = int(vistorch.randint(0, width - wide + 1, size=())) if width > wide else 0
        return {
            "needs_crop": height > tall or width > wide,
            "top": at_top,
            "left": at_left,
            "height": tall,
            "width": wide,
            "needs_pad": any(padding),
            "padding": padding,
        }

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        if params["needs_pad"]:
            how = {"fill": fill_of(self._fill, inpt), "padding_mode": self.padding_mode}
            inpt = self._call_kernel(F.pad, inpt, padding=params["padding"], **how)
        if params["needs_crop"]:
            inpt = self._call_kernel(F.crop, inpt, **_where(params))
        return inpt


def _where(params: dict[str, Any]) -> dict[str, int]:
    return {name: params[name] for name in ("top", "left", "height", "width")}


class RandomIoUCrop(Transform):
    """A part of a picture that one of its boxes lies in, as far as is drawn.

    Args:
        min_scale: the smallest part of each side.
        max_scale: the largest.
        min_aspect_ratio: the smallest width / height.
        max_aspect_ratio: the largest.
        sampler_options: how far a box must overlap the part; 1 and more: the picture as it is.
        trials: how often a part is drawn before another overlap is.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[2, 2, 6, 6]], format="XYXY", canvas_size=(8, 8))
        >>> picture, boxes = v2.RandomIoUCrop()(tv_tensors.Image(vistorch.zeros(3, 8, 8)), boxes)
        >>> tuple(picture.shape[-2:]) == boxes.canvas_size
        True
    """

    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: list[float] | None = None,
        trials: int = 40,
    ) -> None:
        super().__init__()
        self.min_scale = min_scale
        self.max_scale = max_scale
        self.min_aspect_ratio = min_aspect_ratio
        self.max_aspect_ratio = max_aspect_ratio
        self.options = sampler_options or [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
        self.trials = trials

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """See `Transform`."""
        if not (
            has_all(flat_inputs, BoundingBoxes) and has_any(flat_inputs, is_pil, Image, F.is_pure_tensor)
        ):
            raise TypeError(
                f"{type(self).__name__}() requires input sample to contain tensor or PIL images and bounding boxes. "
                "Sample can also contain masks."
            )

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        given = get_bounding_boxes(flat_inputs)
        corners = BoundingBoxFormat.XYXY
        boxes = F.convert_bounding_box_format(given.as_subclass(Tensor), given.format, corners)
        cx, cy = 0.5 * (boxes[..., 0] + boxes[..., 2]), 0.5 * (boxes[..., 1] + boxes[..., 3])
        while True:
            overlap = self.options[below(0, len(self.options))]
            if overlap >= 1.0:
                return {}
            for _ in range(self.trials):
                part = self.min_scale + (self.max_scale - self.min_scale) * vistorch.rand(2)
                w, h = int(width * part[0]), int(height * part[1])
                if not self.min_aspect_ratio <= w / h <= self.max_aspect_ratio:
                    continue
                where = vistorch.rand(2)
                left, top = int((width - w) * where[0]), int((height - h) * where[1])
                if w == 0 or h == 0:
                    continue
                inside = (left < cx) & (cx < left + w) & (top < cy) & (cy < top + h)
                if not inside.any():
                    continue
                edges = vistorch.tensor(
                    [[left, top, left + w, top + h]], dtype=boxes.dtype, device=boxes.device
                )
                if box_iou(boxes[inside], edges).max() >= overlap:
                    return {"top": top, "left": left, "height": h, "width": w, "is_within_crop_area": inside}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        if not params:
            return inpt
        out = self._call_kernel(F.crop, inpt, **_where(params))
        if isinstance(out, BoundingBoxes):
            out[~params["is_within_crop_area"]] = 0
        return out
