"""relu and threshold: what is kept above a bound.

Invariant: a gradient passes where PyTorch lets it pass, at nan too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op
from ...core.pointwise import unary
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import FLOATS
from ...kernels import masks
from ...kernels.bounds import bounded
from ...kernels.fast import elementwise
from ..create.numbers import fit
from ..elementwise.dtype_checks import both, missing, sentence
from .entry import ZERO, delivered, overwrite, pieces, real, tensor

_refuse_relu = both(
    sentence("b", "Boolean inputs not supported for relu"),
    sentence("c", "clamp is not supported for complex types", NotImplementedError),
)


def _relu(xp, input):
    return bounded(np.maximum, input, ZERO.get(input.dtype, 0)) if xp is np else xp.maximum(input, 0)


def _relu_into(input, out):
    bounded(np.maximum, input, ZERO[input.dtype], out)


def _relu_shared(operands, out):
    return elementwise.bounded(operands[0], "MAX", 0, out)


_relu.into, _relu.shared = _relu_into, _relu_shared  # type: ignore[attr-defined]


def _relu_slope(xp, grad, output):
    # a result of relu is positive, nan or zero
    return (
        masks.kept(output != ZERO.get(output.dtype, 0), grad) if xp is np else xp.where(output != 0, grad, 0)
    )


relu_row = unary(
    "relu",
    _relu,
    ints="same",
    check=_refuse_relu,
    formula=r"\bar x = \bar y\,[x > 0]",
    input=lambda F, g, out: F.relu_backward(g, out),
)
op(
    "relu_backward",
    _relu_slope,
    inputs="grad output",
    name_in_graph="ThresholdBackwardBackward0",
    formula={"grad": r"\bar g = \bar x\,[x > 0]", "output": r"\bar y = 0"},
    grad=lambda F, g, output: F.relu_backward(g, output),
    output=lambda F, g: F.zeros_like(g),
)


@public()
def relu(input: Tensor) -> Tensor:
    """Replace what is below 0 by 0.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.relu(vistorch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return relu_row(input)


def _cut(d: Any) -> None:
    bounded(np.maximum, d, ZERO[d.dtype], d)


@public()
def relu_(input: Tensor) -> Tensor:
    """Replace what is below 0 by 0, in place.

    Args:
        input: the tensor to change.

    Example:
        >>> import vistorch
        >>> vistorch.relu_(vistorch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return overwrite(input, "relu_", _refuse_relu, relu_row, (), _cut)


# ---- threshold ----------------------------------------------------------------------------------------------------
def _threshold_piece(xp, input, threshold, value):
    below = input <= threshold
    if xp is np and value == 0 and input.dtype.kind == "f":
        return masks.kept(~below, input)
    return masks.chosen(xp, below, xp.asarray(value, input.dtype), input)


def _threshold_slope(xp, grad, input, threshold):
    keeps = ~(input <= threshold)
    return masks.kept(keeps, grad) if xp is np else xp.where(keeps, grad, 0)


_threshold = op(
    "threshold",
    lambda xp, input, threshold, value: pieces(xp, _threshold_piece, (input,), (threshold, value)),
    formula=r"\bar x = \bar y\,[x > t]",
    input=lambda F, g, input, threshold: F.threshold_backward(g, input, threshold),
)
_threshold_in_place = op(
    "threshold_in_place",
    lambda xp, input, threshold, value: pieces(xp, _threshold_piece, (input,), (threshold, value)),
    name_in_graph="ThresholdBackward1",
    formula=r"\bar x = \bar y\,[x > t]",
    input=lambda F, g, input, threshold: F.threshold_backward(g, input, threshold),
)
op(
    "threshold_backward",
    lambda xp, grad, input, threshold: pieces(xp, _threshold_slope, (grad, input), (threshold,)),
    inputs="grad input",
    name_in_graph="ThresholdBackwardBackward0",
    formula={"grad": r"\bar g = \bar x\,[x > t]", "input": r"\bar x = 0"},
    grad=lambda F, g, input, threshold: F.threshold_backward(g, input, threshold),
    input=lambda F, g: F.zeros_like(g),
)
_refuse_threshold = missing("threshold_cpu", "bc")


def _fitting(input: Tensor, threshold: Any, value: Any, name: str) -> tuple:
    """Bound and replacement as numbers that the input's type holds."""
    numbers = real(threshold, name, "threshold", 2), real(value, name, "value", 3)
    dt = input._data.dtype
    return numbers if dt in FLOATS else tuple([fit(n, dt) for n in numbers])


@public(method=False)
def threshold(input: Tensor, threshold: float, value: float, *, out: Any = None) -> Tensor:
    """Replace what is not above a bound.

    Args:
        input: a tensor.
        threshold: the bound.
        value: what replaces.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.threshold(vistorch.tensor([-1.0, 2.0]), 0.5, 7.0)
        tensor([7., 2.])
    """
    if out is not None:
        return delivered("threshold", input, out, globals()["threshold"], threshold, value)
    tensor(input, _refuse_threshold, "threshold")
    return _threshold(input, *_fitting(input, threshold, value, "threshold"))


@public(method=False)
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Replace what is not above a bound, in place.

    Args:
        input: the tensor to change.
        threshold: the bound.
        value: what replaces.

    Example:
        >>> import vistorch
        >>> vistorch.threshold_(vistorch.tensor([-1.0, 2.0]), 0.5, 7.0)
        tensor([7., 2.])
    """
    tensor(input, _refuse_threshold, "threshold_")
    consts = _fitting(input, threshold, value, "threshold_")
    return overwrite(input, "threshold_", _refuse_threshold, _threshold_in_place, consts)
