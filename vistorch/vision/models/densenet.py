"""DenseNets, in which every layer sees all before it.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ... import Tensor, cat, nn
from ...utils.checkpoint import checkpoint
from .registry import named

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]

# The files of weights say "norm.1" where the networks say "norm1".
OLD_NAME = re.compile(r"(denselayer\d+\.(?:norm|relu|conv))\.([12]\.)")


class _DenseLayer(nn.Module):
    """Narrow what all the layers before have made, convolve it, and give what is new."""

    def __init__(
        self,
        num_input_features: int,
        growth_rate: int,
        bn_size: int,
        drop_rate: float,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        narrow = bn_size * growth_rate
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, narrow, kernel_size=1, stride=1, bias=False)
        self.norm2 = nn.BatchNorm2d(narrow)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(narrow, growth_rate, kernel_size=3, stride=1, padding=1, bias=False)
        self.drop_rate = float(drop_rate)
        self.memory_efficient = memory_efficient

    def bn_function(self, inputs: Sequence[Tensor]) -> Any:
        return self.conv1(self.relu1(self.norm1(cat(list(inputs), 1))))

    def forward(self, input: Any) -> Any:
        before = [input] if isinstance(input, Tensor) else input
        if self.memory_efficient and any(x.requires_grad for x in before):
            out = checkpoint(lambda *inputs: self.bn_function(inputs), *before, use_reentrant=False)
        else:
            out = self.bn_function(before)
        out = self.conv2(self.relu2(self.norm2(out)))
        if self.drop_rate > 0:
            out = nn.functional.dropout(out, p=self.drop_rate, training=self.training)
        return out


class _DenseBlock(nn.ModuleDict):
    """Layers each of which gets what all before it have made."""

    _version = 2

    def __init__(
        self,
        num_layers: int,
        num_input_features: int,
        bn_size: int,
        growth_rate: int,
        drop_rate: float,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        for k in range(num_layers):
            inputs = num_input_features + k * growth_rate
            self.add_module(
                f"denselayer{k + 1}", _DenseLayer(inputs, growth_rate, bn_size, drop_rate, memory_efficient)
            )

    def forward(self, init_features: Tensor) -> Tensor:
        features = [init_features]
        for layer in self.values():
            features.append(layer(features))
        return cat(features, 1)


class _Transition(nn.Sequential):
    """Halve the size between two blocks."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(num_input_features, num_output_features, kernel_size=1, stride=1, bias=False)
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)


class DenseNet(nn.Module):
    """Blocks in which every layer sees all before it, with a transition between two of them.

    Args:
        growth_rate: how many channels a layer adds.
        block_config: how many layers each block has.
        num_init_features: what goes out of the first convolution.
        bn_size: how many times the growth rate a layer narrows to.
        drop_rate: how much is dropped after each layer.
        num_classes: how many scores come out.
        memory_efficient: compute again in the backward pass what is large.

    Example:
        >>> from vistorch.vision import models
        >>> net = models.DenseNet(8, (2, 2), 16, num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        15546
    """

    def __init__(
        self,
        growth_rate: int = 32,
        block_config: Sequence[int] = (6, 12, 24, 16),
        num_init_features: int = 64,
        bn_size: int = 4,
        drop_rate: float = 0,
        num_classes: int = 1000,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        features: OrderedDict[str, nn.Module] = OrderedDict(
            conv0=nn.Conv2d(3, num_init_features, kernel_size=7, stride=2, padding=3, bias=False),
            norm0=nn.BatchNorm2d(num_init_features),
            relu0=nn.ReLU(inplace=True),
            pool0=nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        channels = num_init_features
        for k, count in enumerate(block_config, 1):
            features[f"denseblock{k}"] = _DenseBlock(
                count, channels, bn_size, growth_rate, drop_rate, memory_efficient
            )
            channels += count * growth_rate
            if k < len(block_config):
                features[f"transition{k}"] = _Transition(channels, channels // 2)
                channels //= 2
        features["norm5"] = nn.BatchNorm2d(channels)
        self.features = nn.Sequential(features)
        self.classifier = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        x = nn.functional.relu(self.features(x), inplace=True)
        return self.classifier(nn.functional.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


def _fill(network: nn.Module, values: dict[str, Any], given: dict[str, Any]) -> None:
    """Load a file whose names may be old."""
    network.load_state_dict({OLD_NAME.sub(r"\1\2", key): value for key, value in values.items()})


def _add(layers: int, growth_rate: int, block_config: tuple[int, ...], first: int) -> Any:
    """A builder under its name."""

    def make(**kwargs: Any) -> DenseNet:
        return DenseNet(growth_rate, block_config, first, **kwargs)

    summary = f'DenseNet of "Densely Connected Convolutional Networks" with {layers} layers.'
    return named(f"densenet{layers}", summary, make, fill=_fill)


densenet121 = _add(121, 32, (6, 12, 24, 16), 64)
densenet161 = _add(161, 48, (6, 12, 36, 24), 96)
densenet169 = _add(169, 32, (6, 12, 32, 32), 64)
densenet201 = _add(201, 32, (6, 12, 48, 32), 64)
