"""Single values of an image mapped to others, and neighbors blurred: invert, posterize, solarize, equalize, blur.

Invariant: tensors keep their type.
"""

from __future__ import annotations

from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn import functional as F

from ..images import as_batch, channels_among, is_pil, largest, must_be_image
from .color import _enhanced, blend
from .convert import pil_to_tensor, to_pil_image


def _pillow(name: str, *args: Any) -> Any:
    from PIL import ImageOps

    return getattr(ImageOps, name)(*args)


def _must_be_bytes(img: Tensor) -> None:
    if img.dtype != vistorch.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")


def invert(img: Any) -> Any:
    """The negative of an image.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.invert(vistorch.tensor([[[0, 200]]], dtype=vistorch.uint8))
        tensor([[[255,  55]]], dtype=vistorch.uint8)
    """
    if is_pil(img):
        return _pillow("invert", img)
    channels_among(must_be_image(img), (1, 3))
    return largest(img.dtype) - img


def posterize(img: Any, bits: int) -> Any:
    """An image with fewer colors.

    Args:
        img: an image; a tensor of uint8.
        bits: how many bits each channel keeps.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.posterize(vistorch.tensor([[[100, 200]]], dtype=vistorch.uint8), 1)
        tensor([[[  0, 128]]], dtype=vistorch.uint8)
    """
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    if is_pil(img):
        return _pillow("posterize", img, bits)
    _must_be_bytes(must_be_image(img))
    channels_among(img, (1, 3))
    return img & (256 - 2 ** (8 - bits))


def solarize(img: Any, threshold: float) -> Any:
    """An image whose bright parts are inverted.

    Args:
        img: an image.
        threshold: from which value on.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.solarize(vistorch.tensor([[[0.25, 0.75]]]), 0.5)
        tensor([[[0.2500, 0.2500]]])
    """
    if is_pil(img):
        return _pillow("solarize", img, threshold)
    if threshold > largest(must_be_image(img).dtype):
        raise TypeError("Threshold should be less than bound of img.")
    return vistorch.where(img >= threshold, invert(img), img)


def adjust_sharpness(img: Any, sharpness_factor: float) -> Any:
    """An image that is sharper, or blurred.

    Args:
        img: an image.
        sharpness_factor: 0 is blurred, 1 as it is, 2 twice as sharp.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> image = vistorch.zeros(1, 3, 3)
        >>> image[0, 1, 1] = 1.0
        >>> functional.adjust_sharpness(image, 0)[0, 1, 1]  # blurred
        tensor(0.3846)
    """
    if is_pil(img):
        return _enhanced(img, "Sharpness", sharpness_factor)
    if sharpness_factor < 0:
        raise ValueError(f"sharpness_factor ({sharpness_factor}) is not non-negative.")
    channels_among(must_be_image(img), (1, 3))
    if img.shape[-1] <= 2 or img.shape[-2] <= 2:
        return img
    return blend(img, as_batch(img, _softened), float(sharpness_factor))


def _softened(x: Tensor) -> Tensor:
    """The inner pixels as means of their neighbors, five times themselves among them."""
    channels = x.shape[1]
    kernel = vistorch.ones(3, 3, dtype=x.dtype, device=x.device)
    kernel[1, 1] = 5.0
    kernel = (kernel / kernel.sum()).expand(channels, 1, 3, 3)
    out = x.clone()
    out[..., 1:-1, 1:-1] = F.conv2d(x, kernel, groups=channels)
    return out


def autocontrast(img: Any) -> Any:
    """Each channel stretched over the whole range.

    Args:
        img: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.autocontrast(vistorch.tensor([[[0.25, 0.375, 0.5]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    if is_pil(img):
        return _pillow("autocontrast", img)
    channels_among(must_be_image(img), (1, 3))
    bound = largest(img.dtype)
    kind = img.dtype if img.is_floating_point() else vistorch.float32
    least, most = (f(dim=(-2, -1), keepdim=True).to(kind) for f in (img.amin, img.amax))
    flat = most == least
    scale = bound / vistorch.where(flat, vistorch.full_like(most, bound), most - least)
    least = vistorch.where(flat, vistorch.zeros_like(least), least)
    return ((img - least) * scale).clamp(0, bound).to(img.dtype)


def equalize(img: Any) -> Any:
    """Each channel's values spread so that all are about as frequent.

    Args:
        img: an image; a tensor of uint8.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> image = vistorch.arange(100, 132, dtype=vistorch.uint8).repeat(1, 32, 1)
        >>> functional.equalize(image).max()
        tensor(255, dtype=vistorch.uint8)
    """
    if is_pil(img):
        return _pillow("equalize", img)
    _must_be_bytes(must_be_image(img))
    channels_among(img, (1, 3))
    flat = img.reshape(-1, *img.shape[-2:])
    return vistorch.stack([_equalized(channel) for channel in flat]).reshape(img.shape)


def _equalized(channel: Tensor) -> Tensor:
    counts = vistorch.bincount(channel.reshape(-1).long(), minlength=256)
    found = counts[counts != 0]
    step = int(found[:-1].sum().item()) // 255
    if step == 0:
        return channel
    table = vistorch.div(counts.cumsum(0) + step // 2, step, rounding_mode="floor")
    table = F.pad(table, [1, 0])[:-1].clamp(0, 255)
    return table[channel.long()].to(vistorch.uint8)


# ---- blur ------------------------------------------------------------------------------------------------------
def _pair(value: Any, name: str, kinds: tuple) -> list:
    if isinstance(value, kinds):
        return [value, value]
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} should be int or a sequence of integers. Got {type(value)}")
    if len(value) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(value)}")
    return list(value) * (2 // len(value))


def _bell(size: int, sigma: float, dtype: Any, device: Any) -> Tensor:
    half = (size - 1) * 0.5
    x = vistorch.linspace(-half, half, steps=size, dtype=dtype, device=device)
    weights = vistorch.exp(-0.5 * (x / sigma).pow(2))
    return weights / weights.sum()


def gaussian_blur(img: Any, kernel_size: Any, sigma: Any = None) -> Any:
    """An image blurred by a Gaussian bell.

    Args:
        img: an image.
        kernel_size: (width, height) of the bell, both odd, or one number.
        sigma: its standard deviations, or one number; from the size if None.

    Example:
        >>> import vistorch
        >>> dot = vistorch.zeros(1, 3, 3)
        >>> dot[0, 1, 1] = 1
        >>> vistorch.vision.transforms.functional.gaussian_blur(dot, 3, 0.5)[0, 1]
        tensor([0.1676, 0.6193, 0.1676])
    """
    sizes = _pair(kernel_size, "kernel_size", (int,))
    for size in sizes:
        if size % 2 == 0 or size < 0:
            raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    if sigma is None:
        sigmas = [size * 0.15 + 0.35 for size in sizes]
    else:
        sigmas = [float(s) for s in _pair(sigma, "sigma", (int, float))]
    for value in sigmas:
        if value <= 0.0:
            raise ValueError(f"sigma should have positive values. Got {sigmas}")
    if is_pil(img):
        return to_pil_image(gaussian_blur(pil_to_tensor(img), sizes, sigmas), mode=img.mode)
    half_x, half_y = sizes[0] // 2, sizes[1] // 2

    def blurred(x: Tensor) -> Tensor:
        across, down = (_bell(size, s, x.dtype, x.device) for size, s in zip(sizes, sigmas, strict=True))
        channels = x.shape[-3]
        kernel = (down[:, None] * across).expand(channels, 1, sizes[1], sizes[0])
        bordered = F.pad(x, [half_x, half_x, half_y, half_y], mode="reflect")
        return F.conv2d(bordered, kernel, groups=channels)

    return as_batch(must_be_image(img), blurred)
