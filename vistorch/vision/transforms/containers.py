"""Transforms made of transforms: Compose, RandomApply, RandomChoice, RandomOrder, and Lambda.

Invariant: order and choice come from Python's `random`, whether at all from vistorch's generator, as in torchvision.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import vistorch
from vistorch.nn import Module


def _lines(name: str, lines: list) -> str:
    return "\n".join([f"{name}(", *(f"    {line}" for line in lines), ")"])


class Compose:
    """Transforms one after the other.

    Args:
        transforms: a list of them.

    Example:
        >>> from vistorch.vision import transforms
        >>> transforms.Compose([transforms.Resize(8), transforms.ToTensor()])
        Compose(
            Resize(size=8, interpolation=bilinear, max_size=None, antialias=True)
            ToTensor()
        )
    """

    def __init__(self, transforms: Any) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        """Put an image through.

        Args:
            img: an image.
        """
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return _lines(type(self).__name__, list(self.transforms))


class Lambda:
    """A function of the user's as a transform.

    Args:
        lambd: the function.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.Lambda(lambda image: image * 2)(vistorch.ones(1, 1, 2))
        tensor([[[2., 2.]]])
    """

    def __init__(self, lambd: Callable) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        """Call the function.

        Args:
            img: an image.
        """
        return self.lambd(img)

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class RandomTransforms:
    """Base of transforms that choose among a list.

    Args:
        transforms: the list.

    Example:
        >>> from vistorch.vision import transforms
        >>> class First(transforms.RandomTransforms):
        ...     def __call__(self, image):
        ...         return self.transforms[0](image)
        >>> First([abs, str])(-2)
        2
    """

    def __init__(self, transforms: Any) -> None:
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Put an image through; a subclass's."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return _lines(type(self).__name__, list(self.transforms))


class RandomApply(Module):
    """All transforms of a list, or none.

    Args:
        transforms: the list.
        p: in what part of all cases they are applied.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomApply([transforms.Pad(1), transforms.Pad(2)], p=1.0)(vistorch.ones(1, 1, 2)).shape
        vistorch.Size([1, 7, 8])
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img: Any) -> Any:
        """Put an image through.

        Args:
            img: an image.
        """
        if self.p < vistorch.rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return _lines(type(self).__name__, [f"p={self.p}", *self.transforms])


class RandomOrder(RandomTransforms):
    """All transforms of a list, in any order.

    Args:
        transforms: the list.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomOrder([transforms.Pad(1), transforms.Pad(2)])(vistorch.ones(1, 1, 2)).shape
        vistorch.Size([1, 7, 8])
    """

    def __call__(self, img: Any) -> Any:
        """Put an image through.

        Args:
            img: an image.
        """
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(RandomTransforms):
    """One transform of a list.

    Args:
        transforms: the list.
        p: how likely each is; all alike if None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomChoice([transforms.Pad(1), transforms.Pad(2)], p=[0, 1])(vistorch.ones(1, 1, 2)).shape
        vistorch.Size([1, 5, 6])
    """

    def __init__(self, transforms: Any, p: Any = None) -> None:
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args: Any) -> Any:
        """Put an image through.

        Args:
            *args: an image.
        """
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self) -> str:
        return f"{super().__repr__()}(p={self.p})"
