"""Random correlation matrices, by their Cholesky factors.

Invariant: rows are drawn from the onion method's marginals, with the numbers that PyTorch draws.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ..engine.base.size import Size
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .family import Family
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Family):
    """Cholesky factors of correlation matrices with a density of det(C) ** (concentration - 1).

    Args:
        dim: how many rows the matrices have.
        concentration: 1 for equal densities, above 1 for matrices near the identity.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import LKJCholesky
        >>> LKJCholesky(3, 0.5).sample().shape
        vistorch.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}  # noqa: RUF012
    support = constraints.corr_cholesky
    _keeps = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        a = self.concentration
        # the share of a row's length that lies below the diagonal; the first row has none
        steps = vistorch.arange(dim - 1, dtype=a.dtype, device=a.device)
        steps = vistorch.cat([steps.new_zeros((1,)), steps])
        self._beta = Beta(steps + 0.5, (a + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * steps)
        Distribution.__init__(self, a.size(), Size((dim, dim)), validate_args)

    def _expand_into(self, new: Any, shape: Size) -> None:
        super()._expand_into(new, shape)
        new._beta = self._beta.expand((*shape, self.dim))

    def _sample(self, sample_shape: Size) -> Any:
        share = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        below = vistorch.randn(shape, dtype=share.dtype, device=share.device).tril(-1)
        direction = below / below.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)  # 0 / 0
        rows = share.sqrt() * direction
        left = (1 - (rows**2).sum(dim=-1)).clamp(min=vistorch.finfo(rows.dtype).tiny)
        return rows + left.sqrt().diag_embed()

    def _log_prob(self, value: Any) -> Any:
        a, n = self.concentration, self.dim - 1
        order = vistorch.arange(2, self.dim + 1, device=a.device)
        order = 2 * (a - 1).unsqueeze(-1) + self.dim - order
        density = (order * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        at = a + 0.5 * n
        return density - (0.5 * n * math.log(math.pi) + vistorch.mvlgamma(at - 0.5, n) - at.lgamma() * n)
