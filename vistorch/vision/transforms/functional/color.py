"""The colors of an image changed: brightness, contrast, saturation, hue, gamma, gray.

Invariant: a factor of 1 (a hue of 0) gives the same colors, and tensors keep their type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor

from ..images import channels_among, is_pil, largest, must_be_image
from .convert import convert_image_dtype


def _enhanced(img: Any, kind: str, factor: float) -> Any:
    from PIL import ImageEnhance

    return getattr(ImageEnhance, kind)(img).enhance(factor)


def blend(image: Tensor, other: Any, ratio: float) -> Tensor:
    """A part of one image and the rest of another, or beyond them, within the range of the type."""
    bound = largest(image.dtype)
    return (image * ratio + other * (1.0 - ratio)).clamp(0, bound).to(image.dtype)


def _not_negative(name: str, factor: float) -> float:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")
    return float(factor)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """An image without its colors.

    Args:
        img: an image.
        num_output_channels: 1, or 3 equal ones.

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.rgb_to_grayscale(vistorch.ones(3, 1, 1))
        tensor([[[0.9999]]])
    """
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if is_pil(img):
        gray = img.convert("L")
        if num_output_channels == 1:
            return gray
        from PIL import Image

        return Image.merge("RGB", (gray, gray, gray))
    if must_be_image(img).ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    if channels_among(img, (1, 3)) == 3:
        red, green, blue = img.unbind(-3)
        gray = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    else:
        gray = img.clone()
    return gray.expand((*img.shape[:-3], 3, *img.shape[-2:])) if num_output_channels == 3 else gray


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """An image of Pillow's without its colors.

    Args:
        img: an image of Pillow's.
        num_output_channels: 1, or 3 equal ones.

    Example:
        >>> from PIL import Image
        >>> from vistorch.vision.transforms import functional
        >>> functional.to_grayscale(Image.new("RGB", (2, 1), "white")).getpixel((0, 0))
        255
    """
    if not is_pil(img):
        raise TypeError("Input should be PIL Image")
    return rgb_to_grayscale(img, num_output_channels)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """An image that is brighter, or darker.

    Args:
        img: an image.
        brightness_factor: 0 is black, 1 as it is, 2 twice as bright.

    Example:
        >>> import vistorch
        >>> vistorch.vision.transforms.functional.adjust_brightness(vistorch.full((3, 1, 1), 0.25), 2)[0]
        tensor([[0.5000]])
    """
    if is_pil(img):
        return _enhanced(img, "Brightness", brightness_factor)
    ratio = _not_negative("brightness_factor", brightness_factor)
    channels_among(must_be_image(img), (1, 3))
    return blend(img, 0, ratio)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """An image whose brightness differs more, or less, from its mean.

    Args:
        img: an image.
        contrast_factor: 0 is gray, 1 as it is, 2 twice the contrast.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.adjust_contrast(vistorch.tensor([[[0.25, 0.75]]]), 0.5)
        tensor([[[0.3750, 0.6250]]])
    """
    if is_pil(img):
        return _enhanced(img, "Contrast", contrast_factor)
    ratio = _not_negative("contrast_factor", contrast_factor)
    channels = channels_among(must_be_image(img), (1, 3))
    kind = img.dtype if img.is_floating_point() else vistorch.float32
    gray = rgb_to_grayscale(img) if channels == 3 else img
    dims = (-3, -2, -1) if img.ndim > 2 else (-2, -1)
    return blend(img, gray.to(kind).mean(dim=dims, keepdim=True), ratio)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """An image of stronger, or weaker, colors.

    Args:
        img: an image.
        saturation_factor: 0 is black and white, 1 as it is, 2 twice as strong.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> image = vistorch.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1)  # one red pixel
        >>> functional.adjust_saturation(image, 0.5).flatten()
        tensor([0.6495, 0.1495, 0.1495])
    """
    if is_pil(img):
        return _enhanced(img, "Color", saturation_factor)
    ratio = _not_negative("saturation_factor", saturation_factor)
    if channels_among(must_be_image(img), (1, 3)) == 1:
        return img
    return blend(img, rgb_to_grayscale(img), ratio)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """An image whose colors are turned on the color wheel.

    Args:
        img: an image.
        hue_factor: by what part of the wheel, from -0.5 to 0.5.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> image = vistorch.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1)  # red, half a wheel from cyan
        >>> functional.adjust_hue(image, 0.5).flatten()
        tensor([0., 1., 1.])
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if is_pil(img):
        if img.mode in ("L", "1", "I", "F"):
            return img
        from PIL import Image

        hue, saturation, value = img.convert("HSV").split()
        turned = (np.array(hue, dtype=np.int32) + int(hue_factor * 255)) % 256
        hue = Image.fromarray(turned.astype(np.uint8))
        return Image.merge("HSV", (hue, saturation, value)).convert(img.mode)
    if channels_among(must_be_image(img), (1, 3)) == 1:
        return img
    x = convert_image_dtype(img, vistorch.float32) if img.dtype == vistorch.uint8 else img
    hue, saturation, value = _hsv(x)
    out = _rgb((hue + hue_factor) % 1.0, saturation, value)
    return convert_image_dtype(out, img.dtype)


def _hsv(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, saturation and value; gray has the hue 0."""
    red, green, blue = x.unbind(-3)
    most, least = x.amax(dim=-3), x.amin(dim=-3)
    spread = most - least
    gray = spread == 0
    one = vistorch.ones_like(most)
    saturation = spread / vistorch.where(gray, one, most)
    r, g, b = ((most - c) / vistorch.where(gray, one, spread) for c in (red, green, blue))
    at_green = vistorch.where((most == green) & (most != red), 2.0 + r - b, 4.0 + g - r)
    sixths = vistorch.where(most == red, b - g, at_green)
    sixths = vistorch.where(
        (most == green) | (most == red) | (most == blue), sixths, vistorch.zeros_like(sixths)
    )
    return (sixths / 6.0 + 1.0) % 1.0, saturation, most


def _rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """A color back from its hue: each channel is the value less a trapezoid around the wheel."""
    channels = []
    for offset in (5.0, 3.0, 1.0):
        k = (offset + hue * 6.0) % 6.0
        part = vistorch.minimum(k, 4.0 - k).clamp(0.0, 1.0)
        channels.append((value - value * saturation * part).clamp(0.0, 1.0))
    return vistorch.stack(channels, dim=-3)


def adjust_gamma(img: Any, gamma: float, gain: float = 1) -> Any:
    """An image whose values are raised to a power.

    Args:
        img: an image.
        gamma: the power: above 1 shadows get darker.
        gain: what the result is multiplied by.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.adjust_gamma(vistorch.tensor([[[0.5, 1.0]]]), 2)
        tensor([[[0.2500, 1.0000]]])
    """
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    if is_pil(img):
        mode = img.mode
        x = img.convert("RGB") if mode not in ("L", "RGB") else img
        table = [int((255 + 1 - 1e-3) * gain * pow(i / 255.0, gamma)) for i in range(256)]
        return x.point(table * len(x.getbands())).convert(mode)
    must_be_image(img)
    x = img if img.is_floating_point() else convert_image_dtype(img, vistorch.float32)
    return convert_image_dtype((gain * x**gamma).clamp(0, 1), img.dtype)
