"""Transforms of colors and tones: ColorJitter, Grayscale, GaussianBlur and the random ones.

Invariant: what is random is drawn in torchvision's order; a range that changes nothing is kept as None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch.nn import Module

from . import functional as F
from .sizes import chance, pair, uniform


class ColorJitter(Module):
    """Brightness, contrast, saturation and hue changed by chance, in any order.

    Args:
        brightness: a factor is drawn from 1 less this to 1 more, or from (min, max).
        contrast: likewise.
        saturation: likewise.
        hue: a part of the color wheel on both sides of 0, at most 0.5, or (min, max).

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> image = transforms.ColorJitter(brightness=(0.5, 0.5))(vistorch.ones(3, 1, 2))
        >>> image[0]
        tensor([[0.5000, 0.5000]])
    """

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0) -> None:
        super().__init__()
        self.brightness = self._check_input(brightness, "brightness")
        self.contrast = self._check_input(contrast, "contrast")
        self.saturation = self._check_input(saturation, "saturation")
        self.hue = self._check_input(hue, "hue", 0, (-0.5, 0.5), False)

    @staticmethod
    def _check_input(
        value: Any,
        name: str,
        center: int = 1,
        bound: tuple[float, float] = (0, float("inf")),
        clip_first_on_zero: bool = True,
    ) -> tuple[float, float] | None:
        if isinstance(value, int | float):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            low, high = center - float(value), center + float(value)
            low = max(low, 0.0) if clip_first_on_zero else low
        elif isinstance(value, tuple | list) and len(value) == 2:
            low, high = float(value[0]), float(value[1])
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        if not bound[0] <= low <= high <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {[low, high]}.")
        return None if low == high == center else (low, high)

    @staticmethod
    def get_params(brightness: Any, contrast: Any, saturation: Any, hue: Any) -> tuple:
        """Draw the order, then the factors of those that have a range.

        Args:
            brightness: (min, max) or None.
            contrast: likewise.
            saturation: likewise.
            hue: likewise.

        Example:
            >>> from vistorch.vision import transforms
            >>> order, *factors = transforms.ColorJitter.get_params((0.5, 1.5), None, (2.0, 2.0), None)
            >>> sorted(order.tolist()), 0.5 <= factors[0] <= 1.5, factors[1:]
            ([0, 1, 2, 3], True, [None, 2.0, None])
        """
        order = vistorch.randperm(4)
        ranges = (brightness, contrast, saturation, hue)
        return (order, *(None if r is None else uniform(r[0], r[1]) for r in ranges))

    def forward(self, img: Any) -> Any:
        """Change the colors.

        Args:
            img: an image.
        """
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order.tolist():
            if factors[i] is not None:
                img = changes[i](img, factors[i])
        return img

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
            f"saturation={self.saturation}, hue={self.hue})"
        )


class Grayscale(Module):
    """An image without its colors.

    Args:
        num_output_channels: 1, or 3 equal ones.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.Grayscale()(vistorch.ones(3, 4, 4)).shape
        vistorch.Size([1, 4, 4])
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        """Take the colors away.

        Args:
            img: an image.
        """
        return F.rgb_to_grayscale(img, num_output_channels=self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class _Sometimes(Module):
    """A change that happens in a part `p` of all cases, with one option or none."""

    option: str | None = None

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def _change(self, img: Any) -> Any:
        """What happens then."""
        raise NotImplementedError

    def forward(self, img: Any) -> Any:
        """Change, or not.

        Args:
            img: an image.
        """
        return self._change(img) if chance(self.p) else img

    def __repr__(self) -> str:
        option = "" if self.option is None else f"{self.option}={getattr(self, self.option)},"
        return f"{type(self).__name__}({option}p={self.p})"


class RandomGrayscale(_Sometimes):
    """An image without its colors, or with; as many channels as before.

    Args:
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> image = vistorch.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1)  # one red pixel
        >>> transforms.RandomGrayscale(p=1.0)(image).flatten()
        tensor([0.2989, 0.2989, 0.2989])
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def _change(self, img: Any) -> Any:
        """Gray."""
        return F.rgb_to_grayscale(img, num_output_channels=F.get_dimensions(img)[0])


class RandomInvert(_Sometimes):
    """The negative of an image, or not.

    Args:
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomInvert(p=1.0)(vistorch.tensor([[[0.0, 0.75]]]))
        tensor([[[1.0000, 0.2500]]])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _change(self, img: Any) -> Any:
        """Negative."""
        return F.invert(img)


class RandomPosterize(_Sometimes):
    """Fewer colors, or not.

    Args:
        bits: how many bits each channel keeps.
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomPosterize(bits=1, p=1.0)(vistorch.tensor([[[100, 200]]], dtype=vistorch.uint8))
        tensor([[[  0, 128]]], dtype=vistorch.uint8)
    """

    option = "bits"

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    def _change(self, img: Any) -> Any:
        """Fewer colors."""
        return F.posterize(img, self.bits)


class RandomSolarize(_Sometimes):
    """Bright parts inverted, or not.

    Args:
        threshold: from which value on.
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomSolarize(threshold=0.5, p=1.0)(vistorch.tensor([[[0.25, 0.75]]]))
        tensor([[[0.2500, 0.2500]]])
    """

    option = "threshold"

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def _change(self, img: Any) -> Any:
        """Bright parts inverted."""
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_Sometimes):
    """Sharper, or not.

    Args:
        sharpness_factor: 0 is blurred, 1 as it is, 2 twice as sharp.
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> image = vistorch.zeros(1, 3, 3)
        >>> image[0, 1, 1] = 1.0
        >>> transforms.RandomAdjustSharpness(0, p=1.0)(image)[0, 1, 1]  # blurred
        tensor(0.3846)
    """

    option = "sharpness_factor"

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _change(self, img: Any) -> Any:
        """Sharper."""
        return F.adjust_sharpness(img, self.sharpness_factor)


class RandomAutocontrast(RandomInvert):
    """Each channel stretched over the whole range, or not.

    Args:
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomAutocontrast(p=1.0)(vistorch.tensor([[[0.25, 0.375, 0.5]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """

    def _change(self, img: Any) -> Any:
        """Stretched."""
        return F.autocontrast(img)


class RandomEqualize(RandomInvert):
    """Each channel's values spread evenly, or not.

    Args:
        p: in what part of all cases.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> image = vistorch.arange(100, 132, dtype=vistorch.uint8).repeat(1, 32, 1)
        >>> equal = transforms.RandomEqualize(p=1.0)(image)
        >>> equal.min().item(), equal.max().item()
        (0, 255)
    """

    def _change(self, img: Any) -> Any:
        """Spread."""
        return F.equalize(img)


class GaussianBlur(Module):
    """An image blurred by a bell of chance width.

    Args:
        kernel_size: (width, height) of the bell, both odd, or one number.
        sigma: (min, max) of its standard deviation, or one number.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> image = vistorch.zeros(1, 5, 5)
        >>> image[0, 2, 2] = 1.0
        >>> transforms.GaussianBlur(3, sigma=1.0)(image)[0, 2]
        tensor([0.0000, 0.1238, 0.2042, 0.1238, 0.0000])
    """

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = pair(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, int | float):
            if sigma <= 0:
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif isinstance(sigma, Sequence) and len(sigma) == 2:
            if not 0.0 < sigma[0] <= sigma[1]:
                raise ValueError("sigma values should be positive and of the form (min, max).")
        else:
            raise ValueError("sigma should be a single number or a list/tuple with length 2.")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """Draw a standard deviation.

        Args:
            sigma_min: the least.
            sigma_max: the largest.

        Example:
            >>> from vistorch.vision import transforms
            >>> 0.1 <= transforms.GaussianBlur.get_params(0.1, 2.0) <= 2.0
            True
        """
        return uniform(sigma_min, sigma_max)

    def forward(self, img: Any) -> Any:
        """Blur.

        Args:
            img: an image.
        """
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return F.gaussian_blur(img, list(self.kernel_size), [sigma, sigma])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"
