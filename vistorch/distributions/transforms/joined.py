"""Transforms side by side along a dim, of whole shapes, and by a distribution.

Invariant: parts along a dim see their own slice and nothing else.
"""

from __future__ import annotations

from typing import Any

import vistorch

from ...engine.base.size import Size
from .. import constraints
from ..utils import lazy_property, sum_rightmost
from .transform import NO_DIMS, Transform


class _Joined(Transform):
    """Transforms along a dim."""

    def __init__(self, tseq: Any, dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))
    domain = constraints.dependent_property(lambda self: self._region([t.domain for t in self.transforms]))
    codomain = constraints.dependent_property(
        lambda self: self._region([t.codomain for t in self.transforms])
    )

    def _region(self, parts: list) -> Any:
        raise NotImplementedError

    def _length(self) -> tuple[int, str]:
        """How long the dim has to be, and what that is called."""
        raise NotImplementedError

    def _split(self, z: Any) -> Any:
        """The parts' slices."""
        raise NotImplementedError

    def _slices(self, z: Any, name: str, called: str = "") -> Any:
        if not -z.dim() <= self.dim < z.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for {called or 'tensor'} with {z.dim()} dimensions"
            )
        length, said = self._length()
        if z.size(self.dim) != length:
            raise AssertionError(f"{name}.size({self.dim}) = {z.size(self.dim)} must equal {said} {length}")
        return self._split(z)

    def _stretches(self, x: Any, y: Any) -> list:
        xs, ys = self._slices(x, "x", "x"), self._slices(y, "y", "y")
        return [t.log_abs_det_jacobian(a, b) for t, a, b in zip(self.transforms, xs, ys, strict=True)]


class CatTransform(_Joined):
    """Transforms along a dim, each of a length of its own.

    Args:
        tseq: the transforms.
        dim: the dim.
        lengths: their lengths; without them, 1 each.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import AffineTransform, CatTransform, ExpTransform
        >>> both = CatTransform([ExpTransform(), AffineTransform(1.0, 2.0)], lengths=[1, 2])
        >>> both(vistorch.tensor([0.0, 1.0, 2.0]))
        tensor([1., 3., 5.])
    """

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    @lazy_property
    def event_dim(self) -> int:
        """The most dims an event of a part has."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The length of all parts."""
        return sum(self.lengths)

    def _parts(self) -> tuple:
        return self.transforms, self.dim, self.lengths

    def _region(self, parts: list) -> Any:
        return constraints.cat(parts, self.dim, self.lengths)

    def _length(self) -> tuple[int, str]:
        return self.length, "length"

    def _split(self, z: Any) -> Any:
        return z.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        parts = self._slices(x, "x")
        return vistorch.cat([t(part) for t, part in zip(self.transforms, parts, strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        parts = self._slices(y, "y")
        return vistorch.cat([t.inv(part) for t, part in zip(self.transforms, parts, strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Those of the parts: along the dim, or added where the dim belongs to the event.

        Args:
            x: the argument.
            y: the result for it.
        """
        terms = [
            sum_rightmost(term, self.event_dim - t.event_dim) if t.event_dim < self.event_dim else term
            for t, term in zip(self.transforms, self._stretches(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return vistorch.cat(terms, dim=dim) if dim < 0 else sum(terms)


class StackTransform(_Joined):
    """Transforms along a dim, one for each index.

    Args:
        tseq: the transforms.
        dim: the dim.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import AffineTransform, ExpTransform, StackTransform
        >>> both = StackTransform([ExpTransform(), AffineTransform(1.0, 2.0)])
        >>> both(vistorch.tensor([0.0, 2.0]))
        tensor([1., 5.])
    """

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _parts(self) -> tuple:
        return self.transforms, self.dim

    def _region(self, parts: list) -> Any:
        return constraints.stack(parts, self.dim)

    def _length(self) -> tuple[int, str]:
        return len(self.transforms), "len(transforms)"

    def _split(self, z: Any) -> Any:
        return z.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        parts = self._slices(x, "x")
        return vistorch.stack([t(part) for t, part in zip(self.transforms, parts, strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        # PyTorch names the argument so here too
        parts = self._slices(y, "y")
        return vistorch.stack([t.inv(part) for t, part in zip(self.transforms, parts, strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Those of the parts, along the dim.

        Args:
            x: the argument.
            y: the result for it.
        """
        return vistorch.stack(self._stretches(x, y), dim=self.dim)


class ReshapeTransform(Transform):
    """Events of one shape as events of another.

    Args:
        in_shape: the shape of an event.
        out_shape: the shape it gets.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import ReshapeTransform
        >>> ReshapeTransform((4,), (2, 2))(vistorch.zeros(5, 4)).shape
        vistorch.Size([5, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    domain = constraints.dependent_property(
        lambda self: constraints.independent(constraints.real, len(self.in_shape))
    )
    codomain = constraints.dependent_property(
        lambda self: constraints.independent(constraints.real, len(self.out_shape))
    )

    def _parts(self) -> tuple:
        return self.in_shape, self.out_shape

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Zeros: nothing is stretched."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def _exchanged(self, shape: Any, old: Size, new: Size) -> Any:
        cut = len(shape) - len(old)
        if cut < 0:
            raise ValueError(NO_DIMS)
        if shape[cut:] != old:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return shape[:cut] + new

    def forward_shape(self, shape: Any) -> Any:
        """The shape with events of the other shape."""
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape with events of the first shape."""
        return self._exchanged(shape, self.out_shape, self.in_shape)


class CumulativeDistributionTransform(Transform):
    """Samples of a distribution as numbers uniform between 0 and 1.

    Args:
        distribution: one with `cdf` and `icdf`.
        cache_size: 1 to keep the last argument and result.

    Example:
        >>> import vistorch
        >>> from vistorch.distributions import CumulativeDistributionTransform, Exponential
        >>> to_uniform = CumulativeDistributionTransform(Exponential(1.0))
        >>> to_uniform(vistorch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.6321])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1
    domain = property(lambda self: self.distribution.support)

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _parts(self) -> tuple:
        return (self.distribution,)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The distribution's `log_prob`."""
        return self.distribution.log_prob(x)
