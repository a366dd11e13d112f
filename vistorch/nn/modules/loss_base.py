"""What loss modules share: a reduction, and for some a weight.

Invariant: a weight is a buffer, so it moves and is saved with the module.
"""

from __future__ import annotations

from ...engine.tensor import Tensor
from .. import _reduction as _Reduction
from .module import Module


class _Loss(Module):
    """A loss with a reduction."""

    reduction: str

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            self.reduction = _Reduction.legacy_get_string(size_average, reduce)
        else:
            self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a weight too."""

    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
