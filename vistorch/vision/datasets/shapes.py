"""A data set of CIFAR-10's form that is drawn instead of downloaded.

Invariant: the same seed and split give the same pictures on every machine, and a shorter set is the beginning of a
longer one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .outlines import OUTLINES
from .painting import paint
from .vision import VisionDataset


class Shapes(VisionDataset):
    """Small colour pictures of ten shapes, turned, shifted, half covered and noisy: a stand-in for CIFAR-10.

    They are drawn when first asked for, in a few seconds, and kept in memory; nothing is read or downloaded.

    Args:
        root: accepted so that it can take CIFAR-10's place; nothing is read from it.
        train: the training pictures, or the test pictures.
        transform: takes a PIL image, returns it transformed.
        target_transform: takes a class number.
        size: pixels along a side.
        length: how many pictures; 50,000 to train with and 10,000 to test with if None.
        seed: another seed, other pictures.
        download: accepted so that it can take CIFAR-10's place.

    Example:
        >>> from vistorch.vision.datasets import Shapes
        >>> shapes = Shapes(length=20)
        >>> shapes.data.shape, shapes.data.dtype
        ((20, 32, 32, 3), dtype('uint8'))
        >>> [shapes.classes[target] for target in shapes.targets[:3]]
        ['star', 'circle', 'square']
        >>> shapes
        Dataset Shapes
            Number of datapoints: 20
            Split: Train
        >>> shapes.extra_repr()
        'Split: Train'
    """

    classes: ClassVar[list[str]] = list(OUTLINES)
    class_to_idx: ClassVar[dict[str, int]] = {name: number for number, name in enumerate(OUTLINES)}

    def __init__(
        self,
        root: str | os.PathLike | None = None,
        train: bool = True,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
        size: int = 32,
        length: int | None = None,
        seed: int = 0,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        length = (50_000 if train else 10_000) if length is None else length
        for name, value, least in (("size", size, 8), ("length", length, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number from {least} on, got {value!r}")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ValueError(f"seed must be a whole number, got {seed!r}")
        self.train, self.size, self.length, self.seed = train, size, length, seed
        self._drawn: tuple[np.ndarray, list[int]] | None = None

    def _draw(self) -> tuple[np.ndarray, list[int]]:
        """The pictures and classes, drawn at the first call."""
        if self._drawn is None:
            pictures, classes = paint(self.seed, self.train, self.length, self.size)
            self._drawn = pictures, classes.tolist()
        return self._drawn

    @property
    def data(self) -> np.ndarray:
        """The pictures: (length, size, size, 3), uint8."""
        return self._draw()[0]

    @data.setter
    def data(self, pictures: np.ndarray) -> None:
        self._drawn = pictures, self._draw()[1]

    @property
    def targets(self) -> list[int]:
        """The class number of each picture."""
        return self._draw()[1]

    @targets.setter
    def targets(self, targets: list[int]) -> None:
        self._drawn = self._draw()[0], targets

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """A picture, as a PIL image, and its class number.

        Args:
            index: from 0 on.
        """
        from PIL import Image

        pictures, targets = self._draw()
        return self._transformed(Image.fromarray(pictures[index]), targets[index])

    def __len__(self) -> int:
        return self.length if self._drawn is None else len(self._drawn[0])

    def extra_repr(self) -> str:
        """Which half."""
        return f"Split: {'Train' if self.train is True else 'Test'}"
