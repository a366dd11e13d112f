"""Colors of images and videos changed.

Invariant: numbers are computed in the order of PyTorch's own transforms of the second generation, and tensors keep
their type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn.functional import conv2d

from ... import functional as first
from ...images import largest
from .convert import to_dtype_image, value_bits
from .dispatch import images, pillow, run

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "grayscale_to_rgb",
    "invert",
    "permute_channels",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]


def _plus(x: Tensor, other: Tensor, factor: float) -> Tensor:
    """`x + factor * other`, rounded once: of a value that is then cut to a byte, the last bit decides."""
    if x.dtype is not vistorch.float32:
        return x.add(other, alpha=factor)
    exact = vistorch.tensor(factor, dtype=vistorch.float32, device=x.device).double() * other.double()
    return (exact + x).float()


def _gray(image: Tensor, channels: int = 1, keep: bool = True) -> Tensor:
    """Without its colors; `keep` the type."""
    if image.shape[-3] == 1:
        return image.clone() if channels == 1 else image.repeat([1] * (image.ndim - 3) + [3, 1, 1])
    red, green, blue = image.unbind(-3)
    out = _plus(_plus(red.mul(0.2989), green, 0.587), blue, 0.114).unsqueeze(-3)
    out = out.to(image.dtype) if keep else out
    return out.expand(image.shape) if channels == 3 else out


def _blended(image: Tensor, other: Tensor, ratio: float) -> Tensor:
    ratio = float(ratio)
    out = _plus(image.mul(ratio), other, 1.0 - ratio).clamp_(0, largest(image.dtype))
    return out if image.is_floating_point() else out.to(image.dtype)


def _factor(name: str, value: float) -> None:
    if value < 0:
        raise ValueError(f"{name} ({value}) is not non-negative.")


def _one_or_three(image: Tensor) -> int:
    found = image.shape[-3]
    if found not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are 1 or 3, but found {found}")
    return found


def rgb_to_grayscale(inpt: Any, num_output_channels: int = 1) -> Any:
    """A picture without its colors.

    Args:
        inpt: an image.
        num_output_channels: 1, or 3 equal ones.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.rgb_to_grayscale(vistorch.ones(3, 1, 2)).shape
        vistorch.Size([1, 1, 2])
    """
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    return run(rgb_to_grayscale, inpt, num_output_channels=num_output_channels)


@images(rgb_to_grayscale, videos=False)
def rgb_to_grayscale_image(image: Tensor, num_output_channels: int = 1) -> Tensor:
    """`rgb_to_grayscale` of a tensor."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    return _gray(image, num_output_channels)


pillow(rgb_to_grayscale, first.rgb_to_grayscale)
to_grayscale = rgb_to_grayscale


def grayscale_to_rgb(inpt: Any) -> Any:
    """A picture with three channels.

    Args:
        inpt: an image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.grayscale_to_rgb(vistorch.ones(1, 1, 2)).shape
        vistorch.Size([3, 1, 2])
    """
    return run(grayscale_to_rgb, inpt)


@images(grayscale_to_rgb, videos=False)
def grayscale_to_rgb_image(image: Tensor) -> Tensor:
    """`grayscale_to_rgb` of a tensor."""
    return image if image.shape[-3] >= 3 else _gray(image, 3)


pillow(grayscale_to_rgb, lambda image: image.convert(mode="RGB"))


def adjust_brightness(inpt: Any, brightness_factor: float) -> Any:
    """Brighter, or darker.

    Args:
        inpt: an image or a video.
        brightness_factor: 0 is black, 1 as it is, 2 twice as bright.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.adjust_brightness(vistorch.tensor([[[0.25, 0.75]]]), 2.0)
        tensor([[[0.5000, 1.0000]]])
    """
    return run(adjust_brightness, inpt, brightness_factor=brightness_factor)


@images(adjust_brightness)
def adjust_brightness_image(image: Tensor, brightness_factor: float) -> Tensor:
    """`adjust_brightness` of a tensor."""
    _factor("brightness_factor", brightness_factor)
    _one_or_three(image)
    out = image.mul(brightness_factor).clamp_(0, largest(image.dtype))
    return out if image.is_floating_point() else out.to(image.dtype)


pillow(adjust_brightness, first.adjust_brightness)


def adjust_saturation(inpt: Any, saturation_factor: float) -> Any:
    """With more color, or less.

    Args:
        inpt: an image or a video.
        saturation_factor: 0 is gray, 1 as it is.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.adjust_saturation(vistorch.tensor([[[1.0]], [[0.0]], [[0.0]]]), 0.0).flatten()
        tensor([0.2989, 0.2989, 0.2989])
    """
    return run(adjust_saturation, inpt, saturation_factor=saturation_factor)


@images(adjust_saturation)
def adjust_saturation_image(image: Tensor, saturation_factor: float) -> Tensor:
    """`adjust_saturation` of a tensor."""
    _factor("saturation_factor", saturation_factor)
    if _one_or_three(image) == 1:
        return image
    gray = _gray(image, keep=False)
    return _blended(image, gray if image.is_floating_point() else gray.floor_(), saturation_factor)


pillow(adjust_saturation, first.adjust_saturation)


def adjust_contrast(inpt: Any, contrast_factor: float) -> Any:
    """With more contrast, or less.

    Args:
        inpt: an image or a video.
        contrast_factor: 0 is gray, 1 as it is.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.adjust_contrast(vistorch.tensor([[[0.0, 1.0]]]), 0.5)
        tensor([[[0.2500, 0.7500]]])
    """
    return run(adjust_contrast, inpt, contrast_factor=contrast_factor)


@images(adjust_contrast)
def adjust_contrast_image(image: Tensor, contrast_factor: float) -> Tensor:
    """`adjust_contrast` of a tensor."""
    _factor("contrast_factor", contrast_factor)
    floats = image.is_floating_point()
    if _one_or_three(image) == 3:
        gray = _gray(image, keep=False)
        gray = gray if floats else gray.floor_()
    else:
        gray = image if floats else image.to(vistorch.float32)
    return _blended(image, gray.mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


pillow(adjust_contrast, first.adjust_contrast)


def adjust_sharpness(inpt: Any, sharpness_factor: float) -> Any:
    """Sharper, or more blurred.

    Args:
        inpt: an image or a video.
        sharpness_factor: 0 is blurred, 1 as it is, 2 sharper.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> picture = vistorch.zeros(1, 3, 3)
        >>> picture[0, 1, 1] = 1
        >>> F.adjust_sharpness(picture, 0.0)[0, 1]
        tensor([0.0000, 0.3846, 0.0000])
    """
    return run(adjust_sharpness, inpt, sharpness_factor=sharpness_factor)


@images(adjust_sharpness)
def adjust_sharpness_image(image: Tensor, sharpness_factor: float) -> Tensor:
    """`adjust_sharpness` of a tensor."""
    channels, height, width = image.shape[-3:]
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor can have 1 or 3 channels, but found {channels}")
    _factor("sharpness_factor", sharpness_factor)
    if image.numel() == 0 or height <= 2 or width <= 2:
        return image
    floats = image.is_floating_point()
    kind = image.dtype if floats else vistorch.float32
    flat = image.reshape(-1, channels, height, width) if image.ndim > 4 else image
    a, b = 1.0 / 13.0, 5.0 / 13.0
    kernel = vistorch.tensor([[a, a, a], [a, b, a], [a, a, a]], dtype=kind, device=image.device)
    out = flat.to(dtype=kind, copy=True)
    blurred = conv2d(out, kernel.expand(channels, 1, 3, 3), groups=channels)
    blurred = blurred if floats else blurred.round_()
    inner = out[..., 1:-1, 1:-1]
    inner.copy_(_plus(inner, blurred.sub_(inner), 1.0 - sharpness_factor))
    out = out.clamp_(0, largest(image.dtype))
    return out.to(image.dtype).reshape(image.shape)


pillow(adjust_sharpness, first.adjust_sharpness)


def adjust_hue(inpt: Any, hue_factor: float) -> Any:
    """With other colors.

    Args:
        inpt: an image or a video.
        hue_factor: from -0.5 to 0.5; 0 as it is.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.adjust_hue(vistorch.tensor([[[1.0]], [[0.0]], [[0.0]]]), 0.5).flatten()
        tensor([0., 1., 1.])
    """
    return run(adjust_hue, inpt, hue_factor=hue_factor)


def _hsv(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, saturation and value of an RGB picture of floats."""
    red, green, _ = image.unbind(-3)
    low, high = vistorch.aminmax(image, dim=-3)
    same = high == low
    span = high - low
    ones = vistorch.ones_like(high)
    saturation = span / vistorch.where(same, ones, high)
    divisor = vistorch.where(same, ones, span).unsqueeze(-3)
    rc, gc, bc = ((high.unsqueeze(-3) - image) / divisor).unbind(-3)
    not_red, is_green = high != red, high == green
    of_green = (rc + 2.0 - bc) * (is_green & not_red)
    of_red = (bc - gc) * ~not_red
    of_blue = (gc + 4.0 - rc) * (not_red & ~is_green)
    hue = (of_red + of_green + of_blue).mul_(1.0 / 6.0).add_(1.0).fmod_(1.0)
    return hue, saturation, high


_SECTORS = ((0, 2, 1, 1, 3, 0), (3, 0, 0, 2, 1, 1), (1, 1, 3, 0, 0, 2))


def _rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """The way back."""
    six = hue.mul(6)
    sector = vistorch.floor(six)
    part = six.sub_(sector)
    sector = sector.to(vistorch.int32).remainder_(6)
    inside = saturation * part
    rest = 1.0 - saturation
    q = (1.0 - inside).mul_(value).clamp_(0.0, 1.0)
    t = inside.add_(rest).mul_(value).clamp_(0.0, 1.0)
    p = rest.mul_(value).clamp_(0.0, 1.0)
    choices = vistorch.stack((value, p, q, t), dim=-3)
    which = vistorch.tensor(_SECTORS, dtype=vistorch.int64, device=hue.device)[:, sector.to(vistorch.int64)]
    return choices.gather(-3, which.moveaxis(0, -3) if which.ndim > 3 else which)


@images(adjust_hue)
def adjust_hue_image(image: Tensor, hue_factor: float) -> Tensor:
    """`adjust_hue` of a tensor."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if _one_or_three(image) == 1 or image.numel() == 0:
        return image
    hue, saturation, value = _hsv(to_dtype_image(image, vistorch.float32, scale=True))
    out = _rgb(hue.add_(hue_factor).remainder_(1.0), saturation, value)
    return to_dtype_image(out, image.dtype, scale=True)


pillow(adjust_hue, first.adjust_hue)


def adjust_gamma(inpt: Any, gamma: float, gain: float = 1) -> Any:
    """Every value to a power.

    Args:
        inpt: an image or a video.
        gamma: the power.
        gain: what the result is multiplied by.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.adjust_gamma(vistorch.tensor([[[0.5, 1.0]]]), 2.0)
        tensor([[[0.2500, 1.0000]]])
    """
    return run(adjust_gamma, inpt, gamma=gamma, gain=gain)


@images(adjust_gamma)
def adjust_gamma_image(image: Tensor, gamma: float, gain: float = 1.0) -> Tensor:
    """`adjust_gamma` of a tensor."""
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    if image.is_floating_point():
        out = image.pow(gamma)
    else:
        out = to_dtype_image(image, vistorch.float32, scale=True).pow_(gamma)
    if gain != 1.0:
        out = out.mul_(gain).clamp_(0.0, 1.0)
    return to_dtype_image(out, image.dtype, scale=True)


pillow(adjust_gamma, first.adjust_gamma)


def posterize(inpt: Any, bits: int) -> Any:
    """With fewer shades.

    Args:
        inpt: an image or a video.
        bits: how many bits each value keeps.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.posterize(vistorch.tensor([[[200, 100]]], dtype=vistorch.uint8), 1)
        tensor([[[128,   0]]], dtype=vistorch.uint8)
    """
    return run(posterize, inpt, bits=bits)


@images(posterize)
def posterize_image(image: Tensor, bits: int) -> Tensor:
    """`posterize` of a tensor."""
    if not isinstance(bits, int) or not 0 <= bits <= 8:
        raise TypeError(f"bits must be a positive integer in the range [0, 8], got {bits} instead.")
    if image.is_floating_point():
        levels = 1 << bits
        return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / levels)
    all_bits = value_bits(image.dtype)
    return image if bits >= all_bits else image & (((1 << bits) - 1) << (all_bits - bits))


pillow(posterize, first.posterize)


def solarize(inpt: Any, threshold: float) -> Any:
    """With the bright values inverted.

    Args:
        inpt: an image or a video.
        threshold: from which value on.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.solarize(vistorch.tensor([[[0.25, 1.0]]]), 0.5)
        tensor([[[0.2500, 0.0000]]])
    """
    return run(solarize, inpt, threshold=threshold)


@images(solarize)
def solarize_image(image: Tensor, threshold: float) -> Tensor:
    """`solarize` of a tensor."""
    if threshold > largest(image.dtype):
        raise TypeError(
            f"Threshold should be less or equal the maximum value of the dtype, but got {threshold}"
        )
    return vistorch.where(image >= threshold, invert_image(image), image)


pillow(solarize, first.solarize)


def autocontrast(inpt: Any) -> Any:
    """Each channel stretched from black to white.

    Args:
        inpt: an image or a video.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.autocontrast(vistorch.tensor([[[0.25, 0.5, 0.75]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    return run(autocontrast, inpt)


@images(autocontrast)
def autocontrast_image(image: Tensor) -> Tensor:
    """`autocontrast` of a tensor."""
    _one_or_three(image)
    if image.numel() == 0:
        return image
    bound = largest(image.dtype)
    x = image if image.is_floating_point() else image.to(vistorch.float32)
    low, high = x.amin(dim=(-2, -1), keepdim=True), x.amax(dim=(-2, -1), keepdim=True)
    flat = high == low
    scale = high.sub_(low).mul_(1.0 / bound)
    low[flat], scale[flat] = 0.0, 1.0
    return x.sub(low).div_(scale).clamp_(0, bound).to(image.dtype)


pillow(autocontrast, first.autocontrast)


def equalize(inpt: Any) -> Any:
    """Each channel with all shades equally often, as far as that goes.

    Args:
        inpt: an image or a video.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.equalize(vistorch.arange(4, dtype=vistorch.uint8).repeat(1, 100, 1)).unique()
        tensor([  0, 100, 200, 255], dtype=vistorch.uint8)
    """
    return run(equalize, inpt)


@images(equalize)
def equalize_image(image: Tensor) -> Tensor:
    """`equalize` of a tensor."""
    if image.numel() == 0:
        return image
    x = to_dtype_image(image, vistorch.uint8, scale=True)
    batch = x.shape[:-2]
    flat = x.flatten(start_dim=-2).to(vistorch.int64)
    counts = flat.new_zeros((*batch, 256), dtype=vistorch.int32)
    counts.scatter_add_(dim=-1, index=flat, src=counts.new_ones(1).expand_as(flat))
    below = counts.cumsum(dim=-1)
    top = below.argmax(dim=-1).unsqueeze_(-1)  # the brightest shade there is: its pixels do not count
    step = (flat.shape[-1] - counts.gather(dim=-1, index=top)).div_(255, rounding_mode="floor")
    table = below[..., :-1].add_(step // 2).div_(step.clamp(min=1), rounding_mode="floor").clamp_(0, 255)
    table = table.to(vistorch.uint8)
    table = vistorch.cat([table.new_zeros(1).expand((*batch, 1)), table], dim=-1)
    out = vistorch.where(step.ne(0).unsqueeze_(-1), table.gather(dim=-1, index=flat).view_as(x), x)
    return to_dtype_image(out, image.dtype, scale=True)


pillow(equalize, first.equalize)


def invert(inpt: Any) -> Any:
    """The negative.

    Args:
        inpt: an image or a video.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.invert(vistorch.tensor([[[0, 200]]], dtype=vistorch.uint8))
        tensor([[[255,  55]]], dtype=vistorch.uint8)
    """
    return run(invert, inpt)


@images(invert)
def invert_image(image: Tensor) -> Tensor:
    """`invert` of a tensor."""
    if image.is_floating_point():
        return 1.0 - image
    if image.dtype is vistorch.uint8:
        return image.bitwise_not()
    return image.bitwise_xor((1 << value_bits(image.dtype)) - 1)


pillow(invert, first.invert)


def permute_channels(inpt: Any, permutation: Sequence[int]) -> Any:
    """The channels in another order.

    Args:
        inpt: an image or a video.
        permutation: for each channel of the result, which one it is of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.permute_channels(vistorch.tensor([[[1]], [[2]], [[3]]]), [2, 0, 1]).flatten()
        tensor([3, 1, 2])
    """
    return run(permute_channels, inpt, permutation=permutation)


@images(permute_channels)
def permute_channels_image(image: Tensor, permutation: Sequence[int]) -> Tensor:
    """`permute_channels` of a tensor."""
    channels, height, width = image.shape[-3:]
    if len(permutation) != channels:
        raise ValueError(
            f"Length of permutation does not match number of channels: {len(permutation)} != {channels}"
        )
    if image.numel() == 0:
        return image
    return image.reshape(-1, channels, height, width)[:, permutation].reshape(image.shape)


pillow(
    permute_channels,
    lambda image, permutation: first.to_pil_image(
        permute_channels_image(first.pil_to_tensor(image), permutation)
    ),
)

adjust_brightness_video, adjust_contrast_video = adjust_brightness_image, adjust_contrast_image
adjust_gamma_video, adjust_hue_video = adjust_gamma_image, adjust_hue_image
adjust_saturation_video, adjust_sharpness_video = adjust_saturation_image, adjust_sharpness_image
autocontrast_video, equalize_video, invert_video = autocontrast_image, equalize_image, invert_image
permute_channels_video, posterize_video, solarize_video = (
    permute_channels_image,
    posterize_image,
    solarize_image,
)
