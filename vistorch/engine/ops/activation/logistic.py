"""Smooth functions made of the exponential: silu, mish, softplus, log_sigmoid.

Invariant: each takes one exponential, of a number that cannot overflow into nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors
from ...base.casting import casting
from ...base.modes import mode
from ...core import out_argument
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.tensor import Tensor
from ...kernels import masks
from ..elementwise.dtype_checks import missing
from .entry import F4, ONE, overwrite, pieces, real, tensor
from .shrink import exactly


def _one(xp, x):
    return ONE.get(x.dtype, 1) if xp is np else 1


# ---- silu ---------------------------------------------------------------------------------------------------------
def _silu_piece(xp, input):
    down = xp.negative(input)
    xp.exp(down, out=down)
    down += _one(xp, input)
    return xp.divide(input, down, out=down)


def _silu_slope(xp, grad, input):
    s = xp.negative(input)
    xp.exp(s, out=s)
    s += _one(xp, input)
    xp.reciprocal(s, out=s)
    out = input - input * s
    out += _one(xp, input)
    out *= s
    out *= grad
    return out


def _silu_bend(F, input):
    """The second derivative of silu."""
    s = F.sigmoid(input)
    return s * (1 - s) * (2 + input * (1 - 2 * s))


_silu = op(
    "silu",
    lambda xp, input: pieces(xp, _silu_piece, (input,)),
    formula=r"\bar x = \bar y\, s (1 + x (1 - s)),\ s = \sigma(x)",
    input=lambda F, g, input: F.silu_backward(g, input),
)
op(
    "silu_backward",
    lambda xp, grad, input: pieces(xp, _silu_slope, (grad, input)),
    inputs="grad input",
    name_in_graph="SiluBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x\, s (1 + x (1 - s))",
        "input": r"\bar x = \bar y\, g\, s (1 - s) (2 + x (1 - 2 s))",
    },
    grad=lambda F, g, input: F.silu_backward(g, input),
    input=lambda F, g, grad, input: g * grad * _silu_bend(F, input),
)
_refuse_silu = missing("silu_cpu", "ib")


def _no_complex_grad(input: Any) -> None:
    if input._data.dtype.kind == "c" and mode.on and sync_rg(input):
        raise RuntimeError("silu does not support automatic differentiation for outputs with complex dtype.")


def silu(input: Tensor) -> Tensor:
    """`input` times its sigmoid."""
    tensor(input, _refuse_silu, "silu")
    if input._data.dtype is not F4:
        _no_complex_grad(input)
    return _silu(input)


def silu_(input: Tensor) -> Tensor:
    """`silu` in place."""
    return overwrite(input, "silu_", _refuse_silu, _silu)


# ---- mish ---------------------------------------------------------------------------------------------------------
# tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2); above 20 it is 1, and e is held there
def _softplus_tanh(xp, input):
    e = xp.minimum(input, 20)
    xp.exp(e, out=e)
    n = e + 2
    n *= e
    return e, n


def _mish_piece(xp, input):
    e, n = _softplus_tanh(xp, input)
    xp.add(n, 2, out=e)
    n /= e
    n *= input
    return n


def _mish_slope(xp, grad, input):
    e, n = _softplus_tanh(xp, input)
    t = n / (n + 2)
    # the slope of t is (1 - t^2) e / (1 + e)
    slope = 1 - t * t
    slope *= e / (e + 1)
    slope *= input
    slope += t
    slope *= grad
    return slope


def _mish_bend(F, input):
    """The second derivative of mish."""
    t, s = F.tanh(F.softplus(input, 1.0, 20.0)), F.sigmoid(input)
    rise = (1 - t * t) * s
    return rise * (2 + input * (1 - s - 2 * t * s))


_mish = op(
    "mish",
    lambda xp, input: pieces(xp, _mish_piece, (input,)),
    formula=r"\bar x = \bar y\, (t + x (1 - t^2) \sigma(x)),\ t = \tanh \ln(1 + e^x)",
    input=lambda F, g, input: F.mish_backward(g, input),
)
op(
    "mish_backward",
    lambda xp, grad, input: pieces(xp, _mish_slope, (grad, input)),
    inputs="grad input",
    name_in_graph="MishBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x\, (t + x (1 - t^2) \sigma(x))",
        "input": r"\bar x = \bar y\, g\, \mathrm{mish}''(x)",
    },
    grad=lambda F, g, input: F.mish_backward(g, input),
    input=lambda F, g, grad, input: g * grad * _mish_bend(F, input),
)
_refuse_mish = missing("mish_cpu", "ibc")


def mish(input: Tensor) -> Tensor:
    """`input` times the tanh of its softplus."""
    return _mish(tensor(input, _refuse_mish, "mish"))


def mish_(input: Tensor) -> Tensor:
    """`mish` in place."""
    return overwrite(input, "mish_", _refuse_mish, _mish)


# ---- softplus -----------------------------------------------------------------------------------------------------
def _line(xp, over, x, out):
    """`out`, and `x` where the curve has become a line; few arrays reach so far."""
    if xp is np and not over.any():
        return out
    return masks.chosen(xp, over, x, out)


def _softplus_piece(xp, input, beta, threshold):
    scaled = input * beta
    out = xp.minimum(scaled, threshold)
    xp.exp(out, out=out)
    xp.log1p(out, out=out)
    out /= beta
    return _line(xp, scaled > threshold, input, out)


def _softplus_slope(xp, grad, input, beta, threshold):
    scaled = input * beta
    over = scaled > threshold
    xp.negative(scaled, out=scaled)
    xp.exp(scaled, out=scaled)
    scaled += 1
    return _line(xp, over, grad, xp.divide(grad, scaled, out=scaled))


def _softplus_bend(F, g, grad, input, beta, threshold):
    s = F.sigmoid(input * beta)
    bend = g * grad * (s * (1 - s) * beta)
    return F.where(F.gt(input * beta, threshold), 0.0, bend)


_softplus = op(
    "softplus",
    lambda xp, input, beta, threshold: pieces(xp, _softplus_piece, (input,), (beta, threshold)),
    formula=r"\bar x = \bar y\, \sigma(\beta x)",
    input=lambda F, g, input, beta, threshold: F.softplus_backward(g, input, beta, threshold),
)
op(
    "softplus_backward",
    lambda xp, grad, input, beta, threshold: pieces(xp, _softplus_slope, (grad, input), (beta, threshold)),
    inputs="grad input",
    name_in_graph="SoftplusBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x\, \sigma(\beta x)",
        "input": r"\bar x = \bar y\, g\, \beta s (1 - s)",
    },
    grad=lambda F, g, input, beta, threshold: F.softplus_backward(g, input, beta, threshold),
    input=lambda F, g, grad, input, beta, threshold: _softplus_bend(F, g, grad, input, beta, threshold),
)
_refuse_softplus = missing("softplus_cpu", "ibc")


def softplus(input: Tensor, beta: float = 1, threshold: float = 20, *, out: Any = None) -> Tensor:
    """A smooth relu, log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.

    Args:
        input: a tensor.
        beta: how sharp the bend is.
        threshold: where the line begins.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.softplus(vistorch.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """
    if casting.on and (recast := casting.ask(softplus, locals())):
        return recast[0]
    if out is not None:
        return exactly("softplus", input, out, softplus, beta, threshold)
    tensor(input, _refuse_softplus, "softplus")
    return _softplus(input, real(beta, "softplus", "beta", 2), real(threshold, "softplus", "threshold", 3))


# ---- log_sigmoid --------------------------------------------------------------------------------------------------
def _log_sigmoid_piece(xp, input):
    out = xp.abs(input)
    xp.negative(out, out=out)
    xp.exp(out, out=out)
    xp.log1p(out, out=out)
    return xp.subtract(xp.minimum(input, 0), out, out=out)


def _log_sigmoid_slope(xp, grad, input):
    out = xp.exp(input)
    out += 1
    return xp.divide(grad, out, out=out)


def _log_sigmoid_bend(F, input):
    s = F.sigmoid(input)
    return -s * (1 - s)


_log_sigmoid = op(
    "log_sigmoid",
    lambda xp, input: pieces(xp, _log_sigmoid_piece, (input,)),
    formula=r"\bar x = \bar y\, \sigma(-x)",
    input=lambda F, g, input: F.log_sigmoid_backward(g, input),
)
op(
    "log_sigmoid_backward",
    lambda xp, grad, input: pieces(xp, _log_sigmoid_slope, (grad, input)),
    inputs="grad input",
    name_in_graph="LogSigmoidBackwardBackward0",
    formula={
        "grad": r"\bar g = \bar x\, \sigma(-x)",
        "input": r"\bar x = -\bar y\, g\, s (1 - s)",
    },
    grad=lambda F, g, input: F.log_sigmoid_backward(g, input),
    input=lambda F, g, grad, input: g * grad * _log_sigmoid_bend(F, input),
)
_refuse_log_sigmoid = missing("log_sigmoid_cpu", "ibc")


def logsigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the sigmoid, without overflow.

    Args:
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.logsigmoid(vistorch.tensor([0.0, -100.0]))
        tensor([  -0.6931, -100.0000])
    """
    if out is None:
        return _log_sigmoid(tensor(input, _refuse_log_sigmoid, "log_sigmoid"))
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("log_sigmoid", "input", 1, input)
    out_argument.check_out("log_sigmoid_forward", out, (input,))
    result = _log_sigmoid(tensor(input, _refuse_log_sigmoid, "log_sigmoid"))
    if out.dtype is not result.dtype:
        named = result.dtype.scalar_name, out.dtype.scalar_name
        raise RuntimeError("expected scalar type {} but found {}".format(*named))
    if out._data.shape != result._data.shape:
        out.resize_(result._data.shape)  # without the usual warning
    return out_argument.deliver(out, result)


logsigmoid.__name__ = logsigmoid.__qualname__ = "log_sigmoid"
