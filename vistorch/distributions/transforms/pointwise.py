"""Transforms of each number for itself.

Invariant: where a result would round to a bound that its codomain leaves out, it is kept off the bound.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ...nn.functional import softplus
from .. import constraints
from ..utils import NUMBERS, broadcast_all, lazy_property
from .transform import Alike, Transform


class ExpTransform(Alike):
    """y = exp(x).

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import ExpTransform, Normal, TransformedDistribution
        >>> log_normal = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> log_normal.log_prob(vistorch.tensor(1.0))
        tensor(-0.9189)
    """

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The argument itself."""
        return x


class PowerTransform(Transform):
    """y = x ** exponent.

    Args:
        exponent: a number or a tensor.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import PowerTransform
        >>> PowerTransform(2.0)(vistorch.tensor([3.0])), PowerTransform(2.0).inv(vistorch.tensor([9.0]))
        (tensor([9.]), tensor([3.]))
    """

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _parts(self) -> tuple:
        return (self.exponent,)

    @lazy_property
    def sign(self) -> Any:
        """The sign of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and self.exponent.eq(other.exponent).all().item()

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Log |exponent y / x|."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        """The shape, broadcast with that of the exponent."""
        return vistorch.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def clipped_sigmoid(x: Any) -> Any:
    """The sigmoid, kept off 0 and 1."""
    limits = vistorch.finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


class SigmoidTransform(Alike):
    """y = 1 / (1 + exp(-x)).

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import SigmoidTransform
        >>> SigmoidTransform()(vistorch.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """

    domain, codomain = constraints.real, constraints.unit_interval
    bijective, sign = True, +1

    def _call(self, x: Any) -> Any:
        return clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        limits = vistorch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(y (1 - y)), from `x` so that it does not overflow."""
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Alike):
    """y = log(1 + exp(x)).

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import SoftplusTransform
        >>> SoftplusTransform()(vistorch.tensor([0.0, 20.0]))
        tensor([ 0.6931, 20.0000])
    """

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, +1

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the sigmoid of `x`."""
        return -softplus(-x)


class TanhTransform(Alike):
    """y = tanh(x).

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import TanhTransform
        >>> TanhTransform()(vistorch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)
    bijective, sign = True, +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(1 - y * y), from `x` so that it does not round to log(0)."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Alike):
    """y = |x|, which has no inverse: `inv` gives the positive one.

    Args:
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import AbsTransform
        >>> AbsTransform()(vistorch.tensor([-2.0, 3.0]))
        tensor([2., 3.])
    """

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


def _equal(a: Any, b: Any) -> bool:
    """Whether two numbers or tensors are the same throughout."""
    same = a == b
    return same if isinstance(same, bool) else bool(same.all().item())


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc: a number or a tensor.
        scale: a number or a tensor.
        event_dim: how many dims at the right are one event.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import AffineTransform
        >>> to_fahrenheit = AffineTransform(32.0, 1.8)
        >>> to_fahrenheit(vistorch.tensor([0.0, 100.0])), to_fahrenheit.inv(vistorch.tensor([50.0]))
        (tensor([ 32., 212.]), tensor([10.]))
    """

    bijective = True
    event_dim = property(lambda self: self._event_dim)
    domain = codomain = constraints.dependent_property(lambda self: self._region(), is_discrete=False)

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _region(self) -> Any:
        return (
            constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real
        )

    def _parts(self) -> tuple:
        return self.loc, self.scale, self.event_dim

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _equal(self.loc, other.loc) and _equal(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        """The sign of the scale."""
        if isinstance(self.scale, NUMBERS):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Log |scale|, summed over the dims of the event."""
        shape = x.shape
        if isinstance(self.scale, NUMBERS):
            result = vistorch.full_like(x, math.log(abs(self.scale)))
        else:
            result = self.scale.abs().log()
        if self.event_dim:
            result = result.view((*result.size()[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        """The shape, broadcast with those of the parameters."""
        parts = (getattr(part, "shape", ()) for part in (self.loc, self.scale))
        return vistorch.broadcast_shapes(shape, *parts)

    inverse_shape = forward_shape
