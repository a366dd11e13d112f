"""VGG with 11, 13, 16 and 19 layers, plain and with batch normalization.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

from typing import Any

from ... import nn
from .blocks import Classifying
from .registry import named

__all__ = ["VGG", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]

# How many convolutions of 64, 128, 256, 512 and 512 channels stand before each pooling.
DEPTHS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
WIDTHS = (64, 128, 256, 512, 512)


def _row(counts: tuple[int, ...]) -> list[int | str]:
    return [part for width, count in zip(WIDTHS, counts, strict=True) for part in (*[width] * count, "M")]


# The same as rows, under the letters of the paper: channels of a convolution, or "M" for a pooling.
cfgs: dict[str, list[int | str]] = {
    letter: _row(DEPTHS[layers]) for letter, layers in zip("ABDE", DEPTHS, strict=True)
}


class VGG(Classifying):
    """Small convolutions in a long row, three linear layers.

    Args:
        features: the convolutions, which give 512 channels.
        num_classes: how many scores come out.
        init_weights: begin as the paper does, not as PyTorch's layers do.
        dropout: how much is dropped after the first two linear layers.

    Example:
        >>> from unittest.mock import patch
        >>> from vistorch import nn
        >>> from vistorch.vision import models
        >>> features = nn.Conv2d(3, 512, kernel_size=3)
        >>> with patch.object(nn.Linear, "reset_parameters"):  # as before a file is loaded: less is drawn
        ...     net = models.VGG(features, num_classes=10, init_weights=False)
        >>> sum(p.numel() for p in net.parameters())
        119601162
    """

    def __init__(
        self, features: nn.Module, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            for module in self.modules():
                _begin(module)


def _begin(module: nn.Module) -> None:
    """The first values of one layer."""
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.ones_(module.weight)
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0, 0.01)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)


def make_layers(cfg: list[int | str], batch_norm: bool = False) -> nn.Sequential:
    """The long row of convolutions.

    Args:
        cfg: the channels of each, and "M" for a pooling.
        batch_norm: normalise after each convolution.

    Example:
        >>> from vistorch.vision.models.vgg import make_layers
        >>> make_layers([4, "M"])
        Sequential(
          (0): Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
          (1): ReLU(inplace=True)
          (2): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
        )
    """
    row: list[nn.Module] = []
    channels = 3
    for part in cfg:
        if part == "M":
            row.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        row.append(nn.Conv2d(channels, int(part), kernel_size=3, padding=1))
        if batch_norm:
            row.append(nn.BatchNorm2d(int(part)))
        row.append(nn.ReLU(inplace=True))
        channels = int(part)
    return nn.Sequential(*row)


def _add(layers: int, batch_norm: bool) -> Any:
    """A builder under its name."""
    name = f"vgg{layers}{'_bn' if batch_norm else ''}"

    def make(**kwargs: Any) -> VGG:
        return VGG(make_layers(_row(DEPTHS[layers]), batch_norm), **kwargs)

    return named(name, f"VGG with {layers} layers{', with batch normalization' if batch_norm else ''}.", make)


vgg11, vgg11_bn = _add(11, False), _add(11, True)
vgg13, vgg13_bn = _add(13, False), _add(13, True)
vgg16, vgg16_bn = _add(16, False), _add(16, True)
vgg19, vgg19_bn = _add(19, False), _add(19, True)
