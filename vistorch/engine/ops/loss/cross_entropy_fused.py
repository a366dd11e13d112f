"""The cross entropy of a small matrix and class indices in one go: two rows' work between one entry and one exit.

Invariant: the result, its graph, what its nodes keep and what a listener receives are those that `log_softmax` and
`nll_loss` give one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.events import listeners
from ...base.modes import mode
from ...base.numpy_warnings import hushed
from ...core.op_factory import FLOATS
from ...core.record import record
from ...core.tensor import Tensor, new, wrap
from ...memory.placement import CPU
from ..activation.soft import _log_softmax
from .nll import MEAN, NONE, one_rows

_INT64, _UNSIGNED = np.dtype("i8"), np.dtype("u8")
_SMALL = 1 << 14
_add: Any = np.add.reduce
_largest: Any = np.maximum.reduce
_soft, _likely = _log_softmax.rule, one_rows.rule


def _run(x: Any, t: Any, starts: Any, ignore_index: int, reduction: int) -> tuple | None:
    """Log-probabilities and loss; None where a target does not count or is none."""
    rows, classes = x.shape
    if int(_largest(t.view(_UNSIGNED))) >= classes or 0 <= ignore_index < classes:
        return None
    log_p = x - _largest(x, 1, None, None, True)
    log_p -= np.log(_add(np.exp(log_p), 1, None, None, True))
    loss = 0.0 - _add(log_p.take(starts + t))  # so that no zero has a sign
    return log_p, loss / x.dtype.type(rows) if reduction == MEAN else loss


def cross_entropy_together(input: Tensor, target: Tensor, ignore_index: int, reduction: int) -> Tensor | None:
    """The loss, or None where it takes the long way."""
    x, t = input._data, target._data
    on = mode.on
    if (
        x.ndim != 2
        or not 0 < x.size <= _SMALL
        or x.dtype not in FLOATS
        or t.ndim != 1
        or t.dtype is not _INT64
        or len(t) != len(x)
        or input._place is not CPU
        or target._place is not CPU
        or not x.flags.c_contiguous
        or reduction == NONE
        or on is None
    ):
        return None
    done = hushed(_run, x, t, np.arange(0, x.size, x.shape[1]), ignore_index, reduction)
    if done is None:
        return None
    log_p, loss = done
    o = new(Tensor)
    o._data = np.asarray(loss)
    o._place = CPU
    o._grad = o._node = o._ver = o._view = o._more = None
    o._rg = False
    if input._view is not None:
        input._view.sync(input)
    between, count = wrap(log_p, CPU), wrap(np.asarray(len(x), x.dtype), CPU)
    consts = (ignore_index, reduction)
    needs, emit = on and input._rg, listeners.op
    if needs:
        if on is True:
            _soft.make(between, input, (1,))
        else:
            record(_soft, (input,), (1,), (between,))
    if emit is not None:
        emit(_soft, (input,), (1,), (between,))
    if needs:
        if on is True:
            _likely.make((o, count), between, target, consts)
        else:
            record(_likely, (between, target), consts, (o, count))
    if emit is not None:
        emit(_likely, (between, target), consts, (o, count))
    return o
