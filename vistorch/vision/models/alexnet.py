"""AlexNet, as torchvision builds it.

Invariant: names, shapes and order of the parameters are torchvision's.
"""

from __future__ import annotations

from typing import Any

from ... import nn
from .blocks import Classifying
from .registry import register_model

__all__ = ["AlexNet", "alexnet"]


class AlexNet(Classifying):
    """Five convolutions, three linear layers.

    Args:
        num_classes: how many scores come out.
        dropout: how much is dropped before the first two linear layers.

    Example:
        >>> from unittest.mock import patch
        >>> from vistorch import nn
        >>> from vistorch.vision import models
        >>> with patch.object(nn.Linear, "reset_parameters"):  # as before a file is loaded: less is drawn
        ...     net = models.AlexNet(num_classes=10)
        >>> sum(p.numel() for p in net.parameters())
        57044810
    """

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(64, 192, kernel_size=5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(192, 384, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Linear(4096, num_classes),
        )


@register_model()
def alexnet(*, weights: None = None, progress: bool = True, **kwargs: Any) -> AlexNet:
    """AlexNet of "One weird trick for parallelizing convolutional neural networks".

    Args:
        weights: None.
        progress: accepted for compatibility.
        **kwargs: for `AlexNet`.

    Example:
        >>> from vistorch.vision import models
        >>> models.alexnet(weights="DEFAULT")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: No trained weights come with alexnet, so it cannot take 'DEFAULT': build it with weights=None ...
    """
    return AlexNet(**kwargs)
