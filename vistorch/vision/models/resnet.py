"""ResNet, ResNeXt and wide ResNet.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import Tensor, nn
from .registry import fix, named

__all__ = [
    "ResNet",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "resnext101_64x4d",
    "wide_resnet50_2",
    "wide_resnet101_2",
]


def conv3x3(
    in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1
) -> nn.Conv2d:
    """A convolution over 3 by 3 pixels that keeps the size.

    Args:
        in_planes: what comes in.
        out_planes: what goes out.
        stride: of the convolution.
        groups: of the convolution.
        dilation: of the convolution.
    """
    return nn.Conv2d(
        in_planes,
        out_planes,
        kernel_size=3,
        stride=stride,
        padding=dilation,
        groups=groups,
        bias=False,
        dilation=dilation,
    )


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """A convolution over single pixels.

    Args:
        in_planes: what comes in.
        out_planes: what goes out.
        stride: of the convolution.
    """
    return nn.Conv2d(in_planes, out_planes, kernel_size=1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    """Two convolutions and a way around them.

    Args:
        inplanes: what comes in.
        planes: what goes out.
        stride: of the first convolution.
        downsample: makes the way around fit, or None.
        groups: 1.
        base_width: 64.
        dilation: 1.
        norm_layer: takes the channels.
    """

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Any:
        """The input and what two convolutions add to it.

        Args:
            x: (N, inplanes, height, width).
        """
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """A convolution between two that narrow and widen, and a way around them.

    Args:
        inplanes: what comes in.
        planes: a quarter of what goes out.
        stride: of the middle convolution.
        downsample: makes the way around fit, or None.
        groups: of the middle convolution.
        base_width: of a group, where planes is 64.
        dilation: of the middle convolution.
        norm_layer: takes the channels.
    """

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Any:
        """The input and what three convolutions add to it.

        Args:
            x: (N, inplanes, height, width).
        """
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """Four rows of blocks with ways around them.

    Args:
        block: `BasicBlock` or `Bottleneck`.
        layers: how many blocks each row has.
        num_classes: how many scores come out.
        zero_init_residual: begin with blocks that add nothing.
        groups: of the middle convolutions.
        width_per_group: of the middle convolutions.
        replace_stride_with_dilation: for each of the last three rows.
        norm_layer: takes the channels.

    Example:
        >>> from vistorch.vision import models
        >>> from vistorch.vision.models.resnet import BasicBlock
        >>> net = models.ResNet(BasicBlock, [1, 1, 1, 1], num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        4910922
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: list[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: list[bool] | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes = 64
        self.dilation = 1
        dilated = (
            [False, False, False] if replace_stride_with_dilation is None else replace_stride_with_dilation
        )
        if len(dilated) != 3:
            raise ValueError(
                f"replace_stride_with_dilation should be None or a 3-element tuple, got {replace_stride_with_dilation}"
            )
        self.groups = groups
        self.base_width = width_per_group
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], stride=2, dilate=dilated[0])
        self.layer3 = self._make_layer(block, 256, layers[2], stride=2, dilate=dilated[1])
        self.layer4 = self._make_layer(block, 512, layers[3], stride=2, dilate=dilated[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, (BasicBlock, Bottleneck)):
                    last: Any = module.bn3 if isinstance(module, Bottleneck) else module.bn2
                    if last.weight is not None:
                        nn.init.constant_(last.weight, 0)

    def _make_layer(
        self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False
    ) -> nn.Sequential:
        """One row of blocks."""
        before = self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        around = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            around = nn.Sequential(
                conv1x1(self.inplanes, planes * block.expansion, stride),
                self._norm_layer(planes * block.expansion),
            )
        shared = (self.groups, self.base_width)
        row = [block(self.inplanes, planes, stride, around, *shared, before, self._norm_layer)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            row.append(block(self.inplanes, planes, 1, None, *shared, self.dilation, self._norm_layer))
        return nn.Sequential(*row)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def _add(name: str, block: Any, layers: list[int], **fixed: int) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> ResNet:
        for argument, value in fixed.items():
            fix(kwargs, argument, value)
        return ResNet(block, list(layers), **kwargs)

    return named(name, f"{name}: rows of {', '.join(map(str, layers))} blocks.", make)


resnet18 = _add("resnet18", BasicBlock, [2, 2, 2, 2])
resnet34 = _add("resnet34", BasicBlock, [3, 4, 6, 3])
resnet50 = _add("resnet50", Bottleneck, [3, 4, 6, 3])
resnet101 = _add("resnet101", Bottleneck, [3, 4, 23, 3])
resnet152 = _add("resnet152", Bottleneck, [3, 8, 36, 3])
resnext50_32x4d = _add("resnext50_32x4d", Bottleneck, [3, 4, 6, 3], groups=32, width_per_group=4)
resnext101_32x8d = _add("resnext101_32x8d", Bottleneck, [3, 4, 23, 3], groups=32, width_per_group=8)
resnext101_64x4d = _add("resnext101_64x4d", Bottleneck, [3, 4, 23, 3], groups=64, width_per_group=4)
wide_resnet50_2 = _add("wide_resnet50_2", Bottleneck, [3, 4, 6, 3], width_per_group=128)
wide_resnet101_2 = _add("wide_resnet101_2", Bottleneck, [3, 4, 23, 3], width_per_group=128)
