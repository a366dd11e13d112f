"""One layer of LSTM in one direction as one row: a loop over time forward, a loop back.

Gates lie in PyTorch's order: input, forget, cell, output. Invariant: what the row keeps (gates, states before each
step) is private to its node, so that a write into the output disturbs nothing.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op
from ...core.tensor import Tensor
from ..linalg.addmm import addmm
from .sequence import (
    by_gate,
    fits,
    flat,
    fused,
    kept,
    plan,
    projected,
    recorded,
    recurrent,
    refuse_integers,
    to_bias,
    to_input,
    to_weights,
    walk,
)


def _forward(xp, input, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, sizes, reverse, keep):
    steps = plan(input.shape, sizes, reverse)
    # sigmoid(x) is (1 + tanh(x / 2)) / 2: one tanh serves all gates
    scale = xp.asarray([0.5, 0.5, 1, 0.5], c0.dtype).reshape(4, 1, 1)
    shift = 1 - scale
    gates = projected(xp, input, w_ih, 4)
    gates += by_gate(b_ih + b_hh, 4)[:, None]
    w = recurrent(xp, w_hh, 4, len(steps))
    w_out = None if w_hr is None else w_hr.T
    h, c = h0.copy(), c0.copy()
    out = xp.empty((gates.shape[1], h.shape[1]), h.dtype)
    before_h = xp.empty_like(out) if keep else None
    before_c = xp.empty(gates.shape[1:], h.dtype) if keep else None
    again = xp.empty((4, *c.shape), h.dtype)
    part = xp.empty_like(c)
    for start, stop, n in steps:
        a, hn, cn, t = gates[:, start:stop], h[:n], c[:n], part[:n]
        if before_h is not None and before_c is not None:
            before_h[start:stop] = hn
            before_c[start:stop] = cn
        a += xp.matmul(hn, w, out=again[:, :n])
        a *= scale
        xp.tanh(a, out=a)
        a *= scale
        a += shift
        cn *= a[1]
        cn += xp.multiply(a[0], a[2], out=t)
        xp.tanh(cn, out=t)
        if w_out is None:
            xp.multiply(a[3], t, out=hn)
        else:
            t *= a[3]
            xp.matmul(t, w_out, out=hn)
        out[start:stop] = hn
    out = out.reshape(*input.shape[:-1], h.shape[1])
    return (out, h, c, gates, before_h, before_c) if keep else (out, h, c)


def _slopes(xp, gates, before_c, cells):
    """How the cell state moves with the arguments of the first three gates, the output with that of the last, and the
    output with the cell state; `cells` holds the tanh of the states and is overwritten.
    """  # noqa: D205
    i, _, g, o = gates
    slopes = 1 - gates
    slopes *= gates
    slopes[0] *= g
    slopes[1] *= before_c
    xp.multiply(g, g, out=slopes[2])
    xp.subtract(1, slopes[2], out=slopes[2])
    slopes[2] *= i
    slopes[3] *= cells
    xp.multiply(cells, cells, out=cells)
    xp.subtract(1, cells, out=cells)
    cells *= o
    return slopes, cells


def _backward(
    xp,
    g_out,
    g_h,
    g_c,
    input,
    h0,
    c0,
    w_ih,
    w_hh,
    b_ih,
    b_hh,
    w_hr,
    sizes,
    reverse,
    gates,
    before_h,
    before_c,
    wanted,
):
    cells = gates[1] * before_c
    cells += gates[0] * gates[2]
    xp.tanh(cells, out=cells)
    hidden = None if w_hr is None else gates[3] * cells
    # slope by slope, step by step, these become the gradients of the gates' arguments
    delta, through = _slopes(xp, gates, before_c, cells)
    w = by_gate(w_hh, 4)
    dh = xp.zeros_like(h0) if g_h is None else g_h.copy()
    dc = xp.zeros_like(c0) if g_c is None else g_c.copy()
    g_out = None if g_out is None else flat(g_out)
    d_out = None if w_hr is None else xp.empty_like(before_h)
    part = xp.empty_like(dc)
    back = xp.empty((4, *dh.shape), dh.dtype)
    for start, stop, n in reversed(plan(input.shape, sizes, reverse)):
        d, dhn, dcn = delta[:, start:stop], dh[:n], dc[:n]
        if g_out is not None:
            dhn += g_out[start:stop]
        moved = dhn
        if d_out is not None:
            d_out[start:stop] = dhn
            moved = xp.matmul(dhn, w_hr)
        dcn += xp.multiply(moved, through[start:stop], out=part[:n])
        d[:3] *= dcn
        d[3] *= moved
        dcn *= gates[1, start:stop]
        xp.matmul(d, w, out=back[:, :n])
        xp.sum(back[:, :n], 0, out=dhn)
    d_bias = to_bias(delta) if wanted[5] or wanted[6] else None
    results = (
        to_input(xp, delta, w_ih, input.shape) if wanted[0] else None,
        dh,
        dc,
        to_weights(xp, delta, flat(input)) if wanted[3] else None,
        to_weights(xp, delta, before_h) if wanted[4] else None,
        d_bias,
        d_bias,
    )
    if d_out is None:
        return results
    return (*results, xp.matmul(d_out.T, hidden) if wanted[7] else None)


def _steps(input, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, sizes, reverse):
    """The layer by small ops."""

    def step(x: Tensor, h: Tensor, c: Tensor) -> tuple:
        a = addmm(b_hh, h, w_hh.t()) + x
        refuse_integers(a)
        i, f, g, o = a.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return (h if w_hr is None else h @ w_hr.t()), c

    return walk(step, input, (h0, c0), w_ih, b_ih, sizes, reverse)


FORMULA = {
    "input": r"\bar x_t = W_{ih}^\top \bar a_t",
    "h0": r"\bar h_{t-1} = W_{hh}^\top \bar a_t",
    "c0": r"\bar c_{t-1} = f_t \bar c_t",
    "w_ih": r"\bar W_{ih} = \sum_t \bar a_t x_t^\top",
    "w_hh": r"\bar W_{hh} = \sum_t \bar a_t h_{t-1}^\top",
    "b_ih": r"\bar b = \sum_t \bar a_t",
    "b_hh": r"\bar b = \sum_t \bar a_t",
    "w_hr": r"\bar W_{hr} = \sum_t \bar h_t (o_t \tanh c_t)^\top",
}
INPUTS = "input h0 c0 w_ih w_hh b_ih b_hh"


def _plain_forward(xp, input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, keep):
    return _forward(xp, input, h0, c0, w_ih, w_hh, b_ih, b_hh, None, sizes, reverse, keep)


def _plain_steps(input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse):
    return _steps(input, h0, c0, w_ih, w_hh, b_ih, b_hh, None, sizes, reverse)


def _gradients(xp, g, wanted, ins, steps, sizes, reverse, *kept_):
    """The gradients of all inputs: by the kernel, or recorded where there is no `xp`."""
    if xp is None:
        return recorded(steps, g, ins, wanted, sizes, reverse)
    args: Any = (*g, *ins, *(() if len(ins) == 8 else (None,)), sizes, reverse, *kept_, wanted)
    return _backward(xp, *args)


_layer = op(
    "lstm_layer",
    _plain_forward,
    inputs=INPUTS,
    outs=3,
    name_in_graph="LstmBackward0",
    formula=FORMULA,
    together=lambda xp, g, wanted, input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, out3, out4, out5: (
        _gradients(
            xp,
            g,
            wanted,
            (input, h0, c0, w_ih, w_hh, b_ih, b_hh),
            _plain_steps,
            sizes,
            reverse,
            out3,
            out4,
            out5,
        )
    ),
)
_projected_layer = op(
    "lstm_projected_layer",
    _forward,
    inputs=f"{INPUTS} w_hr",
    outs=3,
    name_in_graph="LstmBackward0",
    formula=FORMULA,
    together=lambda xp, g, wanted, input, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, sizes, reverse, out3, out4, out5: (
        _gradients(
            xp,
            g,
            wanted,
            (input, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr),
            _steps,
            sizes,
            reverse,
            out3,
            out4,
            out5,
        )
    ),
)


def layer(input: Tensor, states: tuple, weights: tuple, sizes: Any, reverse: bool) -> tuple:
    """One layer in one direction: (output, last h, last c).

    Args:
        input: dense or packed.
        states: h and c it starts from, (batch, features).
        weights: w_ih, w_hh, b_ih, b_hh and, for a projected layer, w_hr.
        sizes: of a packed input's steps.
        reverse: from the last step to the first.
    """
    h, c = states
    ins: Any = (input, h, c, *weights)
    if fused(ins) and fits(input, states, weights, 4):
        if len(weights) == 4:
            return _layer(*ins, sizes, reverse, kept(ins))[:3]
        if weights[4]._data.shape == (h._data.shape[1], c._data.shape[1]):
            return _projected_layer(*ins, sizes, reverse, kept(ins))[:3]
    steps: Any = _steps if len(weights) == 5 else _plain_steps
    return steps(*ins, sizes, reverse)
