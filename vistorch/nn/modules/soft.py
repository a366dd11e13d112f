"""softmax and its kin as modules.

Invariant: a module made without a dim chooses one at each call, and a warning says so.
"""

from __future__ import annotations

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class Softmin(Module):
    """Takes softmax of `-input`: shares that add up to 1 along a dim.

    Args:
        dim: the dim along which the shares add up.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softmin(dim=0)(vistorch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
    """

    __constants__ = ("dim",)
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"dim={self.dim}"


class Softmax(Module):
    """Shares that add up to 1 along a dim: exp(x) over the sum of exp(x).

    Args:
        dim: the dim along which the shares add up.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softmax(dim=0)(vistorch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
    """

    __constants__ = ("dim",)
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of softmax, without overflow.

    Args:
        dim: the dim along which the shares add up.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LogSoftmax(dim=0)(vistorch.tensor([0.0, 0.0]))
        tensor([-0.6931, -0.6931])
    """

    __constants__ = ("dim",)
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Takes softmax over the channels at each place of a picture.

    Shape:
        (N, C, H, W) or (C, H, W).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softmax2d()(vistorch.zeros(2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
