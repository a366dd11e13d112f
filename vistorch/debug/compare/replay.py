"""One op run again on what it is given: what it computes by itself, whatever its own run fed it.

Invariant: everything runs on private arrays and leaves no graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.backward.node_vjp import fit, vjps_of
from ...engine.base.modes import mode
from ...engine.base.numpy_warnings import without_warnings
from ...engine.core.op_factory import run
from ...engine.core.record import record
from ...engine.core.rules import TABLE
from ...engine.core.tensor import wrap
from ...engine.memory.placement import CPU
from .recording import Op, Recording


def inputs_of(recording: Recording, op: Op) -> list:
    """The inputs of an op: arrays and numbers."""
    return [recording.ops[i[1]].outs[i[2]] if i[0] == "row" else i[1] for i in op.ins]


def forward_again(op: Op, ins: list, like: list[np.ndarray]) -> list[np.ndarray] | None:
    """What an op computes from other inputs, or None if it cannot be run again.

    Args:
        op: its name and constants.
        ins: the inputs.
        like: outputs of the same types and shapes.
    """
    if op.again is not None:
        return _as(op.again, ins, like)
    rule = TABLE.get(op.name)
    if rule is None or op.consts is None or len(ins) != len(rule.inputs):
        return None
    try:
        with without_warnings():
            arrays = [_operand(v, like[0].dtype) for v in ins]
            result = run(rule, CPU, arrays, op.consts)
    except (
        Exception
    ):  # constants that were not all there, or inputs that do not fit: it cannot be judged alone
        return None
    found = result if isinstance(result, tuple) else (result,)
    return [np.asarray(d).astype(a.dtype) for d, a in zip(found, like, strict=False)]


def _as(again: Any, ins: list, like: list[np.ndarray]) -> list[np.ndarray] | None:
    """What another library computes, in the types of the reference."""
    try:
        found = again(ins)
    except Exception:  # inputs that do not fit
        return None
    return None if found is None else [d.astype(a.dtype) for d, a in zip(found, like, strict=False)]


def backward_again(op: Op, ins: list, outs: list, given: list) -> dict[int, np.ndarray] | None:
    """What an op sends back, by input, from other inputs and gradients; None if it cannot be run again."""
    if op.again is not None:
        try:
            return op.again.backward(ins, given) if given else None
        except Exception:  # inputs that do not fit
            return None
    rule = TABLE.get(op.name)
    if rule is None or op.consts is None or len(ins) != len(rule.inputs) or not given:
        return None
    wanted = {i for i, _ in op.sent}
    before = mode.on, mode.packers, mode.anomaly, mode.run
    try:
        tensors = []
        for i, value in enumerate(ins):
            t = wrap(np.array(value), CPU) if hasattr(value, "dtype") else value
            if i in wanted:
                t._rg = True
            tensors.append(t)
        made = tuple([wrap(np.array(d), CPU) for d in outs])
        mode.on, mode.packers, mode.anomaly, mode.run = True, (), False, None
        node = record(rule, tuple(tensors), op.consts, made)
        gs: Any = given[0] if rule.differentiable_outs == 1 else list(given)
        with without_warnings():
            raw = vjps_of(node, gs, False)
            return {i: np.asarray(fit(raw[i], node.edges[i], False)) for i in wanted if raw[i] is not None}
    except Exception:  # as above
        return None
    finally:
        mode.on, mode.packers, mode.anomaly, mode.run = before


def _operand(value: Any, dtype: Any) -> Any:
    if hasattr(value, "dtype"):
        return value
    return np.asarray(value, dtype if dtype.kind in "fc" or dtype.kind not in "iub" else None)
