"""A layer of LSTM by oneDNN, where it is dense and in float32.

What the row keeps for the backward pass is then oneDNN's workspace and copies of the outputs, in the places where the
plain kernel keeps its gates and states. Invariant: the kind of the first of them, bytes, says whose they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .switch import onednn, sizes

F4 = np.dtype("f4")
_BYTES = np.dtype("u1")
Kernel = Callable[..., Any]


def _dense(*arrays: Any) -> tuple:
    return tuple([np.ascontiguousarray(a) for a in arrays])


def lstm(plain: Kernel) -> Kernel:
    """`(input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes of steps, reverse, keep)`."""

    def run(x, h0, c0, w_ih, w_hh, b_ih, b_hh, steps, reverse, keep):
        if (
            steps is None
            and x.ndim == 3
            and x.dtype == F4
            and w_hh.dtype == F4
            and h0.shape == c0.shape
            and x.size * w_hh.shape[1] >= sizes.recurrent
            and x.shape[1] == len(h0)
            and onednn.ready()
        ):
            ins = _dense(x, h0, c0, w_ih, w_hh, b_ih + b_hh)
            made = onednn.recurrent.forward(*ins, bool(reverse), bool(keep))
            if made is not None:
                out, h, c, space = made
                return (out, h, c, space, out.copy(), np.stack((h, c))) if keep else (out, h, c)
        return plain(x, h0, c0, w_ih, w_hh, b_ih, b_hh, steps, reverse, keep)

    return run


def lstm_gradients(plain: Kernel) -> Kernel:
    """All gradients of `lstm`; None for `xp` where the pass is recorded."""

    def run(xp, g, wanted, input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, out3, out4, out5):
        if xp is not np or out3.dtype != _BYTES:
            rest = input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse, out3, out4, out5
            return plain(xp, g, wanted, *rest)
        ins = _dense(input, h0, c0, w_ih, w_hh, b_ih + b_hh)
        outs = (out4, out5[0], out5[1])
        given = [np.zeros_like(o) if a is None else a for a, o in zip(g, outs, strict=True)]
        made = onednn.recurrent.backward(_dense(*given), ins, outs, out3, bool(reverse))
        if made is None:  # what made the workspace can read it
            raise RuntimeError("oneDNN has no backward pass for an LSTM whose forward pass it computed")
        return [a if wants else None for a, wants in zip((*made, made[-1]), wanted, strict=True)]

    return run
