"""MNASNet, four widths.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import warnings
from typing import Any

from ... import Tensor, nn
from .mobilenetv2 import _make_divisible
from .registry import named

__all__ = ["MNASNet", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3"]

MOMENTUM = 1 - 0.9997  # of the means of the normalizations
CHANNELS = (32, 16, 24, 40, 80, 96, 192, 320)
# Of each row: size of the filter, stride, how much it widens, how many blocks.
ROWS = ((3, 2, 3, 3), (5, 2, 3, 3), (5, 2, 6, 3), (3, 1, 6, 2), (5, 2, 6, 4), (3, 1, 6, 1))


def _convolution(
    inp: int,
    oup: int,
    momentum: float,
    kernel_size: int = 1,
    stride: int = 1,
    groups: int = 1,
    relu: bool = True,
) -> list[nn.Module]:
    """A convolution that keeps the size where its stride is one, a normalization, perhaps an activation."""
    layers: list[nn.Module] = [
        nn.Conv2d(inp, oup, kernel_size, padding=kernel_size // 2, stride=stride, groups=groups, bias=False),
        nn.BatchNorm2d(oup, momentum=momentum),
    ]
    return [*layers, nn.ReLU(inplace=True)] if relu else layers


class _InvertedResidual(nn.Module):
    """Widen, convolve each channel for itself, narrow; with a way around where it fits."""

    def __init__(
        self,
        in_ch: int,
        out_ch: int,
        kernel_size: int,
        stride: int,
        expansion_factor: int,
        bn_momentum: float = 0.1,
    ) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        if kernel_size not in (3, 5):
            raise ValueError(f"kernel_size should be 3 or 5 instead of {kernel_size}")
        wide = in_ch * expansion_factor
        self.apply_residual = in_ch == out_ch and stride == 1
        self.layers = nn.Sequential(
            *_convolution(in_ch, wide, bn_momentum),
            *_convolution(wide, wide, bn_momentum, kernel_size, stride, wide),
            *_convolution(wide, out_ch, bn_momentum, relu=False),
        )

    def forward(self, input: Tensor) -> Any:
        out = self.layers(input)
        return out + input if self.apply_residual else out


def _row(inp: int, oup: int, shape: tuple[int, int, int, int]) -> nn.Sequential:
    """Blocks of which the first has the stride."""
    kernel_size, stride, widening, count = shape
    return nn.Sequential(
        *(
            _InvertedResidual(oup if k else inp, oup, kernel_size, 1 if k else stride, widening, MOMENTUM)
            for k in range(count)
        )
    )


def _stem(first: int, second: int) -> list[nn.Module]:
    """What comes before the rows."""
    return [
        *_convolution(3, first, MOMENTUM, 3, 2),
        *_convolution(first, first, MOMENTUM, 3, groups=first),
        *_convolution(first, second, MOMENTUM, relu=False),
    ]


class MNASNet(nn.Module):
    """Rows of inverted residual blocks that a search has found, the variant B1.

    Args:
        alpha: how many times as wide as the original.
        num_classes: how many scores come out.
        dropout: how much is dropped before the last layer.

    Example:
        >>> from vistorch.vision import models
        >>> sum(p.numel() for p in models.MNASNet(0.5, num_classes=10).parameters())
        950322
    """

    _version = 2  # in the first, the width of the stem was the same for all

    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha = alpha
        self.num_classes = num_classes
        channels = self._channels()
        self.layers = nn.Sequential(
            *_stem(*channels[:2]),
            *(_row(inp, oup, row) for inp, oup, row in zip(channels[1:], channels[2:], ROWS, strict=False)),
            *_convolution(channels[-1], 1280, MOMENTUM),
        )
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(1280, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.Linear):
                nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
                nn.init.zeros_(module.bias)

    def _channels(self) -> list[int]:
        return [_make_divisible(width * self.alpha, 8) for width in CHANNELS]

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.layers(x).mean([2, 3]))

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        version = local_metadata.get("version")
        if version not in (1, 2):
            raise ValueError(f"version should be set to 1 or 2 instead of {version}")
        if version == 1 and self.alpha != 1.0:
            third = self._channels()[2]
            for k, layer in enumerate([*_stem(*CHANNELS[:2]), _row(CHANNELS[1], third, ROWS[0])]):
                self.layers[k] = layer
            self._version = 1  # and so it is written
            warnings.warn(
                "This file of an MNASNet is of the first version, whose first layers have the same width for every "
                "alpha: the network has been given such layers and works as it did when it was saved",
                stacklevel=2,
            )
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


def _add(name: str, alpha: float) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> MNASNet:
        return MNASNet(alpha, **kwargs)

    return named(
        name, f'MNASNet of "MnasNet: Platform-Aware Neural Architecture Search", {alpha} as wide.', make
    )


mnasnet0_5 = _add("mnasnet0_5", 0.5)
mnasnet0_75 = _add("mnasnet0_75", 0.75)
mnasnet1_0 = _add("mnasnet1_0", 1.0)
mnasnet1_3 = _add("mnasnet1_3", 1.3)
