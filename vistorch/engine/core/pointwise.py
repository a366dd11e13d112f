"""Factories for pointwise ops of one and two operands: PyTorch's public functions themselves.

The first screen of each `call` is the whole story of a float op on the CPU: kernel, wrap, and, where a gradient is
wanted, the node. Everything else (types to promote, numbers of the wrong
kind, other places, `out=`) leaves at once for `promote`. Invariant: both ways give the same result and graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import errors
from ..base.casting import casting
from ..base.events import listeners
from ..base.modes import inferring, mode
from ..base.numpy_warnings import aside, silently
from ..kernels.fast.spread import MANY, spread
from ..memory.placement import CPU
from . import type_promotion
from .graph import UNTRACKED
from .op_factory import enter
from .private_order import POINTWISE, Elsewhere, through
from .record import record
from .rules import Rule, define, variant
from .tensor import Tensor, asarray, ndarray, new

F4, F8 = np.dtype("f4"), np.dtype("f8")
FLOATS = frozenset((F4, F8))
NONE: frozenset = frozenset()
LARGE = 2**63  # integers beyond raise OverflowError, as in PyTorch


def unary(
    name: str,
    kernel: Any,
    *,
    ints: str = "float",
    name_in_graph: str | None = None,
    holomorphic: bool = True,
    formula: str | None = None,
    input: Callable | None = None,
    check: Callable | None = None,
    floats: bool = True,
) -> Any:
    """A pointwise op of one tensor.

    Args:
        name: the op's name.
        kernel: as for `call.op`.
        ints: what integers become: "float" (the default dtype), "same" (stay, and `out` is of the same type), "keep"
            (stay), "bool" (any input gives bool), "only bool" (and `out` is bool).
        name_in_graph: what `grad_fn` prints.
        holomorphic: as for `call.op`.
        formula: LaTeX of the vjp.
        input: formula(F, g, *saved).
        check: called with the numpy dtype first; raises PyTorch's sentence for what the op refuses.
        floats: False where `check` has something to say about float32 or float64.
    """
    rule = define(
        name,
        kernel,
        inputs="input",
        name_in_graph=name_in_graph,
        holomorphic=holomorphic,
        formula=formula,
        vjps={} if input is None else {"input": input},
    )
    rule.batching = "pointwise"
    run = rule.kernels[0]
    differentiable = input is not None
    f4, f8 = (F4, F8) if floats else (None, None)

    def call(input, *, out=None):
        try:
            a = input._data
        except Elsewhere:
            return (
                through(call, input) if out is None else type_promotion.unary(rule, ints, check, input, out)
            )
        except AttributeError:
            raise errors.must_be_tensor(name, "input", 1, input) from None
        dt = a.dtype
        if (dt is not f4 and dt is not f8) or input._place is not CPU or out is not None:
            if casting.on and (recast := casting.ask(call, locals())):
                return recast[0]
            return type_promotion.unary(rule, ints, check, input, out)
        try:
            d = silently(run, a) if a.size < MANY else silently(spread, run, a)
        except RuntimeError as exc:
            d = aside(exc, run, a)
        except MemoryError as exc:
            raise errors.no_memory(exc) from None
        o = new(Tensor)
        o._data = d = d if d.__class__ is ndarray else asarray(d)
        o._place = CPU
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            input._view.sync(input)
        if differentiable and input._rg and mode.on:
            if mode.on is True:
                rule.make(o, input, ())
            else:
                record(rule, (input,), (), (o,))
        else:
            o._node, o._rg = None, False
            if inferring.threads and mode.on is None:
                o._ver = UNTRACKED
        if (emit := listeners.op) is not None:
            emit(rule, (input,), (), (o,))
        return o

    POINTWISE.add(call.__code__)
    call.ints, call.plain_types = ints, FLOATS if floats else NONE  # type: ignore[attr-defined]
    return enter(call, rule)


def binary(
    name: str,
    kernel: Any,
    *,
    kind: str = "arith",
    name_in_graph: str | None = None,
    holomorphic: bool = True,
    formula: dict[str, str] | None = None,
    check: Callable | None = None,
    refuse: Callable | None = None,
    floats: bool = True,
    numbers: str = "input other",
    wide_numbers: bool = False,
    names: tuple[str, str] | None = None,
    input: Callable | None = None,
    other: Callable | None = None,
) -> Any:
    """A pointwise op of two operands, each a tensor or a number.

    The result has an attribute `operator`: the same op, which returns NotImplemented for operands it does not know.

    Args:
        name: the op's name.
        kernel: as for `call.op`.
        kind: "arith" (the promoted type), "float" (integers become the default dtype), "compare" and "logic" (bool).
        name_in_graph: what `grad_fn` prints.
        holomorphic: as for `call.op`.
        formula: LaTeX of the vjps, by input.
        check: called with both numpy dtypes; raises PyTorch's sentence for what the op refuses.
        refuse: the same, called with the promoted dtype.
        floats: False where `check` or `refuse` has something to say about float32 or float64.
        numbers: which operands may be plain numbers.
        wide_numbers: a number next to half-precision tensors is not rounded to half precision first.
        names: what `grad_fn` prints where `other`, and where `input`, is a number.
        input: formula of the first operand.
        other: formula of the second.
    """
    vjps = {k: v for k, v in (("input", input), ("other", other)) if v is not None}
    rule = define(
        name,
        kernel,
        inputs="input other",
        name_in_graph=name_in_graph,
        holomorphic=holomorphic,
        formula=formula,
        vjps=vjps,
    )
    if names is not None:
        rule.variants = (variant(rule, names[0]), variant(rule, names[1]))
    takes = frozenset(numbers.split())
    how = (kind, check, refuse, takes, wide_numbers)
    f4, f8 = (F4, F8) if floats else (None, None)
    rule.batching = "pointwise"
    run = rule.kernels[0]
    own = rule if names is None else rule.variants[0]
    both = len(vjps) == 2

    def build(as_operator: bool) -> Any:
        scaled = _of_number(rule, own, how, run, f4, f8, both, as_operator)
        return _of_tensors(rule, how, run, f4, f8, both, scaled, as_operator)

    call = build(False)
    call.kind, call.takes, call.plain_types = kind, takes, FLOATS if floats else NONE
    call.operator = enter(build(True), rule)
    return enter(call, rule)


def _of_tensors(
    rule: Rule, how: tuple, run: Callable, f4: Any, f8: Any, both: bool, scaled: Callable, as_operator: bool
) -> Any:
    """The op for two tensors, with the fast path of `unary`; what else comes goes to `scaled` or `type_promotion`."""

    def call(input, other, *, out=None):
        try:
            a = input._data
            b = other._data
        except Elsewhere:
            if out is None:
                return through(call, input, other)
            return type_promotion.binary(rule, how, input, other, out)
        except AttributeError:
            kind_of = other.__class__
            if (kind_of is float or kind_of is int) and out is None and isinstance(input, Tensor):
                return scaled(input, other)
            if casting.on and (recast := casting.ask(call, locals())):
                return recast[0]
            return type_promotion.mixed(rule, how, input, other, out, as_operator)
        dt = a.dtype
        if (
            dt is not b.dtype
            or (dt is not f4 and dt is not f8)
            or input._place is not CPU
            or other._place is not CPU
            or out is not None
        ):
            if casting.on and (recast := casting.ask(call, locals())):
                return recast[0]
            return type_promotion.binary(rule, how, input, other, out)
        try:
            d = silently(run, a, b) if a.size < MANY else silently(spread, run, a, b)
        except ValueError:
            raise RuntimeError(errors.broadcast(a.shape, b.shape)) from None
        except RuntimeError as exc:
            d = aside(exc, run, a, b)
        except MemoryError as exc:
            raise errors.no_memory(exc) from None
        o = new(Tensor)
        o._data = d = d if d.__class__ is ndarray else asarray(d)
        o._place = CPU
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            input._view.sync(input)
        if other._view is not None:
            other._view.sync(other)
        if both and (input._rg or other._rg) and mode.on:
            if mode.on is True:
                rule.make(o, input, other, ())
            else:
                record(rule, (input, other), (), (o,))
        else:
            o._node, o._rg = None, False
            if inferring.threads and mode.on is None:
                o._ver = UNTRACKED
        if (emit := listeners.op) is not None:
            emit(rule, (input, other), (), (o,))
        return o

    POINTWISE.add(call.__code__)
    call.scaled = scaled  # type: ignore[attr-defined]  for who knows already that `other` is a real number
    return call


def _of_number(
    rule: Rule, own: Rule, how: tuple, run: Callable, f4: Any, f8: Any, both: bool, as_operator: bool
) -> Callable:
    """The op for a tensor and a real number; `own` is the row whose node it makes."""
    kind, _, _, takes, _ = how
    numbers_too = "other" in takes and kind != "logic"

    def scaled(input, number):
        """Float tensor and real number: numpy's weak scalars do what PyTorch does."""
        try:
            a = input._data
        except Elsewhere:
            return through(scaled, input, number)
        dt = a.dtype
        if (
            (dt is not f4 and dt is not f8)
            or input._place is not CPU
            or not numbers_too
            or not -1e18 < number < 1e18
        ):
            return type_promotion.mixed(rule, how, input, number, None, as_operator)
        try:
            d = silently(run, a, number) if a.size < MANY else silently(spread, run, a, number)
        except RuntimeError as exc:
            d = aside(exc, run, a, number)
        o = new(Tensor)
        o._data = d = d if d.__class__ is ndarray else asarray(d)
        o._place = CPU
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            input._view.sync(input)
        if both and input._rg and mode.on:
            if mode.on is True:
                own.make_scaled(o, input, number, ())
            else:
                record(own, (input, number), (), (o,))
        else:
            o._node, o._rg = None, False
            if inferring.threads and mode.on is None:
                o._ver = UNTRACKED
        if (emit := listeners.op) is not None:
            emit(own, (input, number), (), (o,))
        return o

    POINTWISE.add(scaled.__code__)
    return scaled
