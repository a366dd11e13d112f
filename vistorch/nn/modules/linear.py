"""Affine maps as modules.

Invariant: parameters begin as PyTorch's do, drawn in the same order.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .learned import weight_and_bias
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]

empty = FUNCTIONS["empty"]


class Identity(Module):
    """Returns its input; accepts any arguments.

    Args:
        *args: ignored.
        **kwargs: ignored.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Identity(54, unused=0.1)(vistorch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    """`input @ weight.T + bias`.

    Args:
        in_features: size of each input.
        out_features: size of each output.
        bias: whether to add a learned number to each output.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (*, in_features) to (*, out_features).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Linear(20, 30)(vistorch.ones(128, 20)).shape
        vistorch.Size([128, 30])
    """

    __constants__ = ("in_features", "out_features")
    in_features: int
    out_features: int
    weight: Any
    bias: Any

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        Example:
            >>> import vistorch
            >>> layer = vistorch.nn.Linear(2, 3)
            >>> before = layer.weight.clone()
            >>> layer.reset_parameters()
            >>> (layer.weight == before).any()
            tensor(False)
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the map."""
        return F.linear(input, *weight_and_bias(self))

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear; PyTorch gives its attention this class to keep it from being quantised."""


class Bilinear(Module):
    """`x1 @ W[o] @ x2 + b[o]` for every output feature.

    Args:
        in1_features: size of each first input.
        in2_features: size of each second input.
        out_features: size of each output.
        bias: whether to add a learned number to each output.
        device: where the parameters are.
        dtype: their type.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.Bilinear(2, 3, 4)
        >>> m(vistorch.ones(5, 2), vistorch.ones(5, 3)).shape
        vistorch.Size([5, 4])
    """

    __constants__ = ("in1_features", "in2_features", "out_features")
    weight: Any
    bias: Any

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        Example:
            >>> import vistorch
            >>> layer = vistorch.nn.Bilinear(4, 3, 2)
            >>> vistorch.nn.init.ones_(layer.weight).max() == 1
            tensor(True)
            >>> layer.reset_parameters()
            >>> layer.weight.abs().max() <= 0.5  # 1 / sqrt(in1_features)
            tensor(True)
        """
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the map."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that learns `in_features` from its first input, and then is an ordinary one.

    Args:
        out_features: size of each output.
        bias: whether to add a learned number to each output.
        device: where the parameters are.
        dtype: their type.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyLinear(3)
        >>> m(vistorch.ones(2, 5)).shape, m
        (vistorch.Size([2, 3]), Linear(in_features=5, out_features=3, bias=True))
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)  # no bias yet, so that nothing is drawn
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if self.in_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that this input asks for.

        Args:
            input: the first input.

        Example:
            >>> import vistorch
            >>> layer = vistorch.nn.LazyLinear(3)
            >>> layer.initialize_parameters(vistorch.ones(2, 5))
            >>> layer.weight.shape
            vistorch.Size([3, 5])
        """
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded from a file
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
