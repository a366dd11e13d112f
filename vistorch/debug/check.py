"""One node against finite differences: is its vjp the derivative of its forward?

A node does not keep all it was given. Where the inputs are known (the formula saved them, or `events.Lines(values=True)`
listened when the node was made) they are used; an unknown input that no formula reads may have any value, so a random
one serves. A node that keeps only its output (exp, tanh) is checked at a random point: that checks the same formula, not
the same numbers, and the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.backward import fit, vjps_of
from ..engine.call import run
from ..engine.graph import FREED, IN, OUT, record, unpack_raw
from ..engine.modes import mode
from ..engine.promote import floating
from ..engine.quiet import quiet
from ..engine.tensor import wrap


@dataclass(frozen=True)
class Check:
    """The largest relative error over a node's inputs; `at` says where: "its inputs" or "a random point"."""

    error: float
    ok: bool
    at: str
    per_input: tuple[float | None, ...]


def check_node(node: Any, *, seed: int = 0, tolerance: float | None = None) -> Check:
    """Compare a node's vjp with central differences of its own forward kernel, in float64.

    Args:
        node: a recorded node with a rule.
        seed: of the random cotangent and of inputs the node does not keep.
        tolerance: the relative error accepted; by default 1e-5.
    """
    rule = node.rule
    if rule is None:
        raise ValueError(f"{node.name()} has no rule of its own, so it cannot be checked node by node; use gradcheck")
    if node.saved is FREED:
        raise RuntimeError(f"{node.name()} was freed by a backward pass: step with retain_graph=True to check it")
    rng = np.random.default_rng(seed)
    inputs, at = _inputs(node, rule, rng)
    consts = getattr(node, "consts", ())
    place = node.place

    def forward(values: list) -> Any:
        result = run(rule, place, values, consts)
        many = result if isinstance(result, tuple) else (result,)
        return [np.asarray(_host(d)) for d in many[: rule.differentiable_outs or len(many)]]

    with quiet():
        outs = forward(inputs)
        cotangents = [rng.standard_normal(d.shape) + (1j * rng.standard_normal(d.shape) if d.dtype.kind == "c" else 0) for d in outs]
        got = _analytic(node, rule, inputs, consts, cotangents)
        errors = []
        for i, (e, g) in enumerate(zip(node.edges, got, strict=True)):
            errors.append(None if e is None else _compare(place.xp, forward, inputs, i, cotangents, g))
    worst = max((e for e in errors if e is not None), default=0.0)
    return Check(worst, worst <= (1e-5 if tolerance is None else tolerance), at, tuple(errors))


def _inputs(node: Any, rule: Any, rng: Any) -> tuple[list, str]:
    """float64 values for every input: kept ones, or random ones of the right shape."""
    try:
        note = node.note
    except AttributeError:
        note = {}
    kept: dict[int, Any] = {}
    if "ins" in note:
        kept = {i: (t._data if hasattr(t, "_data") else t) for i, t in enumerate(note["ins"])}
    for entry, (kind, index, _) in zip(node.saved, rule.saves, strict=True):
        if kind == IN and entry is not None and index not in kept:
            kept[index] = unpack_raw(node, entry, kind, index)
    at = "its inputs"
    values = []
    reads_output = any(kind == OUT for kind, _, _ in rule.saves)
    for i, e in enumerate(node.edges):
        if i in kept:
            values.append(_wide(kept[i]))
            continue
        shape = node.shape if e is None else e.shape
        if reads_output or any(kind == IN and index == i for kind, index, _ in rule.saves):
            at = "a random point"
        values.append(_like(rng, shape, node.dtype if e is None else e.dtype, node.place))
    return values, at


def _wide(value: Any) -> Any:
    dt = getattr(value, "dtype", None)
    if dt is None or not floating(dt):
        return value
    return value.astype(np.complex128 if dt.kind == "c" else np.float64)


def _like(rng: Any, shape: tuple, dtype: Any, place: Any) -> Any:
    values = rng.uniform(0.25, 0.75, shape)  # inside the domain of every function that keeps only its output
    return place.xp.asarray(values.astype(np.complex128 if dtype.kind == "c" else np.float64))


def _host(d: Any) -> Any:
    return d.get() if hasattr(d, "get") else d


def _analytic(node: Any, rule: Any, inputs: list, consts: tuple, cotangents: list) -> list:
    """The node's own formulas at those inputs: a private node records them, so that nothing of the user's moves."""
    place = node.place
    tensors = []
    for value, e in zip(inputs, node.edges, strict=True):
        t = wrap(value, place) if hasattr(value, "dtype") else value
        if e is not None:
            t._rg = True
        tensors.append(t)
    result = run(rule, place, inputs, consts)
    outs = tuple(wrap(d, place) for d in (result if isinstance(result, tuple) else (result,)))
    before, packers = mode.on, mode.packers
    mode.on, mode.packers = True, ()
    try:
        private = record(rule, tuple(tensors), consts, outs)
    finally:
        mode.on, mode.packers = before, packers
    gs = [place.xp.asarray(c.astype(outs[i]._data.dtype)) for i, c in enumerate(cotangents)]
    raw = vjps_of(private, gs[0] if rule.differentiable_outs == 1 else gs, False)
    return [
        None if e is None or g is None else np.asarray(_host(fit(g, e, False)))
        for g, e in zip(raw, private.edges, strict=True)
    ]


def _compare(xp: Any, forward: Any, inputs: list, i: int, cotangents: list, g: Any) -> float:
    """Relative error of one input's gradient along random directions: 8 are enough to see any wrong formula."""
    rng = np.random.default_rng(i + 1)
    x = _host(inputs[i])
    if g is None:
        g = np.zeros(x.shape, x.dtype)
    eps = 1e-6
    worst = 0.0
    for _ in range(8):
        v = rng.standard_normal(x.shape)
        if x.dtype.kind == "c":
            v = v + 1j * rng.standard_normal(x.shape)
        up, down = list(inputs), list(inputs)
        way = eps * xp.asarray(v)
        up[i], down[i] = inputs[i] + way, inputs[i] - way
        slope = sum(
            float(np.sum(np.real(np.conj(c) * (a - b)))) / (2 * eps)
            for c, a, b in zip(cotangents, forward(up), forward(down), strict=True)
        )
        told = float(np.sum(np.real(np.conj(g) * v)))
        scale = max(abs(slope), abs(told), float(np.linalg.norm(g)), 1e-8)
        worst = max(worst, abs(slope - told) / scale)
    return worst
