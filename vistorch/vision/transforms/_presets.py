"""What prepares a picture for a network with trained weights.

Invariant: the steps and their order are torchvision's.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, float32, nn
from . import functional as F
from .modes import InterpolationMode


class ImageClassification(nn.Module):
    """Resize, cut out the middle, make numbers between 0 and 1 of it, and normalize them.

    Args:
        crop_size: the side of what is cut out.
        resize_size: the shorter side before.
        mean: of each channel.
        std: of each channel.
        interpolation: how it is resized.
        antialias: whether pixels that fall together are averaged.
    """

    def __init__(
        self,
        *,
        crop_size: int,
        resize_size: int = 256,
        mean: tuple[float, ...] = (0.485, 0.456, 0.406),
        std: tuple[float, ...] = (0.229, 0.224, 0.225),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.crop_size = [crop_size]
        self.resize_size = [resize_size]
        self.mean = list(mean)
        self.std = list(std)
        self.interpolation = interpolation
        self.antialias = antialias

    def forward(self, img: Any) -> Tensor:
        """The numbers of a picture.

        Args:
            img: a PIL image, or a tensor (..., 3, height, width).
        """
        img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        img = F.center_crop(img, self.crop_size)
        if not isinstance(img, Tensor):
            img = F.pil_to_tensor(img)
        return F.normalize(F.convert_image_dtype(img, float32), mean=self.mean, std=self.std)

    def __repr__(self) -> str:
        shown = ("crop_size", "resize_size", "mean", "std", "interpolation")
        lines = "".join(f"\n    {name}={getattr(self, name)}" for name in shown)
        return f"{self.__class__.__name__}({lines}\n)"
