"""Pillow's images, numpy's arrays and tensors made of each other, and the range of a tensor's values.

Invariant: what is made shares no memory with what it is made from, `to_tensor` of a floating array with one channel
order excepted, as in torchvision.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor

from ..images import is_pil, largest

KINDS = {"I": np.int32, "F": np.float32, "I;16" if sys.byteorder == "little" else "I;16B": np.int16}
BY_CHANNELS = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
_255 = np.float32(255)


def _channels_first(array: np.ndarray) -> Tensor:
    """Height, width, channels turned; bytes become parts of one."""
    turned = array.transpose(2, 0, 1)
    if array.dtype != np.uint8:
        return vistorch.from_numpy(np.ascontiguousarray(turned))
    kind = vistorch.get_default_dtype()
    if kind is not vistorch.float32:
        return vistorch.from_numpy(np.ascontiguousarray(turned)).to(kind).div(255)
    # Copied first: to divide along the strides of an image takes twice as long.
    out = turned.astype(np.float32, order="C")
    np.divide(out, _255, out)
    return vistorch.from_numpy(out)


def to_tensor(pic: Any) -> Tensor:
    """A picture as a tensor (C, H, W), its bytes as numbers from 0 to 1.

    Args:
        pic: an image of Pillow's or an array (H, W) or (H, W, C).

    Example:
        >>> import numpy as np, vistorch
        >>> vistorch.vision.transforms.functional.to_tensor(np.array([[0, 51]], np.uint8))
        tensor([[[0.0000, 0.2000]]])
    """
    if isinstance(pic, np.ndarray):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        return _channels_first(pic if pic.ndim == 3 else pic[:, :, None])
    if not is_pil(pic):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    array = np.array(pic, KINDS.get(pic.mode, np.uint8))
    if pic.mode == "1":
        array *= 255
    return _channels_first(array if array.ndim == 3 else array[:, :, None])


def pil_to_tensor(pic: Any) -> Tensor:
    """An image of Pillow's as a tensor (C, H, W) of the same numbers.

    Args:
        pic: an image of Pillow's.

    Example:
        >>> from PIL import Image
        >>> from vistorch.vision.transforms import functional
        >>> functional.pil_to_tensor(Image.new("L", (2, 1), 51))
        tensor([[[51, 51]]], dtype=vistorch.uint8)
    """
    if not is_pil(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    array = np.array(pic)
    return vistorch.from_numpy(array if array.ndim == 3 else array[:, :, None]).permute(2, 0, 1)


def convert_image_dtype(image: Tensor, dtype: Any = None) -> Tensor:
    """The same picture in numbers of another type: from 0 to 1 if floating, to the largest one if whole.

    Args:
        image: a tensor.
        dtype: the type; float32 if None.

    Example:
        >>> import vistorch
        >>> half = vistorch.tensor([[[0.0, 0.5, 1.0]]])
        >>> vistorch.vision.transforms.functional.convert_image_dtype(half, vistorch.uint8)
        tensor([[[  0, 127, 255]]], dtype=vistorch.uint8)
    """
    if not isinstance(image, Tensor):
        raise TypeError("Input img should be Tensor Image")
    old, new = image.dtype, vistorch.float32 if dtype is None else dtype
    if old == new:
        return image
    if old.is_floating_point:
        if new.is_floating_point:
            return image.to(new)
        wide = {vistorch.float32: (vistorch.int32, vistorch.int64), vistorch.float64: (vistorch.int64,)}
        if new in wide.get(old, ()):
            raise RuntimeError(f"The cast from {old} to {new} cannot be performed safely")
        return image.mul(largest(new) + 1.0 - 1e-3).to(new)
    if new.is_floating_point:
        return image.to(new) / largest(old)
    if largest(old) > largest(new):
        return vistorch.div(image, (largest(old) + 1) // (largest(new) + 1), rounding_mode="floor").to(new)
    return image.to(new) * ((largest(new) + 1) // (largest(old) + 1))


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A tensor (C, H, W) or an array (H, W, C) as an image of Pillow's.

    Args:
        pic: a tensor, whose floating numbers go from 0 to 1, or an array.
        mode: Pillow's name of its color space; the usual one for the channels if None.

    Example:
        >>> import vistorch
        >>> image = vistorch.vision.transforms.functional.to_pil_image(vistorch.ones(3, 2, 4))
        >>> image.mode, image.size, image.getpixel((0, 0))
        ('RGB', (4, 2), (255, 255, 255))
    """
    tensor = isinstance(pic, Tensor)
    if not tensor and not isinstance(pic, np.ndarray):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    if tensor:
        x = pic.detach().cpu()
        if x.is_floating_point() and mode != "F":
            x = x.mul(255).to(vistorch.uint8)
        array = x.numpy()
        array = array[:, :, None] if array.ndim == 2 else array.transpose(1, 2, 0)
    else:
        array = pic[:, :, None] if pic.ndim == 2 else pic
    height, width, channels = array.shape
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    found = _color_space(array.dtype, channels, mode)
    from PIL import Image

    return Image.frombytes(found, (width, height), np.ascontiguousarray(array).tobytes())


def _color_space(dtype: np.dtype, channels: int, mode: str | None) -> str:
    if channels == 1:
        expected = "L" if dtype == np.uint8 else next((k for k, v in KINDS.items() if v == dtype), None)
        if mode is not None and mode != expected:
            raise ValueError(
                f"Incorrect mode ({mode}) supplied for input type {np.dtype}. Should be {expected}"
            )
        mode = expected
    else:
        permitted = BY_CHANNELS[channels]
        if mode is not None and mode not in permitted:
            raise ValueError(f"Only modes {list(permitted)} are supported for {channels}D inputs")
        if mode is None and dtype == np.uint8:
            mode = permitted[0]
    if mode is None or (channels > 1 and dtype != np.uint8):
        raise TypeError(f"Input type {dtype} is not supported")
    return mode


# ---- mean and deviation ----------------------------------------------------------------------------------------
def _shaped(values: Any, dtype: Any, device: Any) -> Tensor:
    t = vistorch.as_tensor(values, dtype=dtype, device=device)
    return t.view(-1, 1, 1) if t.ndim == 1 else t


def _statistics(mean: Any, std: Any, dtype: Any, device: Any) -> tuple[Tensor, Tensor]:
    spread = _shaped(std, dtype, device)
    if bool(spread.eq(0).any()):
        raise ValueError(f"std evaluated to zero after conversion to {dtype}, leading to division by zero.")
    return _shaped(mean, dtype, device), spread


@lru_cache(maxsize=64)
def _kept(mean: tuple, std: tuple, dtype: Any, device: Any) -> tuple[Tensor, Tensor]:
    with vistorch.inference_mode(False):  # kept for calls that may record
        return _statistics(mean, std, dtype, device)


def normalize(tensor: Tensor, mean: Any, std: Any, inplace: bool = False) -> Tensor:
    """Each channel less its mean, over its standard deviation.

    Args:
        tensor: (..., C, H, W).
        mean: one number per channel.
        std: likewise.
        inplace: change the tensor itself.

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.normalize(vistorch.ones(1, 1, 2), [0.5], [0.25])
        tensor([[[2., 2.]]])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    dtype = tensor.dtype
    if not dtype.is_floating_point:
        raise TypeError(f"Input tensor should be a float tensor. Got {dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
            + f"{tensor.size()}"
        )
    if isinstance(mean, list | tuple) and isinstance(std, list | tuple):
        center, spread = _kept(tuple(mean), tuple(std), dtype, tensor.device)
    else:
        center, spread = _statistics(mean, std, dtype, tensor.device)
    if inplace:
        return tensor.sub_(center).div_(spread)
    return tensor.sub(center).div_(spread)
