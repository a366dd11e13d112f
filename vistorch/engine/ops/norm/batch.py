"""Batch and instance normalisation, with running statistics.

Invariant: running statistics change in training only, after everything has been checked, and never in a graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dims import flag
from ...base.events import listeners
from ...core.op_factory import op
from ...core.private_order import Private, through
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, wrap
from ..shape.reshape import viewed
from . import checks, passes
from .passes import F8
from .standard import absent, there


def _layout(shape: tuple) -> tuple:
    """(batch, channels, places of one channel) of an input."""
    inner = 1
    for n in shape[2:]:
        inner *= n
    return shape[0], shape[1], inner


def _by_channel(xp: Any, c: Any, dtype: Any, layout: tuple) -> tuple:
    """The matrix of an input and a coefficient for it, from one number for each channel.

    Short channels stand side by side in one row for each sample; of long ones each has a row.
    """
    batch, channels, inner = layout
    c = c.astype(dtype, copy=False)
    if inner < passes.SHORT:
        return xp.repeat(c, inner).reshape(1, channels * inner)
    return xp.broadcast_to(c, (batch, channels)).reshape(batch * channels, 1)


def _matrix(xp: Any, x: Any, layout: tuple) -> Any:
    batch, channels, inner = layout
    if inner < passes.SHORT:
        return passes.contiguous(xp, x, batch, channels * inner)
    return passes.contiguous(xp, x, batch * channels, inner)


def _statistics(xp: Any, x: Any, layout: tuple) -> tuple:
    """The mean and the mean square around it, of each channel."""
    batch, channels, inner = layout
    if inner < passes.SHORT:
        mean, square = passes.column_moments(xp, x)
        return passes.pooled(mean.reshape(channels, inner), square.reshape(channels, inner), batch, 1)
    mean, square = passes.moments(xp, x)
    return passes.pooled(mean.reshape(batch, channels), square.reshape(batch, channels), inner, 0)


def _batch_norm(xp, input, weight, bias, running_mean, running_var, training, eps):
    layout = _layout(input.shape)
    dtype = passes.wide(input.dtype)
    if training and not input.size:
        mean, var = xp.zeros(layout[1], F8), xp.zeros(layout[1], F8)
    elif training:
        x = _matrix(xp, input, layout)
        mean, var = _statistics(xp, x, layout)
    else:
        mean, var = running_mean.astype(F8), running_var.astype(F8)
    inverse = 1 / xp.sqrt(var + eps)
    scale = inverse if there(weight) is None else inverse * weight
    shift = -mean * scale
    if there(bias) is not None:
        shift = shift + bias
    x = _matrix(xp, input, layout)
    scale, shift = [_by_channel(xp, c, dtype, layout) for c in (scale, shift)]
    out = passes.scaled(xp, x, scale, shift, input.shape)
    return out, mean.astype(dtype), inverse.astype(dtype), var


def _gradients(xp, g, wants, input, weight, out1, out2, training):
    layout = _layout(input.shape)
    batch, channels, inner = layout
    dtype, short = g.dtype, inner < passes.SHORT
    x, g = _matrix(xp, input, layout), _matrix(xp, g, layout)
    mean, inverse = out1.astype(F8), out2.astype(F8)
    close = passes.near(xp, mean, 1 / (inverse * inverse))
    m = _by_channel(xp, mean, dtype, layout)
    grads: list = [None] * 5
    needs_sums = (training and wants[0]) or wants[1] or wants[2]
    total = along = xp.zeros(channels, F8)
    if input.size and needs_sums and short:
        total, along = [s.reshape(channels, inner).sum(1) for s in passes.column_sums(xp, g, x, m)]
    elif input.size and needs_sums:
        total, along = [s.reshape(batch, channels).sum(0) for s in passes.sums(xp, g, x, m, close)]
    if wants[1]:
        grads[1] = (along * inverse).astype(dtype)
    if wants[2]:
        grads[2] = total.astype(dtype)
    if wants[0]:
        scale = inverse if there(weight) is None else inverse * weight
        if training:
            n = max(batch * inner, 1)
            coefficients = (scale, -scale * inverse * inverse * along / n, -scale * total / n)
            of_g, of_x, shift = [_by_channel(xp, c, dtype, layout) for c in coefficients]
            grads[0] = passes.combined(xp, g, x, m, of_g, of_x, shift, close, input.shape)
        else:
            of_g = _by_channel(xp, scale, dtype, layout)
            grads[0] = xp.empty(input.shape, dtype)
            xp.multiply(g, of_g, out=grads[0].reshape(g.shape))
    return grads


def _ahead(F: Any, c: Any, shape: tuple) -> Any:
    """One number for each channel, in a shape that broadcasts against the input."""
    return F.as_shape(c, (1, shape[1], *[1] * (len(shape) - 2)))


def _dims(shape: tuple) -> tuple:
    return (0, *range(2, len(shape)))


def _input_vjp(F, g, input, weight, out2, training, eps):
    if there(weight) is not None:
        g = g * _ahead(F, weight, input.shape)
    if training:
        return F.standard_gradient(g, input, _dims(input.shape), eps, True)
    return g * _ahead(F, out2, input.shape)


def _weight_vjp(F, g, input, out1, out2, training, eps):
    dims = _dims(input.shape)
    if training:
        h = F.standard(input, dims, eps, True)
    else:
        h = (input - _ahead(F, out1, input.shape)) * _ahead(F, out2, input.shape)
    return F.sum_dims(g * h, dims, False)


batch_norm_row = op(
    "native_batch_norm",
    _batch_norm,
    inputs="input weight bias running_mean running_var",
    widen=False,
    formula={
        "input": r"\bar x = \frac{w}{\sigma}\left(\bar y - \mathrm{mean}(\bar y)"
        r" - \hat x\,\mathrm{mean}(\bar y\,\hat x)\right)",
        "weight": r"\bar w = \textstyle\sum \bar y\,\hat x",
        "bias": r"\bar b = \textstyle\sum \bar y",
    },
    together=_gradients,
    input=_input_vjp,
    weight=_weight_vjp,
    bias=lambda F, g: F.sum_dims(g, _dims(g.shape), False),
)


def _update(running: Tensor, value: Any, momentum: float) -> None:
    """Move a running statistic towards what this batch has, in its own memory; its version stays, as in PyTorch."""
    d = running._data
    # where the graph sees running statistics it keeps copies, so nothing saved is written here
    d[...] = (1 - momentum) * d.astype(F8) + momentum * value


def _remember(input: Tensor, mean: Any, var: Any, stats: tuple, momentum: float) -> None:
    running_mean, running_var = stats
    shape = input._data.shape
    n = shape[0]
    for size in shape[2:]:
        n *= size
    with np.errstate(all="ignore"):
        # of one value the unbiased variance is nan, as in PyTorch; of none, nothing is known
        unbiased = var * n / (n - 1) if n > 1 else var * np.nan
        if running_mean is not None:
            _update(running_mean, mean, momentum)
        if running_var is not None:
            _update(running_var, unbiased, momentum)


def _run(
    input: Tensor, weight: Any, bias: Any, stats: tuple, training: bool, momentum: float, eps: float
) -> tuple:
    """The row, after all checks, and the running statistics."""
    blank = None
    ins = []
    for t in (weight, bias, *stats):
        if t is None:
            t = blank = absent(input) if blank is None else blank
        ins.append(t)
    results = batch_norm_row(input, *ins, training, eps)
    if (emit := listeners.drew) is not None:
        emit("batch_norm", input, training, None)
    if training and stats[0] is not None and input._data.size:
        _remember(input, results[1]._data.astype(F8), results[3]._data, stats, momentum)
    return results


@public(method=False)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Each channel brought to mean zero and variance one over the batch, or by running statistics.

    Args:
        input: (batch, channels, ...).
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        running_mean: what is used outside of training, and updated by it, or None.
        running_var: likewise.
        training: use the statistics of this batch.
        momentum: how far the running statistics move.
        eps: added to the variance.
        cudnn_enabled: accepted, and without effect.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[1.0], [3.0]])
        >>> vistorch.batch_norm(x, None, None, None, None, True, 0.1, 0.0, False)
        tensor([[-1.],
                [ 1.]])
    """
    if input.__class__ is Private:
        stats = (running_mean, running_var, training, momentum, eps, cudnn_enabled)
        return through(batch_norm, input, weight, bias, *stats)
    training, momentum, eps = checks.batch(
        "batch_norm", input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    flag(cudnn_enabled, "batch_norm", "cudnn_enabled", 9)
    checks.channels(input, weight, bias, running_mean, running_var, training)
    if input._data.ndim < 2:  # no elements, which have no statistics
        return METHODS["clone"](input)
    return _run(input, weight, bias, (running_mean, running_var), training, momentum, eps)[0]


@public(method=False)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    """`batch_norm`, and the mean and inverse deviation that it used (nothing outside of training).

    Args:
        input: (batch, channels, ...).
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        running_mean: what is used outside of training, and updated by it, or None.
        running_var: likewise.
        training: use the statistics of this batch.
        momentum: how far the running statistics move.
        eps: added to the variance.
        out: three tensors to put the results into.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[1.0], [3.0]])
        >>> vistorch.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)[1:]
        (tensor([2.]), tensor([1.]))
    """
    training, momentum, eps = checks.batch(
        "native_batch_norm", input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if out is not None:
        checks.check_outs("native_batch_norm", out, (input, weight, bias))
    checks.channels(input, weight, bias, running_mean, running_var, training)
    results = _run(input, weight, bias, (running_mean, running_var), training, momentum, eps)
    o, mean, inverse = results[:3]
    kind = next((t for t in (weight, running_mean) if t is not None), input)._data.dtype
    mean, inverse = [
        wrap(t._data.astype(kind) if training else t._data[:0].astype(kind), t._place)
        for t in (mean, inverse)
    ]
    return checks.delivered(out, (o, mean, inverse))


@public(method=False)
def instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """Each channel of each sample brought to mean zero and variance one, or by running statistics.

    Args:
        input: (batch, channels, ...).
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        running_mean: what is used without `use_input_stats`, and updated with it, or None.
        running_var: likewise.
        use_input_stats: use the statistics of this input.
        momentum: how far the running statistics move.
        eps: added to the variance.
        cudnn_enabled: accepted, and without effect.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[[1.0, 3.0]]])
        >>> vistorch.instance_norm(x, None, None, None, None, True, 0.1, 0.0, False)
        tensor([[[-1.,  1.]]])
    """
    name, label = "instance_norm", "use_input_stats"
    use, momentum, eps = checks.batch(
        name, input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, label
    )
    flag(cudnn_enabled, name, "cudnn_enabled", 9)
    if not use and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    shape = input._data.shape
    if len(shape) < 2:
        raise checks.no_channels(len(shape), 0)
    batch, channels = shape[:2]
    # every channel of every sample is a channel of its own
    w, b = [None if t is None else t.repeat(batch) for t in (weight, bias)]
    mean, var = running_mean, running_var
    # a half type goes with a weight and statistics that are all float32, as they are
    mixed = input._data.dtype in checks.HALVES and weight is not None and weight._data.dtype == checks.F4
    if mean is not None and mean._data.dtype != input._data.dtype and not mixed:
        mean, var = [None if t is None else t.to(input.dtype) for t in (mean, var)]
    mean, var = [None if t is None else t.repeat(batch) for t in (mean, var)]
    x = viewed(input.contiguous(), (1, batch * channels, *shape[2:]))
    checks.channels(x, w, b, mean, var, use)
    o = _run(x, w, b, (mean, var), use, momentum, eps)[0]
    if use and input._data.size:
        for running, many in ((running_mean, mean), (running_var, var)):
            if running is not None and many is not None:
                running._data[...] = many._data.reshape(batch, channels).astype(F8).mean(0)
    return viewed(o, shape)
