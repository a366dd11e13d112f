"""Samples of a distribution, transformed.

Invariant: the density is that of the sample taken back, less what the transforms stretch.
"""

from __future__ import annotations

from typing import Any

from ..engine.base.size import Size
from . import constraints
from .distribution import Distribution
from .family import Family
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import sum_rightmost

__all__ = ["TransformedDistribution"]


def _as_list(transforms: Any) -> list:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms


class TransformedDistribution(Family):
    """What transforms make of the samples of a distribution.

    Args:
        base_distribution: the distribution.
        transforms: a transform, or a list of them, the first one first.
        validate_args: whether parameters and samples are checked; without it, the default.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import ExpTransform, Normal
        >>> TransformedDistribution(Normal(0.0, 1.0), ExpTransform()).log_prob(vistorch.tensor(1.0))
        tensor(-0.9189)
    """

    arg_constraints: Any = {}  # noqa: RUF012

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = _as_list(transforms)
        whole = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dims = len(base_distribution.event_shape)
        needs, gives = whole.domain.event_dim, whole.codomain.event_dim
        if len(base_shape) < needs:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {needs}, but got {base_shape}."
            )
        # Parameters of the transforms may make the batch larger.
        shape = Size(whole.forward_shape(base_shape))
        grown = Size(whole.inverse_shape(shape))
        if base_shape != grown:
            base_distribution = base_distribution.expand(grown[: len(grown) - base_dims])
        if needs > base_dims:
            base_distribution = Independent(base_distribution, needs - base_dims)
        self.base_dist = base_distribution
        dims = max(gives, base_dims + gives - needs)
        if len(shape) < dims:
            raise AssertionError(f"forward_shape length {len(shape)} must be >= event_dim {dims}")
        cut = len(shape) - dims
        Distribution.__init__(self, shape[:cut], shape[cut:], validate_args=validate_args)

    def _expand_into(self, new: Any, shape: Size) -> None:
        super()._expand_into(new, shape)
        shape = shape + self.event_shape
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms

    support: Any = constraints.dependent_property(lambda self: self._where_it_ends(), is_discrete=False)

    def _where_it_ends(self) -> Any:
        """The codomain of the last transform, for whole events."""
        if not self.transforms:
            return self.base_dist.support
        inside = self.transforms[-1].codomain
        missing = len(self.event_shape) - inside.event_dim
        return constraints.independent(inside, missing) if missing > 0 else inside

    def _transformed(self, value: Any) -> Any:
        for t in self.transforms:
            value = t(value)
        return value

    def _sample(self, sample_shape: Size) -> Any:
        return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples as functions of the parameters, with gradients.

        Args:
            sample_shape: how many, as a shape.
        """
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        dims = len(self.event_shape)
        total: Any = 0.0
        y = value
        for t in reversed(self.transforms):
            x = t.inv(y)
            dims += t.domain.event_dim - t.codomain.event_dim
            total = total - sum_rightmost(t.log_abs_det_jacobian(x, y), dims - t.domain.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _turned(self, value: Any) -> Any:
        """A probability, or what is missing to 1 where the transforms turn the order round."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        """The probability of a sample up to `value`.

        Args:
            value: samples.
        """
        for t in reversed(self.transforms):
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._turned(self.base_dist.cdf(value))

    def _icdf(self, value: Any) -> Any:
        return self._transformed(self.base_dist.icdf(self._turned(value)))
