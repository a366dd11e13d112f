"""MobileNet V3, large and small.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ... import Tensor, nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from .blocks import begin_wide
from .mobilenetv2 import _make_divisible
from .registry import named

__all__ = ["MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small"]

# Of each block: size of its filter, how wide it is inside, what goes out, whether channels are weighed, the
# activation, the stride. What follows the last stride is the tail, which can be halved or dilated.
BLOCKS = {
    "mobilenet_v3_large": """
        3 16 16 - RE 1
        3 64 24 - RE 2
        3 72 24 - RE 1
        5 72 40 SE RE 2
        5 120 40 SE RE 1
        5 120 40 SE RE 1
        3 240 80 - HS 2
        3 200 80 - HS 1
        3 184 80 - HS 1
        3 184 80 - HS 1
        3 480 112 SE HS 1
        3 672 112 SE HS 1
        5 672 160 SE HS 2
        5 960 160 SE HS 1
        5 960 160 SE HS 1
    """,
    "mobilenet_v3_small": """
        3 16 16 SE RE 2
        3 72 24 - RE 2
        3 88 24 - RE 1
        5 96 40 SE HS 2
        5 240 40 SE HS 1
        5 240 40 SE HS 1
        5 120 48 SE HS 1
        5 144 48 SE HS 1
        5 288 96 SE HS 2
        5 576 96 SE HS 1
        5 576 96 SE HS 1
    """,
}
LAST = {"mobilenet_v3_large": 1280, "mobilenet_v3_small": 1024}
TAIL = 3  # blocks
SQUEEZE = functools.partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)


class InvertedResidualConfig:
    """What one block is built with.

    Args:
        input_channels: what comes in.
        kernel: the size of its filter.
        expanded_channels: how wide it is inside.
        out_channels: what goes out.
        use_se: whether channels are weighed.
        activation: "HS" for `Hardswish`, "RE" for `ReLU`.
        stride: 1 or 2.
        dilation: of its filter.
        width_mult: how many times as wide as the original.
    """

    def __init__(
        self,
        input_channels: int,
        kernel: int,
        expanded_channels: int,
        out_channels: int,
        use_se: bool,
        activation: str,
        stride: int,
        dilation: int,
        width_mult: float,
    ) -> None:
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se = use_se
        self.use_hs = activation == "HS"
        self.stride = stride
        self.dilation = dilation

    @staticmethod
    def adjust_channels(channels: int, width_mult: float) -> int:
        """So many times as many channels, a multiple of eight.

        Args:
            channels: of the original.
            width_mult: how many times as many.
        """
        return _make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    """Widen, convolve each channel for itself, weigh the channels, narrow; with a way around where it fits.

    Args:
        cnf: what it is built with.
        norm_layer: takes the channels.
        se_layer: weighs the channels; takes them and how many there are between its two layers.
    """

    def __init__(
        self,
        cnf: InvertedResidualConfig,
        norm_layer: Callable[..., nn.Module],
        se_layer: Callable[..., nn.Module] = SQUEEZE,
    ) -> None:
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError(f"illegal stride value: 1 or 2 expected, got {cnf.stride}")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        wide = cnf.expanded_channels
        unit = functools.partial(
            Conv2dNormActivation,
            norm_layer=norm_layer,
            activation_layer=nn.Hardswish if cnf.use_hs else nn.ReLU,
        )
        layers: list[nn.Module] = []
        if wide != cnf.input_channels:
            layers.append(unit(cnf.input_channels, wide, kernel_size=1))
        layers.append(
            unit(
                wide,
                wide,
                kernel_size=cnf.kernel,
                stride=cnf.stride if cnf.dilation <= 1 else 1,
                dilation=cnf.dilation,
                groups=wide,
            )
        )
        if cnf.use_se:
            layers.append(se_layer(wide, _make_divisible(wide // 4, 8)))
        layers.append(
            Conv2dNormActivation(
                wide, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None
            )
        )
        self.block = nn.Sequential(*layers)
        self.out_channels = cnf.out_channels
        self._is_cn = cnf.stride > 1

    def forward(self, input: Tensor) -> Any:
        """What the convolutions make of the input, added to it where it fits.

        Args:
            input: (N, input_channels, height, width).
        """
        out = self.block(input)
        if self.use_res_connect:
            out += input
        return out


class MobileNetV3(nn.Module):
    """Inverted residual blocks, some of which weigh their channels.

    Args:
        inverted_residual_setting: an `InvertedResidualConfig` for each block.
        last_channel: how wide the last hidden layer is.
        num_classes: how many scores come out.
        block: makes a block.
        norm_layer: takes the channels.
        dropout: how much is dropped before the last layer.
        **kwargs: accepted for compatibility.

    Example:
        >>> from vistorch.vision import models
        >>> from vistorch.vision.models.mobilenetv3 import InvertedResidualConfig
        >>> rows = [InvertedResidualConfig(16, 3, 32, 16, True, "HS", 2, 1, 1.0)]
        >>> sum(p.numel() for p in models.MobileNetV3(rows, 64, num_classes=10).parameters())
        11074
    """

    def __init__(
        self,
        inverted_residual_setting: Sequence[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
        dropout: float = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        rows = inverted_residual_setting
        if not rows:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not isinstance(rows, Sequence) or not all(isinstance(r, InvertedResidualConfig) for r in rows):
            raise TypeError("The inverted_residual_setting should be List[InvertedResidualConfig]")
        block = block or InvertedResidual
        norm_layer = norm_layer or functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        unit = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.Hardswish)
        narrow = rows[-1].out_channels
        self.features = nn.Sequential(
            unit(3, rows[0].input_channels, kernel_size=3, stride=2),
            *(block(row, norm_layer) for row in rows),
            unit(narrow, 6 * narrow, kernel_size=1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * narrow, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(p=dropout, inplace=True),
            nn.Linear(last_channel, num_classes),
        )
        for module in self.modules():
            begin_wide(module)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def _mobilenet_v3_conf(
    arch: str, width_mult: float = 1.0, reduced_tail: bool = False, dilated: bool = False, **kwargs: Any
) -> tuple[list[InvertedResidualConfig], int]:
    """The blocks of an architecture, and how wide its last hidden layer is."""
    if arch not in BLOCKS:
        raise ValueError(f"Unsupported model type {arch}")
    lines = [line.split() for line in BLOCKS[arch].strip().split("\n")]
    share = 2 if reduced_tail else 1
    rows, channels = [], 16
    for k, (kernel, wide, out, weighed, activation, stride) in enumerate(lines, TAIL - len(lines)):
        inside = int(wide) // (share if k > 0 else 1)
        outside = int(out) // (share if k >= 0 else 1)
        dilation = 2 if dilated and k >= 0 else 1
        rows.append(
            InvertedResidualConfig(
                channels,
                int(kernel),
                inside,
                outside,
                weighed == "SE",
                activation,
                int(stride),
                dilation,
                width_mult,
            )
        )
        channels = outside
    return rows, InvertedResidualConfig.adjust_channels(LAST[arch] // share, width_mult)


def _add(name: str) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> MobileNetV3:
        rows, last = _mobilenet_v3_conf(name, **kwargs)
        return MobileNetV3(rows, last, **kwargs)

    return named(name, f'{name.title().replace("_", " ")} of "Searching for MobileNetV3".', make)


mobilenet_v3_large = _add("mobilenet_v3_large")
mobilenet_v3_small = _add("mobilenet_v3_small")
