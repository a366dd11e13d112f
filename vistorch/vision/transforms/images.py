"""The two kinds of images, Pillow's and tensors (..., C, H, W): which one it is, its size, its range.

Invariant: Pillow is imported only by who needs it; who holds one of its images has imported it already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import vistorch
from vistorch import Tensor


def is_pil(image: Any) -> bool:
    """Whether this is an image of Pillow's."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def must_be_image(image: Any) -> Any:
    """The image, if it is a tensor with height and width; anything else is refused."""
    if not isinstance(image, Tensor):
        raise TypeError(f"Unexpected type {type(image)}")
    if image.ndim < 2:
        raise TypeError("Tensor is not a torch image.")
    return image


def get_dimensions(img: Any) -> list[int]:
    """Channels, height and width.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.get_dimensions(vistorch.zeros(3, 4, 5))
        [3, 4, 5]
    """
    if is_pil(img):
        return [len(img.getbands()), img.height, img.width]
    must_be_image(img)
    return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]


def get_image_size(img: Any) -> list[int]:
    """Width and height.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.get_image_size(vistorch.zeros(3, 20, 30))
        [30, 20]
    """
    return get_dimensions(img)[:0:-1]


def get_image_num_channels(img: Any) -> int:
    """How many channels there are.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.get_image_num_channels(vistorch.zeros(3, 20, 30))
        3
    """
    return get_dimensions(img)[0]


def largest(dtype: Any) -> int:
    """The brightest value of an image of this type."""
    return 1 if dtype.is_floating_point else vistorch.iinfo(dtype).max


def channels_among(image: Tensor, permitted: Sequence[int]) -> int:
    """How many channels there are; refused if it is none of these."""
    found = get_dimensions(image)[0]
    if found not in permitted:
        raise TypeError(
            f"Input image tensor permitted channel values are {list(permitted)}, but found {found}"
        )
    return found


def as_batch(image: Tensor, work: Callable[[Tensor], Tensor]) -> Tensor:
    """What a function of floating (N, C, H, W) makes of an image of any shape and type; integers are rounded."""
    shape, dtype = image.shape, image.dtype
    x = image.reshape(-1, *((1,) * (3 - image.ndim)), *shape[-3:])
    if dtype not in (vistorch.float32, vistorch.float64):
        x = x.to(vistorch.float32)
    out = work(x)
    if dtype != out.dtype:
        out = (out if dtype.is_floating_point else out.round()).to(dtype)
    return out.reshape(*shape[:-2], *out.shape[-2:])
