"""What leaks through below 0: leaky_relu, rrelu with its random slopes, prelu with a learned one.

Invariant: an in-place form reads the sign of the input off its result, so it knows no negative slope.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.casting import casting
from ...core.inplace import replace
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor, wrap
from ...kernels import masks, sampling
from ...random.generators import pick
from ..create.data import put
from ..elementwise.dtype_checks import missing
from .entry import F8, overwrite, pieces, real, tensor

NO_SIGN = (
    "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is "
    "caused by calling in-place forward function with a negative slope, please call out-of-place version instead. "
    "File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward "
    "calculation with negative slope"
)


def _leaky_piece(xp, input, slope):
    small = input * slope
    if 0 < slope <= 1:
        return xp.maximum(small, input, out=small)
    return masks.chosen(xp, input > 0, input, small)


def _leaky(xp, input, slope):
    return pieces(xp, _leaky_piece, (input,), (slope,))


def _leaky_slope(xp, grad, input, slope):
    return masks.chosen(xp, input > 0, grad, grad * slope)


def _from_result(F, g, out, slope):
    if slope < 0:
        raise RuntimeError(NO_SIGN)
    return F.leaky_relu_backward(g, out, slope)


_plain = op(
    "leaky_relu",
    _leaky,
    formula=r"\bar x = \bar y \cdot (x > 0\ ?\ 1 : a)",
    input=lambda F, g, input, slope: F.leaky_relu_backward(g, input, slope),
)
_in_place = op(
    "leaky_relu_in_place",
    _leaky,
    name_in_graph="LeakyReluBackward1",
    formula=r"\bar x = \bar y \cdot (y > 0\ ?\ 1 : a)",
    input=lambda F, g, out, slope: _from_result(F, g, out, slope),
)
op(
    "leaky_relu_backward",
    lambda xp, grad, input, slope: pieces(xp, _leaky_slope, (grad, input), (slope,)),
    inputs="grad input",
    name_in_graph="LeakyReluBackwardBackward0",
    formula={"grad": r"\bar g = \bar x \cdot (x > 0\ ?\ 1 : a)", "input": r"\bar x = 0"},
    grad=lambda F, g, input, slope: F.leaky_relu_backward(g, input, slope),
    input=lambda F, g: F.zeros_like(g),
)
_refuse = missing("leaky_relu_cpu", "ibc")


def _write(d: Any, slope: float) -> None:
    if 0 < slope <= 1:
        np.maximum(d, d * slope, out=d)
    else:
        np.multiply(d, slope, out=d, where=d <= 0)


def leaky_relu(input: Tensor, negative_slope: float) -> Tensor:
    """`input`, multiplied by a number where it is negative."""
    tensor(input, _refuse, "leaky_relu")
    if negative_slope.__class__ is not float:
        negative_slope = real(negative_slope, "leaky_relu", "negative_slope", 2)
    return _plain(input, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float) -> Tensor:
    """`leaky_relu` in place."""
    slope = real(negative_slope, "leaky_relu_", "negative_slope", 2)
    return overwrite(input, "leaky_relu_", _refuse, _in_place, (slope,), _write)


# ---- rrelu: a slope of its own for each negative element ------------------------------------------------------------
_noisy = op(
    "rrelu_with_noise",
    lambda xp, input, noise: input * noise,
    inputs="input noise",
    formula={"input": r"\bar x = \bar y\, a"},
    input=lambda F, g, noise: g * noise,
)
_noisy_in_place = op(
    "rrelu_with_noise_in_place",
    lambda xp, input, noise: input * noise,
    inputs="input noise",
    name_in_graph="RreluWithNoiseBackward1",
    formula={"input": r"\bar x = \bar y\, a"},
    input=lambda F, g, noise: g * noise,
)
_fixed_row = op(
    "rrelu_fixed",
    _leaky,
    name_in_graph="RreluWithNoiseBackward0",
    formula=r"\bar x = \bar y \cdot (x > 0\ ?\ 1 : a)",
    input=lambda F, g, input, slope: F.leaky_relu_backward(g, input, slope),
)
_fixed_in_place = op(
    "rrelu_fixed_in_place",
    _leaky,
    name_in_graph="RreluWithNoiseBackward1",
    formula=r"\bar x = \bar y \cdot (y > 0\ ?\ 1 : a)",
    input=lambda F, g, out, slope: _from_result(F, g, out, slope),
)


def _refuse_noisy(dt: np.dtype) -> None:
    """PyTorch has written the kernel that draws slopes for bfloat16, but not for float16."""
    if dt != dtypes.bfloat16.np:
        raise NotImplementedError(
            f"\"rrelu_with_noise_out_cpu\" not implemented for '{dtypes.of(dt).scalar_name}'"
        )


def _bounds(lower: Any, upper: Any, name: str) -> tuple:
    """Both ends of the slopes, checked."""
    low, high = real(lower, name, "lower", 2), real(upper, name, "upper", 3)
    return low, high


def _check(low: Any, high: Any) -> None:
    for value, which in ((low, "lower"), (high, "upper")):
        if not math.isfinite(value):
            raise RuntimeError(f"rrelu: {which} bound must be finite, got {value:g}")
    if low > high:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")


def _noise(input: Tensor, low: float, high: float, generator: Any, name: str) -> Tensor:
    """A slope for each element, random where the element is not positive; drawn in the order of the indices."""
    place, d = input._place, input._data
    source = pick(generator, place, name)
    if source.on_device:  # one for every element: counting would wait for the device
        slopes = put(sampling.uniform(source, d.shape, d.dtype, low, high), place)
        return wrap(place.xp.where(d <= 0, slopes, d.dtype.type(1)), place)
    noise = np.ones(d.shape, d.dtype)
    negative = d <= 0
    count = int(np.count_nonzero(negative))
    if count:
        noise[negative] = sampling.uniform(source, (count,), F8, low, high)
    return wrap(put(noise, place), place)


@public(method=False)
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """`input`, multiplied where it is negative: in training by random numbers, else by the mean of their bounds.

    Args:
        input: a tensor.
        lower: the least slope.
        upper: the largest slope.
        training: whether slopes are random.
        generator: where random numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> vistorch.rrelu(vistorch.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("rrelu", "input", 1, input)
    low, high = _bounds(lower, upper, "rrelu")
    _check(low, high)
    if training:
        tensor(input, _refuse_noisy, "rrelu")
        return _noisy(input, _noise(input, low, high, generator, "rrelu"))
    return _fixed_row(tensor(input, _refuse, "rrelu"), (low + high) / 2)


@public(method=False)
def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """`rrelu` in place.

    Args:
        input: the tensor to change.
        lower: the least slope.
        upper: the largest slope.
        training: whether slopes are random.
        generator: where random numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> vistorch.rrelu_(vistorch.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("rrelu_", "input", 1, input)
    low, high = _bounds(lower, upper, "rrelu_")
    _check(low, high)
    if not training:
        return overwrite(input, "rrelu_", _refuse, _fixed_in_place, ((low + high) / 2,), _write)

    def fresh(old: Tensor) -> Tensor:
        tensor(old, _refuse_noisy, "rrelu_")
        return _noisy_in_place(old, _noise(old, low, high, generator, "rrelu_"))

    return replace(input, fresh, (), {}, _noisy_in_place.rule)


# ---- prelu: the slope is learned --------------------------------------------------------------------------------
_prelu = op(
    "prelu_kernel",
    lambda xp, input, weight: masks.chosen(xp, input > 0, input, weight * input),
    inputs="input weight",
    formula={
        "input": r"\bar x = \bar y \cdot (x > 0\ ?\ 1 : w)",
        "weight": r"\bar w = \bar y \cdot (x > 0\ ?\ 0 : x)",
    },
    input=lambda F, g, input, weight: F.where(F.gt(input, 0), g, g * weight),
    weight=lambda F, g, input: F.where(F.gt(input, 0), 0.0, g * input),
)
_refuse_prelu = missing("prelu_cpu", "ibc")


@public()
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input`, multiplied by a learned number where it is negative.

    Args:
        input: a tensor; its channels are dim 1.
        weight: one number, or one for each channel.

    Example:
        >>> import vistorch
        >>> vistorch.prelu(vistorch.tensor([-1.0, 2.0]), vistorch.tensor(0.5))
        tensor([-0.5000,  2.0000])
    """
    if casting.on and (recast := casting.ask(prelu, locals())):
        return recast[0]
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("prelu", "input", 1, input)
    if not isinstance(weight, Tensor):
        raise errors.must_be_tensor("prelu", "weight", 2, weight)
    a, w = input._data, weight._data
    if a.dtype != w.dtype:
        given = f"{dtypes.of(a.dtype).scalar_name} and {dtypes.of(w.dtype).scalar_name}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {given}")
    if w.size != 1:
        if not a.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = a.shape[1] if a.ndim > 1 else 1
        if channels != w.size:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {w.size} and "
                f"channel size = {channels}."
            )
    if w.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {w.ndim}")
    tensor(input, _refuse_prelu, "prelu")
    if a.ndim != w.ndim:
        shape = [1] * a.ndim
        if a.ndim > 1:
            shape[1] = w.size
        weight = _view(weight, shape)
    return _prelu(input, weight)


_view = FUNCTIONS["reshape"]
