"""RegNets: X, and Y whose blocks weigh their channels.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from ... import Tensor, arange, nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from .mobilenetv2 import _make_divisible
from .registry import named

__all__ = [
    "RegNet",
    "regnet_x_1_6gf",
    "regnet_x_3_2gf",
    "regnet_x_8gf",
    "regnet_x_16gf",
    "regnet_x_32gf",
    "regnet_x_400mf",
    "regnet_x_800mf",
    "regnet_y_1_6gf",
    "regnet_y_3_2gf",
    "regnet_y_8gf",
    "regnet_y_16gf",
    "regnet_y_32gf",
    "regnet_y_128gf",
    "regnet_y_400mf",
    "regnet_y_800mf",
]

Layer = Callable[..., nn.Module]


class SimpleStemIN(Conv2dNormActivation):
    """The first convolution: half the size.

    Args:
        width_in: what comes in.
        width_out: what goes out.
        norm_layer: takes the channels.
        activation_layer: makes the activation.
    """

    def __init__(self, width_in: int, width_out: int, norm_layer: Layer, activation_layer: Layer) -> None:
        super().__init__(
            width_in,
            width_out,
            kernel_size=3,
            stride=2,
            norm_layer=norm_layer,
            activation_layer=activation_layer,
        )


class BottleneckTransform(nn.Sequential):
    """A convolution in groups between two of single pixels; in the Y networks the channels are weighed.

    Args:
        width_in: what comes in.
        width_out: what goes out.
        stride: of the middle convolution.
        norm_layer: takes the channels.
        activation_layer: makes the activation.
        group_width: channels of a group.
        bottleneck_multiplier: how many times as wide as the result it is inside.
        se_ratio: how many of the input's channels are between the two layers that weigh; none if None.
    """

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int,
        bottleneck_multiplier: float,
        se_ratio: float | None,
    ) -> None:
        inside = round(width_out * bottleneck_multiplier)
        unit = functools.partial(
            Conv2dNormActivation, norm_layer=norm_layer, activation_layer=activation_layer
        )
        layers: OrderedDict[str, nn.Module] = OrderedDict(
            a=unit(width_in, inside, kernel_size=1),
            b=unit(inside, inside, kernel_size=3, stride=stride, groups=inside // group_width),
        )
        if se_ratio:
            layers["se"] = SqueezeExcitation(inside, round(se_ratio * width_in), activation=activation_layer)
        layers["c"] = unit(inside, width_out, kernel_size=1, activation_layer=None)
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    """A `BottleneckTransform` and a way around.

    Args:
        width_in: what comes in.
        width_out: what goes out.
        stride: of the middle convolution.
        norm_layer: takes the channels.
        activation_layer: makes the activation.
        group_width: channels of a group.
        bottleneck_multiplier: how many times as wide as the result it is inside.
        se_ratio: how many of the input's channels are between the two layers that weigh; none if None.
    """

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int = 1,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
    ) -> None:
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(
                width_in,
                width_out,
                kernel_size=1,
                stride=stride,
                norm_layer=norm_layer,
                activation_layer=None,
            )
        self.f = BottleneckTransform(
            width_in,
            width_out,
            stride,
            norm_layer,
            activation_layer,
            group_width,
            bottleneck_multiplier,
            se_ratio,
        )
        self.activation = activation_layer(inplace=True)

    def forward(self, x: Tensor) -> Any:
        """What is positive of both ways together.

        Args:
            x: (N, width_in, height, width).
        """
        return self.activation((x if self.proj is None else self.proj(x)) + self.f(x))


class AnyStage(nn.Sequential):
    """A row of blocks of which the first has the stride.

    Args:
        width_in: what comes in.
        width_out: what goes out.
        stride: of the first block.
        depth: how many blocks.
        block_constructor: makes a block.
        norm_layer: takes the channels.
        activation_layer: makes the activation.
        group_width: channels of a group.
        bottleneck_multiplier: how many times as wide as its result a block is inside.
        se_ratio: how many of a block's channels are between the two layers that weigh; none if None.
        stage_index: stands in the blocks' names.
    """

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        depth: int,
        block_constructor: Layer,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int,
        bottleneck_multiplier: float,
        se_ratio: float | None = None,
        stage_index: int = 0,
    ) -> None:
        super().__init__()
        rest = (norm_layer, activation_layer, group_width, bottleneck_multiplier, se_ratio)
        for k in range(depth):
            shape = (width_out, width_out, 1) if k else (width_in, width_out, stride)
            self.add_module(f"block{stage_index}-{k}", block_constructor(*shape, *rest))


class BlockParams:
    """What the rows are built with.

    Args:
        depths: how many blocks each row has.
        widths: what goes out of each.
        group_widths: channels of a group in each.
        bottleneck_multipliers: how many times as wide as its result a block is inside.
        strides: of the first block of each.
        se_ratio: how many of a block's channels are between the two layers that weigh; none if None.
    """

    def __init__(
        self,
        depths: list[int],
        widths: list[int],
        group_widths: list[int],
        bottleneck_multipliers: list[float],
        strides: list[int],
        se_ratio: float | None = None,
    ) -> None:
        self.depths = depths
        self.widths = widths
        self.group_widths = group_widths
        self.bottleneck_multipliers = bottleneck_multipliers
        self.strides = strides
        self.se_ratio = se_ratio

    @classmethod
    def from_init_params(
        cls,
        depth: int,
        w_0: int,
        w_a: float,
        w_m: float,
        group_width: int,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
        **kwargs: Any,
    ) -> BlockParams:
        """Rows from a line: widths grow by `w_a` from block to block and are rounded to powers of `w_m`.

        Args:
            depth: how many blocks.
            w_0: the first width.
            w_a: by how much it grows.
            w_m: from row to row, how many times as wide.
            group_width: channels of a group.
            bottleneck_multiplier: how many times as wide as its result a block is inside.
            se_ratio: how many of a block's channels are between the two layers that weigh; none if None.
            **kwargs: accepted for compatibility.

        Example:
            >>> from vistorch.vision.models.regnet import BlockParams
            >>> rows = BlockParams.from_init_params(depth=13, w_0=24, w_a=36.0, w_m=2.5, group_width=8)
            >>> rows.depths, rows.widths
            ([1, 1, 4, 7], [24, 64, 152, 376])
        """
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8 != 0:
            raise ValueError("Invalid RegNet settings")
        # In single precision, as the files of weights were made.
        powers = (((arange(depth) * w_a + w_0) / w_0).log() / math.log(w_m)).round()
        exact = ((w_0 * w_m**powers) / 8).round() * 8
        rows = [(int(width), len(list(blocks))) for width, blocks in itertools.groupby(exact.tolist())]
        count = len(rows)
        multipliers = [bottleneck_multiplier] * count
        widths, group_widths = cls._adjust_widths_groups_compatibilty(
            [width for width, _ in rows], multipliers, [group_width] * count
        )
        return cls([blocks for _, blocks in rows], widths, group_widths, multipliers, [2] * count, se_ratio)

    def _get_expanded_params(self) -> Iterator[tuple[int, int, int, int, float]]:
        return zip(
            self.widths,
            self.strides,
            self.depths,
            self.group_widths,
            self.bottleneck_multipliers,
            strict=False,
        )

    @staticmethod
    def _adjust_widths_groups_compatibilty(
        stage_widths: list[int], bottleneck_ratios: list[float], group_widths: list[int]
    ) -> tuple[list[int], list[int]]:
        """Widths that are whole groups, and groups that are no wider than them."""
        widths, groups = [], []
        for width, ratio, group in zip(stage_widths, bottleneck_ratios, group_widths, strict=True):
            inside = int(width * ratio)
            groups.append(min(group, inside))
            widths.append(int(_make_divisible(inside, groups[-1]) / ratio))
        return widths, groups


class RegNet(nn.Module):
    """Rows of blocks whose widths and depths follow from four numbers.

    Args:
        block_params: what the rows are built with.
        num_classes: how many scores come out.
        stem_width: what goes out of the first convolution.
        stem_type: makes the first convolution.
        block_type: makes a block.
        norm_layer: takes the channels.
        activation: makes the activation.

    Example:
        >>> from vistorch.vision import models
        >>> from vistorch.vision.models.regnet import BlockParams
        >>> net = models.RegNet(BlockParams([1, 1], [16, 32], [8, 8], [1.0, 1.0], [2, 2]), num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        8426
    """

    def __init__(
        self,
        block_params: BlockParams,
        num_classes: int = 1000,
        stem_width: int = 32,
        stem_type: Layer | None = None,
        block_type: Layer | None = None,
        norm_layer: Layer | None = None,
        activation: Layer | None = None,
    ) -> None:
        super().__init__()
        norm_layer, activation = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        self.stem = (stem_type or SimpleStemIN)(3, stem_width, norm_layer, activation)
        rows: OrderedDict[str, nn.Module] = OrderedDict()
        width = stem_width
        for k, (out, stride, depth, group, multiplier) in enumerate(block_params._get_expanded_params(), 1):
            rows[f"block{k}"] = AnyStage(
                width,
                out,
                stride,
                depth,
                block_type or ResBottleneckBlock,
                norm_layer,
                activation,
                group,
                multiplier,
                block_params.se_ratio,
                stage_index=k,
            )
            width = out
        self.trunk_output = nn.Sequential(rows)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                fan_out = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
                nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / fan_out))
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.fc(self.avgpool(self.trunk_output(self.stem(x))).flatten(1))


def _add(name: str, depth: int, w_0: int, w_a: float, w_m: float, group_width: int) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> RegNet:
        own = {"se_ratio": 0.25} if "_y_" in name else {}
        rows = BlockParams.from_init_params(depth, w_0, w_a, w_m, group_width, **own, **kwargs)
        norm_layer = kwargs.pop("norm_layer", functools.partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1))
        return RegNet(rows, norm_layer=norm_layer, **kwargs)

    kind = "RegNet" + name[6:9].upper().replace("_", " ").rstrip() + " " + name[9:].replace("_", ".").upper()
    return named(name, f'{kind} of "Designing Network Design Spaces".', make)


regnet_y_400mf = _add("regnet_y_400mf", 16, 48, 27.89, 2.09, 8)
regnet_y_800mf = _add("regnet_y_800mf", 14, 56, 38.84, 2.4, 16)
regnet_y_1_6gf = _add("regnet_y_1_6gf", 27, 48, 20.71, 2.65, 24)
regnet_y_3_2gf = _add("regnet_y_3_2gf", 21, 80, 42.63, 2.66, 24)
regnet_y_8gf = _add("regnet_y_8gf", 17, 192, 76.82, 2.19, 56)
regnet_y_16gf = _add("regnet_y_16gf", 18, 200, 106.23, 2.48, 112)
regnet_y_32gf = _add("regnet_y_32gf", 20, 232, 115.89, 2.53, 232)
regnet_y_128gf = _add("regnet_y_128gf", 27, 456, 160.83, 2.52, 264)
regnet_x_400mf = _add("regnet_x_400mf", 22, 24, 24.48, 2.54, 16)
regnet_x_800mf = _add("regnet_x_800mf", 16, 56, 35.73, 2.28, 16)
regnet_x_1_6gf = _add("regnet_x_1_6gf", 18, 80, 34.01, 2.25, 24)
regnet_x_3_2gf = _add("regnet_x_3_2gf", 25, 88, 26.31, 2.25, 48)
regnet_x_8gf = _add("regnet_x_8gf", 23, 80, 49.56, 2.88, 120)
regnet_x_16gf = _add("regnet_x_16gf", 22, 216, 55.59, 2.1, 128)
regnet_x_32gf = _add("regnet_x_32gf", 23, 320, 69.86, 2.0, 168)
