"""What several networks are built of.

Invariant: names of children and their order are torchvision's, so that its files fit.
"""

from __future__ import annotations

import warnings
from typing import Any

from ... import Tensor, arange, cat, nn


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


def begin_wide(module: nn.Module) -> None:
    """The first values of one layer in a MobileNet.

    Args:
        module: a convolution, a normalization or a linear layer; another is left as it is.
    """
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out")
    elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
        nn.init.ones_(module.weight)
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0, 0.01)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)


class BasicConv2d(nn.Module):
    """A convolution, a normalization, an activation: what the Inception networks are built of.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        **kwargs: for the convolution.
    """

    def __init__(self, in_channels: int, out_channels: int, **kwargs: Any) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x: Tensor) -> Any:
        """What is positive of the normalized convolution.

        Args:
            x: (N, in_channels, height, width).
        """
        return nn.functional.relu(self.bn(self.conv(x)), inplace=True)


# What an Inception network expects less of: means and deviations of one half, where ImageNet's were taken.
IMAGENET = ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225))


def as_inception_wants(x: Tensor) -> Tensor:
    """Pictures normalized by ImageNet's means and deviations, as if by one half.

    Args:
        x: pictures, (N, 3, height, width).
    """
    return cat(
        [
            x[:, k : k + 1] * (deviation / 0.5) + (mean - 0.5) / 0.5
            for k, (mean, deviation) in enumerate(IMAGENET)
        ],
        1,
    )


def asks_for_first_values(init_weights: bool | None, name: str) -> bool:
    """Whether an Inception network draws its first values from a normal distribution that is cut off.

    Args:
        init_weights: as it was asked; None for what torchvision does now, with its warning.
        name: of the network.
    """
    if init_weights is None:
        warnings.warn(
            f"The default weight initialization of {name} will be changed in future releases of torchvision. If you "
            "wish to keep the old behavior (which leads to long initialization times due to scipy/scipy#11299), "
            "please set init_weights=True.",
            FutureWarning,
            stacklevel=3,
        )
        return True
    return init_weights


def ready_for_inception(arguments: dict[str, Any], weights: Any) -> None:
    """The arguments of an Inception network whose values come from a file: the file has scores in the middle.

    Args:
        arguments: of its builder; changed.
        weights: the file.
    """
    arguments.setdefault("transform_input", True)
    arguments.update(aux_logits=True, init_weights=False)


def pairwise_index(height: int, width: int) -> Tensor:
    """Number the way from each position of a window to each other, (positions, positions).

    Args:
        height: of the window.
        width: of the window.
    """
    row, column = arange(height * width) // width, arange(height * width) % width
    down, right = row[:, None] - row + height - 1, column[:, None] - column + width - 1
    return down * (2 * width - 1) + right
