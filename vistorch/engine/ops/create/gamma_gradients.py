"""How gamma and beta numbers move with their shape, their place in the distribution held (implicit differentiation).

Invariant: exact to a double's precision, where PyTorch's polynomials are good to three digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import incomplete, incomplete_beta

FLOATS = (np.dtype("f4"), np.dtype("f8"))


def refusing(error: type, said: str) -> Any:
    """The formula of what PyTorch does not differentiate."""

    def vjp(F: Any, g: Any) -> Any:
        raise error(said)

    return vjp


def no_derivative(name: str) -> Any:
    """The formula of an op without one, in the words of PyTorch's fallback."""
    return refusing(RuntimeError, f"derivative for aten::{name} is not implemented")


def same_floats(name: str, kernel: str, **tensors: Any) -> None:
    """Refuse what is no tensor, is not of the first one's dtype, does not broadcast, or is no float of full width."""
    first, shape = None, ()
    for position, (argument, t) in enumerate(tensors.items(), 1):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor(name, argument, position, t)
        first = t if first is None else first
    kind = first._data.dtype  # pyright: ignore[reportOptionalMemberAccess]
    for t in tensors.values():
        if t._data.dtype is not kind:
            names = [dtypes.of(dtype).scalar_name for dtype in (t._data.dtype, kind)]
            raise RuntimeError(f"Found dtype {names[0]} but expected {names[1]}")
        try:
            shape = np.broadcast_shapes(shape, t._data.shape)
        except ValueError:
            raise RuntimeError(errors.broadcast(shape, t._data.shape)) from None
    if kind not in FLOATS:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(kind).scalar_name}'")


gamma_slope = op(
    "gamma_slope",
    incomplete.gamma_slope,
    inputs="a x",
    name_in_graph="StandardGammaGradBackward0",
    a=refusing(NotImplementedError, "the derivative for '_standard_gamma_grad' is not implemented."),
)
beta_slope = op(
    "beta_slope",
    incomplete_beta.beta_slope,
    inputs="x a total",
    name_in_graph="NotImplemented",
    x=no_derivative("_dirichlet_grad"),
    a=no_derivative("_dirichlet_grad"),
    total=no_derivative("_dirichlet_grad"),
)


@public("_standard_gamma_grad", method=False)
def standard_gamma_grad(input, output):
    """How fast a gamma number of rate 1 grows with its shape.

    Args:
        input: the shape.
        output: the number.

    Example:
        >>> import vistorch
        >>> vistorch._standard_gamma_grad(vistorch.tensor([1.0]), vistorch.tensor([1.0]))
        tensor([1.1736])
    """
    same_floats("_standard_gamma_grad", "_standard_gamma_grad_cpu", input=input, output=output)
    return gamma_slope(input, output)


@public("_dirichlet_grad", method=False)
def dirichlet_grad(x, alpha, total):
    """How fast an element of a Dirichlet sample grows with its own concentration, over 1 - x.

    Args:
        x: the element.
        alpha: its concentration.
        total: the sum of all concentrations.

    Example:
        >>> import vistorch
        >>> half, one = vistorch.tensor([0.5]), vistorch.tensor([1.0])
        >>> vistorch._dirichlet_grad(half, one, 2 * one)
        tensor([0.6931])
    """
    same_floats("_dirichlet_grad", "_dirichlet_grad_cpu", x=x, alpha=alpha, total=total)
    return beta_slope(x, alpha, total)
