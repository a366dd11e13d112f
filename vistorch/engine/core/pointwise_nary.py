"""The plain case of pointwise rows that `pointwise` has no factory for: lerp, addcmul, where, bounds, alpha.

Invariant: the result and its node are those that `promote.several` would give; what is not plain gives None at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.events import listeners
from ..base.modes import inferring, mode
from ..base.numpy_warnings import aside, silently
from ..memory.placement import CPU
from .graph import UNTRACKED
from .record import record
from .tensor import Tensor, asarray, ndarray, new
from .type_promotion import misfit

_F4, _F8 = np.dtype("f4"), np.dtype("f8")


def fast_path(rule: Any, free: bool = False) -> Callable[[tuple, tuple], Tensor | None]:
    """A row of one, two or three operands as a function (operands, constants) for tensors of one float type on the CPU.

    It returns None where an operand asks for more. `free`: the first operand may be of another type.
    """
    run, k = rule.kernels[0], len(rule.inputs)
    wx, wy, wz = [vjp is not None for vjp in (*rule.vjps, None, None)[:3]]

    def call(ins, consts):
        # operands that are not there are the first one once more
        x, y, z = ins if k == 3 else (ins[0], ins[1], ins[0]) if k == 2 else (ins[0], ins[0], ins[0])
        try:
            a, b, c = x._data, y._data, z._data
        except AttributeError:
            return None
        dt = b.dtype
        if (
            (dt is not _F4 and dt is not _F8)
            or (a.dtype is not dt and not free)
            or c.dtype is not dt
            or x._place is not CPU
            or y._place is not CPU
            or z._place is not CPU
        ):
            return None
        arrays = (a, b, c)[:k]
        try:
            d = silently(run, *arrays, *consts)
        except ValueError:
            raise RuntimeError(misfit(list(arrays))) from None
        except RuntimeError as exc:
            d = aside(exc, run, *arrays, *consts)
        o = new(Tensor)
        o._data = d if d.__class__ is ndarray else asarray(d)
        o._place = CPU
        o._grad = o._node = o._ver = o._view = o._more = None
        o._rg = False
        if x._view is not None or y._view is not None or z._view is not None:
            for t in ins:
                if t._view is not None:
                    t._view.sync(t)
        rx, ry, rz = x._rg, y._rg, z._rg
        if ((wx and rx) or (wy and ry) or (wz and rz)) and mode.on:
            if mode.on is True:
                rule.make(o, *ins, consts)
            else:
                record(rule, ins, consts, (o,))
        elif inferring.threads and mode.on is None:
            o._ver = UNTRACKED
        if (emit := listeners.op) is not None:
            emit(rule, ins, consts, (o,))
        return o

    return call
