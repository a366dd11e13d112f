"""Activations as modules: those of straight lines with corners.

Invariant: a module holds its settings under the names of its arguments, and calls the function of its name.
"""

from __future__ import annotations

import warnings

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "ReLU6", "Softshrink"]


def _renamed(old: str, new: str) -> None:
    warnings.warn(
        f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=3
    )


class Hardtanh(Module):
    """Holds every element between two bounds.

    Args:
        min_val: the lower bound.
        max_val: the upper bound.
        inplace: change the input itself.
        min_value: an older name of `min_val`.
        max_value: an older name of `max_val`.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardtanh()(vistorch.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    __constants__ = ("min_val", "max_val", "inplace")
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _renamed("max_value", "max_val")
            max_val = max_value
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if not max_val > min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"min_val={self.min_val}, max_val={self.max_val}{', inplace=True' if self.inplace else ''}"


class ReLU6(Hardtanh):
    """Holds every element between 0 and 6.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReLU6()(vistorch.tensor([-2.0, 5.0, 7.0]))
        tensor([0., 5., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(Module):
    """A sigmoid of three straight lines: x / 6 + 1/2, held between 0 and 1.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardsigmoid()(vistorch.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])
    """

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """`input` times its hardsigmoid.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardswish()(vistorch.tensor([0.0, 1.5, 4.0]))
        tensor([0.0000, 1.1250, 4.0000])
    """

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardswish(input, self.inplace)


class Hardshrink(Module):
    """Replaces what lies between -lambd and lambd by 0.

    Args:
        lambd: what counts as small.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardshrink()(vistorch.tensor([-0.25, 2.0]))
        tensor([0., 2.])
    """

    __constants__ = ("lambd",)
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"{self.lambd}"


class Softshrink(Module):
    """Moves every element towards 0 by lambd, at most as far as 0.

    Args:
        lambd: how far.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softshrink()(vistorch.tensor([-0.25, 2.0]))
        tensor([0.0000, 1.5000])
    """

    __constants__ = ("lambd",)
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return str(self.lambd)
