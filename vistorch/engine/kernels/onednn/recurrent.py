"""One layer of LSTM over all steps of a dense sequence, forward and backward.

Weights and biases come as the engine has them, (4 * units, columns) with the gates in the order input, forget, cell,
output, which is oneDNN's as well. (Its kernels that call a product for each step are named reference code, and are
none.) Trap: the primitive adds to the gradients of weights and bias, so they begin at zero.
Invariant: nothing is written to an argument.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..addresses import address
from ..threads import share, steady
from .primitives import (
    BACKWARD,
    BIAS,
    D_BIAS,
    D_DST,
    D_DST1,
    D_DST2,
    D_SRC,
    D_SRC1,
    D_SRC2,
    D_WEIGHTS,
    D_WEIGHTS1,
    DST,
    DST1,
    DST2,
    F4,
    INFERENCE,
    SRC,
    SRC1,
    SRC2,
    TRAINING,
    WEIGHTS,
    WEIGHTS1,
    WORKSPACE,
    Call,
    cached,
    described,
    free,
    plain,
    size,
    wants,
)

_FLOPS = 1 / 25  # nanoseconds of a multiplication and an addition


def _given(columns: int, units: int) -> Any:
    """Weights as they lie, in the order of dims that the primitive names."""
    steps = 4 * units * columns
    return plain((1, 1, columns, 4, units), (steps, steps, 1, units * columns, columns))


def _parts(t: int, n: int, i: int, h: int) -> tuple:
    """Descriptions of the input, a state, the output and the bias."""
    return plain((t, n, i)), plain((1, 1, n, h)), plain((t, n, h)), plain((1, 1, 4, h))


def _free(i: int, h: int) -> tuple:
    return free((1, 1, i, 4, h)), free((1, 1, h, 4, h))


def _forward_of(kind: int, t: int, n: int, i: int, h: int, reverse: bool) -> Any:
    x, s, o, b = _parts(t, n, i, h)
    wl, wi = _free(i, h)
    way = 2 if reverse else 1
    return described("lstm_forward", kind, way, x, s, s, wl, wi, None, None, b, o, s, s, 0, None)


def _inputs(t: int, n: int, i: int, h: int) -> list:
    x, s, _, b = _parts(t, n, i, h)
    return [(SRC, x), (SRC1, s), (SRC2, s), (WEIGHTS, _given(i, h)), (WEIGHTS1, _given(h, h)), (BIAS, b)]


@cached
def _forward(threads, keep, t, n, i, h, reverse):
    """The call and how long its workspace is."""
    pd = _forward_of(TRAINING if keep else INFERENCE, t, n, i, h, reverse)
    _, s, o, _ = _parts(t, n, i, h)
    outs, length = [(DST, o), (DST1, s), (DST2, s)], 0
    if keep:
        space = wants(pd, WORKSPACE)
        outs.append((WORKSPACE, space))
        length = size(space)
    return Call(pd, tuple(_inputs(t, n, i, h)), tuple(outs), threads), length


@partial(cached, sparing=False)
def _backward(threads, t, n, i, h, reverse):
    hint = _forward_of(TRAINING, t, n, i, h, reverse)
    x, s, o, b = _parts(t, n, i, h)
    wl, wi = _free(i, h)
    way = 2 if reverse else 1
    first = (x, s, s, wl, wi, None, None, b, o, s, s)
    pd = described("lstm_backward", BACKWARD, way, *first, *first, 0, hint, None)
    ins = [*_inputs(t, n, i, h), (DST, o), (DST1, s), (DST2, s), (WORKSPACE, wants(hint, WORKSPACE))]
    ins += [(D_DST, o), (D_DST1, s), (D_DST2, s)]
    outs = [
        (D_SRC, x),
        (D_SRC1, s),
        (D_SRC2, s),
        (D_WEIGHTS, _given(i, h)),
        (D_WEIGHTS1, _given(h, h)),
        (D_BIAS, b),
    ]
    return Call(pd, tuple(ins), tuple(outs), threads, zeroed=(D_WEIGHTS, D_WEIGHTS1))


def _sizes(x: Any, w_hh: Any) -> tuple:
    t, n, i = x.shape
    return t, n, i, w_hh.shape[1]


def _work(t: int, n: int, i: int, h: int) -> float:
    return t * n * 4 * h * (i + h) * _FLOPS


def forward(x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, bias: Any, reverse: bool, keep: bool) -> Any:
    """(output, last h, last c, workspace); all arguments are dense, `bias` is the sum of both."""
    sizes = _sizes(x, w_hh)
    t, n, _, h = sizes
    found = _forward(share(_work(*sizes)), keep, *sizes, reverse)
    if found is None:
        return None
    call, length = found
    y, hn, cn = np.empty((t, n, h), F4), np.empty((n, h), F4), np.empty((n, h), F4)
    space = np.empty(length, np.uint8)
    args = [address(a) for a in (x, h0, c0, w_ih, w_hh, bias, y, hn, cn)]
    call(*args, *((address(space),) if keep else ()))
    return y, hn, cn, space


def backward(g: tuple, ins: tuple, outs: tuple, space: Any, reverse: bool) -> Any:
    """The gradients of x, h0, c0, w_ih, w_hh and the bias.

    Args:
        g: those of the output, the last h and the last c.
        ins: x, h0, c0, w_ih, w_hh and the sum of the biases.
        outs: what `forward` gave.
        space: its workspace.
        reverse: as given to it.
    """
    x, h0, _, w_ih, w_hh, bias = ins
    sizes = _sizes(x, w_hh)
    call = _backward(steady(2 * _work(*sizes)), *sizes, reverse)
    if call is None:
        return None
    made = [np.empty_like(a) for a in (x, h0, h0)] + [np.zeros_like(a) for a in (w_ih, w_hh, bias)]
    call(*[address(a) for a in (*ins, *outs, space, *g, *made)])
    return made
