"""Convolution and pooling by oneDNN.

Each function takes a row's plain kernel and returns the one to use. Invariant: arguments are those of the plain kernel.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import conv
from ..strides import channels_last
from .switch import onednn, sizes

F4 = np.dtype("f4")
_LOWEST = -3.4e38  # below it a maximum is oneDNN's word for minus infinity
Kernel = Callable[..., Any]


def _plan(x: tuple, w: tuple, out: Any, rest: tuple) -> Any:
    """The spatial shape of the result, or None where a part of the kernel sees nothing but padding."""
    xp: Any = np
    way, at, live = conv.plan(xp, F4, x, w, out, *rest)
    return at.out if live is None and way != "nothing" else None


def _knows(x: Any, w: Any) -> bool:
    return (
        x.dtype == F4
        and w.dtype == F4
        and x.size * w.size >= sizes.convolution
        and (onednn.on or onednn.ready())
    )


def convolution(plain: Kernel) -> Kernel:
    """`(input, weight, stride, padding, dilation, groups)`."""

    def run(x, w, *rest):
        if _knows(x, w) and (out := _plan(x.shape, w.shape, None, rest)) is not None:
            y = onednn.convolution.forward(x, w, None, out, *rest)
            if y is not None:
                return y
        return plain(x, w, *rest)

    return run


def convolution_with_bias(plain: Kernel) -> Kernel:
    """The same with a bias after the weight."""

    def run(x, w, bias, *rest):
        if _knows(x, w) and bias.dtype == F4 and (out := _plan(x.shape, w.shape, None, rest)) is not None:
            y = onednn.convolution.forward(x, w, bias, out, *rest)
            if y is not None:
                return y
        return plain(x, w, bias, *rest)

    return run


def _input_grad(g: Any, w: Any, size: tuple, rest: tuple) -> Any:
    if not _knows(g, w):
        return None
    shape = (len(g), w.shape[1] * rest[3], *size)
    if _plan(shape, w.shape, g.shape[2:], rest) is None:
        return None
    return onednn.convolution.input_grad(g, w, size, *rest)


def conv_input_grad(plain: Kernel) -> Kernel:
    """`(gradient, weight, size of the input, stride, padding, dilation, groups)`."""

    def run(g, w, size, *rest):
        x = _input_grad(g, w, size, rest)
        return plain(g, w, size, *rest) if x is None else x

    return run


def transposed_with_bias(plain: Kernel) -> Kernel:
    """The same with a bias after the weight."""

    def run(g, w, bias, size, *rest):
        x = _input_grad(g, w, size, rest)
        if x is None:
            return plain(g, w, bias, size, *rest)
        x += bias.reshape((-1,) + (1,) * len(size))
        return x

    return run


def conv_weight_grad(plain: Kernel) -> Kernel:
    """`(gradient, input, size of the kernel, stride, padding, dilation, groups)`."""

    def run(g, x, kernel, *rest):
        if (
            g.dtype == F4
            and x.dtype == F4
            and g.size * x.shape[1] >= sizes.convolution >> 4
            and onednn.ready()
        ):
            shape = (g.shape[1], x.shape[1] // rest[3], *kernel)
            if _plan(x.shape, shape, g.shape[2:], rest) is not None:
                w = onednn.convolution.weight_grad(g, x, kernel, *rest)
                if w is not None:
                    return w
        return plain(g, x, kernel, *rest)

    return run


# ---- batch normalisation --------------------------------------------------------------------------------------------
def _last(x: Any) -> bool:
    """Whether an array lies with its channels last; on rows oneDNN's batch normalisation is slower than numpy's."""
    return (
        x.dtype == F4
        and x.ndim > 3
        and x.size >= sizes.layer
        and not x.flags.c_contiguous
        and channels_last(x)
        and onednn.ready()
    )


def _vectors(*given: Any) -> Any:
    """Weights of the channels as dense arrays, None for those that are absent; None where oneDNN has no such type."""
    out = []
    for w in given:
        if w.shape == (0,):
            out.append(None)
        elif w.dtype == F4:
            out.append(np.ascontiguousarray(w))
        else:
            return None
    return out


def batch_norm(plain: Kernel) -> Kernel:
    """`(input, weight, bias, running mean, running variance, training, eps)`."""

    def run(x, weight, bias, mean, var, training, eps):
        if _last(x) and (given := _vectors(weight, bias)) is not None:
            n = onednn.normalization
            if training:
                made = n.batch_forward(x, *given, eps)
            else:
                made = n.batch_applied(x, *given, mean, var, eps)
            if made is not None:
                return made
        return plain(x, weight, bias, mean, var, training, eps)

    return run


def batch_norm_gradients(plain: Kernel) -> Kernel:
    """All gradients of `batch_norm`."""

    def run(xp, g, wants, input, weight, out1, out2, training):
        if (
            xp is np
            and training
            and g.dtype == F4
            and _last(input)
            and (given := _vectors(weight)) is not None
        ):
            made = onednn.normalization.batch_backward(g, input, given[0], out1, out2)
            if made is not None:
                return [m if wanted else None for m, wanted in zip((*made, None, None), wants, strict=True)]
        return plain(xp, g, wants, input, weight, out1, out2, training)

    return run


# ---- pooling --------------------------------------------------------------------------------------------------------
# Where the maxima of an array were, for the gradient that may follow; kept as long as the array is.
_spaces: dict[tuple[int, tuple], tuple] = {}


def _images(x: Any, windows: tuple) -> bool:
    return (
        x.dtype == F4
        and x.ndim == len(windows) + 2
        and x.size >= sizes.pool
        and (x.flags.c_contiguous or channels_last(x))
        and onednn.ready()
    )


def max_pool(plain: Kernel) -> Kernel:
    """`(input, windows)`."""

    def run(x, windows):
        if _images(x, windows) and not np.isnan(x.max()):
            made = onednn.pooling.forward(onednn.pooling.MAX, x, windows)
            if made is not None and made[0].size and made[0].min() > _LOWEST:
                key = id(x), windows
                _spaces[key] = weakref.ref(x, lambda _: _spaces.pop(key, None)), made[1]
                return made[0]
        return plain(x, windows)

    return run


def max_pool_backward(plain: Kernel) -> Kernel:
    """`(gradient, input, windows)`."""

    def run(g, x, windows):
        found = _spaces.get((id(x), windows))
        if found is not None and found[0]() is x and g.dtype == F4 and onednn.on:
            last = not x.flags.c_contiguous
            out = onednn.pooling.backward(onednn.pooling.MAX, g, found[1], x.shape, windows, last)
            if out is not None:
                return out
        return plain(g, x, windows)

    return run


def _alike(shape: tuple, windows: tuple, include: bool, override: Any) -> bool:
    """Whether oneDNN divides by what PyTorch divides by."""
    if override is not None:
        return False
    spatial = shape[len(shape) - len(windows) :]
    return not include or all(
        (w[4] - 1) * w[1] + w[0] <= n + 2 * w[2] for n, w in zip(spatial, windows, strict=True)
    )


def avg_pool(plain: Kernel) -> Kernel:
    """`(input, windows, whether padding counts, divisor or None)`."""

    def run(x, windows, include, override):
        if _images(x, windows) and _alike(x.shape, windows, include, override):
            p = onednn.pooling
            made = p.forward(p.MEAN_OF_ALL if include else p.MEAN, x, windows)
            if made is not None:
                return made[0]
        return plain(x, windows, include, override)

    return run


def avg_pool_backward(plain: Kernel) -> Kernel:
    """`(gradient, shape of the input, windows, whether padding counts, divisor or None)`."""

    def run(g, shape, windows, include, override):
        if (
            g.dtype == F4
            and g.size >= sizes.pool // 4
            and len(shape) == len(windows) + 2
            and _alike(shape, windows, include, override)
            and onednn.ready()
        ):
            p = onednn.pooling
            last = not g.flags.c_contiguous and channels_last(g)
            out = p.backward(p.MEAN_OF_ALL if include else p.MEAN, g, None, shape, windows, last)
            if out is not None:
                return out
        return plain(g, shape, windows, include, override)

    return run
