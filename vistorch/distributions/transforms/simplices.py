"""Transforms of vectors to points of a simplex.

Invariant: results are positive and add up to 1.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ...nn.functional import logsigmoid, pad
from .. import constraints
from .pointwise import clipped_sigmoid
from .transform import NO_DIMS, Alike


def _vector(shape: Any) -> Any:
    if len(shape) < 1:
        raise ValueError(NO_DIMS)
    return shape


class SoftmaxTransform(Alike):
    """The softmax of each row; it is no bijection, for a constant added to a row changes nothing.

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import SoftmaxTransform
        >>> SoftmaxTransform()(vistorch.tensor([0.0, 0.0, 0.0, 0.0]))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        """The shape itself, which must have a dim."""
        return _vector(shape)

    inverse_shape = forward_shape


class StickBreakingTransform(Alike):
    """Breaks a stick of length 1: each number says where to break what is left, the last piece is the rest.

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import StickBreakingTransform
        >>> StickBreakingTransform()(vistorch.zeros(3))  # three breaks, four pieces
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    def _offset(self, like: Any, n: int) -> Any:
        """The logarithm of how many pieces are still to come, so that zeros give equal pieces."""
        return (n + 1 - like.new_ones(n).cumsum(-1)).log()

    def _call(self, x: Any) -> Any:
        z = clipped_sigmoid(x - self._offset(x, x.shape[-1]))
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        pieces = y[..., :-1]
        left = (1 - pieces.cumsum(-1)).clamp(min=vistorch.finfo(y.dtype).tiny)
        return pieces.log() - left.log() + self._offset(y, pieces.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the pieces.

        Args:
            x: the argument.
            y: the result for it.
        """
        x = x - self._offset(x, x.shape[-1])
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """The shape with one more piece."""
        _vector(shape)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape with one piece less."""
        _vector(shape)
        return (*shape[:-1], shape[-1] - 1)
