"""EfficientNet B0 to B7, and V2 in three sizes.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import Tensor, nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from .mobilenetv2 import _make_divisible
from .registry import named

__all__ = [
    "EfficientNet",
    "efficientnet_b0",
    "efficientnet_b1",
    "efficientnet_b2",
    "efficientnet_b3",
    "efficientnet_b4",
    "efficientnet_b5",
    "efficientnet_b6",
    "efficientnet_b7",
    "efficientnet_v2_l",
    "efficientnet_v2_m",
    "efficientnet_v2_s",
]


@dataclass
class _MBConvConfig:
    """What one row is built with."""

    expand_ratio: float
    kernel: int
    stride: int
    input_channels: int
    out_channels: int
    num_layers: int
    block: Callable[..., nn.Module]

    @staticmethod
    def adjust_channels(channels: int, width_mult: float, min_value: int | None = None) -> int:
        return _make_divisible(channels * width_mult, 8, min_value)


class MBConvConfig(_MBConvConfig):
    """What a row of `MBConv` is built with.

    Args:
        expand_ratio: how much a block widens.
        kernel: the size of its filter.
        stride: of the first block.
        input_channels: what comes in.
        out_channels: what goes out.
        num_layers: how many blocks it has.
        width_mult: how many times as wide as the original.
        depth_mult: how many times as many blocks.
        block: makes a block.
    """

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        width_mult: float = 1.0,
        depth_mult: float = 1.0,
        block: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__(
            expand_ratio,
            kernel,
            stride,
            self.adjust_channels(input_channels, width_mult),
            self.adjust_channels(out_channels, width_mult),
            self.adjust_depth(num_layers, depth_mult),
            block or MBConv,
        )

    @staticmethod
    def adjust_depth(num_layers: int, depth_mult: float) -> int:
        """So many times as many blocks.

        Args:
            num_layers: of the original.
            depth_mult: how many times as many.
        """
        return math.ceil(num_layers * depth_mult)


class FusedMBConvConfig(_MBConvConfig):
    """What a row of `FusedMBConv` is built with.

    Args:
        expand_ratio: how much a block widens.
        kernel: the size of its filter.
        stride: of the first block.
        input_channels: what comes in.
        out_channels: what goes out.
        num_layers: how many blocks it has.
        block: makes a block.
    """

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        block: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__(
            expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block or FusedMBConv
        )


class _Block(nn.Module):
    """What the two kinds of block share: a way around that may be all that is left."""

    def __init__(self, cnf: _MBConvConfig, stochastic_depth_prob: float, layers: list[nn.Module]) -> None:
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError(f"illegal stride value: 1 or 2 expected, got {cnf.stride}")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input: Tensor) -> Any:
        """What the convolutions make of the input, added to it where it fits.

        Args:
            input: (N, input_channels, height, width).
        """
        out = self.block(input)
        if self.use_res_connect:
            out = self.stochastic_depth(out)
            out += input
        return out


class MBConv(_Block):
    """Widen, convolve each channel for itself, weigh the channels, narrow.

    Args:
        cnf: what it is built with.
        stochastic_depth_prob: how likely it is left out.
        norm_layer: takes the channels.
        se_layer: weighs the channels.
    """

    def __init__(
        self,
        cnf: MBConvConfig,
        stochastic_depth_prob: float,
        norm_layer: Callable[..., nn.Module],
        se_layer: Callable[..., nn.Module] = SqueezeExcitation,
    ) -> None:
        unit = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        inp, wide = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        layers: list[nn.Module] = [unit(inp, wide, kernel_size=1)] if wide != inp else []
        layers += [
            unit(wide, wide, kernel_size=cnf.kernel, stride=cnf.stride, groups=wide),
            se_layer(wide, max(1, inp // 4), activation=functools.partial(nn.SiLU, inplace=True)),
            unit(wide, cnf.out_channels, kernel_size=1, activation_layer=None),
        ]
        super().__init__(cnf, stochastic_depth_prob, layers)


class FusedMBConv(_Block):
    """Widen and convolve at once, narrow.

    Args:
        cnf: what it is built with.
        stochastic_depth_prob: how likely it is left out.
        norm_layer: takes the channels.
    """

    def __init__(
        self, cnf: FusedMBConvConfig, stochastic_depth_prob: float, norm_layer: Callable[..., nn.Module]
    ) -> None:
        unit = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        inp, oup = cnf.input_channels, cnf.out_channels
        wide = cnf.adjust_channels(inp, cnf.expand_ratio)
        layers: list[nn.Module] = [
            unit(inp, wide if wide != inp else oup, kernel_size=cnf.kernel, stride=cnf.stride)
        ]
        if wide != inp:
            layers.append(unit(wide, oup, kernel_size=1, activation_layer=None))
        super().__init__(cnf, stochastic_depth_prob, layers)


class EfficientNet(nn.Module):
    """Rows of inverted residual blocks, scaled in width, depth and size of the picture together.

    Args:
        inverted_residual_setting: an `MBConvConfig` or a `FusedMBConvConfig` for each row.
        dropout: how much is dropped before the last layer.
        stochastic_depth_prob: how likely the last block is left out; the first never is.
        num_classes: how many scores come out.
        norm_layer: takes the channels.
        last_channel: what goes out of the last convolution; four times what comes in if None.

    Example:
        >>> from vistorch.vision import models
        >>> from vistorch.vision.models.efficientnet import MBConvConfig
        >>> net = models.EfficientNet([MBConvConfig(4, 3, 2, 8, 16, 2)], dropout=0.2, num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        6904
    """

    def __init__(
        self,
        inverted_residual_setting: Sequence[MBConvConfig | FusedMBConvConfig],
        dropout: float,
        stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000,
        norm_layer: Callable[..., nn.Module] | None = None,
        last_channel: int | None = None,
    ) -> None:
        super().__init__()
        rows = inverted_residual_setting
        if not rows:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not isinstance(rows, Sequence) or not all(isinstance(row, _MBConvConfig) for row in rows):
            raise TypeError("The inverted_residual_setting should be List[MBConvConfig]")
        norm_layer = norm_layer or nn.BatchNorm2d
        unit = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        layers: list[nn.Module] = [unit(3, rows[0].input_channels, kernel_size=3, stride=2)]
        count, done = sum(row.num_layers for row in rows), 0
        for row in rows:
            blocks = []
            for k in range(row.num_layers):
                own = copy.copy(row)
                if k:
                    own.input_channels, own.stride = row.out_channels, 1
                blocks.append(own.block(own, stochastic_depth_prob * float(done) / count, norm_layer))
                done += 1
            layers.append(nn.Sequential(*blocks))
        narrow = rows[-1].out_channels
        wide = 4 * narrow if last_channel is None else last_channel
        self.features = nn.Sequential(*layers, unit(narrow, wide, kernel_size=1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(wide, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(module.weight)
            elif isinstance(module, nn.Linear):
                bound = 1.0 / math.sqrt(module.out_features)
                nn.init.uniform_(module.weight, -bound, bound)
            else:
                continue
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


# Of each row of B0: how much it widens, its filter, its stride, what comes in, what goes out, how many blocks.
FIRST = (
    (1, 3, 1, 32, 16, 1),
    (6, 3, 2, 16, 24, 2),
    (6, 5, 2, 24, 40, 2),
    (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4),
    (6, 3, 1, 192, 320, 1),
)
# How many times as wide and as deep as B0, and how much is dropped.
SCALED = {
    "b0": (1.0, 1.0, 0.2),
    "b1": (1.0, 1.1, 0.2),
    "b2": (1.1, 1.2, 0.3),
    "b3": (1.2, 1.4, 0.3),
    "b4": (1.4, 1.8, 0.4),
    "b5": (1.6, 2.2, 0.4),
    "b6": (1.8, 2.6, 0.5),
    "b7": (2.0, 3.1, 0.5),
}
# Of each size of V2 what is dropped, and its rows, of which three are fused.
SECOND = {
    "s": (
        0.2,
        (1, 3, 1, 24, 24, 2),
        (4, 3, 2, 24, 48, 4),
        (4, 3, 2, 48, 64, 4),
        (4, 3, 2, 64, 128, 6),
        (6, 3, 1, 128, 160, 9),
        (6, 3, 2, 160, 256, 15),
    ),
    "m": (
        0.3,
        (1, 3, 1, 24, 24, 3),
        (4, 3, 2, 24, 48, 5),
        (4, 3, 2, 48, 80, 5),
        (4, 3, 2, 80, 160, 7),
        (6, 3, 1, 160, 176, 14),
        (6, 3, 2, 176, 304, 18),
        (6, 3, 1, 304, 512, 5),
    ),
    "l": (
        0.4,
        (1, 3, 1, 32, 32, 4),
        (4, 3, 2, 32, 64, 7),
        (4, 3, 2, 64, 96, 7),
        (4, 3, 2, 96, 192, 10),
        (6, 3, 1, 192, 224, 19),
        (6, 3, 2, 224, 384, 25),
        (6, 3, 1, 384, 640, 7),
    ),
}


def _add(size: str) -> Any:
    """A builder of the first generation under its name."""
    width, depth, dropped = SCALED[size]

    def make(**kwargs: Any) -> EfficientNet:
        rows = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in FIRST]
        if size in ("b5", "b6", "b7"):
            kwargs = {"norm_layer": functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.01), **kwargs}
        return EfficientNet(rows, kwargs.pop("dropout", dropped), **kwargs)

    summary = f'EfficientNet {size.upper()} of "EfficientNet: Rethinking Model Scaling".'
    return named(f"efficientnet_{size}", summary, make)


def _add_second(size: str) -> Any:
    """A builder of the second generation under its name."""
    dropped, *shapes = SECOND[size]

    def make(**kwargs: Any) -> EfficientNet:
        rows = [(FusedMBConvConfig if k < 3 else MBConvConfig)(*row) for k, row in enumerate(shapes)]
        kwargs = {"norm_layer": functools.partial(nn.BatchNorm2d, eps=1e-3), "last_channel": 1280, **kwargs}
        return EfficientNet(rows, kwargs.pop("dropout", dropped), **kwargs)

    summary = f'EfficientNet V2 {size.upper()} of "EfficientNetV2: Smaller Models and Faster Training".'
    return named(f"efficientnet_v2_{size}", summary, make)


efficientnet_b0, efficientnet_b1, efficientnet_b2, efficientnet_b3 = map(_add, ("b0", "b1", "b2", "b3"))
efficientnet_b4, efficientnet_b5, efficientnet_b6, efficientnet_b7 = map(_add, ("b4", "b5", "b6", "b7"))
efficientnet_v2_s, efficientnet_v2_m, efficientnet_v2_l = map(_add_second, "sml")
