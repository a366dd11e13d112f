"""Normalisation of samples, of groups of channels, and of neighbouring channels.

Invariant: nothing here depends on other samples of the batch, so training and evaluation give the same.
"""

from __future__ import annotations

import numbers
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.norm.window import across
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]

empty = FUNCTIONS["empty"]


class LocalResponseNorm(Module):
    """Each value divided by a power of the mean square of its neighbours in other channels.

    Args:
        size: how many neighbouring channels count.
        alpha: a factor of their mean square.
        beta: the power.
        k: added to it.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)(vistorch.ones(1, 1, 1))
        tensor([[[0.5000]]])
    """

    __constants__ = ("size", "alpha", "beta", "k")

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Normalise.

        Args:
            input: (batch, channels, ...).
        """
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """LocalResponseNorm of images as older programs know it.

    From channel `(size + 1) // 2` on, the first channel stays in every sum, as in PyTorch.

    Args:
        size: how many neighbouring channels count.
        alpha: a factor of their mean square.
        beta: the power.
        k: added to it.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(vistorch.ones(1, 2, 1, 1)).flatten()
        tensor([0.3333, 0.3333])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Normalise.

        Args:
            input: (batch, channels, height, width).
        """
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        near = across(input.mul(input), int((self.size - 1) / 2 + 1))
        return input * near.mul(self.alpha / self.size).add(self.k).pow(-self.beta)

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LayerNorm(Module):
    """The last dims of each sample brought to mean zero and variance one.

    Args:
        normalized_shape: the sizes of the dims that are normalised together; a number stands for the last dim alone.
        eps: added to the variance.
        elementwise_affine: whether each element has a learned factor and offset.
        bias: whether there is an offset beside the factor.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (..., *normalized_shape), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LayerNorm(2, elementwise_affine=False)(vistorch.tensor([[1.0, 3.0]]))
        tensor([[-1.0000,  1.0000]])
        >>> norm = vistorch.nn.LayerNorm(2)
        >>> norm.bias.data += 3  # as if it had learned
        >>> norm.reset_parameters()
        >>> norm.bias.tolist()
        [0.0, 0.0]
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")
    weight: Any
    bias: Any

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made: dict = {"device": device, "dtype": dtype}
        learned, offset = elementwise_affine, elementwise_affine and bias
        self.register_parameter("weight", Parameter(empty(shape, **made)) if learned else None)
        self.register_parameter("bias", Parameter(empty(shape, **made)) if offset else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin anew with factors of one and offsets of zero."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise.

        Args:
            input: (..., *normalized_shape).
        """
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """The channels of each group brought to mean zero and variance one, for each sample.

    Args:
        num_groups: how many groups of neighbouring channels there are.
        num_channels: how many channels there are.
        eps: added to the variance.
        affine: whether each channel has a learned factor and offset.
        device: where the parameters are.
        dtype: their type.
        bias: whether there is an offset beside the factor.

    Shape:
        (batch, channels, ...), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.GroupNorm(2, 4, affine=False)(vistorch.tensor([[1.0, 3.0, 5.0, 9.0]]))
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
        >>> norm = vistorch.nn.GroupNorm(2, 4)
        >>> norm.weight.data += 3  # as if it had learned
        >>> norm.reset_parameters()
        >>> norm.weight.tolist()
        [1.0, 1.0, 1.0, 1.0]
    """

    __constants__ = ("num_groups", "num_channels", "eps", "affine")
    weight: Any
    bias: Any

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        made: dict = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_channels, **made)) if affine else None)
        self.register_parameter("bias", Parameter(empty(num_channels, **made)) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin anew with factors of one and offsets of zero."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise.

        Args:
            input: (batch, channels, ...).
        """
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The last dims of each sample divided by the root of their mean square.

    Args:
        normalized_shape: the sizes of the dims that are normalised together; a number stands for the last dim alone.
        eps: added to the mean square; the type's own where None.
        elementwise_affine: whether each element has a learned factor.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (..., *normalized_shape), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.RMSNorm(2, elementwise_affine=False)(vistorch.tensor([[2.0, -2.0]]))
        tensor([[ 1., -1.]])
        >>> norm = vistorch.nn.RMSNorm(2)
        >>> norm.weight.data += 3  # as if it had learned
        >>> norm.reset_parameters()
        >>> norm.weight.tolist()
        [1.0, 1.0]
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")
    weight: Any

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        learned = Parameter(empty(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", learned)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin anew with factors of one."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise.

        Args:
            x: (..., *normalized_shape).
        """
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
