"""One node against finite differences: is its vjp the derivative of its forward?

A node does not keep all it was given. Where the inputs are known (the formula saved them, or `Lines(values=True)`
listened when the node was made) they are used; an unknown input that no formula reads may have any value, so a
random one serves. A node that keeps only its output (exp, tanh) is checked at a random point: that checks the same
formula, not the same numbers, and the result says so.

Invariant: everything runs on private copies in double precision: no graph, `.grad` or memory of the user's is touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.backward.node_vjp import fit, vjps_of
from ..engine.base.modes import mode
from ..engine.base.numpy_warnings import without_warnings
from ..engine.core.graph import FREED, IN, OUT
from ..engine.core.record import record, unpack_raw
from ..engine.core.tensor import Tensor, wrap
from ..engine.core.type_promotion import floating
from .custom import CustomNode
from .lines import note_of
from .source import is_torch

DIRECTIONS = 8  # random ones: enough to see any wrong formula
STEPS = (1e-5, 1e-7, 1e-8)  # a smaller one may stay on one side of a kink that a larger one crosses


class NotSmooth(ValueError):
    """The op has no derivative where it was asked for."""


@dataclass(frozen=True)
class Check:
    """The largest relative error over a node's inputs, and whether it is small enough.

    `at` says where: "its inputs", "its inputs as they are now" (they were written since), or "a random point".
    `per_input` has None for an input that needs no gradient.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import check_node
        >>> x = vistorch.tensor([0.5, 2.0], requires_grad=True)
        >>> check = check_node((x * x).grad_fn)
        >>> check.ok, check.error < 1e-5, len(check.per_input)
        (True, True, 2)
    """

    error: float
    ok: bool
    at: str
    per_input: tuple[float | None, ...]

    def __str__(self) -> str:
        return f"{'ok' if self.ok else 'WRONG'}: relative error {self.error:.1e} at {self.at}"


def check_node(node: Any, *, seed: int = 0, tolerance: float = 1e-5) -> Check:
    """Compare a node's vjp with finite differences of its own forward, in double precision.

    Args:
        node: a recorded node, such as a tensor's `grad_fn`.
        seed: of the random cotangent and of inputs the node does not keep.
        tolerance: the relative error accepted.

    Raises:
        ValueError: it cannot be checked; the sentence says why and what to do.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import check_node
        >>> x = vistorch.tensor([0.5, 2.0], requires_grad=True)
        >>> print(check_node((x * x).grad_fn).ok)
        True
    """
    rng = np.random.default_rng(seed)
    with without_warnings():
        subject = _subject(node, rng)
        try:
            outs = subject.forward(subject.inputs)
        except Exception as exc:
            raise ValueError(
                f"the forward of {node.name()} cannot be run again from what it kept ({exc}); listen with "
                "Lines(values=True) when it is made"
            ) from exc
        if not any(d.dtype.kind in "fc" for d in outs):
            raise NotSmooth(f"{node.name()} gives no floating-point output, so it has no derivative")
        cotangents = [_cotangent(rng, d) for d in outs]
        try:
            got = subject.gradients(cotangents)
        except Exception as exc:
            raise ValueError(f"the gradient of {node.name()} cannot be computed: {exc}") from exc
        errors = tuple(
            [
                None if not wanted else compare(subject, i, cotangents, g, tolerance)
                for i, (wanted, g) in enumerate(zip(subject.wanted, got, strict=True))
            ]
        )
    worst = max((e for e in errors if e is not None), default=0.0)
    return Check(worst, worst <= tolerance, subject.at, errors)


def _subject(node: Any, rng: Any) -> Any:
    """What is checked: its inputs in double precision, its forward, its gradients."""
    if not hasattr(node, "edges"):
        if is_torch(node):
            raise ValueError(
                "a node of PyTorch's graph is checked from its stepper: Stepper(loss).check(node), "
                "with vistorch.debug.Stepper"
            )
        kind = "a leaf's tensor" if isinstance(node, Tensor) else type(node).__name__
        raise ValueError(f"a node is needed, such as a tensor's grad_fn, not {kind}")
    if not node.edges:
        raise ValueError(f"{node.name()} computes no gradient, so there is nothing to check")
    if node.rule is None:
        return CustomNode(node)
    return RuleNode(node, rng)


class RuleNode:
    """A node that has a row."""

    def __init__(self, node: Any, rng: Any) -> None:
        note = note_of(node)
        rule = self.rule = node.rule
        if node.saved is FREED and "ins" not in note:
            raise ValueError(
                f"{node.name()} was freed by a backward pass: check it before, or step with retain_graph=True"
            )
        self.node, self.place = node, node.place
        self.wanted = [e is not None for e in node.edges]
        self.at = "its inputs"
        kept = self._kept(note)
        reads_output = any(
            kind == OUT and entry is not None
            for entry, (kind, _, _) in zip(node.saved or (), rule.saves, strict=False)
        )
        self.consts = wide(tuple(note["consts"] if "ins" in note else _consts(node)))
        self.inputs = []
        unknown = []
        for i, e in enumerate(node.edges):
            if i in kept:
                self.inputs.append(wide(kept[i]))
                continue
            if reads_output:
                self.at = "a random point"
            if e is None:
                unknown.append(i)
            self.inputs.append(_random(rng, node if e is None else e))
        if unknown and not self._fits():
            self._reshape(unknown, rng)

    def _kept(self, note: dict) -> dict[int, Any]:
        """The inputs that are known, by their place."""
        node = self.node
        if "ins" in note and len(note["ins"]) == len(node.edges):
            for t, then in zip(note["ins"], note["versions"], strict=True):
                if isinstance(t, Tensor) and then is not None and (0 if t._ver is None else t._ver.n) != then:
                    self.at = "its inputs as they are now"
            return {i: t._data if isinstance(t, Tensor) else t for i, t in enumerate(note["ins"])}
        return {
            index: unpack_raw(node, entry, kind, index)
            for entry, (kind, index, _) in zip(node.saved, self.rule.saves, strict=True)
            if kind == IN and entry is not None
        }

    def _reshape(self, unknown: list[int], rng: Any) -> None:
        """Give operands that nobody kept, and no gradient flows to, a shape that the op takes."""
        others = [d.shape for i, d in enumerate(self.inputs) if i not in unknown and hasattr(d, "shape")]
        channels = [self.node.shape[1:2]] if len(self.node.shape) > 1 else []
        for to in dict.fromkeys([*others, *channels, ()]):
            for i in unknown:
                self.inputs[i] = self.place.xp.asarray(rng.uniform(0.25, 0.75, to))
            if self._fits():
                break

    def _fits(self) -> bool:
        try:
            self._run(self.inputs)
        except Exception:
            return False
        return True

    def _run(self, values: list) -> tuple:
        xp = self.place.xp
        arrays = [xp.asarray(v) if isinstance(v, (int, float, complex)) else v for v in values]
        result = self.rule.kernels[self.place.kind](*arrays, *self.consts)  # all is double: nothing to widen
        return result if isinstance(result, tuple) else (result,)

    def forward(self, values: list) -> list:
        """The differentiable outputs at other values."""
        outs = self._run(values)
        return [host(d) for d in outs[: self.rule.differentiable_outs or len(outs)]]

    def gradients(self, cotangents: list) -> list:
        """The node's own formulas at its inputs: a private node records them, so that nothing of the user's moves."""
        rule, place = self.rule, self.place
        tensors = []
        for value, wanted in zip(self.inputs, self.wanted, strict=True):
            t = wrap(value, place) if hasattr(value, "dtype") else value
            if wanted:
                t._rg = True
            tensors.append(t)
        outs = tuple([wrap(d, place) for d in self._run(self.inputs)])
        before, packers, mode.on, mode.packers = mode.on, mode.packers, True, ()
        anomaly, mode.anomaly = mode.anomaly, False
        try:
            private = record(rule, tuple(tensors), self.consts, outs)
        finally:
            mode.on, mode.packers, mode.anomaly = before, packers, anomaly
        gs = [place.xp.asarray(c.astype(o._data.dtype)) for c, o in zip(cotangents, outs, strict=False)]
        raw = vjps_of(private, gs[0] if rule.differentiable_outs == 1 else gs, False)
        return [
            None if e is None or g is None else host(fit(g, e, False))
            for g, e in zip(raw, private.edges, strict=True)
        ]


def _consts(node: Any) -> Any:
    try:
        return node.consts
    except AttributeError:  # a fast path of an op that has none
        return ()


def wide(value: Any) -> Any:
    """A private copy in double precision of an array, a dtype, or what is inside a tuple."""
    if isinstance(value, tuple):
        return tuple([wide(v) for v in value])
    if isinstance(value, np.dtype):
        return _double(value) if floating(value) else value
    if getattr(value, "dtype", None) is None or not hasattr(value, "astype"):
        return value
    return value.astype(_double(value.dtype) if floating(value.dtype) else value.dtype)


def _double(dt: Any) -> np.dtype:
    return np.dtype("c16" if dt.kind == "c" else "f8")


def _random(rng: Any, like: Any) -> Any:
    # inside the domain of every function that keeps only its output
    values = rng.uniform(0.25, 0.75, like.shape)
    return like.place.xp.asarray(values.astype(np.complex128 if like.dtype.kind == "c" else np.float64))


def host(d: Any) -> Any:
    """The array on the CPU."""
    return np.asarray(d.get() if hasattr(d, "get") else d)


def _cotangent(rng: Any, d: Any) -> Any:
    c = rng.standard_normal(d.shape)
    return c + 1j * rng.standard_normal(d.shape) if d.dtype.kind == "c" else c


def compare(subject: Any, i: int, cotangents: list, g: Any, tolerance: float) -> float:
    """Relative error of one input's gradient along random directions."""
    rng = np.random.default_rng(i + 1)
    x = host(subject.inputs[i])
    if g is None:
        g = np.zeros(x.shape, x.dtype)
    size = np.abs(x)
    # a small number is moved by little, because it may lie next to a pole; a large one by little or in proportion
    sizes = np.clip(size, 1e-2, 1.0), np.where(size > 0, size, 1.0)
    outs = subject.forward(subject.inputs)
    # what rounding alone can feign: a gradient this small cannot be told apart from none
    rounding = 1e-6 * sum(
        float(np.linalg.norm(np.ravel(c * d))) for c, d in zip(cotangents, outs, strict=True)
    )
    worst = 0.0
    for _ in range(DIRECTIONS):
        v = rng.standard_normal(x.shape)
        if x.dtype.kind == "c":
            v = v + 1j * rng.standard_normal(x.shape)
        error = _along(subject, i, cotangents, g, v, sizes, rounding, tolerance)
        if error > tolerance and _symmetric(subject, x):
            v = v + np.conj(np.swapaxes(v, -1, -2))
            ones = np.ones(x.shape)
            error = _along(subject, i, cotangents, g, v, (ones, 1e-2 * ones), rounding, tolerance)
            if error <= tolerance:
                subject.at = "its inputs (changed as symmetric matrices)"
        worst = max(worst, error)
    return worst


def _symmetric(subject: Any, x: Any) -> bool:
    """Whether a gradient is only meant for symmetric changes: decompositions that read one triangle share it out."""
    if not subject.node.name().startswith("Linalg") or x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return False
    return np.allclose(x, np.conj(np.swapaxes(x, -1, -2)), 1e-12, 1e-12)


def _along(
    subject: Any, i: int, cotangents: list, g: Any, v: Any, sizes: tuple, rounding: float, tolerance: float
) -> float:
    """The smallest error along one direction, over steps of several lengths."""
    best = np.inf
    for size in sizes:
        way = v * size
        claimed = float(np.sum(np.real(np.conj(g) * way)))
        floor = max(float(np.linalg.norm(np.ravel(g * size))), rounding, 1e-300)
        for h in STEPS:
            slope = _slope(subject, i, cotangents, way, h)
            error = abs(slope - claimed) / max(abs(slope), abs(claimed), floor)
            if not np.isfinite(error):
                raise NotSmooth(
                    f"{subject.node.name()} or its gradient is not finite at {subject.at}, so they cannot be compared"
                )
            best = min(best, error)
            if best <= tolerance:
                return best
    _refuse_kink(subject, i, cotangents, v * sizes[0], claimed)
    return best


def _slope(subject: Any, i: int, cotangents: list, v: Any, h: float) -> float:
    """How fast the projection of the outputs changes along `v`: five points, error of fourth order."""

    def difference(step: float) -> float:
        return _at(subject, i, cotangents, step * v, -step * v) / step

    return (8 * difference(h) - difference(2 * h)) / 12 if h > 1e-6 else difference(h) / 2


def _at(subject: Any, i: int, cotangents: list, up: Any, down: Any) -> float:
    """The projection of the outputs at `x + up` less that at `x + down`."""
    ways = []
    for way in (up, down):
        moved = list(subject.inputs)
        moved[i] = moved[i] + subject.place.xp.asarray(way)
        ways.append(subject.forward(moved))
    return sum(
        float(np.sum(np.real(np.conj(c) * (a - b)))) for c, a, b in zip(cotangents, *ways, strict=True)
    )


def _refuse_kink(subject: Any, i: int, cotangents: list, v: Any, claimed: float) -> None:
    """Refuse to judge where the slopes to both sides differ: there is no derivative to compare with."""
    h = 1e-7
    right = _at(subject, i, cotangents, h * v, 0 * v) / h
    left = _at(subject, i, cotangents, 0 * v, -h * v) / h
    if abs(right - left) > 1e-3 * max(abs(right), abs(left), abs(claimed)):
        raise NotSmooth(
            f"{subject.node.name()} has a kink or a jump at {subject.at} (the slopes to both sides differ), so finite "
            "differences cannot judge its gradient there"
        )
