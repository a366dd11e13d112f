"""ShuffleNet V2, four widths.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import Tensor, cat, nn
from .registry import named

__all__ = [
    "ShuffleNetV2",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
]


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Deal the channels of each group out over all of them.

    Args:
        x: (N, channels, height, width).
        groups: how many groups the channels are in.
    """
    n, channels, height, width = x.shape
    dealt = x.view(n, groups, channels // groups, height, width).transpose(1, 2).contiguous()
    return dealt.view(n, channels, height, width)


def _pointwise(inp: int, oup: int) -> list[nn.Module]:
    """A convolution of single pixels, a normalization, an activation."""
    return [
        nn.Conv2d(inp, oup, kernel_size=1, stride=1, padding=0, bias=False),
        nn.BatchNorm2d(oup),
        nn.ReLU(inplace=True),
    ]


class InvertedResidual(nn.Module):
    """Convolve one half of the channels, or halve the size of all, and shuffle.

    Args:
        inp: what comes in.
        oup: what goes out.
        stride: 1 for half of the channels; 2 or 3 for all of them.
    """

    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        if stride not in (1, 2, 3):
            raise ValueError(f"illegal stride value: 1 to 3 expected, got {stride}")
        self.stride = stride
        half = oup // 2
        if stride == 1 and inp != half * 2:
            raise ValueError(
                f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values. If stride == 1 then inp "
                "should be equal to oup // 2 << 1."
            )
        self.branch1 = nn.Sequential()
        if stride > 1:
            self.branch1 = nn.Sequential(
                self.depthwise_conv(inp, inp, kernel_size=3, stride=stride, padding=1),
                nn.BatchNorm2d(inp),
                *_pointwise(inp, half),
            )
        self.branch2 = nn.Sequential(
            *_pointwise(inp if stride > 1 else half, half),
            self.depthwise_conv(half, half, kernel_size=3, stride=stride, padding=1),
            nn.BatchNorm2d(half),
            *_pointwise(half, half),
        )

    @staticmethod
    def depthwise_conv(
        i: int, o: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False
    ) -> nn.Conv2d:
        """A convolution of each channel for itself.

        Args:
            i: what comes in.
            o: what goes out.
            kernel_size: of the filter.
            stride: of the filter.
            padding: with zeros.
            bias: whether there is one.
        """
        return nn.Conv2d(i, o, kernel_size, stride, padding, bias=bias, groups=i)

    def forward(self, x: Tensor) -> Tensor:
        """Both halves, shuffled.

        Args:
            x: (N, inp, height, width).
        """
        first, second = x.chunk(2, dim=1) if self.stride == 1 else (self.branch1(x), x)
        return channel_shuffle(cat((first, self.branch2(second)), 1), 2)


class ShuffleNetV2(nn.Module):
    """Three rows of blocks whose channels are shuffled.

    Args:
        stages_repeats: how many blocks each row has.
        stages_out_channels: what goes out of the first convolution, of each row, of the last convolution.
        num_classes: how many scores come out.
        inverted_residual: makes a block.

    Example:
        >>> from vistorch.vision import models
        >>> net = models.ShuffleNetV2([1, 1, 1], [8, 16, 32, 64, 128], num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        15570
    """

    def __init__(
        self,
        stages_repeats: list[int],
        stages_out_channels: list[int],
        num_classes: int = 1000,
        inverted_residual: Callable[..., nn.Module] = InvertedResidual,
    ) -> None:
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        self._stage_out_channels = stages_out_channels
        first, *rows, last = stages_out_channels
        self.conv1 = nn.Sequential(
            nn.Conv2d(3, first, 3, 2, 1, bias=False), nn.BatchNorm2d(first), nn.ReLU(inplace=True)
        )
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)

        def row(count: int, inp: int, oup: int) -> nn.Sequential:
            return nn.Sequential(
                inverted_residual(inp, oup, 2), *(inverted_residual(oup, oup, 1) for _ in range(count - 1))
            )

        self.stage2, self.stage3, self.stage4 = map(row, stages_repeats, (first, *rows[:2]), rows)
        self.conv5 = nn.Sequential(*_pointwise(rows[-1], last))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        x = self.stage4(self.stage3(self.stage2(self.maxpool(self.conv1(x)))))
        return self.fc(self.conv5(x).mean([2, 3]))


def _add(name: str, channels: list[int]) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> ShuffleNetV2:
        return ShuffleNetV2([4, 8, 4], list(channels), **kwargs)

    return named(
        name,
        f'ShuffleNet V2 of "ShuffleNet V2: Practical Guidelines", {name[-3:].replace("_", ".")} as wide.',
        make,
    )


shufflenet_v2_x0_5 = _add("shufflenet_v2_x0_5", [24, 48, 96, 192, 1024])
shufflenet_v2_x1_0 = _add("shufflenet_v2_x1_0", [24, 116, 232, 464, 1024])
shufflenet_v2_x1_5 = _add("shufflenet_v2_x1_5", [24, 176, 352, 704, 1024])
shufflenet_v2_x2_0 = _add("shufflenet_v2_x2_0", [24, 244, 488, 976, 2048])
