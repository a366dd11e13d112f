"""Modules that networks for pictures are built of.

Invariant: names of children and their order are torchvision's, so that its files fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ... import Tensor, nn, ones, zeros
from ...nn.modules.tuples import _ntuple

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "Conv3dNormActivation",
    "ConvNormActivation",
    "FrozenBatchNorm2d",
    "Permute",
    "SqueezeExcitation",
]


class FrozenBatchNorm2d(nn.Module):
    """A batch normalization whose numbers never change: it has buffers and no parameters.

    Args:
        num_features: channels.
        eps: keeps a division from being by zero.

    Example:
        >>> from vistorch.vision.ops import FrozenBatchNorm2d
        >>> FrozenBatchNorm2d(4)
        FrozenBatchNorm2d(4, eps=1e-05)
    """

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", ones(num_features))
        self.register_buffer("bias", zeros(num_features))
        self.register_buffer("running_mean", zeros(num_features))
        self.register_buffer("running_var", ones(num_features))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        state_dict.pop(prefix + "num_batches_tracked", None)  # of the normalization that was frozen
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x: Tensor) -> Tensor:
        """The normalized pictures.

        Args:
            x: (N, num_features, height, width).
        """
        w, b, var, mean = (
            t.reshape(1, -1, 1, 1) for t in (self.weight, self.bias, self.running_var, self.running_mean)
        )
        scale = w * (var + self.eps).rsqrt()
        return x * scale + (b - mean * scale)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.weight.shape[0]}, eps={self.eps})"


class ConvNormActivation(nn.Sequential):
    """A convolution, a normalization and an activation; use the classes of two or three dims.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: as much as keeps the size if None.
        groups: of the convolution.
        norm_layer: takes the channels; no normalization if None.
        activation_layer: no activation if None.
        dilation: of the convolution.
        inplace: whether the activation writes into its input; not asked for if None.
        bias: whether the convolution has one; only without a normalization if None.
        conv_layer: the class of the convolution.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Callable[..., nn.Module] | None = nn.BatchNorm2d,
        activation_layer: Callable[..., nn.Module] | None = nn.ReLU,
        dilation: Any = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
        conv_layer: Callable[..., nn.Module] = nn.Conv2d,
    ) -> None:
        if padding is None:
            if isinstance(kernel_size, int) and isinstance(dilation, int):
                padding = (kernel_size - 1) // 2 * dilation
            else:
                dims = len(kernel_size) if isinstance(kernel_size, Sequence) else len(dilation)
                kernel_size, dilation = _ntuple(dims)(kernel_size), _ntuple(dims)(dilation)
                padding = tuple((k - 1) // 2 * d for k, d in zip(kernel_size, dilation, strict=True))
        layers: list[nn.Module] = [
            conv_layer(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias=norm_layer is None if bias is None else bias,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels
        if type(self) is ConvNormActivation:
            warnings.warn(
                "Don't use ConvNormActivation directly, please use Conv2dNormActivation and Conv3dNormActivation "
                "instead.",
                stacklevel=2,
            )


class Conv2dNormActivation(ConvNormActivation):
    """A convolution over pictures, a normalization and an activation.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: as much as keeps the size if None.
        groups: of the convolution.
        norm_layer: takes the channels; no normalization if None.
        activation_layer: no activation if None.
        dilation: of the convolution.
        inplace: whether the activation writes into its input; not asked for if None.
        bias: whether the convolution has one; only without a normalization if None.

    Example:
        >>> from vistorch.vision.ops import Conv2dNormActivation
        >>> [type(layer).__name__ for layer in Conv2dNormActivation(3, 8)]
        ['Conv2d', 'BatchNorm2d', 'ReLU']
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Callable[..., nn.Module] | None = nn.BatchNorm2d,
        activation_layer: Callable[..., nn.Module] | None = nn.ReLU,
        dilation: Any = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            groups,
            norm_layer,
            activation_layer,
            dilation,
            inplace,
            bias,
            nn.Conv2d,
        )


class Conv3dNormActivation(ConvNormActivation):
    """A convolution over videos, a normalization and an activation.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: as much as keeps the size if None.
        groups: of the convolution.
        norm_layer: takes the channels; no normalization if None.
        activation_layer: no activation if None.
        dilation: of the convolution.
        inplace: whether the activation writes into its input; not asked for if None.
        bias: whether the convolution has one; only without a normalization if None.

    Example:
        >>> from vistorch.vision.ops import Conv3dNormActivation
        >>> [type(layer).__name__ for layer in Conv3dNormActivation(3, 8)]
        ['Conv3d', 'BatchNorm3d', 'ReLU']
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Callable[..., nn.Module] | None = nn.BatchNorm3d,
        activation_layer: Callable[..., nn.Module] | None = nn.ReLU,
        dilation: Any = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            groups,
            norm_layer,
            activation_layer,
            dilation,
            inplace,
            bias,
            nn.Conv3d,
        )


class SqueezeExcitation(nn.Module):
    """Weigh the channels of a picture by what two small layers make of their means.

    Args:
        input_channels: of the picture.
        squeeze_channels: between the two layers.
        activation: after the first layer.
        scale_activation: after the second.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import SqueezeExcitation
        >>> SqueezeExcitation(8, 2)(vistorch.ones(1, 8, 4, 4)).shape
        vistorch.Size([1, 8, 4, 4])
    """

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Callable[..., nn.Module] = nn.ReLU,
        scale_activation: Callable[..., nn.Module] = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def _scale(self, input: Tensor) -> Any:
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input)))))

    def forward(self, input: Tensor) -> Tensor:
        """The weighed picture.

        Args:
            input: (N, input_channels, height, width).
        """
        return self._scale(input) * input


class MLP(nn.Sequential):
    """Linear layers, each but the last with a normalization, an activation and a dropout.

    Args:
        in_channels: what comes in.
        hidden_channels: what each layer gives.
        norm_layer: takes the channels; no normalization if None.
        activation_layer: between the layers; none if None.
        inplace: whether activations and dropouts write into their inputs; not asked for if None.
        bias: of the linear layers.
        dropout: how likely an element is zero.

    Example:
        >>> from vistorch.vision.ops import MLP
        >>> [type(layer).__name__ for layer in MLP(4, [8, 2])]
        ['Linear', 'ReLU', 'Dropout', 'Linear', 'Dropout']
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: list[int],
        norm_layer: Callable[..., nn.Module] | None = None,
        activation_layer: Callable[..., nn.Module] | None = nn.ReLU,
        inplace: bool | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        asked = {} if inplace is None else {"inplace": inplace}
        layers: list[nn.Module] = []
        for width in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, width, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(width))
            if activation_layer is not None:
                layers.append(activation_layer(**asked))
            layers.append(nn.Dropout(dropout, **asked))
            in_channels = width
        layers += [nn.Linear(in_channels, hidden_channels[-1], bias=bias), nn.Dropout(dropout, **asked)]
        super().__init__(*layers)


class Permute(nn.Module):
    """`permute` as a module.

    Args:
        dims: the dims in their new order.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import Permute
        >>> Permute([0, 2, 1])(vistorch.ones(2, 3, 4)).shape
        vistorch.Size([2, 4, 3])
    """

    def __init__(self, dims: list[int]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Tensor) -> Tensor:
        """A view with the dims in another order.

        Args:
            x: any tensor of as many dims.
        """
        return x.permute(*self.dims)
