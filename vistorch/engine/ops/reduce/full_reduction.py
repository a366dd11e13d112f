"""The plain case of reducing all of a float tensor to one number: kernel, wrap, and the node.

Invariant: the result and its node are those that the row itself gives; what is not plain goes to the general way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.casting import casting
from ...base.events import listeners
from ...base.modes import inferring, mode
from ...base.numpy_warnings import aside, silently
from ...core.graph import UNTRACKED
from ...core.record import record
from ...core.tensor import Tensor, asarray, new
from ...kernels import totals
from ...memory.placement import CPU

_F4, _F8 = np.dtype("f4"), np.dtype("f8")


def whole(row: Any, run: Callable) -> Callable:
    """A public reduction whose first argument alone means all elements; the decorated function is for the rest.

    Args:
        row: the row for all elements, without constants.
        run: `run(array, None)` is what its kernel does to contiguous floats.
    """
    rule = row.rule

    def decorate(rest: Any) -> Any:
        @functools.wraps(rest)
        def call(input, *args, **named):
            if casting.on and (recast := casting.ask(call, locals())):
                return recast[0]
            if args or named:
                return rest(input, *args, **named)
            try:
                a = input._data
            except AttributeError:
                a = None
            if a is None:
                return rest(input)
            dt = a.dtype
            if (dt is not _F4 and dt is not _F8) or input._place is not CPU or not a.flags.c_contiguous:
                return rest(input)
            if a.size >= totals.LONG:  # where its kernel knows more than numpy's loop
                return rest(input)
            on = mode.on
            try:
                d = asarray(silently(run, a, None))
            except ValueError:
                d = None
            except RuntimeError as exc:
                d = asarray(aside(exc, run, a, None))
            if d is None:  # out of the handler: an error that follows has no other error for its context
                return rest(input)  # which says what is wrong with an empty tensor
            o = new(Tensor)
            o._data = d
            o._place = CPU
            o._grad = o._ver = o._view = o._more = None
            if input._view is not None:
                input._view.sync(input)
            if on and input._rg:
                if on is True:
                    rule.make(o, input, ())
                else:
                    record(rule, (input,), (), (o,))
            else:
                o._node, o._rg = None, False
                if on is None and inferring.threads:
                    o._ver = UNTRACKED
            if (emit := listeners.op) is not None:
                emit(rule, (input,), (), (o,))
            return o

        return call

    return decorate
