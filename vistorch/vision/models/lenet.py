"""LeNet, in the form of PyTorch's tutorials: the network of a first lesson.

Invariant: with its default arguments the names and shapes of its parameters are those of the tutorials' `Net`.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, nn
from .registry import register_model

__all__ = ["LeNet", "lenet"]


class LeNet(nn.Module):
    """Two convolutions with pooling, three linear layers.

    Args:
        num_classes: how many scores come out.
        in_channels: 3 for colour, 1 for grey.
        size: pixels along a side of the pictures: 32 for CIFAR-10, 28 for MNIST.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.models import LeNet
        >>> LeNet()(vistorch.zeros(4, 3, 32, 32)).shape
        vistorch.Size([4, 10])
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 3, size: int = 32) -> None:
        super().__init__()
        side = ((size - 4) // 2 - 4) // 2
        if side < 1:
            raise ValueError(
                f"size must be at least 16, got {size}: two convolutions and poolings leave nothing"
            )
        self.conv1 = nn.Conv2d(in_channels, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * side * side, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, in_channels, size, size).
        """
        x = self.pool(self.conv1(x).relu())
        x = self.pool(self.conv2(x).relu())
        x = x.flatten(1)
        x = self.fc2(self.fc1(x).relu()).relu()
        return self.fc3(x)


@register_model()
def lenet(*, weights: None = None, progress: bool = True, **kwargs: Any) -> LeNet:
    """LeNet for small pictures.

    Args:
        weights: None.
        progress: accepted for compatibility.
        **kwargs: for `LeNet`.

    Example:
        >>> from vistorch.vision import models
        >>> sum(p.numel() for p in models.lenet().parameters())
        62006
    """
    return LeNet(**kwargs)
