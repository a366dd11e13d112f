"""One layer of a plain recurrent network in one direction as one row, with tanh or relu.

Invariant: what the row keeps is private to its node.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op
from ...core.tensor import Tensor
from ..linalg.addmm import addmm
from .sequence import fits, flat, fused, kept, plan, recorded, walk


def _forward(xp, input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, rectified, keep):
    n_units = h0.shape[1]
    w = xp.ascontiguousarray(w_hh.T)
    # all time steps at once; each step then turns its rows into states
    out = xp.matmul(flat(input), w_ih.T)
    out += b_ih + b_hh
    h = h0.copy()
    before = xp.empty_like(out) if keep else None
    again = xp.empty_like(h)
    for start, stop, n in plan(input.shape, sizes, reverse):
        a, hn = out[start:stop], h[:n]
        if before is not None:
            before[start:stop] = hn
        a += xp.matmul(hn, w, out=again[:n])
        if rectified:
            xp.maximum(a, 0, out=a)
        else:
            xp.tanh(a, out=a)
        hn[...] = a
    slopes = None
    if keep:
        slopes = (out > 0).astype(out.dtype) if rectified else 1 - out * out
    out = out.reshape(*input.shape[:-1], n_units)
    return (out, h, before, slopes) if keep else (out, h)


def _backward(xp, g_out, g_h, input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, before, slopes, wanted):
    delta = slopes.copy()
    dh = xp.zeros_like(h0) if g_h is None else g_h.copy()
    g_out = None if g_out is None else flat(g_out)
    for start, stop, n in reversed(plan(input.shape, sizes, reverse)):
        d, dhn = delta[start:stop], dh[:n]
        if g_out is not None:
            dhn += g_out[start:stop]
        d *= dhn
        xp.matmul(d, w_hh, out=dhn)
    d_bias = delta.sum(0) if wanted[4] or wanted[5] else None
    return (
        xp.matmul(delta, w_ih).reshape(input.shape) if wanted[0] else None,
        dh,
        xp.matmul(delta.T, flat(input)) if wanted[2] else None,
        xp.matmul(delta.T, before) if wanted[3] else None,
        d_bias,
        d_bias,
    )


def _steps(input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, rectified):
    """The layer by small ops."""

    def step(x: Tensor, h: Tensor) -> tuple:
        a = addmm(b_hh, h, w_hh.t()) + x
        return (a.relu() if rectified else a.tanh(),)

    return walk(step, input, (h0,), w_ih, b_ih, sizes, reverse)


def _gradients(xp, g, wanted, ins, sizes, reverse, rectified, *kept_):
    """The gradients of all inputs: by the kernel, or recorded where there is no `xp`."""
    if xp is None:
        return recorded(_steps, g, ins, wanted, sizes, reverse, rectified)
    args: Any = (*g, *ins, sizes, reverse, *kept_, wanted)
    return _backward(xp, *args)


_layer = op(
    "rnn_layer",
    _forward,
    inputs="input h0 w_ih w_hh b_ih b_hh",
    outs=2,
    name_in_graph="RnnBackward0",
    formula={
        "input": r"\bar x_t = W_{ih}^\top \bar a_t",
        "h0": r"\bar h_{t-1} = W_{hh}^\top \bar a_t",
        "w_ih": r"\bar W_{ih} = \sum_t \bar a_t x_t^\top",
        "w_hh": r"\bar W_{hh} = \sum_t \bar a_t h_{t-1}^\top",
        "b_ih": r"\bar b = \sum_t \bar a_t",
        "b_hh": r"\bar b = \sum_t \bar a_t",
    },
    together=lambda xp, g, wanted, input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, rectified, out2, out3: (
        _gradients(xp, g, wanted, (input, h0, w_ih, w_hh, b_ih, b_hh), sizes, reverse, rectified, out2, out3)
    ),
)


def _of(rectified: bool) -> Any:
    def layer(input: Tensor, states: tuple, weights: tuple, sizes: Any, reverse: bool) -> tuple:
        """One layer in one direction: (output, last h)."""
        ins: Any = (input, *states, *weights)
        if fused(ins) and fits(input, states, weights, 1):
            return _layer(*ins, sizes, reverse, rectified, kept(ins))[:2]
        args: Any = (*ins, sizes, reverse, rectified)
        return _steps(*args)

    return layer


tanh_layer, relu_layer = _of(False), _of(True)
