"""The rows of the Fourier transforms: complex to complex, real to complex, complex to real, and what they pad.

Invariant: rows take the dims, the direction and the factor; whatever the norm is called, it is that factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op
from ...kernels import threads
from ...kernels.fast.spread import BIG

_NANOSECONDS = 6  # of an element
COMPLEX = {np.dtype("f4"): np.dtype("c8"), np.dtype("f8"): np.dtype("c16")}


def _laid(xp, out, input, dims, last_stays):
    """A result as PyTorch's transforms leave it in memory: what was transformed lies innermost."""
    if out.ndim < 2:
        return out
    steps = input.strides
    outer = sorted([d for d in range(out.ndim) if d not in dims], key=lambda d: -steps[d])
    inner = sorted(dims[:-1] if last_stays else dims, key=lambda d: -steps[d])
    order = (*outer, *inner, dims[-1]) if last_stays else (*outer, *inner)
    if order == tuple(range(out.ndim)):
        return xp.ascontiguousarray(out)
    back = sorted(range(out.ndim), key=order.__getitem__)
    return xp.ascontiguousarray(out.transpose(order)).transpose(back)


def _shared(transform, input, dims):
    """`transform(input)`, the first dim on several threads where it is not transformed and there is much."""
    if input.__class__ is not np.ndarray or input.size < BIG or 0 in dims or len(input) == 1:
        return transform(input)
    if threads.count() == 1:
        return transform(input)
    first = transform(input[:1])  # says what shape and type all of them have
    out = np.empty((len(input), *first.shape[1:]), first.dtype)
    out[:1], made, rest = first, out[1:], input[1:]

    def some(start, stop):
        made[start:stop] = transform(rest[start:stop])

    threads.split(some, len(rest), rest.size * _NANOSECONDS, 1)
    return out


def _c2c(xp, input, dims, scale, forward):
    """Without dims there is nothing to transform."""
    if not dims:
        return xp.array(input)
    norm = "backward" if forward else "forward"
    if len(dims) == 1:  # numpy's way for one dim is four times shorter
        run = xp.fft.fft if forward else xp.fft.ifft
        out = _shared(lambda x: run(x, None, dims[0], norm), input, dims)
    else:
        run = xp.fft.fftn if forward else xp.fft.ifftn
        out = _shared(lambda x: run(x, axes=dims, norm=norm), input, dims)
    return _laid(xp, out if scale == 1 else out * input.dtype.type(scale), input, dims, False)


def _r2c(xp, input, dims, scale, onesided):
    if len(dims) == 1:
        run = xp.fft.rfft if onesided else xp.fft.fft
        out = _shared(lambda x: run(x, None, dims[0]), input, dims)
    else:
        run = xp.fft.rfftn if onesided else xp.fft.fftn
        out = _shared(lambda x: run(x, axes=dims), input, dims)
    return _laid(xp, out if scale == 1 else out * out.dtype.type(scale), input, dims, True)


def _c2r(xp, input, dims, scale, last):
    if len(dims) == 1:
        out = _shared(lambda x: xp.fft.irfft(x, last, dims[0], "forward"), input, dims)
    else:
        s = [input.shape[d] for d in dims[:-1]] + [last]
        out = _shared(lambda x: xp.fft.irfftn(x, s=s, axes=dims, norm="forward"), input, dims)
    return _laid(xp, out if scale == 1 else out * out.dtype.type(scale), input, dims, True)


def _half_weights(xp, input, dim, last):
    """Twice what a half spectrum stands for twice: all but the first frequency and, for even sizes, the last."""
    out = xp.array(input)
    at = (slice(None),) * dim
    out[(*at, slice(1, (last + 1) // 2))] *= 2
    return out


def _pad_end(xp, input, dim, n):
    """Zeros behind, or a cut, up to size `n`."""
    have = input.shape[dim]
    at = (slice(None),) * dim
    if n <= have:
        return xp.array(input[(*at, slice(0, n))])
    out = xp.zeros((*input.shape[:dim], n, *input.shape[dim + 1 :]), input.dtype)
    out[(*at, slice(0, have))] = input
    return out


def _r2c_gradient(F: Any, g: Any, dims: tuple, scale: float, onesided: bool, shape: tuple) -> Any:
    if onesided:
        g = F.pad_end(g, dims[-1], shape[dims[-1]])
    return F.real_part_of(F.fft_c2c(g, dims, scale, False))


def _c2r_gradient(F: Any, g: Any, dims: tuple, scale: float, last: int) -> Any:
    return F.half_weights(F.fft_r2c(g, dims, scale, True), dims[-1], last)


c2c = op(
    "fft_c2c",
    _c2c,
    holomorphic=False,
    name_in_graph="FftC2CBackward0",
    formula=r"\bar x = \mathcal F^H \bar y",
    input=lambda F, g, dims, scale, forward: F.fft_c2c(g, dims, scale, not forward),
)
r2c = op(
    "fft_r2c",
    _r2c,
    holomorphic=False,
    name_in_graph="FftR2CBackward0",
    formula=r"\bar x = \mathrm{Re}\,\mathcal F^H \bar y",
    input=lambda F, g, dims, scale, onesided, input_shape: _r2c_gradient(
        F, g, dims, scale, onesided, input_shape
    ),
)
c2r = op(
    "fft_c2r",
    _c2r,
    holomorphic=False,
    name_in_graph="FftC2RBackward0",
    formula=r"\bar x_k = w_k (\mathcal F \bar y)_k,\ w_k = 2 \text{ inside the half spectrum}",
    input=lambda F, g, dims, scale, last: _c2r_gradient(F, g, dims, scale, last),
)
op(
    "half_weights",
    _half_weights,
    name_in_graph="MulBackward0",
    formula=r"\bar x = w \bar y",
    input=lambda F, g, dim, last: F.half_weights(g, dim, last),
)
pad_end = op(
    "pad_end",
    _pad_end,
    widen=False,
    name_in_graph="ConstantPadNdBackward0",
    formula=r"\bar x = \mathrm{cut}(\bar y)",
    input=lambda F, g, dim, input_shape: F.pad_end(g, dim, input_shape[dim]),
)
op(
    "real_part_of",
    lambda xp, input: xp.array(input.real),
    holomorphic=False,
    name_in_graph="RealBackward0",
    formula=r"\bar x = \bar y",
    input=lambda F, g: F.to_complex(g),
)
to_complex = op(
    "to_complex",
    lambda xp, input: input.astype(COMPLEX[input.dtype]),
    holomorphic=False,
    name_in_graph="ToCopyBackward0",
    formula=r"\bar x = \mathrm{Re}\,\bar y",
    input=lambda F, g: F.real_part_of(g),
)
