"""What every data set of pictures has: a root, transforms and the form in which it prints itself.

Invariant: `transforms` is called with (image, target) if it is there; `transform` and `target_transform` are its
halves.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...utils.data import Dataset


class VisionDataset(Dataset):
    """The base of data sets of pictures: give it `__getitem__` and `__len__`.

    Args:
        root: the folder of the data set, or None.
        transforms: takes an image and a target, returns both.
        transform: takes an image, returns it transformed.
        target_transform: takes a target, returns it transformed.

    Example:
        >>> from vistorch.vision.datasets import VisionDataset
        >>> class Nothing(VisionDataset):
        ...     def __len__(self):
        ...         return 0
        >>> Nothing("pictures", transform=str)
        Dataset Nothing
            Number of datapoints: 0
            Root location: pictures
            StandardTransform
        Transform: <class 'str'>
    """

    _repr_indent = 4

    def __init__(
        self,
        root: str | os.PathLike | None = None,
        transforms: Callable | None = None,
        transform: Callable | None = None,
        target_transform: Callable | None = None,
    ) -> None:
        self.root: Any = os.path.expanduser(root) if isinstance(root, str) else root
        apart = transform is not None or target_transform is not None
        if transforms is not None and apart:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if apart else transforms

    def __getitem__(self, index: int) -> Any:
        """The sample with this number.

        Args:
            index: from 0 on.
        """
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if getattr(self, "transforms", None) is not None:
            body.append(repr(self.transforms))
        indent = " " * self._repr_indent
        return "\n".join([f"Dataset {type(self).__name__}", *(indent + line for line in body)])

    def extra_repr(self) -> str:
        """Further lines for the printed form.

        Example:
            >>> from vistorch.vision.datasets import VisionDataset
            >>> class Nothing(VisionDataset):
            ...     def __len__(self):
            ...         return 0
            ...     def extra_repr(self):
            ...         return "Split: none"
            >>> Nothing()
            Dataset Nothing
                Number of datapoints: 0
                Split: none
        """
        return ""

    def _transformed(self, image: Any, target: Any) -> tuple[Any, Any]:
        """A sample after `transform` and `target_transform`."""
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


class StandardTransform:
    """A transform of images and one of targets, as one of both.

    Args:
        transform: takes an image, or None.
        target_transform: takes a target, or None.
    """

    def __init__(self, transform: Callable | None = None, target_transform: Callable | None = None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        """Transform an image and its target.

        Args:
            input: the image.
            target: what belongs to it.
        """
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for head, part in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if part is not None:
                first, *rest = repr(part).splitlines()
                lines += [head + first, *(" " * len(head) + line for line in rest)]
        return "\n".join(lines)
