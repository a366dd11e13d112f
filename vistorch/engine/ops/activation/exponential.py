"""elu, selu, celu: an exponential below 0.

Invariant: one kernel and one slope serve the three; they differ in their constants, and celu in its name in the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import masks
from ...kernels.bounds import at_least, at_most
from ..elementwise.dtype_checks import missing
from .entry import ZERO, overwrite, pieces, real, tensor

ALPHA, SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
NO_SIGN = (
    "In-place elu backward calculation is triggered with a negative slope which is not supported. This is caused by "
    "calling in-place forward function with a negative slope, please call out-of-place version instead."
)


def _elu_piece(xp, input, alpha, scale, squeeze):
    low = at_most(input, ZERO.get(input.dtype, 0)) if xp is np else xp.minimum(input, 0)
    if squeeze != 1:
        low *= squeeze
    xp.expm1(low, out=low)
    if alpha * scale != 1:
        low *= alpha * scale
    high = at_least(input, ZERO.get(input.dtype, 0)) if xp is np else xp.maximum(input, 0)
    if scale != 1:
        high *= scale
    high += low
    return high


def _elu_slope(xp, grad, input, alpha, scale, squeeze):
    low = xp.fmin(input, ZERO.get(input.dtype, 0) if xp is np else 0)  # nan has the slope of what is above 0
    if squeeze != 1:
        low *= squeeze
    xp.exp(low, out=low)
    factor = alpha * scale * squeeze
    if factor == scale == 1:  # exp(0) is 1: the slope is whole
        low *= grad
        return low
    low *= factor
    low *= grad
    return masks.chosen(xp, input <= 0, low, grad * scale)


def _elu_slope_from(xp, grad, output, alpha, scale, squeeze):
    low = output + alpha * scale
    low *= squeeze
    low *= grad
    return masks.chosen(xp, output <= 0, low, grad * scale)


def _from_result(F, g, out, alpha, scale, squeeze):
    if alpha < 0:
        raise RuntimeError(NO_SIGN)
    return F.elu_backward_from(g, out, alpha, scale, squeeze)


def _rows(name: str, in_graph: str) -> tuple:
    """The rows of a function and of its in-place form."""

    def kernel(xp, input, alpha, scale, squeeze):
        return pieces(xp, _elu_piece, (input,), (alpha, scale, squeeze))

    plain = op(
        name,
        kernel,
        name_in_graph=f"{in_graph}Backward0",
        formula=r"\bar x = \bar y\, s\, (x > 0\ ?\ 1 : a b\, e^{b x})",
        input=lambda F, g, input, alpha, scale, squeeze: F.elu_backward(g, input, alpha, scale, squeeze),
    )
    in_place = op(
        f"{name}_in_place",
        kernel,
        name_in_graph=f"{in_graph}Backward1",
        formula=r"\bar x = \bar y\, (y > 0\ ?\ s : b (y + a s))",
        input=lambda F, g, out, alpha, scale, squeeze: _from_result(F, g, out, alpha, scale, squeeze),
    )
    return plain, in_place


_elu, _elu_in_place = _rows("elu", "Elu")
_celu, _celu_in_place = _rows("celu", "Celu")
op(
    "elu_backward",
    lambda xp, grad, input, alpha, scale, squeeze: pieces(
        xp, _elu_slope, (grad, input), (alpha, scale, squeeze)
    ),
    inputs="grad input",
    name_in_graph="EluBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x\, s\, (x > 0\ ?\ 1 : a b\, e^{b x})",
        "input": r"\bar x = \bar y\, g\, s\, (x > 0\ ?\ 0 : a b^2 e^{b x})",
    },
    grad=lambda F, g, input, alpha, scale, squeeze: F.elu_backward(g, input, alpha, scale, squeeze),
    input=lambda F, g, grad, input, alpha, scale, squeeze: F.where(
        F.lt(input, 0), F.elu_backward(g * grad, input, alpha, scale, squeeze) * squeeze, 0.0
    ),
)
op(
    "elu_backward_from",
    lambda xp, grad, output, alpha, scale, squeeze: pieces(
        xp, _elu_slope_from, (grad, output), (alpha, scale, squeeze)
    ),
    inputs="grad output",
    name_in_graph="EluBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x\, (y > 0\ ?\ s : b (y + a s))",
        "output": r"\bar y = \bar x\, g\, (y > 0\ ?\ 0 : b)",
    },
    grad=lambda F, g, output, alpha, scale, squeeze: F.elu_backward_from(g, output, alpha, scale, squeeze),
    output=lambda F, g, grad, output, squeeze: F.where(F.lt(output, 0), g * grad * squeeze, 0.0),
)
_refuse = missing("elu_cpu", "ibc")


def elu(input: Tensor, alpha: float) -> Tensor:
    """`input` above 0, alpha (e^x - 1) below."""
    return _elu(tensor(input, _refuse, "elu"), real(alpha, "elu", "alpha", 2), 1.0, 1.0)


def elu_(input: Tensor, alpha: float) -> Tensor:
    """`elu` in place."""
    return overwrite(input, "elu_", _refuse, _elu_in_place, (real(alpha, "elu_", "alpha", 2), 1.0, 1.0))


@public(method=False)
def selu(input: Tensor) -> Tensor:
    """An elu with the two constants that keep mean and variance of layers where they are.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.selu(vistorch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return _elu(tensor(input, _refuse, "selu"), ALPHA, SCALE, 1.0)


@public(method=False)
def selu_(input: Tensor) -> Tensor:
    """`selu` in place.

    Args:
        input: the tensor to change.

    Example:
        >>> import vistorch
        >>> vistorch.selu_(vistorch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return overwrite(input, "selu_", _refuse, _elu_in_place, (ALPHA, SCALE, 1.0))


def _of_celu(alpha: Any, name: str) -> tuple:
    """The constants of celu, which is an elu of x / alpha."""
    number = real(alpha, name, "alpha", 2)
    if number == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return number, 1.0, 1.0 / number


@public(method=False)
def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`input` above 0, alpha (e^(x / alpha) - 1) below.

    Args:
        input: a tensor.
        alpha: how far down it goes.

    Example:
        >>> import vistorch
        >>> vistorch.celu(vistorch.tensor([-1.0, 2.0]), 2.0)
        tensor([-0.7869,  2.0000])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("celu", "input", 1, input)
    consts = _of_celu(alpha, "celu")
    return _celu(tensor(input, _refuse, "celu"), *consts)


@public(method=False)
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu` in place.

    Args:
        input: the tensor to change.
        alpha: how far down it goes.

    Example:
        >>> import vistorch
        >>> vistorch.celu_(vistorch.tensor([-1.0, 2.0]), 2.0)
        tensor([-0.7869,  2.0000])
    """
    return overwrite(input, "celu_", _refuse, _celu_in_place, _of_celu(alpha, "celu_"))
