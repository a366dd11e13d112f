"""Images as another type or kind: dtypes and their scale, Pillow's pictures, numpy's arrays.

Invariant: with `scale`, the brightest value of a type becomes the brightest of the other.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor

from ....tv_tensors import BoundingBoxes, Image, KeyPoints, Mask
from ... import functional as first
from ...functional import pil_to_tensor, to_pil_image
from ...images import is_pil, largest
from .dispatch import KERNELS, images, run

__all__ = ["convert_image_dtype", "pil_to_tensor", "to_dtype", "to_image", "to_pil_image", "to_tensor"]

_BITS = {
    vistorch.uint8: 8,
    vistorch.int8: 7,
    vistorch.int16: 15,
    vistorch.uint16: 16,
    vistorch.int32: 31,
    vistorch.int64: 63,
}


def value_bits(dtype: Any) -> int:
    """How many bits of a whole number are its value."""
    if dtype not in _BITS:
        raise TypeError(f"Number of value bits is only defined for integer dtypes, but got {dtype}.")
    return _BITS[dtype]


def to_dtype(inpt: Any, dtype: Any = vistorch.float32, scale: bool = False) -> Any:
    """As another type.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        dtype: the type.
        scale: whether the values of images and videos are scaled to its range.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.to_dtype(vistorch.tensor([[[0, 255]]], dtype=vistorch.uint8), vistorch.float32, scale=True)
        tensor([[[0., 1.]]])
    """
    return run(to_dtype, inpt, dtype=dtype, scale=scale)


@images(to_dtype)
def to_dtype_image(image: Tensor, dtype: Any = vistorch.float32, scale: bool = False) -> Tensor:
    """`to_dtype` of a tensor."""
    old = image.dtype
    if old == dtype:
        return image
    if not scale:
        return image.to(dtype)
    if old.is_floating_point:
        if dtype.is_floating_point:
            return image.to(dtype)
        wide = (vistorch.int32, vistorch.int64) if old is vistorch.float32 else (vistorch.int64,)
        if old in (vistorch.float32, vistorch.float64) and dtype in wide:
            raise RuntimeError(f"The conversion from {old} to {dtype} cannot be performed safely.")
        return image.mul(float(largest(dtype)) + 1.0 - 0.001).to(dtype)
    if dtype.is_floating_point:
        return image.to(dtype).mul_(1.0 / largest(old))
    had, gets = value_bits(old), value_bits(dtype)
    by = abs(had - gets)
    if had > gets:
        if old is vistorch.uint16:
            return (image / 2**by).to(dtype)
        return image.bitwise_right_shift(by).to(dtype)
    if dtype is vistorch.uint16:
        return (image.to(vistorch.int32) * 2**by).to(dtype)
    return image.to(dtype).bitwise_left_shift_(by)


def _only_typed(inpt: Any, dtype: Any, scale: bool = False) -> Any:
    return inpt.to(dtype)


KERNELS[to_dtype].update(dict.fromkeys((BoundingBoxes, KeyPoints, Mask), _only_typed))
to_dtype_video = to_dtype_image


def convert_image_dtype(image: Tensor, dtype: Any = vistorch.float32) -> Tensor:
    """`to_dtype` with its scale, of a tensor.

    Args:
        image: a tensor.
        dtype: the type.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.convert_image_dtype(vistorch.tensor([[[0.0, 1.0]]]), vistorch.uint8)
        tensor([[[  0, 255]]], dtype=vistorch.uint8)
    """
    return to_dtype_image(image, dtype=dtype, scale=True)


def to_image(inpt: Any) -> Any:
    """An Image of a tensor, of an array (H, W, C) or of a picture of Pillow's.

    Args:
        inpt: one of these.

    Example:
        >>> import numpy
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.to_image(numpy.zeros((4, 6, 3))).shape
        vistorch.Size([3, 4, 6])
    """
    if isinstance(inpt, np.ndarray):
        return Image(vistorch.from_numpy(np.atleast_3d(inpt)).permute((2, 0, 1)).contiguous())
    if is_pil(inpt):
        return Image(pil_to_tensor(inpt))
    if isinstance(inpt, Tensor):
        return Image(inpt)
    raise TypeError(
        f"Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} instead."
    )


def to_tensor(inpt: Any) -> Any:
    """A tensor of floats from 0 to 1, with a warning: `to_image` and `to_dtype` take its place.

    Args:
        inpt: a picture of Pillow's, or an array (H, W, C).

    Example:
        >>> import numpy, warnings
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     F.to_tensor(numpy.full((1, 2, 1), 255, "u1"))
        tensor([[[1., 1.]]])
    """
    warnings.warn(
        "The function `to_tensor(...)` is deprecated and will be removed in a future release. Instead, please use "
        "`to_image(...)` followed by `to_dtype(..., dtype=torch.float32, scale=True)`.",
        stacklevel=2,
    )
    return first.to_tensor(inpt)
