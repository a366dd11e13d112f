"""What several networks are built of.

Invariant: names of children and their order are torchvision's, so that its files fit.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, nn


class Classifying(nn.Module):
    """Features, then one row of numbers per picture, then classes: the form AlexNet and VGG share."""

    features: nn.Module
    avgpool: nn.Module
    classifier: nn.Module

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        return self.classifier(self.avgpool(self.features(x)).flatten(1))
