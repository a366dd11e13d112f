"""A node of torch against independent witnesses, at the values that it kept.

Three can speak. Our own row computes the same gradient in double precision from the same values. Finite differences of
our row's kernel need its inputs, too. A custom Function is run again in double precision, and its backward held
against finite differences of its forward. A row is a witness only if its forward gives what torch computed, as far as
that is known: one that computes something else is none.

Invariant: everything runs on copies; no graph, hook or `.grad` of the program is touched.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..debug.check import NotSmooth, compare, wide
from ..debug.numbers import host, plain
from ..engine.base.numpy_warnings import without_warnings
from ..engine.core.graph import CONST, DTYPE, IN, OUT, SHAPE, STRIDES
from ..engine.core.rules import RAW
from ..engine.memory.placement import CPU
from . import constants, private, rows
from .forward import Forward
from .nodes import NODES
from .real import torch

# How far a gradient in this precision may be from the true one.
LOOSE = {
    "float64": 1e-6,
    "complex128": 1e-6,
    "float32": 2e-4,
    "complex64": 2e-4,
    "float16": 2e-2,
    "bfloat16": 5e-2,
}


class _Unknown(LookupError):
    """A witness that cannot speak, and why."""


@dataclass
class Verdict:
    """What the witnesses say: a line and a judgement of each; `why` of those that could not speak."""

    lines: list[tuple[bool, str]] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


def check(node: Any, forward: Forward | None = None) -> list[tuple[bool, str]]:
    """What each witness says of a node's gradient: whether it is right, and a line.

    Args:
        node: the node.
        forward: what its whole pass knows of forward; what the node itself kept if not given.

    Raises:
        LookupError: why that cannot be said.
    """
    found = verdict(node, forward)
    if not found.lines:
        raise LookupError(found.why[0] if found.why else f"{node.name()} cannot be checked")
    return found.lines


def verdict(node: Any, forward: Forward | None = None) -> Verdict:
    """What each witness says of a node, and why others say nothing.

    Args:
        node: the node.
        forward: as for `check`.
    """
    found = Verdict()
    if private.is_freed(node):
        raise LookupError(
            f"{node.name()} was freed by a backward pass: check it before, or step with retain_graph=True"
        )
    if private.is_compiled(node):
        raise LookupError("a compiled region is one step: what is inside of it cannot be checked")
    if forward is None:
        forward = Forward([node, *[n for n, _ in node.next_functions if n is not None]])
    with without_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if callable(node):
                _by_row(node, forward, found)
            else:
                _by_function(node, forward, found)
        except _Unknown as why:
            found.why.append(str(why))
    return found


def _by_row(node: Any, forward: Forward, found: Verdict) -> None:
    rule = rows.row_of(node)
    if rule is None:
        raise _Unknown(f"{node.name()} has no row of vistorch's to compare with")
    subject = _Subject(node, rule, forward)
    loose = LOOSE.get(NODES.dtype(node), 2e-4)
    rng = np.random.default_rng(0)
    cotangents = subject.cotangents(rng)
    theirs = subject.gradients(cotangents)
    sure = subject.agrees_forward()
    try:
        ours = subject.witness(cotangents)
    except _Unknown as why:
        found.why.append(str(why))
    else:
        error = _distance(theirs, ours)
        found.lines.append((error <= loose, _said("vistorch", error, loose)))
    try:
        subject.complete(rng)
        errors = [
            compare(subject, i, cotangents, g, loose)
            for i, g in zip(subject.places, theirs, strict=True)
            if i is not None and g is not None
        ]
    except (_Unknown, NotSmooth) as why:
        found.why.append(str(why))
    except Exception as why:  # a kernel that wants more than is known
        found.why.append(f"the forward of {node.name()} cannot be run again from what it kept ({why})")
    else:
        error = max(errors, default=0.0)
        if error > loose and found.lines and found.lines[0][0]:
            # both libraries read one triangle of a matrix, say: there a difference along one entry means something else
            found.why.append(f"finite differences of {node.name()} mean something else than its gradient")
        else:
            found.lines.insert(0, (error <= loose, _said("finite difference", error, loose)))
    if not sure and not all(ok for ok, _ in found.lines):
        found.lines.clear()
        found.why.insert(
            0,
            f"{node.name()} cannot be judged: what its forward gave is not known, and our row gives another gradient",
        )


def _said(who: str, error: float, loose: float) -> str:
    if error == 0:
        return f"{who} agrees, bit for bit" if who == "vistorch" else f"{who} agrees"
    return f"{who} agrees {error:.0e}" if error <= loose else f"{who} differs by {error:.2g}"


class _Subject:
    """A node as the finite differences of `debug.check` take it: inputs in double precision, forward, gradients.

    `places` are the numbers of our row's inputs that the node's gradients belong to, None where none goes.
    """

    place = CPU
    at = "its inputs"

    def __init__(self, node: Any, rule: Any, forward: Forward) -> None:
        self.node, self.rule = node, rule
        names = rows.arguments_of(node)
        if any("[" in name for name in names):
            raise _Unknown(f"{node.name()} takes a list of tensors, which our row has another form for")
        own = [rows.own_name(name) for name in names]
        wanted = [target is not None for target, _ in node.next_functions]
        self.places = [
            rule.inputs.index(name) if want and name in rule.inputs else None
            for name, want in zip(own, wanted, strict=False)
        ]
        self.known = forward.known(node, None)
        assert self.known is not None
        self.out = self.known.outputs.get("out")
        self.consts: dict[str, Any] = dict(self.known.consts)
        self.kept, self.sent = forward.kept.get(node, {}), {*names, "exponent", "other", "alpha"}
        self.inputs: list[Any] = [
            None if (value := self.known.inputs.get(name)) is None else _double(value) for name in rule.inputs
        ]
        self.outs = private.outputs(node)
        sent_to = {name for name, want in zip(own, wanted, strict=False) if want}
        for name in constants.OPTIONAL.get(rule.name, ()):
            at = rule.inputs.index(name)
            unused = name not in private.saved_names(node) and name not in sent_to
            if self.inputs[at] is None and (unused or name in forward.empty.get(node, ())):
                self.inputs[at] = np.zeros(0)  # it was left out

    def cotangents(self, rng: Any) -> list[Any]:
        """Random gradients that come in, for the outputs that take one."""
        made = []
        for shape, dtype, _ in self.outs[:1]:
            g = rng.standard_normal(shape)
            made.append(g + 1j * rng.standard_normal(shape) if dtype.is_complex else g)
        if not made:
            raise _Unknown(f"{self.node.name()} does not say what it gave")
        like = torch.as_tensor(made[0]).to(self.outs[0][1])
        return [_double(like)]  # as the node will see it

    def gradients(self, cotangents: list[Any]) -> list[Any]:
        """Torch's own, one for each of its edges."""
        padded = [*cotangents, *[None] * (len(self.outs) - len(cotangents))]
        try:
            found = private.call_node(self.node, padded)
        except RuntimeError as error:
            raise _Unknown(f"the gradient of {self.node.name()} cannot be computed: {error}") from None
        if found is None:
            raise _Unknown(
                f"{self.node.name()} keeps what a hook has packed: to check it would run that hook"
            )
        return [None if g is None else _double(g) for g in found]

    def constants(self) -> tuple:
        """The constants of our row, by their names."""
        missing = [name for name in self.rule.consts if name not in self.consts]
        if missing:
            raise _Unknown(f"{self.node.name()} does not say the {missing[0]} that our row needs")
        return tuple([self.consts[name] for name in self.rule.consts])

    def forward(self, values: list[Any]) -> list[Any]:
        """What our kernel gives."""
        out = self.rule.kernels[0](*values, *self.constants())
        return [np.asarray(out[0] if isinstance(out, tuple) else out)]

    def agrees_forward(self) -> bool:
        """Whether our kernel is known to give what torch computed; raises where it gives something else."""
        if self.out is None or any(value is None for value in self.inputs):
            # a function without constants, called as the row is: there is nothing that could be taken for another
            plain = {name for name, value in self.kept.items() if not isinstance(value, torch.Tensor)}
            alike = self.rule.name == rows.called(self.node.name())
            form = ("_sizes", "_strides", "_layout")
            unsent = {name for name in plain if not name.endswith(form)} - self.sent
            return alike and not self.rule.consts and not unsent
        try:
            ours = self.forward(self.inputs)[0]
        except _Unknown:
            return False
        except Exception as why:
            raise _Unknown(f"our row for {self.node.name()} takes other arguments ({why})") from None
        theirs = _double(self.out)
        loose = LOOSE.get(NODES.dtype(self.node), 2e-4)
        if ours.shape != theirs.shape or not np.allclose(
            ours, theirs, rtol=loose, atol=loose, equal_nan=True
        ):
            raise _Unknown(f"our row for {self.node.name()} computes something else than torch did")
        return True

    def complete(self, rng: Any) -> None:
        """Inputs that nobody kept and no gradient depends on: any value serves."""
        reads = {index for kind, index, _ in self.rule.saves if kind == IN}
        reads_out = any(kind == OUT for kind, _, _ in self.rule.saves)
        edges = NODES.edges(self.node)
        for place, edge in zip(self.places, edges, strict=False):
            if place is None or self.inputs[place] is not None:
                continue
            if place in reads or reads_out or edge is None:
                raise _Unknown(f"{self.node.name()} did not keep its {self.rule.inputs[place]}")
            self.inputs[place] = rng.uniform(0.25, 0.75, edge.shape)
        if any(value is None for value in self.inputs):
            name = self.rule.inputs[next(i for i, value in enumerate(self.inputs) if value is None)]
            raise _Unknown(f"{self.node.name()} did not keep its {name}")

    def witness(self, cotangents: list[Any]) -> list[Any]:
        """Our row's gradients, one for each of the node's edges."""
        values: list[Any] = []
        reads = (
            set(self.rule.together_picks) if self.rule.together is not None else range(len(self.rule.saves))
        )
        for i, ((kind, index, _), name) in enumerate(
            zip(self.rule.saves, self.rule.saved_names, strict=True)
        ):
            values.append(self._saved(kind, index, name) if i in reads else None)
        if self.rule.differentiable_outs != 1:
            raise _Unknown(f"{self.node.name()} has several outputs, whose gradients our row takes together")
        g = cotangents[0]
        if self.outs[0][1].is_complex and self.rule.holomorphic:
            values = [v.conjugate() if isinstance(v, (np.ndarray, complex)) else v for v in values]
        try:
            if self.rule.together is not None:
                wants = tuple([i in self.places for i in range(len(self.rule.inputs))])
                made = self.rule.together(np, g, wants, *[values[i] for i in self.rule.together_picks])
            else:
                made = [
                    vjp(RAW[0], g, *[values[i] for i in pick])
                    if i in self.places and vjp is not None
                    else None
                    for i, (vjp, pick) in enumerate(zip(self.rule.vjps, self.rule.picks, strict=True))
                ]
        except Exception as why:
            raise _Unknown(f"our row for {self.node.name()} takes other arguments ({why})") from None
        edges = NODES.edges(self.node)
        return [
            None if i is None or made[i] is None or e is None else self._fitted(host(made[i]), e.shape)
            for i, e in zip(self.places, edges, strict=False)
        ]

    def _fitted(self, g: Any, shape: tuple[int, ...]) -> Any:
        """A gradient summed over what was broadcast."""
        if g.shape == shape:
            return g
        lead = g.ndim - len(shape)
        dims = tuple(d for d in range(g.ndim) if d < lead or (shape[d - lead] == 1 and g.shape[d] != 1))
        try:
            return g.sum(dims, keepdims=True).reshape(shape)
        except (ValueError, IndexError):
            raise _Unknown(f"our row for {self.node.name()} gives a gradient of another shape") from None

    def _saved(self, kind: int, index: int, name: str) -> Any:
        if kind == CONST:
            if name not in self.consts:
                raise _Unknown(f"{self.node.name()} does not say the {name} that our row needs")
            return self.consts[name]
        if kind == OUT:
            if not index and self.out is not None:
                return _double(self.out)
            other = self.kept.get(f"result{index}", self.kept.get("logsumexp"))
            if index and isinstance(other, torch.Tensor):
                # a row has one mean for each row of a matrix, where torch has dims of size 1 besides
                return _double(other).reshape(-1) if self.rule.name == "native_layer_norm" else _double(other)
            if any(value is None for value in self.inputs):
                raise _Unknown(f"{self.node.name()} did not keep what it gave")
            try:
                outs = self.rule.kernels[0](*self.inputs, *self.constants())
                return np.asarray(outs[index] if isinstance(outs, tuple) else outs)
            except (ValueError, TypeError, IndexError) as why:
                raise _Unknown(f"our row for {self.node.name()} takes other arguments ({why})") from None
        if kind == IN:
            if self.inputs[index] is None:
                raise _Unknown(f"{self.node.name()} did not keep its {self.rule.inputs[index]}")
            return np.asarray(self.inputs[index])
        if kind == STRIDES:  # they choose an order of memory, nothing else
            return (0, 0)
        if kind in (SHAPE, DTYPE) and index in self.places:
            e = NODES.edges(self.node)[self.places.index(index)]
            if e is not None:
                return e.shape if kind == SHAPE else np.dtype("f8")
        if kind == SHAPE and self.inputs[index] is not None:
            return self.inputs[index].shape
        raise _Unknown(f"{self.node.name()} does not say the {name} that our row needs")


def _by_function(node: Any, forward: Forward, found: Verdict) -> None:
    """A custom Function, run again in double precision at its inputs."""
    kind = private.function_of(node)
    given = []
    for target, output in node.next_functions:
        value = None if target is None else forward.of(target, output)
        if value is None:
            raise _Unknown(
                f"{node.name()} did not keep its inputs: `vt.check` can run its forward again only from them"
            )
        given.append(value.detach().to(torch.float64 if not value.is_complex() else torch.complex128).clone())
    if kind is None or len(private.needs_input_grad(node)) != len(given):
        raise _Unknown(f"{node.name()} takes arguments that are no tensors, which torch does not keep")
    subject = _Function(node, kind, given)
    try:
        outs = subject.forward(subject.inputs)
        cotangents = [np.random.default_rng(i).standard_normal(out.shape) for i, out in enumerate(outs)]
        theirs = subject.gradients(cotangents)
        errors = [compare(subject, i, cotangents, g, 1e-5) for i, g in enumerate(theirs) if g is not None]
    except (NotSmooth, _Unknown) as why:
        raise _Unknown(str(why)) from None
    except Exception as why:  # the user's own code may raise anything
        raise _Unknown(f"{node.name()} cannot be run again in double precision: {why}") from None
    error = max(errors, default=0.0)
    found.lines.append((error <= 1e-5, _said("finite difference", error, 1e-5)))


class _Function:
    """A custom Function as `debug.check` takes it."""

    place = CPU
    at = "its inputs"

    def __init__(self, node: Any, kind: Any, given: list[Any]) -> None:
        self.node, self.kind = node, kind
        self.inputs = [t.numpy() for t in given]

    def forward(self, values: list[Any]) -> list[Any]:
        """What the Function gives."""
        with torch.no_grad(), private.without_modes():
            out = self.kind.apply(*[torch.from_numpy(np.ascontiguousarray(v)) for v in values])
        outs = out if isinstance(out, tuple) else (out,)
        return [o.detach().numpy() for o in outs if isinstance(o, torch.Tensor) and o.is_floating_point()]

    def gradients(self, cotangents: list[Any]) -> list[Any]:
        """What its backward gives."""
        with torch.enable_grad(), private.without_modes():
            given = [torch.from_numpy(v.copy()).requires_grad_() for v in self.inputs]
            out = self.kind.apply(*given)
            outs = [o for o in (out if isinstance(out, tuple) else (out,)) if o.is_floating_point()]
            found = torch.autograd.grad(
                outs, given, [torch.from_numpy(c) for c in cotangents], allow_unused=True
            )
        return [None if g is None else host(g) for g in found]


def _double(value: Any) -> Any:
    if isinstance(value, (int, float, complex, bool)):
        return value
    return wide(plain(host(value)))


def _distance(theirs: list[Any], ours: list[Any]) -> float:
    """The largest difference, relative to the size of each gradient."""
    worst = 0.0
    for a, b in zip(theirs, ours, strict=False):
        if a is None or b is None:
            continue
        if a.shape != b.shape:
            return float("inf")
        size = max(float(np.abs(b).max(initial=0.0)), 1e-30)
        gap = np.where(np.isfinite(b) | np.isfinite(a), np.abs(a - b), 0.0)
        worst = max(worst, float(np.max(gap, initial=0.0)) / size)
    return worst
