"""MobileNet V2.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import Tensor, nn
from ..ops.misc import Conv2dNormActivation
from .blocks import begin_wide
from .registry import register_model

__all__ = ["MobileNetV2", "mobilenet_v2"]

# How much each row widens inside, its channels, how many blocks it has, the stride of its first.
ROWS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _make_divisible(value: float, divisor: int, least: int | None = None) -> int:
    """The nearest multiple of the divisor that is not more than a tenth too small."""
    near = max(divisor if least is None else least, int(value + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * value else near


class InvertedResidual(nn.Module):
    """Widen, convolve each channel for itself, narrow; with a way around where it fits.

    Args:
        inp: what comes in.
        oup: what goes out.
        stride: 1 or 2.
        expand_ratio: how much is widened.
        norm_layer: takes the channels.
    """

    def __init__(
        self,
        inp: int,
        oup: int,
        stride: int,
        expand_ratio: int,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.stride = stride
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm_layer = norm_layer or nn.BatchNorm2d
        wide = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        unit = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
        layers: list[nn.Module] = []
        if expand_ratio != 1:
            layers.append(unit(inp, wide, kernel_size=1))
        layers += [
            unit(wide, wide, stride=stride, groups=wide),
            nn.Conv2d(wide, oup, 1, 1, 0, bias=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)
        self.out_channels = oup
        self._is_cn = stride > 1

    def forward(self, x: Tensor) -> Any:
        """What the convolutions make of the input, added to it where it fits.

        Args:
            x: (N, inp, height, width).
        """
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    """Rows of inverted residual blocks.

    Args:
        num_classes: how many scores come out.
        width_mult: how many times as wide as the original.
        inverted_residual_setting: rows of (widening, channels, blocks, stride).
        round_nearest: what channels are a multiple of.
        block: makes a block.
        norm_layer: takes the channels.
        dropout: how much is dropped before the last layer.

    Example:
        >>> from vistorch.vision import models
        >>> net = models.MobileNetV2(num_classes=10, width_mult=0.25)
        >>> sum(p.numel() for p in net.parameters())
        250922
    """

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: list[list[int]] | None = None,
        round_nearest: int = 8,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        block = block or InvertedResidual
        norm_layer = norm_layer or nn.BatchNorm2d
        rows = [list(row) for row in ROWS] if inverted_residual_setting is None else inverted_residual_setting
        if len(rows) == 0 or len(rows[0]) != 4:
            raise ValueError(
                f"inverted_residual_setting should be non-empty or a 4-element list, got {inverted_residual_setting}"
            )
        unit = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
        channels = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        features: list[nn.Module] = [unit(3, channels, stride=2)]
        for expand_ratio, width, count, first in rows:
            width = _make_divisible(width * width_mult, round_nearest)
            for k in range(count):
                stride = first if k == 0 else 1
                features.append(
                    block(channels, width, stride, expand_ratio=expand_ratio, norm_layer=norm_layer)
                )
                channels = width
        features.append(unit(channels, self.last_channel, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        for module in self.modules():
            begin_wide(module)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        x = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(x.flatten(1))


@register_model()
def mobilenet_v2(*, weights: None = None, progress: bool = True, **kwargs: Any) -> MobileNetV2:
    """MobileNet V2 of "MobileNetV2: Inverted Residuals and Linear Bottlenecks".

    Args:
        weights: None.
        progress: accepted for compatibility.
        **kwargs: for `MobileNetV2`.

    Example:
        >>> from vistorch.vision import models
        >>> sum(p.numel() for p in models.mobilenet_v2().parameters())
        3504872
    """
    return MobileNetV2(**kwargs)
