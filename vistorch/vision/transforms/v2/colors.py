"""Transforms of colors.

Invariant: what is random is drawn in torchvision's order and by its calls; boxes, points and masks go through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vistorch

from .. import colors as first
from . import functional as F
from .arguments import between
from .queries import query_chw
from .transform import RandomApplied, Transform


class Grayscale(Transform):
    """A picture without its colors.

    Args:
        num_output_channels: 1, or 3 equal ones.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.Grayscale()(vistorch.ones(3, 2, 2)).shape
        vistorch.Size([1, 2, 2])
    """

    _v1_transform_cls = first.Grayscale

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.rgb_to_grayscale, inpt, num_output_channels=self.num_output_channels)


class RandomGrayscale(RandomApplied):
    """Some pictures without their colors, with as many channels as before.

    Args:
        p: how many of them, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomGrayscale(p=1.0)(vistorch.ones(3, 2, 2)).shape
        vistorch.Size([3, 2, 2])
    """

    _v1_transform_cls = first.RandomGrayscale

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p=p)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"num_input_channels": query_chw(flat_inputs)[0]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        channels = params["num_input_channels"]
        return self._call_kernel(F.rgb_to_grayscale, inpt, num_output_channels=channels)


class RGB(Transform):
    """A picture with three channels.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RGB()(vistorch.ones(1, 2, 2)).shape
        vistorch.Size([3, 2, 2])
    """

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.grayscale_to_rgb, inpt)


def _range(value: Any, name: str, center: float = 1.0, bound: tuple = (0, float("inf"))) -> Any:
    """Two ends, from a number or two; None where nothing changes."""
    if value is None:
        return None
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        low, high = center - value, center + value
        low = max(low, 0.0) if center else low
    elif isinstance(value, Sequence) and len(value) == 2:
        low, high = (float(v) for v in value)
    else:
        raise TypeError(f"{name}={value} should be a single number or a sequence with length 2.")
    if not bound[0] <= low <= high <= bound[1]:
        raise ValueError(f"{name} values should be between {bound} and increasing, but got {[low, high]}.")
    return None if low == high == center else (float(low), float(high))


# What a factor is for, in the order of the numbers that torchvision gives them.
_ADJUST = (
    ("brightness_factor", F.adjust_brightness),
    ("contrast_factor", F.adjust_contrast),
    ("saturation_factor", F.adjust_saturation),
    ("hue_factor", F.adjust_hue),
)


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue changed by chance, in any order.

    Args:
        brightness: how much, or from where to where.
        contrast: likewise.
        saturation: likewise.
        hue: likewise, at most 0.5.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.ColorJitter(brightness=(2.0, 2.0))(vistorch.full((1, 1, 1), 0.25))
        tensor([[[0.5000]]])
    """

    _v1_transform_cls = first.ColorJitter

    def __init__(
        self, brightness: Any = None, contrast: Any = None, saturation: Any = None, hue: Any = None
    ) -> None:
        super().__init__()
        self.brightness = _range(brightness, "brightness")
        self.contrast = _range(contrast, "contrast")
        self.saturation = _range(saturation, "saturation")
        self.hue = _range(hue, "hue", center=0, bound=(-0.5, 0.5))

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        order = vistorch.randperm(4)
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        drawn = [None if ends is None else between(*ends) for ends in ranges]
        return {"fn_idx": order, **dict(zip([name for name, _ in _ADJUST], drawn, strict=True))}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        for at in params["fn_idx"].tolist():
            name, functional = _ADJUST[at]
            if params[name] is not None:
                inpt = self._call_kernel(functional, inpt, **{name: params[name]})
        return inpt


class RandomChannelPermutation(Transform):
    """The channels in any order.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomChannelPermutation()(vistorch.arange(3.0).reshape(3, 1, 1)).sum()
        tensor(3.)
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"permutation": vistorch.randperm(query_chw(flat_inputs)[0])}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.permute_channels, inpt, params["permutation"])


class RandomPhotometricDistort(Transform):
    """Colors distorted, as networks that find objects are trained.

    Args:
        brightness: from where to where.
        contrast: likewise.
        saturation: likewise.
        hue: likewise.
        p: how often each of them happens.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomPhotometricDistort(p=0.0)(vistorch.ones(3, 1, 1)).flatten()
        tensor([1., 1., 1.])
    """

    def __init__(
        self,
        brightness: tuple[float, float] = (0.875, 1.125),
        contrast: tuple[float, float] = (0.5, 1.5),
        saturation: tuple[float, float] = (0.5, 1.5),
        hue: tuple[float, float] = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None:
        super().__init__()
        self.brightness = brightness
        self.contrast = contrast
        self.hue = hue
        self.saturation = saturation
        self.p = p

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        channels = query_chw(flat_inputs)[0]
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        params: dict[str, Any] = {}
        for (name, _), ends in zip(_ADJUST, ranges, strict=True):
            params[name] = between(*ends) if vistorch.rand(1) < self.p else None
        params["contrast_before"] = bool(vistorch.rand(()) < 0.5)
        params["channel_permutation"] = vistorch.randperm(channels) if vistorch.rand(1) < self.p else None
        return params

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        bright, contrast, saturation, hue = _ADJUST
        early = (bright, contrast, saturation, hue)
        order = early if params["contrast_before"] else (bright, saturation, hue, contrast)
        for name, functional in order:
            if params[name] is not None:
                inpt = self._call_kernel(functional, inpt, **{name: params[name]})
        if params["channel_permutation"] is not None:
            inpt = self._call_kernel(F.permute_channels, inpt, permutation=params["channel_permutation"])
        return inpt


class RandomEqualize(RandomApplied):
    """Some pictures with all shades equally often.

    Args:
        p: how many of them, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomEqualize(p=1.0)(vistorch.zeros(1, 2, 2, dtype=vistorch.uint8)).sum()
        tensor(0)
    """

    _v1_transform_cls = first.RandomEqualize

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.equalize, inpt)


class RandomInvert(RandomApplied):
    """Some pictures as negatives.

    Args:
        p: how many of them, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomInvert(p=1.0)(vistorch.zeros(1, 1, 1))
        tensor([[[1.]]])
    """

    _v1_transform_cls = first.RandomInvert

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.invert, inpt)


class RandomPosterize(RandomApplied):
    """Some pictures with fewer shades.

    Args:
        bits: how many bits each value keeps.
        p: how many of the pictures, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomPosterize(1, p=1.0)(vistorch.tensor([[[200]]], dtype=vistorch.uint8))
        tensor([[[128]]], dtype=vistorch.uint8)
    """

    _v1_transform_cls = first.RandomPosterize

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.bits = bits

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.posterize, inpt, bits=self.bits)


class RandomSolarize(RandomApplied):
    """Some pictures with their bright values inverted.

    Args:
        threshold: from which value on.
        p: how many of the pictures, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomSolarize(0.5, p=1.0)(vistorch.ones(1, 1, 1))
        tensor([[[0.]]])
    """

    _v1_transform_cls = first.RandomSolarize

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.threshold = threshold

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.solarize, inpt, threshold=self.threshold)


class RandomAutocontrast(RandomApplied):
    """Some pictures with each channel from black to white.

    Args:
        p: how many of them, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomAutocontrast(p=1.0)(vistorch.tensor([[[0.25, 0.75]]]))
        tensor([[[0., 1.]]])
    """

    _v1_transform_cls = first.RandomAutocontrast

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.autocontrast, inpt)


class RandomAdjustSharpness(RandomApplied):
    """Some pictures sharper, or more blurred.

    Args:
        sharpness_factor: 0 is blurred, 1 as it is, 2 sharper.
        p: how many of the pictures, as a part of 1.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomAdjustSharpness(0.0, p=1.0)(vistorch.ones(1, 3, 3))[0, 1]
        tensor([1., 1., 1.])
    """

    _v1_transform_cls = first.RandomAdjustSharpness

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.sharpness_factor = sharpness_factor

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.adjust_sharpness, inpt, sharpness_factor=self.sharpness_factor)
