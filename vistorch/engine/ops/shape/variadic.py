"""Ops of any number of tensors: one row in the table, and a rule per number of tensors, made when first needed.

Invariant: such a rule has one constant, `parts`, from which the i-th formula takes what the i-th input needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base import errors
from ...base.events import listeners
from ...base.modes import mode
from ...core.graph import CONST, Node
from ...core.op_factory import at_one_place
from ...core.record import record
from ...core.rules import REC, Rule, define
from ...core.tensor import Tensor, wrap

MOST_MADE = 16  # tensors of a rule whose nodes get code of their own


class _Kernels:
    """The kernels of a rule of n tensors, called as all kernels are: tensors first, then the constants."""

    __slots__ = ("base", "n")

    def __init__(self, base: Rule, n: int) -> None:
        self.base, self.n = base, n

    def __getitem__(self, kind: int) -> Callable:
        n, kernel = self.n, self.base.kernels[kind]
        return lambda *given: kernel(list(given[:n]), *given[n:])


class Variadic:
    """The recorded callable `(tensors, dim, parts)` of an op that takes a list of tensors.

    Args:
        name: the op's name in `F`, where it is called as `F.name(list, dim, parts)`.
        kernel: a function of (xp, arrays, dim, parts).
        part: formula(F, g, dim, the i-th of `parts`) for the i-th tensor.
        formula: LaTeX of it.
        name_in_graph: what `grad_fn` prints, where not CamelCase + "Backward0".
    """

    def __init__(
        self, name: str, kernel: Callable, part: Callable, formula: str, name_in_graph: str | None = None
    ) -> None:
        self.base = define(
            name,
            kernel,
            inputs="tensors",
            widen=False,
            formula=formula,
            vjps={},
            name_in_graph=name_in_graph,
        )
        self.part = part
        self.vjps: list = []
        self.rules: dict[int, Rule] = {}
        self.name = name
        setattr(REC, name, self)

    def __call__(self, tensors: Any, dim: int, parts: Any) -> Tensor:
        """Join the tensors, recorded; `parts` may be a function (tensors, dim) that finds them when needed."""
        ins = at_one_place(self.base, tuple(tensors))
        place = ins[0]._place
        needs = False
        for t in ins:
            if t._view is not None:
                t._view.sync(t)
            if t._rg:
                needs = True
        d = self.base.kernels[place.kind]([t._data for t in ins], dim, parts)
        return self._recorded(d, place, ins, dim, parts, needs)

    def of_like(self, tensors: Any, dim: int, parts: Callable, new_dim: bool = False) -> Tensor | None:
        """The same for tensors of one dtype at one place; None, and nothing done, for whatever is not plain.

        Args:
            tensors: what a user gave.
            dim: the same; if negative, counted from the end.
            parts: as in a call.
            new_dim: the shapes must agree, and the result has one dim more.
        """
        cls = tensors.__class__
        if (cls is not list and cls is not tuple) or not tensors:
            return None
        needs, arrays = False, []
        try:
            first = tensors[0]._data
            dtype, place, shape = first.dtype, tensors[0]._place, first.shape
            if dim < 0:
                dim += len(shape) + new_dim
                if dim < 0:
                    return None
            for t in tensors:
                d = t._data
                if d.dtype is not dtype or t._place is not place or (new_dim and d.shape != shape):
                    return None
                if t._view is not None:
                    t._view.sync(t)
                if t._rg:
                    needs = True
                arrays.append(d)
            d = self.base.kernels[place.kind](arrays, dim, parts)
        except (AttributeError, IndexError, ValueError, OverflowError):
            return None
        except MemoryError as exc:
            raise errors.no_memory(exc) from None
        return self._recorded(d, place, tensors, dim, parts, needs)

    def _recorded(self, d: Any, place: Any, ins: Any, dim: int, parts: Any, needs: bool) -> Tensor:
        o = wrap(d, place)
        on = mode.on
        needs = needs and on
        if not needs and listeners.op is None:
            return o
        rule = self.rules.get(len(ins)) or self.rule(len(ins))
        if parts.__class__ is not tuple:
            parts = parts(ins, dim)
        if needs:
            if on is True and len(ins) <= MOST_MADE:
                rule.make(o, *ins, (dim, parts))
            else:
                record(rule, tuple(ins), (dim, parts), (o,))
        if (emit := listeners.op) is not None:
            emit(rule, tuple(ins), (dim, parts), (o,))
        return o

    def rule(self, n: int) -> Rule:
        """The rule for n tensors."""
        base, vjps, part = self.base, self.vjps, self.part
        while len(vjps) < n:
            vjps.append(_formula(part, len(vjps)))
        r = Rule.__new__(Rule)
        r.name, r.kernel, r.kernels = base.name, base.kernel, _Kernels(base, n)
        r.inputs, r.consts = tuple([f"x{i}" for i in range(n)]), ("dim", "parts")
        r.vjps = tuple(vjps[:n])
        r.turns = everyone = tuple(range(n))
        r.saves = ((CONST, 0, everyone), (CONST, 1, everyone))
        r.saved_names, r.picks = ("dim", "parts"), ((0, 1),) * n
        r.saves_out = r.saves_tensors = r.view = r.widen = r.halves = False
        r.holomorphic, r.differentiable_outs, r.together = True, 1, None
        r.formula, r.grad_name = base.formula, base.grad_name
        r.node_class = type(
            r.grad_name, (Node,), {"__slots__": (), "rule": r, "__module__": "vistorch.autograd"}
        )
        r.prepare()
        self.rules[n] = r
        return r


def _formula(part: Callable, i: int) -> Callable:
    return lambda F, g, dim, parts: part(F, g, dim, parts[i])


def common_dtype(arrays: list) -> Any:
    """The dtype of all arrays, or None if there are several."""
    first = arrays[0].dtype
    for a in arrays:
        if a.dtype != first:
            return None
    return first
