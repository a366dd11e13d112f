"""Transforms of what the numbers are: to and from tensors, Normalize, LinearTransformation, RandomErasing.

Invariant: a transform holds its options as attributes of torchvision's names.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn import Module

from . import functional as F
from .sizes import chance, integer, uniform


class ToTensor:
    """A picture as a tensor (C, H, W) of numbers from 0 to 1.

    Example:
        >>> import numpy as np
        >>> from vistorch.vision import transforms
        >>> transforms.ToTensor()(np.array([[0, 51]], np.uint8))
        tensor([[[0.0000, 0.2000]]])
    """

    def __call__(self, pic: Any) -> Tensor:
        """Convert.

        Args:
            pic: an image of Pillow's or an array (H, W) or (H, W, C).
        """
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor:
    """An image of Pillow's as a tensor (C, H, W) of the same numbers.

    Example:
        >>> from PIL import Image
        >>> from vistorch.vision import transforms
        >>> transforms.PILToTensor()(Image.new("L", (2, 1), 51))
        tensor([[[51, 51]]], dtype=vistorch.uint8)
    """

    def __call__(self, pic: Any) -> Tensor:
        """Convert.

        Args:
            pic: an image of Pillow's.
        """
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToPILImage:
    """A tensor (C, H, W) or an array (H, W, C) as an image of Pillow's.

    Args:
        mode: Pillow's name of its color space; the usual one if None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> image = transforms.ToPILImage()(vistorch.zeros(3, 2, 4))
        >>> image.mode, image.size
        ('RGB', (4, 2))
    """

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        """Convert.

        Args:
            pic: a tensor or an array.
        """
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(Module):
    """The same picture in numbers of another type.

    Args:
        dtype: the type.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.ConvertImageDtype(vistorch.uint8)(vistorch.tensor([[[0.0, 1.0]]]))
        tensor([[[  0, 255]]], dtype=vistorch.uint8)
    """

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        """Convert.

        Args:
            image: a tensor.
        """
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Module):
    """Each channel less its mean, over its standard deviation.

    Args:
        mean: one number per channel.
        std: likewise.
        inplace: change the tensor itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.Normalize((0.5,), (0.25,))(vistorch.ones(1, 1, 2))
        tensor([[[2., 2.]]])
    """

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor: Tensor) -> Tensor:
        """Normalize.

        Args:
            tensor: (..., C, H, W).
        """
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class LinearTransformation(Module):
    """A picture as one vector, less a mean, times a square matrix: whitening, say.

    Args:
        transformation_matrix: (D, D), where D is channels times height times width.
        mean_vector: (D,).

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> double = transforms.LinearTransformation(2 * vistorch.eye(2), vistorch.tensor([0.0, 1.0]))
        >>> double(vistorch.tensor([[[3.0, 3.0]]]))
        tensor([[[6., 4.]]])
    """

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        shape = tuple(transformation_matrix.size())
        if shape[0] != shape[1]:
            raise ValueError(f"transformation_matrix should be square. Got {shape} rectangular matrix.")
        if mean_vector.size(0) != shape[0]:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.size(0)} as any one of the dimensions of the "
                f"transformation_matrix [{shape}]"
            )
        if transformation_matrix.device != mean_vector.device:
            raise ValueError(
                "Input tensors should be on the same device. Got "
                f"{transformation_matrix.device} and {mean_vector.device}"
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def forward(self, tensor: Tensor) -> Tensor:
        """Transform.

        Args:
            tensor: (..., C, H, W).
        """
        shape, count = tensor.shape, self.transformation_matrix.shape[0]
        n = shape[-3] * shape[-2] * shape[-1]
        if n != count:
            raise ValueError(
                "Input tensor and transformation matrix have incompatible shape."
                f"[{shape[-3]} x {shape[-2]} x {shape[-1]}] != {count}"
            )
        flat = tensor.reshape(-1, n) - self.mean_vector
        return vistorch.mm(flat, self.transformation_matrix).reshape(shape)

    def __repr__(self) -> str:
        matrix, mean = self.transformation_matrix.tolist(), self.mean_vector.tolist()
        return f"{type(self).__name__}(transformation_matrix={matrix}, mean_vector={mean})"


class RandomErasing(Module):
    """A rectangle of a tensor filled.

    Args:
        p: in what part of all cases.
        scale: from what to what part of the area.
        ratio: from what to what ratio of height to width.
        value: a number, one for each channel, or "random".
        inplace: change the tensor itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> erased = transforms.RandomErasing(p=1.0, scale=(0.25, 0.25), ratio=(1.0, 1.0))(vistorch.ones(1, 8, 8))
        >>> int((erased == 0).sum())
        16
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(value, int | float | str | tuple | list):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if not isinstance(scale, tuple | list):
            raise TypeError("Scale should be a sequence")
        if not isinstance(ratio, tuple | list):
            raise TypeError("Ratio should be a sequence")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(img: Tensor, scale: Any, ratio: Any, value: Any = None) -> tuple:
        """Draw a rectangle: up to ten times an area and the logarithm of a ratio, then its values, row and column.

        Args:
            img: a tensor.
            scale: from what to what part of the area.
            ratio: from what to what ratio.
            value: the values; drawn, normal, if None.

        Example:
            >>> import vistorch
            >>> from vistorch.vision import transforms
            >>> image, quarter, square = vistorch.zeros(1, 4, 4), (0.25, 0.25), (1.0, 1.0)
            >>> top, left, *drawn = transforms.RandomErasing.get_params(image, quarter, square, [7.0])
            >>> 0 <= top <= 2, 0 <= left <= 2, drawn
            (True, True, [2, 2, tensor([[[7.]]])])
        """
        channels, rows, columns = img.shape[-3:]
        low, high = vistorch.log(vistorch.tensor(ratio)).tolist()
        for _ in range(10):
            area = rows * columns * uniform(scale[0], scale[1])
            aspect = vistorch.exp(vistorch.empty(1).uniform_(low, high)).item()
            h, w = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if not (h < rows and w < columns):
                continue
            if value is None:
                v = vistorch.empty([channels, h, w], dtype=vistorch.float32).normal_()
            else:
                v = vistorch.tensor(value)[:, None, None]
            return integer(0, rows - h + 1), integer(0, columns - w + 1), h, w, v
        return 0, 0, rows, columns, img

    def forward(self, img: Tensor) -> Tensor:
        """Fill, or not.

        Args:
            img: a tensor.
        """
        if not chance(self.p):
            return img
        given = self.value
        value = (
            None if isinstance(given, str) else [float(given)] if isinstance(given, int | float) else given
        )
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                f"If value is a sequence, it should have either a single value or {img.shape[-3]} (number of input "
                "channels)"
            )
        i, j, h, w, v = self.get_params(img, self.scale, self.ratio, value)
        return F.erase(img, i, j, h, w, v, self.inplace)

    def __repr__(self) -> str:
        options = (f"{name}={getattr(self, name)}" for name in ("p", "scale", "ratio", "value", "inplace"))
        return f"{type(self).__name__}({', '.join(options)})"
