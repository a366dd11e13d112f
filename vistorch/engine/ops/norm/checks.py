"""What normalisations ask of their arguments, in PyTorch's words.

Invariant: nothing here changes a tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, dtypes, errors
from ...base.modes import mode
from ...core import out_argument
from ...core.graph import sync_rg
from ...core.tensor import Tensor
from ...core.type_promotion import number

FLOATS = frozenset((np.dtype("f4"), np.dtype("f8"), np.dtype("f2"), dtypes.bfloat16.np))
HALVES = frozenset((np.dtype("f2"), dtypes.bfloat16.np))
F4 = np.dtype("f4")


def name_of(t: Tensor) -> str:
    """`Float`, as the sentences name a dtype."""
    return dtypes.of(t._data.dtype).scalar_name


def tensor(func: str, argument: str, position: int, value: Any, optional: bool = False) -> None:
    """Refuse what is no Tensor (nor None, where that is allowed)."""
    if value.__class__ is not Tensor and not isinstance(value, Tensor) and not (optional and value is None):
        raise errors.must_be_tensor(func, argument, position, value)


def real(func: str, argument: str, position: int, value: Any) -> float:
    """A float argument."""
    if value.__class__ is float:
        return value
    found = number(value)
    if found is None and isinstance(value, Tensor) and value._data.ndim == 0 and not sync_rg(value):
        found = value._data.item()
    if isinstance(found, complex) or found is None:
        raise TypeError(
            f"{func}(): argument '{argument}' (position {position}) must be float, not {kind(value)}"
        )
    return float(found)


def kind(value: Any) -> str:
    """The name of a value's type in a TypeError."""
    return "NoneType" if value is None else type(value).__name__


def batch(
    func: str,
    input: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    training: Any,
    momentum: Any,
    eps: Any,
    label: str = "training",
) -> tuple[bool, float, float]:
    """The types of the arguments of batch_norm and instance_norm; (training, momentum, eps).

    Args:
        func: the public function.
        input: what is normalised.
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        mean: the running mean, or None.
        var: the running variance, or None.
        training: whether the statistics are the input's.
        momentum: how far the running statistics move.
        eps: added to the variance.
        label: what the function calls `training`.
    """
    tensor(func, "input", 1, input)
    tensor(func, "weight", 2, weight, True)
    tensor(func, "bias", 3, bias, True)
    tensor(func, "running_mean", 4, mean, True)
    tensor(func, "running_var", 5, var, True)
    training = dims.flag(training, func, label, 6)
    return training, real(func, "momentum", 7, momentum), real(func, "eps", 8, eps)


def channels(input: Tensor, weight: Any, bias: Any, mean: Any, var: Any, training: bool) -> None:
    """One number for each channel in what goes with a batch, of a type that goes with the input's."""
    d = input._data
    n = d.shape[1] if d.ndim > 1 else 0
    for name, t in (("running_mean", mean), ("running_var", var)):
        if t is not None:
            _count(name, t, n)
        elif not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None:
            _count(name, t, n)
    if (mean is None) != (var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    for name, t in (("running_mean", mean), ("running_var", var)):
        if t is not None and mode.on and sync_rg(t):
            raise RuntimeError(
                f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )
    if d.ndim < 2 and d.size:
        raise no_channels(d.ndim)
    floating("batch_norm", input)
    same_types(input, (weight, bias, mean, var))
    same_place(input, weight, bias, mean, var)


def no_channels(ndim: int, first: int = 1) -> Exception:
    """The error for an input without a dim of channels; `first`: the dim that is looked at first."""
    if not ndim:
        return (RuntimeError if first else IndexError)(
            f"Dimension specified as {first} but tensor has no dimensions"
        )
    return IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")


def _count(name: str, t: Tensor, n: int) -> None:
    if t._data.size != n:
        raise RuntimeError(f"{name} should contain {n} elements not {t._data.size}")


def floating(kernel: str, input: Tensor) -> None:
    """Refuse a type that the kernel does not exist for."""
    if input._data.dtype not in FLOATS:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name_of(input)}'")


def same_types(input: Tensor, parameters: tuple) -> None:
    """Parameters have the type of the input, or are all float32 beside a half type."""
    given = [t for t in parameters if t is not None]
    if not given:
        return
    kind = input._data.dtype
    if given[0]._data.dtype == kind:
        for t in given[1:]:
            if t._data.dtype != kind:
                raise RuntimeError(f"expected scalar type {name_of(input)} but found {name_of(t)}")
        return
    for t in given:
        if t._data.dtype != F4:
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if kind not in HALVES:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def same_place(input: Tensor, *others: Any) -> None:
    """Refuse tensors of two devices."""
    for t in others:
        if t is not None and t._place is not input._place:
            errors.check_devices(input._place, t._place)


def trailing(func: str, input: Tensor, shape: Any, weight: Any, bias: Any, between: str = ", ") -> tuple:
    """The normalised shape: it ends the input's, and the parameters have it."""
    shape = dims.sequence(shape, func, "normalized_shape")
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._data.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{errors.sizes(t._data.shape)} and normalized_shape = {errors.sizes(shape)}"
            )
    given = input._data.shape
    if len(given) < len(shape) and not between:
        raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got {len(given)}")
    if len(given) < len(shape) or given[len(given) - len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={errors.sizes(shape)}, expected input with shape [*{between}"
            f"{', '.join(map(str, shape))}], but got input of size{errors.sizes(given)}"
        )
    return shape


def check_outs(func: str, out: Any, operands: tuple) -> None:
    """Three tensors to write into."""
    out_argument.check_outs(func, out, tuple([t for t in operands if t is not None]), 3)


def delivered(out: Any, results: tuple) -> tuple:
    """The results, in `out` if it is given."""
    if out is None:
        return results
    return tuple([out_argument.deliver(o, r) for o, r in zip(out, results, strict=True)])
