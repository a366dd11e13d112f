"""What several networks are built of.

Invariant: names of children and their order are torchvision's, so that its files fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import Tensor, nn


class Conv2dNormActivation(nn.Sequential):
    """A convolution, a normalization and an activation.

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
        inplace: whether the activation writes into its input.
        bias: whether the convolution has one; only without a normalization if None.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        stride: int = 1,
        padding: int | None = None,
        groups: int = 1,
        norm_layer: Callable[..., nn.Module] | None = nn.BatchNorm2d,
        activation_layer: Callable[..., nn.Module] | None = nn.ReLU,
        dilation: int = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        padding = (kernel_size - 1) // 2 * dilation if padding is None else padding
        layers: list[nn.Module] = [
            nn.Conv2d(
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


class Classifying(nn.Module):
    """Features, then one row of numbers per picture, then classes: the form AlexNet and VGG share."""

    features: nn.Module
    avgpool: nn.Module
    classifier: nn.Module

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.avgpool(self.features(x)).flatten(1))
