"""Transforms of an image's frame: Resize, crops, flips and Pad.

Invariant: what is random is drawn in `get_params`, or, for a flip, by one `rand(1)`, in torchvision's order.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch.nn import Module

from . import functional as F
from .modes import BILINEAR, mode_of
from .sizes import chance, integer, pair, uniform


class Resize(Module):
    """An image of another size.

    Args:
        size: (height, width), or the length of the shorter side.
        interpolation: an InterpolationMode.
        max_size: what the longer side may be at most.
        antialias: smooth what gets smaller; Pillow always does.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.Resize(8)(vistorch.zeros(3, 16, 32)).shape
        vistorch.Size([3, 8, 16])
    """

    def __init__(
        self, size: Any, interpolation: Any = BILINEAR, max_size: int | None = None, antialias: bool = True
    ) -> None:
        super().__init__()
        if not isinstance(size, int | Sequence):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size = size
        self.max_size = max_size
        self.interpolation = mode_of(interpolation)
        self.antialias = antialias

    def forward(self, img: Any) -> Any:
        """Resize.

        Args:
            img: an image.
        """
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class CenterCrop(Module):
    """The middle of an image.

    Args:
        size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.CenterCrop((1, 2))(vistorch.arange(12).reshape(1, 3, 4))
        tensor([[[5, 6]]])
    """

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = pair(size)

    def forward(self, img: Any) -> Any:
        """Crop.

        Args:
            img: an image.
        """
        return F.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(Module):
    """A border around an image.

    Args:
        padding: how wide: for all sides, (left and right, top and bottom), or (left, top, right, bottom).
        fill: its color.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.Pad((1, 0), fill=9)(vistorch.ones(1, 1, 2))
        tensor([[[9., 1., 1., 9.]]])
    """

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        if not isinstance(padding, int | float | tuple | list):
            raise TypeError("Got inappropriate padding arg")
        if not isinstance(fill, int | float | str | tuple | list):
            raise TypeError("Got inappropriate fill arg")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img: Any) -> Any:
        """Pad.

        Args:
            img: an image.
        """
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class RandomCrop(Module):
    """A part of an image from anywhere.

    Args:
        size: (height, width), or one number for both.
        padding: a border put around first, as `Pad` has it.
        pad_if_needed: put one around an image that is too small.
        fill: the border's color.
        padding_mode: the border's kind.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomCrop(32, padding=4)(vistorch.zeros(3, 32, 32)).shape
        vistorch.Size([3, 32, 32])
        >>> top, left, *size = transforms.RandomCrop.get_params(vistorch.zeros(3, 10, 20), (4, 5))
        >>> 0 <= top <= 6, 0 <= left <= 15, size
        (True, True, [4, 5])
    """

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = tuple(pair(size))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Any, output_size: Any) -> tuple[int, int, int, int]:
        """Draw the first row, then the first column; nothing if the image has that size.

        Args:
            img: an image.
            output_size: (height, width).

        Example:
            >>> import vistorch
            >>> from vistorch.vision import transforms
            >>> transforms.RandomCrop.get_params(vistorch.zeros(3, 4, 5), (4, 5))
            (0, 0, 4, 5)
        """
        _, rows, columns = F.get_dimensions(img)
        height, width = output_size
        if rows < height or columns < width:
            raise ValueError(
                f"Required crop size {(height, width)} is larger than input image size {(rows, columns)}"
            )
        if (rows, columns) == (height, width):
            return 0, 0, rows, columns
        return integer(0, rows - height + 1), integer(0, columns - width + 1), height, width

    def forward(self, img: Any) -> Any:
        """Crop.

        Args:
            img: an image.
        """
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, rows, columns = F.get_dimensions(img)
            if columns < self.size[1]:
                img = F.pad(img, [self.size[1] - columns, 0], self.fill, self.padding_mode)
            if rows < self.size[0]:
                img = F.pad(img, [0, self.size[0] - rows], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(Module):
    """A part of an image of any size and ratio, resized.

    Args:
        size: (height, width), or one number for both.
        scale: from what to what part of the area.
        ratio: from what to what ratio of width to height.
        interpolation: an InterpolationMode.
        antialias: smooth what gets smaller; Pillow always does.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomResizedCrop(8)(vistorch.zeros(3, 20, 30)).shape
        vistorch.Size([3, 8, 8])
        >>> transforms.RandomResizedCrop.get_params(vistorch.zeros(3, 9, 9), scale=(1.0, 1.0), ratio=(1.0, 1.0))
        (0, 0, 9, 9)
    """

    def __init__(
        self,
        size: Any,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Any = BILINEAR,
        antialias: bool = True,
    ) -> None:
        super().__init__()
        self.size = pair(size)
        if not isinstance(scale, Sequence):
            raise TypeError("Scale should be a sequence")
        if not isinstance(ratio, Sequence):
            raise TypeError("Ratio should be a sequence")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        self.interpolation = mode_of(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(img: Any, scale: Any, ratio: Any) -> tuple[int, int, int, int]:
        """Draw up to ten times an area and the logarithm of a ratio, then row and column; else take the middle.

        Args:
            img: an image.
            scale: from what to what part of the area.
            ratio: from what to what ratio.

        Example:
            >>> import vistorch
            >>> from vistorch.vision import transforms
            >>> transforms.RandomResizedCrop.get_params(vistorch.zeros(3, 9, 9), (1.0, 1.0), (1.0, 1.0))
            (0, 0, 9, 9)
        """
        _, rows, columns = F.get_dimensions(img)
        low, high = vistorch.log(vistorch.tensor(ratio)).tolist()
        for _ in range(10):
            area = rows * columns * uniform(scale[0], scale[1])
            aspect = vistorch.exp(vistorch.empty(1).uniform_(low, high)).item()
            width, height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < width <= columns and 0 < height <= rows:
                return integer(0, rows - height + 1), integer(0, columns - width + 1), height, width
        width, height = columns, rows
        if columns / rows < min(ratio):
            height = round(columns / min(ratio))
        elif columns / rows > max(ratio):
            width = round(rows * max(ratio))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def forward(self, img: Any) -> Any:
        """Crop and resize.

        Args:
            img: an image.
        """
        part = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *part, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self) -> str:
        scale, ratio = (tuple(round(v, 4) for v in values) for values in (self.scale, self.ratio))
        return (
            f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


class RandomHorizontalFlip(Module):
    """Left and right exchanged, or not.

    Args:
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomHorizontalFlip(p=1.0)(vistorch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Any) -> Any:
        """Flip, or not.

        Args:
            img: an image.
        """
        return F.hflip(img) if chance(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(RandomHorizontalFlip):
    """Top and bottom exchanged, or not.

    Args:
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomVerticalFlip(p=1.0)(vistorch.tensor([[[1], [2]]])).flatten()
        tensor([2, 1])
    """

    def forward(self, img: Any) -> Any:
        """Flip, or not.

        Args:
            img: an image.
        """
        return F.vflip(img) if chance(self.p) else img


class FiveCrop(CenterCrop):
    """The four corners and the middle of an image.

    Args:
        size: (height, width), or one number for both.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> [part.flatten().tolist() for part in transforms.FiveCrop(1)(vistorch.arange(9).reshape(1, 3, 3))]
        [[0], [2], [6], [8], [4]]
    """

    def forward(self, img: Any) -> tuple:
        """Crop.

        Args:
            img: an image.
        """
        return F.five_crop(img, self.size)


class TenCrop(Module):
    """The four corners and the middle of an image, and those of the flipped image.

    Args:
        size: (height, width), or one number for both.
        vertical_flip: flip top and bottom instead of left and right.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> vistorch.stack(transforms.TenCrop(8)(vistorch.zeros(3, 16, 16))).shape
        vistorch.Size([10, 3, 8, 8])
    """

    def __init__(self, size: Any, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = pair(size)
        self.vertical_flip = vertical_flip

    def forward(self, img: Any) -> tuple:
        """Crop.

        Args:
            img: an image.
        """
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"
