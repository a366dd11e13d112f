"""Transforms made of others: one after another, one of them, all in any order, or none.

Invariant: each gets the sample that the one before it gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import vistorch
from vistorch.nn import ModuleList

from .. import containers as first
from .transform import Transform


def _checked(transforms: Any, *more: type) -> Any:
    if not isinstance(transforms, (Sequence, *more)):
        kinds = " or a `nn.ModuleList`" if more else ""
        raise TypeError(f"Argument transforms should be a sequence of callables{kinds}")
    if not len(transforms):  # type: ignore[arg-type]
        raise ValueError("Pass at least one transform")
    return transforms


def _through(transforms: Iterable[Any], inputs: tuple) -> Any:
    unpacked, outputs = len(inputs) > 1, None
    for transform in transforms:
        outputs = transform(*inputs)
        inputs = outputs if unpacked else (outputs,)
    return outputs


class Compose(Transform):
    """Transforms one after another.

    Args:
        transforms: a list of them.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> steps = v2.Compose([v2.Resize(8), v2.CenterCrop(4), v2.ToDtype(vistorch.float32, scale=True)])
        >>> steps(vistorch.zeros(3, 16, 20, dtype=vistorch.uint8)).shape
        vistorch.Size([3, 4, 4])
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        super().__init__()
        self.transforms = _checked(transforms)

    def forward(self, *inputs: Any) -> Any:
        """Run them.

        Args:
            *inputs: the sample, or its parts.
        """
        return _through(self.transforms, inputs)

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomApply(Transform):
    """Transforms one after another, for a part of the samples.

    Args:
        transforms: a list of them.
        p: for which part.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomApply([v2.RandomInvert(p=1.0)], p=0.0)(vistorch.zeros(1, 1, 1))
        tensor([[[0.]]])
    """

    _v1_transform_cls = first.RandomApply

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = _checked(transforms, ModuleList)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def forward(self, *inputs: Any) -> Any:
        """Run them, or not.

        Args:
            *inputs: the sample, or its parts.
        """
        if vistorch.rand(1) >= self.p:
            return inputs[0] if len(inputs) == 1 else inputs
        return _through(self.transforms, inputs)

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomChoice(Transform):
    """One of several transforms.

    Args:
        transforms: a list of them.
        p: how often each is chosen, as weights; all alike by default.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomChoice([v2.Identity(), v2.RandomInvert(p=1.0)], p=[0, 1])(vistorch.zeros(1, 1, 1))
        tensor([[[1.]]])
    """

    def __init__(self, transforms: Sequence[Any], p: list[float] | None = None) -> None:
        _checked(transforms)
        weights = [1] * len(transforms) if p is None else p
        if len(weights) != len(transforms):
            raise ValueError(
                f"Length of p doesn't match the number of transforms: {len(weights)} != {len(transforms)}"
            )
        super().__init__()
        self.transforms = transforms
        total = sum(weights)
        self.p = [weight / total for weight in weights]

    def forward(self, *inputs: Any) -> Any:
        """Run one of them.

        Args:
            *inputs: the sample, or its parts.
        """
        return self.transforms[int(vistorch.multinomial(vistorch.tensor(self.p), 1))](*inputs)


class RandomOrder(Transform):
    """All of several transforms, in any order.

    Args:
        transforms: a list of them.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomOrder([v2.Identity(), v2.RandomInvert(p=1.0)])(vistorch.zeros(1, 1, 1))
        tensor([[[1.]]])
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        _checked(transforms)
        super().__init__()
        self.transforms = transforms

    def forward(self, *inputs: Any) -> Any:
        """Run them.

        Args:
            *inputs: the sample, or its parts.
        """
        order = vistorch.randperm(len(self.transforms)).tolist()
        return _through([self.transforms[at] for at in order], inputs)
