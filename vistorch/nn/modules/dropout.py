"""Dropout as modules.

Invariant: outside of training the input itself comes back.
"""

from __future__ import annotations

from ...engine.base.argument_docs import arguments
from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]

ARGUMENTS = {
    "p": "the probability of an element to be dropped.",
    "inplace": "change the input itself.",
}


class _DropoutNd(Module):
    """What all of them hold."""

    __constants__ = ("p", "inplace")
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"p={self.p}, inplace={self.inplace}"


@arguments(ARGUMENTS)
class Dropout(_DropoutNd):
    """Replaces elements by 0 at random in training, and divides the others by the probability to stay.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Dropout(0.2).eval()(vistorch.ones(1, 1, 1, 2)).flatten()
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.dropout(input, self.p, self.training, self.inplace)


@arguments(ARGUMENTS, p="the probability of a channel to be dropped.")
class Dropout1d(_DropoutNd):
    """Replaces whole channels of one spatial dim by 0 at random in training.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Dropout1d(0.2).eval()(vistorch.ones(1, 1, 2)).flatten()
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


@arguments(ARGUMENTS, p="the probability of a channel to be dropped.")
class Dropout2d(_DropoutNd):
    """Replaces whole channels of two spatial dims by 0 at random in training.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Dropout2d(0.2).eval()(vistorch.ones(1, 1, 1, 2)).flatten()
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


@arguments(ARGUMENTS, p="the probability of a channel to be dropped.")
class Dropout3d(_DropoutNd):
    """Replaces whole channels of three spatial dims by 0 at random in training.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Dropout3d(0.2).eval()(vistorch.ones(1, 1, 1, 2)).flatten()
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


@arguments(ARGUMENTS)
class AlphaDropout(_DropoutNd):
    """Replaces elements at random in training by the value selu saturates at, and keeps mean and variance.

    Example:
        >>> import vistorch
        >>> vistorch.nn.AlphaDropout(0.2).eval()(vistorch.ones(1, 1, 1, 2)).flatten()
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


@arguments(ARGUMENTS, p="the probability of a channel to be dropped.")
class FeatureAlphaDropout(_DropoutNd):
    """Replaces whole channels at random in training by the value selu saturates at.

    Example:
        >>> import vistorch
        >>> vistorch.nn.FeatureAlphaDropout(0.2).eval()(vistorch.ones(1, 1, 1, 2)).flatten()
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
