"""Borders as modules: those of one value here, those of the tensor's own elements next door.

Invariant: `padding` is a tuple, (before, after) of the last dim first, as `nn.functional.pad` takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module
from .padding_own import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
)
from .tuples import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _ConstantPadNd(Module):
    """Borders of one value."""

    __constants__ = ("padding", "value")
    value: float
    padding: Sequence[int]

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The pads and the value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Puts one value around the last dim.

    Args:
        padding: one int for all sides, or two: (left, right).
        value: what the borders are filled with.

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConstantPad1d(1, 9.0)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[9., 1., 2., 3., 9.]])
    """

    padding: tuple[int, int]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(value)
        self.padding = _pair(padding)


class ConstantPad2d(_ConstantPadNd):
    """Puts one value around the last two dims.

    Args:
        padding: one int for all sides, or four: (left, right, top, bottom).
        value: what the borders are filled with.

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConstantPad2d(1, 9.0)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    __constants__ = ("padding", "value")
    padding: tuple[int, int, int, int]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(value)
        self.padding = _quadruple(padding)


class ConstantPad3d(_ConstantPadNd):
    """Puts one value around the last three dims.

    Args:
        padding: one int for all sides, or six: (left, right, top, bottom, front, back).
        value: what the borders are filled with.

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConstantPad3d(1, 9.0)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(value)
        self.padding = _ntuple(6)(padding)


class ZeroPad1d(ConstantPad1d):
    """Puts zeros around the last dim.

    Args:
        padding: one int for all sides, or two: (left, right).

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ZeroPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0., 1., 2., 3., 0.]])
    """

    padding: tuple[int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Puts zeros around the last two dims.

    Args:
        padding: one int for all sides, or four: (left, right, top, bottom).

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ZeroPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Puts zeros around the last three dims.

    Args:
        padding: one int for all sides, or six: (left, right, top, bottom, front, back).

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ZeroPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"
