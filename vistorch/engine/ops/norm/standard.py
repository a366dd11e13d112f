"""Values brought to mean zero and deviation one, differentiable as often as one likes.

What recorded gradients of all normalisations are made of; their own kernels do the same in fewer passes.
Invariant: with `centred` False the mean is left alone, as in RMS normalisation.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op
from ...core.tensor import Tensor, wrap
from ...kernels import totals
from ..reduce.frame import size_of


def _moments(xp, input, dims, eps, centred):
    n = input.dtype.type(max(size_of(input.shape, dims), 1))
    away = input - totals.total(xp, input, dims, True) / n if centred else input
    return away, 1 / xp.sqrt(totals.squares(xp, away, dims, True) / n + input.dtype.type(eps))


def _standard(xp, input, dims, eps, centred):
    away, inverse = _moments(xp, input, dims, eps, centred)
    return away * inverse


def _gradient(xp, grad, input, dims, eps, centred):
    n = input.dtype.type(max(size_of(input.shape, dims), 1))
    away, inverse = _moments(xp, input, dims, eps, centred)
    h = away * inverse
    out = grad - h * (totals.total(xp, grad * h, dims, True) / n)
    if centred:
        out -= totals.total(xp, grad, dims, True) / n
    return out * inverse


op(
    "standard",
    _standard,
    name_in_graph="StandardBackward0",
    formula=r"\bar x = \frac{1}{\sigma}\left(\bar y - \mathrm{mean}(\bar y) - y\,\mathrm{mean}(\bar y\, y)\right)",
    input=lambda F, g, input, dims, eps, centred: F.standard_gradient(g, input, dims, eps, centred),
)
op(
    "inverse_deviation",
    lambda xp, input, dims, eps, centred: _moments(xp, input, dims, eps, centred)[1],
    formula=r"\bar x = -\bar y\,\frac{x - \mu}{n\,\sigma^3}",
    input=lambda F, g, input, out, dims, eps, centred: (
        F.standard(input, dims, eps, centred) * (g * out * out * (-1.0 / max(size_of(input.shape, dims), 1)))
    ),
)


def _of_input(F: Any, g: Any, grad: Any, input: Any, dims: tuple, eps: float, centred: bool) -> Any:
    """How the gradient of `standard` changes with its input, along g."""

    def mean(x: Any) -> Any:
        return F.mean_dims(x, dims, True)

    h = F.standard(input, dims, eps, centred)
    s = F.inverse_deviation(input, dims, eps, centred)
    c, d = mean(grad * h), mean(g * h)
    e = mean(g * grad) - c * d
    if centred:
        mean_g, mean_grad = mean(g), mean(grad)
        e = e - mean_g * mean_grad
        g, grad = g - mean_g, grad - mean_grad
    return -(s * s) * (h * (e - c * d * 2.0) + g * c + grad * d)


op(
    "standard_gradient",
    _gradient,
    inputs="grad input",
    name_in_graph="StandardBackwardBackward0",
    formula={
        "grad": r"\bar g = \frac{1}{\sigma}\left(\bar z - \mathrm{mean}(\bar z) - y\,\mathrm{mean}(\bar z y)\right)"
    },
    grad=lambda F, g, input, dims, eps, centred: F.standard_gradient(g, input, dims, eps, centred),
    input=_of_input,
)


def absent(like: Tensor) -> Tensor:
    """What a row gets for a weight that is not there."""
    return wrap(like._place.xp.empty(0, like._data.dtype), like._place)


def there(w: Any) -> Any:
    """A weight, or None for what `absent` made."""
    return w if w.shape != (0,) else None
