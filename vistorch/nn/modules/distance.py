"""How near two vectors are, as modules."""

from __future__ import annotations

from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The norm of the difference of vectors along the last dim.

    Args:
        p: which norm.
        eps: added to each difference, so that none is zero.
        keepdim: keep the last dim with size 1.

    Example:
        >>> import vistorch
        >>> distance = vistorch.nn.PairwiseDistance()
        >>> distance(vistorch.tensor([[0.0, 0.0]]), vistorch.tensor([[3.0, 4.0]]))
        tensor([5.0000])
    """

    __constants__ = ("norm", "eps", "keepdim")

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Measure.

        Args:
            x1: vectors, or one vector.
            x2: as many vectors, or one.
        """
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dim.

    Args:
        dim: the dim of the vectors.
        eps: the least that a norm counts as.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CosineSimilarity()(vistorch.tensor([[1.0, 0.0]]), vistorch.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """

    __constants__ = ("dim", "eps")

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Measure.

        Args:
            x1: a floating point tensor.
            x2: another, whose shape broadcasts with it.
        """
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
