"""Flattening and its inverse as modules.

Invariant: the first dim is left alone unless asked, since it counts samples.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.tensor import Tensor
from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Makes one dim of several neighbouring ones.

    Args:
        start_dim: the first of them.
        end_dim: the last of them.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Flatten()(vistorch.ones(2, 3, 4)).shape
        vistorch.Size([2, 12])
    """

    __constants__ = ("start_dim", "end_dim")
    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes several dims of one.

    Args:
        dim: the dim.
        unflattened_size: the sizes of the new dims.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Unflatten(1, (3, 4))(vistorch.ones(2, 12)).shape
        vistorch.Size([2, 3, 4])
    """

    __constants__ = ("dim", "unflattened_size")
    dim: int
    unflattened_size: Any

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim, self.unflattened_size = dim, unflattened_size

    def _require_tuple_int(self, input: Any) -> None:
        """Refuse sizes that are no ints."""
        if not isinstance(input, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(input).__name__}"
            )
        for at, size in enumerate(input):
            if not isinstance(size, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {at}"
                )

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
