"""Layer and RMS normalisation: over the last dims of each sample.

Invariant: what is normalised together is a row of a matrix, and a weight has one element for each of its columns.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base.casting import casting
from ...base.dims import flag
from ...core.base_ops import to_dtype
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import wrap
from . import checks, passes, rows
from .standard import absent, there


def _flat(xp: Any, w: Any) -> Any:
    return None if there(w) is None else w.reshape(-1)


def _matrix(xp: Any, x: Any, count: int) -> Any:
    """The input as rows, each of what is normalised together."""
    columns = prod(x.shape[x.ndim - count :])
    return passes.contiguous(xp, x, prod(x.shape[: x.ndim - count]), columns)


def _layer_norm(xp, input, weight, bias, count, eps):
    x = _matrix(xp, input, count)
    out, mean, inverse = rows.normalised(xp, x, _flat(xp, weight), _flat(xp, bias), eps, True, input.shape)
    return out, mean, inverse


def _gradients(xp, g, wants, input, weight, out1, out2, weight_shape, bias_shape, count):
    x, g = _matrix(xp, input, count), _matrix(xp, g, count)
    made = rows.gradients(xp, g, x, _flat(xp, weight), out1, out2, True, wants, input.shape)
    return _shaped(made, (input.shape, weight_shape, bias_shape))


def _shaped(made: Any, shapes: tuple) -> list:
    return [
        m if m is None or m.shape == shape else m.reshape(shape)
        for m, shape in zip(made, shapes, strict=True)
    ]


def _last(shape: tuple, count: int) -> tuple:
    return tuple(range(len(shape) - count, len(shape)))


def _weighted(g: Any, weight: Any) -> Any:
    return g if there(weight) is None else g * weight


layer_norm_row = op(
    "native_layer_norm",
    _layer_norm,
    inputs="input weight bias",
    widen=False,
    formula={
        "input": r"\bar x = \frac{1}{\sigma}\left(w\bar y - \mathrm{mean}(w\bar y)"
        r" - \hat x\,\mathrm{mean}(w\bar y\,\hat x)\right)",
        "weight": r"\bar w = \textstyle\sum \bar y\,\hat x",
        "bias": r"\bar b = \textstyle\sum \bar y",
    },
    together=_gradients,
    input=lambda F, g, input, weight, count, eps: F.standard_gradient(
        _weighted(g, weight), input, _last(input.shape, count), eps, True
    ),
    weight=lambda F, g, input, count, eps: g * F.standard(input, _last(input.shape, count), eps, True),
    bias=lambda F, g: g,
)


def _rms_norm(xp, input, weight, count, eps):
    x = _matrix(xp, input, count)
    out, _, inverse = rows.normalised(xp, x, _flat(xp, weight), None, eps, False, input.shape)
    return out, inverse


def _rms_gradients(xp, g, wants, input, weight, out1, weight_shape, count):
    x, g = _matrix(xp, input, count), _matrix(xp, g, count)
    ways = (*wants, False)
    made = rows.gradients(xp, g, x, _flat(xp, weight), xp.zeros_like(out1), out1, False, ways, input.shape)
    return _shaped(made[:2], (input.shape, weight_shape))


rms_norm_row = op(
    "rms_norm",
    _rms_norm,
    inputs="input weight",
    widen=False,
    name_in_graph="MulBackward0",
    formula={
        "input": r"\bar x = \frac{1}{r}\left(w\bar y - \hat x\,\mathrm{mean}(w\bar y\,\hat x)\right)",
        "weight": r"\bar w = \textstyle\sum \bar y\,\hat x",
    },
    together=_rms_gradients,
    input=lambda F, g, input, weight, count, eps: F.standard_gradient(
        _weighted(g, weight), input, _last(input.shape, count), eps, False
    ),
    weight=lambda F, g, input, count, eps: g * F.standard(input, _last(input.shape, count), eps, False),
)


def _layered(func: str, input: Any, shape: Any, weight: Any, bias: Any, eps: Any) -> tuple:
    checks.tensor(func, "input", 1, input)
    checks.tensor(func, "weight", 3, weight, True)
    checks.tensor(func, "bias", 4, bias, True)
    eps = checks.real(func, "eps", 5, eps)
    shape = checks.trailing(func, input, shape, weight, bias)
    checks.same_types(input, (weight, bias))
    checks.floating("LayerNormKernelImpl", input)
    checks.same_place(input, weight, bias)
    blank = None if weight is not None and bias is not None else absent(input)
    results = layer_norm_row(
        input, blank if weight is None else weight, blank if bias is None else bias, len(shape), eps
    )
    return results, shape


@public(method=False)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    """The last dims of each sample brought to mean zero and variance one.

    Args:
        input: (..., *normalized_shape).
        normalized_shape: the sizes of the dims that are normalised together.
        weight: a factor of that shape, or None.
        bias: an offset of that shape, or None.
        eps: added to the variance.
        cudnn_enable: accepted, and without effect.

    Example:
        >>> import vistorch
        >>> vistorch.layer_norm(vistorch.tensor([[1.0, 3.0]]), (2,), eps=0.0)
        tensor([[-1.,  1.]])
    """
    if casting.on and (recast := casting.ask(layer_norm, locals())):
        return recast[0]
    if cudnn_enable is not True:
        flag(cudnn_enable, "layer_norm", "cudnn_enable", 6)
    return _layered("layer_norm", input, normalized_shape, weight, bias, eps)[0][0]


@public(method=False)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """`layer_norm`, and the mean and inverse deviation of each sample.

    Args:
        input: (..., *normalized_shape).
        normalized_shape: the sizes of the dims that are normalised together.
        weight: a factor of that shape, or None.
        bias: an offset of that shape, or None.
        eps: added to the variance.

    Example:
        >>> import vistorch
        >>> vistorch.native_layer_norm(vistorch.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)[1:]
        (tensor([[2.]]), tensor([[1.]]))
    """
    if casting.on and (recast := casting.ask(native_layer_norm, locals())):
        return recast[0]
    (o, *statistics), shape = _layered("native_layer_norm", input, normalized_shape, weight, bias, eps)
    given = input._data.shape
    ahead = (*given[: len(given) - len(shape)], *[1] * len(shape))
    kind = next((t for t in (weight, bias) if t is not None), input)._data.dtype
    return (o, *[wrap(t._data.astype(kind).reshape(ahead), t._place) for t in statistics])


_SINGLE, _DOUBLE = float(np.finfo("f4").eps), float(np.finfo("f8").eps)


@public(method=False)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """The last dims of each sample divided by the root of their mean square.

    Args:
        input: (..., *normalized_shape).
        normalized_shape: the sizes of the dims that are normalised together.
        weight: a factor of that shape, or None.
        eps: added to the mean square; the type's own where None.

    Example:
        >>> import vistorch
        >>> vistorch.rms_norm(vistorch.tensor([[2.0, -2.0]]), (2,))
        tensor([[ 1., -1.]])
    """
    if casting.on and (recast := casting.ask(rms_norm, locals())):
        return recast[0]
    checks.tensor("rms_norm", "input", 1, input)
    checks.tensor("rms_norm", "weight", 3, weight, True)
    if eps is not None:
        eps = checks.real("rms_norm", "eps", 4, eps)
    shape = checks.trailing("rms_norm", input, normalized_shape, weight, None, "")
    d = input._data
    if eps is None:
        eps = _DOUBLE if d.dtype.name in ("float64", "complex128") else _SINGLE
    checks.same_place(input, weight)
    if d.dtype.kind == "c" or (weight is not None and weight._data.dtype != d.dtype):
        return _of_parts(input, len(shape), weight, eps)
    checks.floating("rms_norm", input)
    return rms_norm_row(input, absent(input) if weight is None else weight, len(shape), eps)[0]


def _of_parts(input: Any, count: int, weight: Any, eps: float) -> Any:
    """What the row does not know: complex numbers, and a weight of another type."""
    if input._data.dtype.kind != "c":
        checks.floating("rms_norm", input)
    x = to_dtype(input, passes.F4) if input._data.dtype in checks.HALVES else input
    out = x * ((x * x).mean(tuple(range(-count, 0)), True) + eps).rsqrt()
    if weight is not None:
        out = out * weight
    return out if out._data.dtype == input._data.dtype else to_dtype(out, input._data.dtype)
