"""Inception V3.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ... import Tensor, cat, nn
from .blocks import BasicConv2d, as_inception_wants, asks_for_first_values, ready_for_inception
from .registry import named

__all__ = ["Inception3", "InceptionOutputs", "_InceptionOutputs", "inception_v3"]


class InceptionOutputs(NamedTuple):
    """What comes out in training: the scores, and those from the middle of the network, None where there are none.

    Example:
        >>> from vistorch.vision.models import InceptionOutputs
        >>> InceptionOutputs(1, 2)
        InceptionOutputs(logits=1, aux_logits=2)
    """

    logits: Tensor
    aux_logits: Tensor | None


_InceptionOutputs = InceptionOutputs

Unit = Callable[..., nn.Module]
# A long filter keeps the size.
WIDE = {"kernel_size": (1, 7), "padding": (0, 3)}
TALL = {"kernel_size": (7, 1), "padding": (3, 0)}


class _Ways(nn.Module):
    """Ways side by side, each a row of convolutions."""

    # The convolutions of each way, by their names; in a tuple those that go side by side at its end.
    ways: tuple[tuple[Any, ...], ...] = ()
    mean = True  # whether the last way begins with a mean, or is a maximum

    def forward(self, x: Tensor) -> Tensor:
        """All the ways, side by side.

        Args:
            x: (N, in_channels, height, width).
        """
        outputs = []
        for way in self.ways:
            out = x
            for step in way:
                if isinstance(step, tuple):
                    out = cat([self._modules[name](out) for name in step], 1)  # type: ignore[misc]
                else:
                    out = self._modules[step](out)  # type: ignore[misc]
            outputs.append(out)
        if self.mean:
            pooled = nn.functional.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
            outputs.append(self.branch_pool(pooled))
        else:
            outputs.append(nn.functional.max_pool2d(x, kernel_size=3, stride=2))
        return cat(outputs, 1)


class InceptionA(_Ways):
    """Filters of one, five and twice three pixels.

    Args:
        in_channels: what comes in.
        pool_features: what goes out of the last way.
        conv_block: makes a convolution.
    """

    ways = (
        ("branch1x1",),
        ("branch5x5_1", "branch5x5_2"),
        ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"),
    )

    def __init__(self, in_channels: int, pool_features: int, conv_block: Unit | None = None) -> None:
        super().__init__()
        unit = conv_block or BasicConv2d
        self.branch1x1 = unit(in_channels, 64, kernel_size=1)
        self.branch5x5_1 = unit(in_channels, 48, kernel_size=1)
        self.branch5x5_2 = unit(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1 = unit(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = unit(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = unit(96, 96, kernel_size=3, padding=1)
        self.branch_pool = unit(in_channels, pool_features, kernel_size=1)


class InceptionB(_Ways):
    """Half the size, by filters of three pixels.

    Args:
        in_channels: what comes in.
        conv_block: makes a convolution.
    """

    ways = (("branch3x3",), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"))
    mean = False

    def __init__(self, in_channels: int, conv_block: Unit | None = None) -> None:
        super().__init__()
        unit = conv_block or BasicConv2d
        self.branch3x3 = unit(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1 = unit(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = unit(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = unit(96, 96, kernel_size=3, stride=2)


class InceptionC(_Ways):
    """Filters of seven pixels in a row or a column.

    Args:
        in_channels: what comes in.
        channels_7x7: how wide the long ways are inside.
        conv_block: makes a convolution.
    """

    ways = (
        ("branch1x1",),
        ("branch7x7_1", "branch7x7_2", "branch7x7_3"),
        ("branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"),
    )

    def __init__(self, in_channels: int, channels_7x7: int, conv_block: Unit | None = None) -> None:
        super().__init__()
        unit, inside = conv_block or BasicConv2d, channels_7x7
        self.branch1x1 = unit(in_channels, 192, kernel_size=1)
        self.branch7x7_1 = unit(in_channels, inside, kernel_size=1)
        self.branch7x7_2 = unit(inside, inside, **WIDE)
        self.branch7x7_3 = unit(inside, 192, **TALL)
        self.branch7x7dbl_1 = unit(in_channels, inside, kernel_size=1)
        self.branch7x7dbl_2 = unit(inside, inside, **TALL)
        self.branch7x7dbl_3 = unit(inside, inside, **WIDE)
        self.branch7x7dbl_4 = unit(inside, inside, **TALL)
        self.branch7x7dbl_5 = unit(inside, 192, **WIDE)
        self.branch_pool = unit(in_channels, 192, kernel_size=1)


class InceptionD(_Ways):
    """Half the size, after long filters.

    Args:
        in_channels: what comes in.
        conv_block: makes a convolution.
    """

    ways = (
        ("branch3x3_1", "branch3x3_2"),
        ("branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"),
    )
    mean = False

    def __init__(self, in_channels: int, conv_block: Unit | None = None) -> None:
        super().__init__()
        unit = conv_block or BasicConv2d
        self.branch3x3_1 = unit(in_channels, 192, kernel_size=1)
        self.branch3x3_2 = unit(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1 = unit(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2 = unit(192, 192, **WIDE)
        self.branch7x7x3_3 = unit(192, 192, **TALL)
        self.branch7x7x3_4 = unit(192, 192, kernel_size=3, stride=2)


class InceptionE(_Ways):
    """Ways that end in a row and a column of pixels, side by side.

    Args:
        in_channels: what comes in.
        conv_block: makes a convolution.
    """

    ways = (
        ("branch1x1",),
        ("branch3x3_1", ("branch3x3_2a", "branch3x3_2b")),
        ("branch3x3dbl_1", "branch3x3dbl_2", ("branch3x3dbl_3a", "branch3x3dbl_3b")),
    )

    def __init__(self, in_channels: int, conv_block: Unit | None = None) -> None:
        super().__init__()
        unit = conv_block or BasicConv2d
        self.branch1x1 = unit(in_channels, 320, kernel_size=1)
        self.branch3x3_1 = unit(in_channels, 384, kernel_size=1)
        self.branch3x3_2a = unit(384, 384, kernel_size=(1, 3), padding=(0, 1))
        self.branch3x3_2b = unit(384, 384, kernel_size=(3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = unit(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2 = unit(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a = unit(384, 384, kernel_size=(1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = unit(384, 384, kernel_size=(3, 1), padding=(1, 0))
        self.branch_pool = unit(in_channels, 192, kernel_size=1)


class InceptionAux(nn.Module):
    """Scores from the middle of the network, for training.

    Args:
        in_channels: what comes in.
        num_classes: how many scores come out.
        conv_block: makes a convolution.
    """

    def __init__(self, in_channels: int, num_classes: int, conv_block: Unit | None = None) -> None:
        super().__init__()
        unit: Any = conv_block or BasicConv2d
        self.conv0 = unit(in_channels, 128, kernel_size=1)
        self.conv1 = unit(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc: Any = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: (N, in_channels, height, width).
        """
        x = self.conv1(self.conv0(nn.functional.avg_pool2d(x, kernel_size=5, stride=3)))
        return self.fc(nn.functional.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


class Inception3(nn.Module):
    """Eleven blocks of five kinds; in training, scores from the middle as well.

    Args:
        num_classes: how many scores come out.
        aux_logits: whether scores come from the middle as well.
        transform_input: whether pictures are normalized by ImageNet's means and deviations.
        inception_blocks: what makes a convolution, each of the five kinds, scores in the middle.
        init_weights: draw the first values from a normal distribution that is cut off.
        dropout: how much is dropped before the last layer.

    Example:
        >>> from vistorch.vision import models
        >>> net = models.Inception3(num_classes=10, aux_logits=False, init_weights=False)
        >>> sum(p.numel() for p in net.parameters())
        21806058
    """

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        inception_blocks: list[Unit] | None = None,
        init_weights: bool | None = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        parts: list[Any] = [
            BasicConv2d,
            InceptionA,
            InceptionB,
            InceptionC,
            InceptionD,
            InceptionE,
            InceptionAux,
        ]
        parts = parts if inception_blocks is None else inception_blocks
        drawn = asks_for_first_values(init_weights, "inception_v3")
        if len(parts) != 7:
            raise ValueError(f"length of inception_blocks should be 7 instead of {len(parts)}")
        unit, a, b, c, d, e, aux = parts
        self.aux_logits = aux_logits
        self.transform_input = transform_input
        self.Conv2d_1a_3x3 = unit(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = unit(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = unit(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Conv2d_3b_1x1 = unit(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = unit(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Mixed_5b = a(192, pool_features=32)
        self.Mixed_5c = a(256, pool_features=64)
        self.Mixed_5d = a(288, pool_features=64)
        self.Mixed_6a = b(288)
        self.Mixed_6b = c(768, channels_7x7=128)
        self.Mixed_6c = c(768, channels_7x7=160)
        self.Mixed_6d = c(768, channels_7x7=160)
        self.Mixed_6e = c(768, channels_7x7=192)
        self.AuxLogits = aux(768, num_classes) if aux_logits else None
        self.Mixed_7a = d(768)
        self.Mixed_7b = e(1280)
        self.Mixed_7c = e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(2048, num_classes)
        if drawn:
            for module in self.modules():
                if isinstance(module, (nn.Conv2d, nn.Linear)):
                    spread = float(getattr(module, "stddev", 0.1))
                    nn.init.trunc_normal_(module.weight, mean=0.0, std=spread, a=-2, b=2)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes; in training with those from the middle, as `InceptionOutputs`.

        Args:
            x: pictures, (N, 3, height, width), at least 75 by 75.
        """
        if self.transform_input:
            x = as_inception_wants(x)
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        middle = self.AuxLogits(x) if self.AuxLogits is not None and self.training else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        x = self.fc(self.dropout(self.avgpool(x)).flatten(1))
        return InceptionOutputs(x, middle) if self.training and self.aux_logits else x


def _fill(network: Any, values: dict[str, Any], given: dict[str, Any]) -> None:
    """Load a file, and take away the scores in the middle if they were not asked for."""
    network.load_state_dict(values)
    if not given.get("aux_logits", True):
        network.aux_logits, network.AuxLogits = False, None


def _make(**kwargs: Any) -> Inception3:
    return Inception3(**kwargs)


inception_v3 = named(
    "inception_v3",
    'Inception V3 of "Rethinking the Inception Architecture for Computer Vision".',
    _make,
    prepare=ready_for_inception,
    fill=_fill,
)
