"""One layer of GRU in one direction as one row: a loop over time forward, a loop back.

Gates lie in PyTorch's order: reset, update, new. The reset gate acts on what the state gives to the new gate, its
bias included. Invariant: what the row keeps is private to its node.
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


def _forward(xp, input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, keep):
    steps = plan(input.shape, sizes, reverse)
    b, b_ = by_gate(b_ih, 3)[:, None], by_gate(b_hh, 3)[:, None]
    gates = projected(xp, input, w_ih, 3)
    gates += b
    gates[:2] += b_[:2]
    w = recurrent(xp, w_hh, 3, len(steps))
    h = h0.copy()
    out = xp.empty(gates.shape[1:], h.dtype)
    before = xp.empty_like(out) if keep else None
    inner = xp.empty_like(out) if keep else None
    again = xp.empty((3, *h.shape), h.dtype)
    for start, stop, n in steps:
        a, hn, fed = gates[:, start:stop], h[:n], again[:, :n]
        if before is not None:
            before[start:stop] = hn
        xp.matmul(hn, w, out=fed)
        # sigmoid(x) is (1 + tanh(x / 2)) / 2
        switches, new, from_state = a[:2], a[2], fed[2]
        switches += fed[:2]
        switches *= 0.5
        xp.tanh(switches, out=switches)
        switches *= 0.5
        switches += 0.5
        from_state += b_[2]
        if inner is not None:
            inner[start:stop] = from_state
        from_state *= a[0]
        new += from_state
        xp.tanh(new, out=new)
        hn -= new
        hn *= a[1]
        hn += new
        out[start:stop] = hn
    out = out.reshape(*input.shape[:-1], h.shape[1])
    return (out, h, gates, before, inner) if keep else (out, h)


def _backward(
    xp, g_out, g_h, input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, gates, before, inner, wanted
):
    r, z, new = gates
    # how the new state moves with the arguments of the gates, as the recurrent weights see them: slope by slope, step
    # by step, they become the gradients
    delta = 1 - gates
    to_new = delta[1] * (1 - new * new)
    delta *= gates
    delta[0] *= inner
    delta[0] *= to_new
    delta[1] *= before - new
    xp.multiply(to_new, r, out=delta[2])
    w = by_gate(w_hh, 3)
    dh = xp.zeros_like(h0) if g_h is None else g_h.copy()
    g_out = None if g_out is None else flat(g_out)
    back = xp.empty((4, *dh.shape), dh.dtype)  # by each gate, and past them
    for start, stop, n in reversed(plan(input.shape, sizes, reverse)):
        d, dhn = delta[:, start:stop], dh[:n]
        if g_out is not None:
            dhn += g_out[start:stop]
        d *= dhn
        to_new[start:stop] *= dhn
        xp.multiply(dhn, z[start:stop], out=back[3, :n])
        xp.matmul(d, w, out=back[:3, :n])
        xp.sum(back[:, :n], 0, out=dhn)
    d_w_hh = to_weights(xp, delta, before) if wanted[3] else None
    d_b_hh = to_bias(delta) if wanted[5] else None
    delta[2] = to_new  # the input reaches the new gate past the reset gate
    return (
        to_input(xp, delta, w_ih, input.shape) if wanted[0] else None,
        dh,
        to_weights(xp, delta, flat(input)) if wanted[2] else None,
        d_w_hh,
        to_bias(delta) if wanted[4] else None,
        d_b_hh,
    )


def _steps(input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse):
    """The layer by small ops."""

    def step(x: Tensor, h: Tensor) -> tuple:
        xr, xz, xn = x.chunk(3, 1)
        hr, hz, hn = addmm(b_hh, h, w_hh.t()).chunk(3, 1)
        refuse_integers(hr)
        r, z = (hr + xr).sigmoid(), (hz + xz).sigmoid()
        new = (xn + hn * r).tanh()
        return ((h - new) * z + new,)

    return walk(step, input, (h0,), w_ih, b_ih, sizes, reverse)


def _gradients(xp, g, wanted, ins, sizes, reverse, *kept_):
    """The gradients of all inputs: by the kernel, or recorded where there is no `xp`."""
    if xp is None:
        return recorded(_steps, g, ins, wanted, sizes, reverse)
    args: Any = (*g, *ins, sizes, reverse, *kept_, wanted)
    return _backward(xp, *args)


_layer = op(
    "gru_layer",
    _forward,
    inputs="input h0 w_ih w_hh b_ih b_hh",
    outs=2,
    name_in_graph="GruBackward0",
    formula={
        "input": r"\bar x_t = W_{ih}^\top \bar a_t",
        "h0": r"\bar h_{t-1} = z_t \bar h_t + W_{hh}^\top \bar b_t",
        "w_ih": r"\bar W_{ih} = \sum_t \bar a_t x_t^\top",
        "w_hh": r"\bar W_{hh} = \sum_t \bar b_t h_{t-1}^\top",
        "b_ih": r"\bar b_{ih} = \sum_t \bar a_t",
        "b_hh": r"\bar b_{hh} = \sum_t \bar b_t",
    },
    together=lambda xp, g, wanted, input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, out2, out3, out4: (
        _gradients(xp, g, wanted, (input, h0, w_ih, w_hh, b_ih, b_hh), sizes, reverse, out2, out3, out4)
    ),
)


def layer(input: Tensor, states: tuple, weights: tuple, sizes: Any, reverse: bool) -> tuple:
    """One layer in one direction: (output, last h).

    Args:
        input: dense or packed.
        states: the h it starts from, (batch, features).
        weights: w_ih, w_hh, b_ih, b_hh.
        sizes: of a packed input's steps.
        reverse: from the last step to the first.
    """
    ins: Any = (input, *states, *weights)
    if fused(ins) and fits(input, states, weights, 3):
        return _layer(*ins, sizes, reverse, kept(ins))[:2]
    args: Any = (*ins, sizes, reverse)
    return _steps(*args)
