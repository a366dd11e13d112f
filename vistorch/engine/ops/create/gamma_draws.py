"""Gamma, Dirichlet and binomial draws by the parameters in tensors.

Invariant: the numbers are PyTorch's for the same seed; a row is handed the numbers already drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import sampling_binomial, sampling_gamma
from ...methods.conversion import host
from ...random.generators import pick
from .data import put
from .gamma_gradients import no_derivative, same_floats


def _dirichlet(F: Any, g: Any, input: Any, out: Any) -> Any:
    """Each element's own slope, less what the division by the sum takes from all."""
    last = g.ndim - 1
    total = F.sum_dims(input, (last,), True)
    slope = F.beta_slope(out, input, total)
    return slope * (g - F.sum_dims(out * g, (last,), True))


standard_gamma_row = op(
    "standard_gamma",
    lambda xp, input, values: values,
    inputs="input",
    widen=False,
    formula=r"\bar\alpha = -\bar x\, \frac{\partial P(\alpha, x) / \partial\alpha}{\partial P(\alpha, x) / \partial x}",
    input=lambda F, g, input, out: g * F.gamma_slope(input, out),
)
dirichlet_row = op(
    "dirichlet",
    lambda xp, input, values: values,
    inputs="input",
    widen=False,
    name_in_graph="_DirichletBackward",
    formula=r"\bar\alpha_i = \frac{dx_i/d\alpha_i}{1 - x_i}\Bigl(\bar x_i - \sum_j x_j \bar x_j\Bigr)",
    input=_dirichlet,
)
_plain_dirichlet = op(
    "dirichlet_plain",
    lambda xp, input, values: values,
    inputs="input",
    widen=False,
    name_in_graph="NotImplemented",
    input=no_derivative("_sample_dirichlet"),
)
_binomial = op(
    "binomial",
    lambda xp, count, prob, values: values,
    inputs="count prob",
    widen=False,
    name_in_graph="NotImplemented",
    count=no_derivative("binomial"),
    prob=no_derivative("binomial"),
)


@public("_standard_gamma", method=False)
def standard_gamma(input, generator=None):
    """Gamma numbers of rate 1, each of the shape that the element says; differentiable with respect to it.

    Args:
        input: the shapes.
        generator: where the numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch._standard_gamma(vistorch.tensor([1.0, 2.0]))
        tensor([2.8824, 1.3158])
    """
    same_floats("_standard_gamma", "gamma_cpu", input=input)
    source = pick(generator, input._place, "_standard_gamma")
    return standard_gamma_row(input, put(sampling_gamma.gamma(source, host(input)), input._place))


def dirichlet_values(input: Tensor, generator: Any = None) -> Any:
    """Points of the simplex for rows of concentrations, as an array of the input's place."""
    same_floats("_sample_dirichlet", "dirichlet", input=input)
    source = pick(generator, input._place, "_sample_dirichlet")
    return put(sampling_gamma.dirichlet(source, host(input)), input._place)


def dirichlet(input: Tensor) -> Tensor:
    """Points of the simplex, differentiable with respect to the concentrations."""
    return dirichlet_row(input, dirichlet_values(input))


@public("_sample_dirichlet", method=False)
def sample_dirichlet(input, generator=None):
    """Points of the simplex, one for each row of concentrations.

    Args:
        input: the concentrations.
        generator: where the numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> round(vistorch._sample_dirichlet(vistorch.ones(3)).sum().item(), 4)
        1.0
    """
    return _plain_dirichlet(input, dirichlet_values(input, generator))


@public(method=False)
def binomial(count, prob, generator=None):
    """How many of `count` trials succeed, each with probability `prob`.

    Args:
        count: the numbers of trials, of a floating dtype.
        prob: the probabilities.
        generator: where the numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> vistorch.binomial(vistorch.tensor([5.0, 5.0]), vistorch.tensor([0.0, 1.0]))
        tensor([0., 5.])
    """
    for position, (argument, t) in enumerate((("count", count), ("prob", prob)), 1):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor("binomial", argument, position, t)
        if not t.dtype.is_floating_point:
            name = dtypes.of(t._data.dtype).scalar_name
            raise ValueError(f"binomial only supports floating-point dtypes for {argument}, got: {name}")
    same_floats("binomial", "binomial_cpu", count=count, prob=prob)
    source = pick(generator, count._place, "binomial")
    values = sampling_binomial.binomial(source, *np.broadcast_arrays(host(count), host(prob)))
    return _binomial(count, prob, put(values, count._place))
