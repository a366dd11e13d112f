"""Pictures of noise with random classes, for trying a program before its data is there.

Invariant: a picture depends on its number and `random_offset` alone, and the generator is left as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vistorch

from .vision import VisionDataset


class FakeData(VisionDataset):
    """Pictures of noise; the same ones that torchvision makes.

    Args:
        size: how many.
        image_size: channels, height, width.
        num_classes: how many classes.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        random_offset: another offset, other pictures.

    Example:
        >>> from vistorch.vision.datasets import FakeData
        >>> FakeData(size=3, image_size=(3, 8, 8))
        Dataset FakeData
            Number of datapoints: 3
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.num_classes = num_classes
        self.image_size = image_size
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """A picture, as a PIL image, and its class number.

        Args:
            index: from 0 on.
        """
        from PIL import Image

        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        chance = vistorch.Generator().manual_seed(index + self.random_offset)
        noise = vistorch.randn(*self.image_size, generator=chance)
        target = int(vistorch.randint(0, self.num_classes, size=(1,), generator=chance)[0])
        # Most numbers are no shade of grey; what torchvision makes of them is their last eight bits.
        shades = (noise.numpy() * np.float32(255)).astype(np.int32).astype(np.uint8).transpose(1, 2, 0)
        image = Image.fromarray(shades[..., 0] if shades.shape[-1] == 1 else np.ascontiguousarray(shades))
        return self._transformed(image, target)

    def __len__(self) -> int:
        return self.size
