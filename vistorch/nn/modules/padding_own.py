"""Borders made of the tensor's own elements, as modules.

Invariant: `padding` is a tuple, (before, after) of the last dim first, as `nn.functional.pad` takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module
from .tuples import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
]


class _CircularPadNd(Module):
    """Borders from the other end."""

    __constants__ = ("padding",)
    padding: Sequence[int]
    _dims: tuple[int, int]

    def _check_input_dim(self, input: Any) -> None:
        few, many = self._dims
        if input.dim() not in (few, many):
            raise ValueError(f"expected {few}D or {many}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Puts elements from the other end around the last dim.

    Args:
        padding: one int for all sides, or two: (left, right).

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CircularPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 1., 2., 3., 1.]])
    """

    _dims = (2, 3)
    padding: tuple[int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _pair(padding)


class CircularPad2d(_CircularPadNd):
    """Puts elements from the other end around the last two dims.

    Args:
        padding: one int for all sides, or four: (left, right, top, bottom).

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CircularPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    _dims = (3, 4)
    padding: tuple[int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class CircularPad3d(_CircularPadNd):
    """Puts elements from the other end around the last three dims.

    Args:
        padding: one int for all sides, or six: (left, right, top, bottom, front, back).

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CircularPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    _dims = (4, 5)
    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(6)(padding)


class _ReflectionPadNd(Module):
    """Borders that mirror the inside."""

    __constants__ = ("padding",)
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        return F.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


class ReflectionPad1d(_ReflectionPadNd):
    """Puts the mirrored inside around the last dim.

    Args:
        padding: one int for all sides, or two: (left, right).

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReflectionPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 1., 2., 3., 2.]])
    """

    padding: tuple[int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _pair(padding)


class ReflectionPad2d(_ReflectionPadNd):
    """Puts the mirrored inside around the last two dims.

    Args:
        padding: one int for all sides, or four: (left, right, top, bottom).

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReflectionPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class ReflectionPad3d(_ReflectionPadNd):
    """Puts the mirrored inside around the last three dims.

    Args:
        padding: one int for all sides, or six: (left, right, top, bottom, front, back).

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReflectionPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(6)(padding)


class _ReplicationPadNd(Module):
    """Borders that repeat the edge."""

    __constants__ = ("padding",)
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        return F.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


class ReplicationPad1d(_ReplicationPadNd):
    """Puts the repeated edge around the last dim.

    Args:
        padding: one int for all sides, or two: (left, right).

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReplicationPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 2., 3., 3.]])
    """

    padding: tuple[int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _pair(padding)


class ReplicationPad2d(_ReplicationPadNd):
    """Puts the repeated edge around the last two dims.

    Args:
        padding: one int for all sides, or four: (left, right, top, bottom).

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReplicationPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class ReplicationPad3d(_ReplicationPadNd):
    """Puts the repeated edge around the last three dims.

    Args:
        padding: one int for all sides, or six: (left, right, top, bottom, front, back).

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReplicationPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(6)(padding)
