"""The arithmetic of one node: what it saved is unpacked, its formulas run, and their results fitted to its edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import errors
from ..core.graph import CONST, FREED, IN
from ..core.record import unpack_raw, unpack_recorded
from ..core.rules import RAW, REC
from ..core.sharing import together
from ..core.tensor import Tensor
from ..memory.lanes import Lanes
from ..memory.placement import BATCHED, CUPY

F4, F8 = np.dtype("f4"), np.dtype("f8")


def fit(gi: Any, e: Any, create_graph: bool) -> Any:
    """Un-broadcast and cast a gradient to what its edge expects."""
    if create_graph:
        d = gi._data
        if d.shape != e.shape:
            gi = summed(REC, gi, e.shape)
        if d.dtype != e.dtype:
            gi = REC.cast(gi, e.dtype)
        return gi
    F = RAW[e.place.kind]
    if gi.shape != e.shape:
        gi = summed(F, gi, e.shape)
    return gi if gi.dtype == e.dtype else cast(F, gi, e.dtype)


def summed(F: Any, gi: Any, shape: tuple) -> Any:
    """A gradient summed back over what was broadcast; one of another shape is refused, never reshaped."""
    given = tuple(gi.shape)
    lead = len(given) - len(shape)
    if lead < 0 or any(n != m and n != 1 for n, m in zip(shape, given[lead:], strict=True)):
        raise RuntimeError(errors.GRADIENT_SHAPE.format(errors.sizes(given), errors.sizes(shape)))
    return F.sum_to(gi, shape)


def recorded_values(n: Any, rule: Any) -> list:
    """What the formulas of a recorded pass see of what a node saved: Tensors with their history, and constants."""
    values: list = []
    for s, (kind, index, _) in zip(n.saved, rule.saves):  # noqa: B905  hot
        if kind == IN and s.__class__ is tuple:
            t, was = s
            v = t._ver
            if v is not None and v.n != was:
                unpack_raw(n, s, kind, index)
            values.append(t)
        elif kind == CONST:
            values.append(s)
        else:
            values.append(unpack_recorded(n, s, kind, index))
    if rule.holomorphic and n.dtype.kind == "c":
        values = [
            v.conj() if isinstance(v, Tensor) else v.conjugate() if v.__class__ is complex else v
            for v in values
        ]
    return values


def vjps_of(n: Any, g: Any, create_graph: bool, wanted: Any = None) -> list:
    """The gradients one node sends, before they are fitted to their edges; `wanted`: only to these edges."""
    if n.saved is FREED:
        raise RuntimeError(errors.FREED_TWICE)
    rule = n.rule
    if create_graph:
        F: Any = REC
        values: Any = recorded_values(n, rule)
    else:
        values = rule.unpack(n, n.saved)
        F = RAW[n.place.kind]
        if n.dtype is not F4 and n.dtype is not F8:
            g, values = softened(rule, g, values, n.dtype, n.place)
    try:
        alone = create_graph or n.place.kind == BATCHED  # the formulas, if there are any
        if rule.together is not None and (not alone or rule.together is rule.vjps[0]):
            wants = tuple([e is not None and (wanted is None or e in wanted) for e in n.edges])
            if not any(wants):
                return [None] * len(wants)
            if n.place.kind == BATCHED and not create_graph:
                return list(together[0](rule.together, g, wants, [values[i] for i in rule.together_picks]))
            xp = None if create_graph else F.xp
            return list(rule.together(xp, g, wants, *[values[i] for i in rule.together_picks]))
        if create_graph:
            return in_turn(n, rule, g, values, wanted)
        return [
            None
            if e is None or (wanted is not None and e not in wanted)
            else vjp(F, g, *[values[i] for i in pick])
            for e, vjp, pick in zip(n.edges, rule.vjps, rule.picks, strict=True)
        ]
    except (ValueError, IndexError) as exc:
        raise unfit(n, exc) from exc


def in_turn(n: Any, rule: Any, g: Any, values: Any, wanted: Any) -> list:
    """What the formulas of a recorded pass give, run in the order in which PyTorch runs them."""
    out: list = [None] * len(n.edges)
    for i in rule.turns:
        e = n.edges[i]
        if e is not None and (wanted is None or e in wanted):
            out[i] = rule.vjps[i](REC, g, *[values[at] for at in rule.picks[i]])
    return out


def unfit(n: Any, exc: Exception) -> RuntimeError:
    """The error of a formula whose operands no longer fit each other: the data of one was replaced since."""
    return RuntimeError(errors.FORMULA_UNFIT.format(n.name(), exc))


def softened(rule: Any, g: Any, values: Any, dt: Any, place: Any) -> tuple:
    """Half types compute in float32; a complex node's formulas see the conjugates of what was saved.

    On a device a row may have kernels that take half types as they are and compute in float themselves.
    """
    if dt.kind == "c":
        if rule.holomorphic:
            values = [
                v.conjugate()
                if isinstance(v, (np.ndarray, complex, Lanes)) or hasattr(v, "__cuda_array_interface__")
                else v
                for v in values
            ]
        return g, values
    if dt.itemsize == 2 and dt.kind not in "iu" and not (rule.halves and place.kind == CUPY):
        if g.__class__ is list:
            g = [x if x is None else x.astype(F4) for x in g]
        else:
            g = g.astype(F4)
        values = [
            v.astype(F4) if getattr(v, "dtype", None) == dt and hasattr(v, "astype") else v for v in values
        ]
    return g, values


def cast(F: Any, gi: Any, dtype: Any) -> Any:
    """A gradient in the type its edge expects."""
    return gi if gi.dtype == dtype else F.cast(gi, dtype)
