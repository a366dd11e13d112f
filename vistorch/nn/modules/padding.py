"""Borders as modules: of one value, or of the tensor's own elements; written once for all ranks.

Invariant: `padding` is a tuple, (before, after) of the last dim first, as `nn.functional.pad` takes it.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.core.tensor import Tensor
from .. import functional as F
from .family import named_init
from .module import Module
from .tuples import _tuple

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

ONE = {
    "padding": "one int for all sides, or two: (left, right).",
    "value": "what the borders are filled with.",
}
TWO = {**ONE, "padding": "one int for all sides, or four: (left, right, top, bottom)."}
THREE = {**ONE, "padding": "one int for all sides, or six: (left, right, top, bottom, front, back)."}


class _ConstantPadNd(Module):
    """Borders of one value."""

    __constants__ = ("padding", "value")
    value: float
    padding: tuple[int, ...]

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The pads and the value."""
        return f"padding={self.padding}, value={self.value}"


class _ConstantPad(_ConstantPadNd):
    """Borders of one value in any rank, with the constructor of the public classes."""

    _rank: int

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(value)
        self.padding = _tuple(padding, 2 * self._rank)


@arguments(ONE)
@named_init
class ConstantPad1d(_ConstantPad):
    """Puts one value around the last dim.

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConstantPad1d(1, 9.0)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[9., 1., 2., 3., 9.]])
    """

    _rank = 1


@arguments(TWO)
@named_init
class ConstantPad2d(_ConstantPad):
    """Puts one value around the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConstantPad2d(1, 9.0)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    _rank = 2


@arguments(THREE)
@named_init
class ConstantPad3d(_ConstantPad):
    """Puts one value around the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ConstantPad3d(1, 9.0)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    _rank = 3


class _ZeroPad(_ConstantPad):
    """Borders of zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


@arguments(ONE)
@named_init
class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Puts zeros around the last dim.

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ZeroPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0., 1., 2., 3., 0.]])
    """


@arguments(TWO)
@named_init
class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Puts zeros around the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ZeroPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """


@arguments(THREE)
@named_init
class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Puts zeros around the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ZeroPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """


class _OwnPadNd(Module):
    """Borders of the tensor's own elements."""

    __constants__ = ("padding",)
    padding: tuple[int, ...]
    _mode: str  # of nn.functional.pad

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """The pads."""
        return f"{self.padding}"


class _Sides(Module):
    """The constructor of these borders: one int for all sides, or two for each dim."""

    padding: tuple[int, ...]
    _rank: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _tuple(padding, 2 * self._rank)


class _CircularPadNd(_OwnPadNd):
    """Borders from the other end."""

    _mode = "circular"
    _rank: int

    def _check_input_dim(self, input: Any) -> None:
        few, many = self._rank + 1, self._rank + 2
        if input.dim() not in (few, many):
            raise ValueError(f"expected {few}D or {many}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The input with its borders."""
        self._check_input_dim(input)
        return super().forward(input)


class _ReflectionPadNd(_OwnPadNd):
    """Borders that mirror the inside."""

    _mode = "reflect"


class _ReplicationPadNd(_OwnPadNd):
    """Borders that repeat the edge."""

    _mode = "replicate"


@arguments(ONE)
@named_init
class CircularPad1d(_Sides, _CircularPadNd):
    """Puts elements from the other end around the last dim.

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CircularPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 1., 2., 3., 1.]])
    """

    _rank = 1


@arguments(TWO)
@named_init
class CircularPad2d(_Sides, _CircularPadNd):
    """Puts elements from the other end around the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CircularPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    _rank = 2


@arguments(THREE)
@named_init
class CircularPad3d(_Sides, _CircularPadNd):
    """Puts elements from the other end around the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CircularPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    _rank = 3


@arguments(ONE)
@named_init
class ReflectionPad1d(_Sides, _ReflectionPadNd):
    """Puts the mirrored inside around the last dim.

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReflectionPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 1., 2., 3., 2.]])
    """

    _rank = 1


@arguments(TWO)
@named_init
class ReflectionPad2d(_Sides, _ReflectionPadNd):
    """Puts the mirrored inside around the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReflectionPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    _rank = 2


@arguments(THREE)
@named_init
class ReflectionPad3d(_Sides, _ReflectionPadNd):
    """Puts the mirrored inside around the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReflectionPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    _rank = 3


@arguments(ONE)
@named_init
class ReplicationPad1d(_Sides, _ReplicationPadNd):
    """Puts the repeated edge around the last dim.

    Shape:
        (C, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReplicationPad1d(1)(vistorch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 2., 3., 3.]])
    """

    _rank = 1


@arguments(TWO)
@named_init
class ReplicationPad2d(_Sides, _ReplicationPadNd):
    """Puts the repeated edge around the last two dims.

    Shape:
        (C, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReplicationPad2d(1)(vistorch.ones(1, 2, 3)).shape
        vistorch.Size([1, 4, 5])
    """

    _rank = 2


@arguments(THREE)
@named_init
class ReplicationPad3d(_Sides, _ReplicationPadNd):
    """Puts the repeated edge around the last three dims.

    Shape:
        (C, D, H, W), with or without a batch dim in front; each padded dim grows by its two pads.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReplicationPad3d(1)(vistorch.ones(1, 2, 3, 4)).shape
        vistorch.Size([1, 4, 5, 6])
    """

    _rank = 3
