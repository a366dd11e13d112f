"""GoogLeNet, the first Inception network.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from ... import Tensor, cat, nn
from .blocks import BasicConv2d, as_inception_wants, asks_for_first_values, ready_for_inception
from .registry import named

__all__ = ["GoogLeNet", "GoogLeNetOutputs", "_GoogLeNetOutputs", "googlenet"]


class GoogLeNetOutputs(NamedTuple):
    """What comes out in training: the scores, and those from the middle of the network, None where there are none.

    Example:
        >>> from vistorch.vision.models import GoogLeNetOutputs
        >>> GoogLeNetOutputs(1, 2, 3)
        GoogLeNetOutputs(logits=1, aux_logits2=2, aux_logits1=3)
    """

    logits: Tensor
    aux_logits2: Tensor | None
    aux_logits1: Tensor | None


_GoogLeNetOutputs = GoogLeNetOutputs

# Of each block: what comes in, and of its four ways what goes out, with what it is narrowed to before.
BLOCKS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}
POOLED = {"3b": ("maxpool3", 3), "4e": ("maxpool4", 2)}  # after which block, and how large the windows are


class Inception(nn.Module):
    """Four ways side by side: single pixels, two sizes of filter, a pooling.

    Args:
        in_channels: what comes in.
        ch1x1: what goes out of the first way.
        ch3x3red: what the second is narrowed to.
        ch3x3: what goes out of the second.
        ch5x5red: what the third is narrowed to.
        ch5x5: what goes out of the third.
        pool_proj: what goes out of the fourth.
        conv_block: makes a convolution.
    """

    def __init__(
        self,
        in_channels: int,
        ch1x1: int,
        ch3x3red: int,
        ch3x3: int,
        ch5x5red: int,
        ch5x5: int,
        pool_proj: int,
        conv_block: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        unit = conv_block or BasicConv2d
        self.branch1 = unit(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(
            unit(in_channels, ch3x3red, kernel_size=1), unit(ch3x3red, ch3x3, kernel_size=3, padding=1)
        )
        # Filters of 3 by 3 in place of 5 by 5: so the files of weights are.
        self.branch3 = nn.Sequential(
            unit(in_channels, ch5x5red, kernel_size=1), unit(ch5x5red, ch5x5, kernel_size=3, padding=1)
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
            unit(in_channels, pool_proj, kernel_size=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """The four ways, side by side.

        Args:
            x: (N, in_channels, height, width).
        """
        return cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class InceptionAux(nn.Module):
    """Scores from the middle of the network, for training.

    Args:
        in_channels: what comes in.
        num_classes: how many scores come out.
        conv_block: makes a convolution.
        dropout: how much is dropped before the last layer.
    """

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        conv_block: Callable[..., nn.Module] | None = None,
        dropout: float = 0.7,
    ) -> None:
        super().__init__()
        self.conv = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: (N, in_channels, height, width).
        """
        x = self.conv(nn.functional.adaptive_avg_pool2d(x, (4, 4))).flatten(1)
        return self.fc2(self.dropout(nn.functional.relu(self.fc1(x), inplace=True)))


class GoogLeNet(nn.Module):
    """Nine Inception blocks; in training, scores from two places in the middle as well.

    Args:
        num_classes: how many scores come out.
        aux_logits: whether scores come from the middle as well.
        transform_input: whether pictures are normalized by ImageNet's means and deviations.
        init_weights: draw the first values from a normal distribution that is cut off.
        blocks: what makes a convolution, a block, scores in the middle.
        dropout: how much is dropped before the last layer.
        dropout_aux: likewise in the middle.

    Example:
        >>> from vistorch.vision import models
        >>> net = models.GoogLeNet(num_classes=10, aux_logits=False, init_weights=False)
        >>> sum(p.numel() for p in net.parameters())
        5610154
    """

    __constants__ = ("aux_logits", "transform_input")

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        init_weights: bool | None = None,
        blocks: list[Callable[..., nn.Module]] | None = None,
        dropout: float = 0.2,
        dropout_aux: float = 0.7,
    ) -> None:
        super().__init__()
        parts = [BasicConv2d, Inception, InceptionAux] if blocks is None else blocks
        drawn = asks_for_first_values(init_weights, "GoogleNet")
        if len(parts) != 3:
            raise ValueError(f"blocks length should be 3 instead of {len(parts)}")
        unit, block, aux = parts
        self.aux_logits = aux_logits
        self.transform_input = transform_input
        self.conv1 = unit(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = unit(64, 64, kernel_size=1)
        self.conv3 = unit(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for name, channels in BLOCKS.items():
            self.add_module(f"inception{name}", block(*channels))
            if name in POOLED:
                pooling, size = POOLED[name]
                self.add_module(pooling, nn.MaxPool2d(size, stride=2, ceil_mode=True))
        self.aux1 = aux(512, num_classes, dropout=dropout_aux) if aux_logits else None
        self.aux2 = aux(528, num_classes, dropout=dropout_aux) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(1024, num_classes)
        if drawn:
            for module in self.modules():
                if isinstance(module, (nn.Conv2d, nn.Linear)):
                    nn.init.trunc_normal_(module.weight, mean=0.0, std=0.01, a=-2, b=2)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes; in training with those from the middle, as `GoogLeNetOutputs`.

        Args:
            x: pictures, (N, 3, height, width).
        """
        if self.transform_input:
            x = as_inception_wants(x)
        x = self.maxpool2(self.conv3(self.conv2(self.maxpool1(self.conv1(x)))))
        x = self.inception4a(self.maxpool3(self.inception3b(self.inception3a(x))))
        first = self.aux1(x) if self.aux1 is not None and self.training else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        second = self.aux2(x) if self.aux2 is not None and self.training else None
        x = self.inception5b(self.inception5a(self.maxpool4(self.inception4e(x))))
        x = self.fc(self.dropout(self.avgpool(x).flatten(1)))
        return GoogLeNetOutputs(x, second, first) if self.training and self.aux_logits else x


def _ready(arguments: dict[str, Any], weights: Any) -> None:
    """As for all Inception networks; scores in the middle only if they are asked for."""
    asked = arguments.get("aux_logits", False)
    ready_for_inception(arguments, weights)
    if asked:
        warnings.warn(
            "auxiliary heads in the pretrained googlenet model are NOT pretrained, so make sure to train them",
            stacklevel=4,
        )


def _fill(network: Any, values: dict[str, Any], given: dict[str, Any]) -> None:
    """Load a file, and take away the scores in the middle that were not asked for."""
    network.load_state_dict(values)
    if not given.get("aux_logits", False):
        network.aux_logits, network.aux1, network.aux2 = False, None, None


def _make(**kwargs: Any) -> GoogLeNet:
    return GoogLeNet(**kwargs)


googlenet = named(
    "googlenet", 'GoogLeNet of "Going Deeper with Convolutions".', _make, prepare=_ready, fill=_fill
)
