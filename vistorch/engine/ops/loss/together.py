"""The cross entropy of a small matrix and class indices in one go: two rows' work between one entry and one exit.

Invariant: the result, its graph, what its nodes keep and what a listener is told are those that `log_softmax` and
`nll_loss` give one after the other; whenever somebody could see the difference (a hook on what is saved, a listener
that looks at history), None says: take that way.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from ...call import FLOATS
from ...events import hear
from ...graph import Version, draw, leaf_of
from ...modes import mode
from ...places import CPU
from ...quiet import hushed
from ...tensor import Tensor, new, wrap
from ..activation.soft import _log_softmax
from .nll import MEAN, NONE, one_rows

_INT64, _UNSIGNED = np.dtype("i8"), np.dtype("u8")
_SMALL = 1 << 14
_add: Any = np.add.reduce
_largest: Any = np.maximum.reduce
_soft, _likely = _log_softmax.rule, one_rows.rule


def _in_order(rule: Any, *names: str) -> Any:
    """From values in the order of these names to the order in which the row keeps them."""
    return itemgetter(*[names.index(n) for n in rule.saved_names])


_soft_keeps = _in_order(_soft, "out", "dim")
_likely_keeps = _in_order(_likely, "target", "out1", "input_shape", "ignore_index", "reduction")


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
        or (on is not True and on is not False)
        or (hear.op is not None and on and input._rg)
    ):
        return None
    done = hushed(_run, x, t, np.arange(0, x.size, x.shape[1]), ignore_index, reduction)
    if done is None:
        return None
    log_p, loss = done
    o = new(Tensor)
    o._data = d = np.asarray(loss)
    o._place = CPU
    o._grad = o._node = o._ver = o._view = o._more = None
    o._rg = False
    if input._view is not None:
        input._view.sync(input)
    if not (on and input._rg):
        if (told := hear.op) is not None:
            between = wrap(log_p, CPU)
            told(_soft, (input,), (1,), (between,))
            total = wrap(np.asarray(len(x), x.dtype), CPU)
            told(_likely, (between, target), (ignore_index, reduction), (o, total))
        return o
    v = target._ver
    first, second = new(_soft.node_class), new(_likely.node_class)
    e = input._node
    first.edges = (e if e is not None else leaf_of(input),)
    first.saved = _soft_keeps(((log_p, Version(), 0), 1))
    first.consts, first.shape, first.dtype, first.place, first.hooks = (1,), x.shape, x.dtype, CPU, None
    first.seq = draw()
    second.edges = (first, None)
    total = np.asarray(len(x), x.dtype)
    second.saved = _likely_keeps(
        ((target, 0 if v is None else v.n), (total, Version(), 0), x.shape, ignore_index, reduction)
    )
    second.consts = (ignore_index, reduction)
    second.shape, second.dtype, second.place, second.hooks = d.shape, x.dtype, CPU, None
    second.seq = draw()
    o._node, o._rg = second, True
    return o
