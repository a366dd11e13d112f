"""SqueezeNet 1.0 and 1.1.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, cat, nn
from .registry import register_model

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]


# How far each fire module squeezes and what goes out of each of its two ways.
FIRES = (
    (16, 64, 64),
    (16, 64, 64),
    (32, 128, 128),
    (32, 128, 128),
    (48, 192, 192),
    (48, 192, 192),
    (64, 256, 256),
    (64, 256, 256),
)


# The first convolution's channels and size; the fire modules before which there is a pooling.
VERSIONS = {"1_0": (96, 7, (0, 3, 7)), "1_1": (64, 3, (0, 2, 4))}


class Fire(nn.Module):
    """Squeeze the channels, then expand them in two ways at once.

    Args:
        inplanes: what comes in.
        squeeze_planes: how far it is squeezed.
        expand1x1_planes: what goes out of single pixels.
        expand3x3_planes: what goes out of 3 by 3 pixels.
    """

    def __init__(
        self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int
    ) -> None:
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Any:
        """Both ways, side by side.

        Args:
            x: (N, inplanes, height, width).
        """
        x = self.squeeze_activation(self.squeeze(x))
        return cat(
            [self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))], 1
        )


class SqueezeNet(nn.Module):
    """Rows of fire modules between poolings.

    Args:
        version: "1_0" or "1_1".
        num_classes: how many scores come out.
        dropout: how much is dropped before the last convolution.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import models
        >>> models.SqueezeNet("1_1", num_classes=10)(vistorch.zeros(1, 3, 32, 32)).shape
        vistorch.Size([1, 10])
    """

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.num_classes = num_classes
        if version not in VERSIONS:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        channels, kernel_size, pooled = VERSIONS[version]
        features: list[nn.Module] = [
            nn.Conv2d(3, channels, kernel_size=kernel_size, stride=2),
            nn.ReLU(inplace=True),
        ]
        for k, (squeezed, *expanded) in enumerate(FIRES):
            if k in pooled:
                features.append(nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True))
            features.append(Fire(channels, squeezed, *expanded))
            channels = sum(expanded)
        self.features = nn.Sequential(*features)
        last = nn.Conv2d(512, num_classes, kernel_size=1)
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout), last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is last:
                    nn.init.normal_(module.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.features(x)).flatten(1)


@register_model()
def squeezenet1_0(*, weights: None = None, progress: bool = True, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet of "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters".

    Args:
        weights: None.
        progress: accepted for compatibility.
        **kwargs: for `SqueezeNet`.

    Example:
        >>> from vistorch.vision import models
        >>> sum(p.numel() for p in models.squeezenet1_0().parameters())
        1248424
    """
    return SqueezeNet("1_0", **kwargs)


@register_model()
def squeezenet1_1(*, weights: None = None, progress: bool = True, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet with less than half the work and the same accuracy.

    Args:
        weights: None.
        progress: accepted for compatibility.
        **kwargs: for `SqueezeNet`.

    Example:
        >>> from vistorch.vision import models
        >>> sum(p.numel() for p in models.squeezenet1_1().parameters())
        1235496
    """
    return SqueezeNet("1_1", **kwargs)
