"""Values put back to where maxima came from, and max pooling with windows at random places.

Invariant: indices count within the last dims of one channel, as max pooling gives them.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...base import dims, dtypes, errors
from ...core.image_order import laid_as
from ...core.op_factory import op
from ...core.tensor import Tensor
from ...memory.lanes import all_samples
from . import sizes
from .max_index import flat, gather, lowest


def _unpool(xp, input, index, made):
    lead = input.shape[: input.ndim - len(made)]
    out = xp.zeros(prod(lead) * prod(made), input.dtype)
    if out.size:
        out[flat(xp, index, len(made), prod(made))] = input.reshape(-1)
    return out.reshape(lead + made)


UNPOOL = {
    d: op(
        f"max_unpool{d}d",
        _unpool,
        inputs="input index",
        widen=False,
        name_in_graph=f"MaxUnpool{d}DBackward0",
        formula=r"\bar x_k = \bar y_{i_k}",
        input=lambda F, g, index, made: F.unpool_gather(g, index, made),
    )
    for d in (2, 3)
}
# Of values that share an index the last one stays. Their gradient is PyTorch's, which goes to all of them; the gradient
# of that is the op itself again, so that a derivative in a direction is that of the value that stayed.
op(
    "unpool_gather",
    lambda xp, input, index, made: gather(xp, input, index, len(made)),
    inputs="input index",
    widen=False,
    name_in_graph="GatherBackward0",
    formula=r"\bar x_{i_k} = \bar y_k",
    input=lambda F, g, index, made: getattr(F, f"max_unpool{len(made)}d")(g, index, made),
)


def unpool(d: int, input: Any, indices: Any, made: tuple, stride: tuple = (), padding: tuple = ()) -> Tensor:
    """Zeros of the given last sizes, with values at the indices."""
    name = f"max_unpool{d}d"
    a, index = sizes.tensor(input, name), sizes.tensor(indices, name, "indices", 2)
    made = sizes.ints(made, name, "output_size", 3)
    stride, padding = sizes.ints(stride, name, "stride", 4), sizes.ints(padding, name, "padding", 5)
    if index.dtype != np.int64:
        got = f" but got: {dtypes.of(index.dtype).scalar_name}" if d == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if a.ndim not in (d + 1, d + 2):
        raise RuntimeError(
            f"Input to max_unpooling{d}d should be a {d + 1}d or {d + 2}d Tensor, but got a tensor with {a.ndim} "
            "dimensions."
        )
    if d == 3:
        for argument, value in (("stride", stride), ("padding", padding)):
            if len(value) != 3:
                raise RuntimeError(
                    f"There should be exactly three elements (depth, height, width) in {argument}, but got: "
                    f"{len(value)} elements."
                )
    if a.shape != index.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({errors.sizes(a.shape)}) but got "
            f"indices tensor with shape: {errors.sizes(index.shape)}"
        )
    if d == 3 and min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {errors.sizes(stride)}")
    for at in range(1, a.ndim):
        if a.shape[at] == 0:
            raise RuntimeError(
                f"max_unpooling{d}d_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, "
                f"but got {errors.sizes(a.shape)} with dimension {at} being empty."
            )
    if a.dtype.kind in "biuc" and 0 not in (*a.shape, *made):
        raise sizes.missing(name, a.dtype)
    if input._place is not indices._place:
        errors.check_devices(input._place, indices._place)
    dims.check_memory((*a.shape[: a.ndim - d], *made), a.itemsize)
    asked = all_samples(index)
    wrong = asked[(asked < 0) | (asked >= prod(made))]
    if wrong.size and prod(made):
        size = "x".join(map(str, made))
        raise RuntimeError(
            f"Found an invalid max index: {int(wrong.reshape(-1)[-1])} (output volumes are of size {size})"
        )
    put = UNPOOL[d](input, indices, made)
    return laid_as(input, put) if d == 2 else put


# ---- windows at random places ------------------------------------------------------------------------------------
def _starts(xp: Any, samples: Any, n: int, outputs: int, size: int) -> Any:
    """Where windows begin, for each sample; computed in the samples' own precision, as PyTorch does."""
    starts = xp.full((*samples.shape, outputs), n - size, np.int64)
    if outputs > 1:
        dtype = samples.dtype
        alpha = xp.asarray(n - size, dtype) / xp.asarray(outputs - 1, dtype)
        samples = samples[..., None]
        steps = ((xp.arange(outputs - 1).astype(dtype) + samples) * alpha).astype(np.int64)
        starts[..., :-1] = steps - (samples * alpha).astype(np.int64)
    return starts


def _fractional(xp, input, samples, kernel, made):
    d = len(kernel)
    inner = input.shape[input.ndim - d :]
    lead = input.shape[: input.ndim - d]
    batch = 1 if len(lead) == 1 else lead[0]
    planes = prod(lead)
    at: Any = 0
    for i in range(d):
        sample = samples[:batch, :, i if d == 3 else 1 - i].reshape(planes)
        starts = _starts(xp, sample, inner[i], made[i], kernel[i]) * prod(inner[i + 1 :])
        at = at + starts.reshape([planes, *[made[i] if j == i else 1 for j in range(d)]])
    a = input.reshape(planes, prod(inner))
    rows = xp.arange(planes).reshape((planes,) + (1,) * d)
    out = xp.full((planes, *made), lowest(input.dtype), input.dtype)
    index = at + xp.zeros(out.shape, np.int64)
    for offset in product(*[range(k) for k in kernel]):
        here = at + sum(o * prod(inner[i + 1 :]) for i, o in enumerate(offset))
        value = a[rows, here]
        better = (value > out) | (value != value)
        out = xp.where(better, value, out)
        index = xp.where(better, here, index)
    return out.reshape(lead + made), index.reshape(lead + made)


FRACTIONAL = {
    d: op(
        f"fractional_max_pool{d}d",
        _fractional,
        inputs="input samples",
        widen=False,
        name_in_graph=f"FractionalMaxPool{d}DBackward0",
        formula=r"\bar x_i = \textstyle\sum_{w:\ \arg\max_w x = i} \bar y_w",
        input=lambda F, g, input_shape, made, out1: F.pool_scatter(
            g, out1, input_shape[len(input_shape) - len(made) :]
        ),
    )
    for d in (2, 3)
}


def fractional(d: int, input: Any, kernel_size: Any, output_size: Any, samples: Any) -> tuple:
    """Max pooling with windows at random places; values and indices."""
    name = f"fractional_max_pool{d}d"
    a, s = sizes.tensor(input, name), sizes.tensor(samples, name, "random_samples", 4)
    kernel = sizes.several(kernel_size, d, name, "kernel_size", 2)
    made = sizes.several(output_size, d, name, "output_size", 3)
    which = "" if d == 2 else "three "
    for argument, value in (("kernel_size", kernel), ("output_size", made)):
        if len(value) != d:
            raise RuntimeError(f"{name}: {argument} must either be a single Int or tuple of {which}Ints")
    who = name if d == 2 else name + "_out"
    shape, ndim = a.shape, a.ndim
    if ndim not in (d + 1, d + 2):
        raise RuntimeError(f"{who}(): Expected {d + 1}D or {d + 2}D tensor, but got: {errors.sizes(shape)}")
    for at in range(ndim - d - 1, ndim):
        if shape[at] == 0:
            raise RuntimeError(
                f"{who}(): Expected input to have non-zero size for non-batch dimensions, but got{errors.sizes(shape)} "
                f"with dimension {at} being empty."
            )
    names = ("time", "height", "width")[3 - d :]
    for label, n, k, o in zip(names, shape[ndim - d :], kernel, made, strict=True):
        if o + k - 1 > n - (d == 3):
            raise RuntimeError(f"{who}(): pool {label} {k} too large relative to input {label} {n}")
    worst = next((n for n in made if n < 0), None)
    if worst is not None:
        full = errors.sizes((*shape[: ndim - d], *made))
        raise RuntimeError(f"Trying to create tensor with negative dimension {worst}: {full}")
    _check_samples(d, a, s)
    if a.dtype.kind in "biuc" and 0 not in (*shape, *made):
        raise sizes.missing(name + "_out_frame", a.dtype)
    return FRACTIONAL[d](input, samples, kernel, made)


def _check_samples(d: int, a: Any, s: Any) -> None:
    batch = 1 if a.ndim == d + 1 else a.shape[0]
    if s.dtype != a.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if s.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {s.ndim}")
    if s.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if s.shape[1] != a.shape[a.ndim - d - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if s.shape[2] != d:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {d}; got {s.shape[2]}.")
