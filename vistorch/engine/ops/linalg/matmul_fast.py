"""The straight way to BLAS for float vectors and matrices on the CPU: kernel, wrap, and the node.

Invariant: the result and its node are those of the general path; what is not plain goes there before anything is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.casting import casting
from ...base.events import listeners
from ...base.modes import inferring, mode
from ...core.graph import UNTRACKED
from ...core.record import record
from ...core.tensor import Tensor, asarray, ndarray, new
from ...kernels.fast import matrices
from ...memory.placement import CPU

_F4, _F8 = np.dtype("f4"), np.dtype("f8")
_MANY = 1 << 10  # elements of the first matrix from which a product may be large


def fast_path(rest: Callable, mm: Any, mv: Any = None, dot: Any = None) -> Any:
    """A product of two tensors with at most two dims; everything else goes to `rest(input, mat2, out)`.

    Args:
        rest: the general way.
        mm: the rule for two matrices.
        mv: the rule for a matrix and a vector, where the product may be one.
        dot: the rule for two vectors, likewise.
    """
    for rule in (mm, mv, dot):
        assert rule is None or rule.kernels[0] in (np.dot, matrices.dot), rule

    def call(input, mat2, *, out=None):
        if casting.on and (recast := casting.ask(call, locals())):
            return recast[0]
        try:
            a = input._data
            b = mat2._data
        except AttributeError:
            a = None
        if a is None:  # out of the handler: an error that follows has no other error for its context
            return rest(input, mat2, out)
        dt = a.dtype
        m = a.ndim
        if b.ndim == 2:
            rule = mm if m == 2 else None
        elif b.ndim == 1:
            rule = dot if m == 1 else mv if m == 2 else None
        else:
            rule = None
        if (
            rule is None
            or dt is not b.dtype
            or (dt is not _F4 and dt is not _F8)
            or input._place is not CPU
            or mat2._place is not CPU
            or out is not None
        ):
            return rest(input, mat2, out)
        try:
            # needs no silence: numpy's dot never looks at the floating point flags
            d = a.dot(b) if a.size < _MANY else matrices.dot(a, b)
        except ValueError:
            d = None
        if d is None:
            return rest(input, mat2, out)  # which says what does not fit
        o = new(Tensor)
        o._data = d = d if d.__class__ is ndarray else asarray(d)
        o._place = CPU
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            input._view.sync(input)
        if mat2._view is not None:
            mat2._view.sync(mat2)
        if (input._rg or mat2._rg) and mode.on:
            if mode.on is True:
                rule.make(o, input, mat2, ())
            else:
                record(rule, (input, mat2), (), (o,))
        else:
            o._node, o._rg = None, False
            if inferring.threads and mode.on is None:
                o._ver = UNTRACKED
        if (emit := listeners.op) is not None:
            emit(rule, (input, mat2), (), (o,))
        return o

    return call
