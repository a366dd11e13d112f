"""ConvNeXt, four sizes.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ... import Tensor, nn, ones
from ..ops.misc import Conv2dNormActivation, Permute
from ..ops.stochastic_depth import StochasticDepth
from .registry import named

__all__ = ["ConvNeXt", "convnext_base", "convnext_large", "convnext_small", "convnext_tiny"]


class LayerNorm2d(nn.LayerNorm):
    """A layer normalization over the channels of pictures."""

    def forward(self, x: Tensor) -> Any:
        """The normalized pictures.

        Args:
            x: (N, channels, height, width).
        """
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """A large filter for each channel, then two layers for each pixel, with a way around.

    Args:
        dim: channels.
        layer_scale: what the result is multiplied by at the beginning.
        stochastic_depth_prob: how likely the block is left out.
        norm_layer: takes the channels.
    """

    def __init__(
        self,
        dim: int,
        layer_scale: float,
        stochastic_depth_prob: float,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or functools.partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True),
            Permute([0, 2, 3, 1]),
            norm_layer(dim),
            nn.Linear(dim, 4 * dim),
            nn.GELU(),
            nn.Linear(4 * dim, dim),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale = nn.Parameter(ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input: Tensor) -> Tensor:
        """The input and what the block adds to it.

        Args:
            input: (N, dim, height, width).
        """
        out = self.stochastic_depth(self.layer_scale * self.block(input))
        out += input
        return out


class CNBlockConfig:
    """What one row is built with.

    Args:
        input_channels: of its blocks.
        out_channels: of the convolution that halves the size after them; None for no such convolution.
        num_layers: how many blocks it has.
    """

    def __init__(self, input_channels: int, out_channels: int | None, num_layers: int) -> None:
        self.input_channels = input_channels
        self.out_channels = out_channels
        self.num_layers = num_layers

    def __repr__(self) -> str:
        return (
            f"{self.__class__.__name__}(input_channels={self.input_channels}, out_channels={self.out_channels}, "
            f"num_layers={self.num_layers})"
        )


class ConvNeXt(nn.Module):
    """Rows of blocks with large filters, with a halving of the size between two of them.

    Args:
        block_setting: a `CNBlockConfig` for each row.
        stochastic_depth_prob: how likely the last block is left out; the first never is.
        layer_scale: what a block's result is multiplied by at the beginning.
        num_classes: how many scores come out.
        block: makes a block.
        norm_layer: takes the channels.
        **kwargs: accepted for compatibility.

    Example:
        >>> from vistorch.vision import models
        >>> from vistorch.vision.models.convnext import CNBlockConfig
        >>> net = models.ConvNeXt([CNBlockConfig(8, 16, 1), CNBlockConfig(16, None, 1)], num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        5106
    """

    def __init__(
        self,
        block_setting: Sequence[CNBlockConfig],
        stochastic_depth_prob: float = 0.0,
        layer_scale: float = 1e-6,
        num_classes: int = 1000,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        if not isinstance(block_setting, Sequence) or not all(
            isinstance(row, CNBlockConfig) for row in block_setting
        ):
            raise TypeError("The block_setting should be List[CNBlockConfig]")
        block = block or CNBlock
        norm_layer = norm_layer or functools.partial(LayerNorm2d, eps=1e-6)
        layers: list[nn.Module] = [
            Conv2dNormActivation(
                3,
                block_setting[0].input_channels,
                kernel_size=4,
                stride=4,
                padding=0,
                norm_layer=norm_layer,
                activation_layer=None,
                bias=True,
            )
        ]
        steps = sum(row.num_layers for row in block_setting) - 1.0
        done = 0
        for row in block_setting:
            inp, oup = row.input_channels, row.out_channels
            blocks = []
            for _ in range(row.num_layers):
                blocks.append(block(inp, layer_scale, stochastic_depth_prob * done / steps))
                done += 1
            layers.append(nn.Sequential(*blocks))
            if oup is not None:
                layers.append(nn.Sequential(norm_layer(inp), nn.Conv2d(inp, oup, kernel_size=2, stride=2)))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels
        last = block_setting[-1].input_channels if last is None else last
        self.classifier = nn.Sequential(norm_layer(last), nn.Flatten(1), nn.Linear(last, num_classes))
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.avgpool(self.features(x)))


def _add(size: str, width: int, third: int, left_out: float) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> ConvNeXt:
        widths = [width, 2 * width, 4 * width, 8 * width]
        rows = [
            CNBlockConfig(inp, oup, count)
            for inp, oup, count in zip(widths, [*widths[1:], None], (3, 3, third, 3), strict=True)
        ]
        return ConvNeXt(rows, kwargs.pop("stochastic_depth_prob", left_out), **kwargs)

    return named(f"convnext_{size}", f'ConvNeXt {size.title()} of "A ConvNet for the 2020s".', make)


convnext_tiny = _add("tiny", 96, 9, 0.1)
convnext_small = _add("small", 96, 27, 0.4)
convnext_base = _add("base", 128, 27, 0.5)
convnext_large = _add("large", 192, 27, 0.5)
