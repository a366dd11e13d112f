"""From a row to something one can call: factories specialised by arity.

A generic `apply(rule, *args)` costs three times what `add` itself does, so each factory closes over its rule and
unrolls what `graph.record` does in general. Invariant: a fast path and the general path give the same graph.

Pointwise callables are the public functions themselves (PyTorch's argument names, `out=`); every other op is called by
its family's public function as `op(*tensors, *constants)`, the same way its kernel and `F.name` are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes, errors, promote
from .events import hear
from .graph import UNTRACKED, Version, draw, leaf_of, record, save_input, sync
from .modes import mode
from .quiet import hush, speak
from .rules import REC, Rule, define, twin
from .tensor import Tensor, asarray, ndarray, new, wrap
from .views import mark

FLOATS = frozenset((np.dtype("f4"), np.dtype("f8")))
NONE: frozenset = frozenset()
LARGE = 2**63  # integers beyond raise PyTorch's OverflowError on the longer way
HALVES = frozenset((np.dtype("f2"), dtypes.bfloat16.np))


def op(
    name: str,
    kernel: Any,
    *,
    inputs: str = "",
    name_in_graph: str | None = None,
    outs: int | None = 1,
    view: bool = False,
    holomorphic: bool = True,
    widen: bool = True,
    formula: dict[str, str] | str | None = None,
    **vjps: Callable,
) -> Any:
    """One row of the table: define its rule and return the recorded callable `(*tensors, *constants)`.

    Args:
        name: the op's name in `F`.
        kernel: a numpy function's name, or a function of (xp, *arrays, *constants).
        inputs: names of the tensor inputs, where not simply those that have a formula.
        name_in_graph: what `grad_fn` prints, where not CamelCase + "Backward0".
        outs: how many outputs are differentiable; None when the kernel decides (then all are).
        view: the kernel returns memory of its first input.
        holomorphic: False where formulas conjugate for themselves.
        widen: compute half types in float32 (False for kernels that only move elements).
        formula: LaTeX of each vjp, by input.
        **vjps: input name -> formula(F, g, *saved).
    """
    # `name=` is taken by the row itself, so a grad_fn name comes as name_in_graph
    rule = define(
        name,
        kernel,
        inputs=inputs,
        name_in_graph=name_in_graph,
        outs=outs,
        view=view,
        holomorphic=holomorphic,
        widen=widen,
        formula=formula,
        vjps=vjps,
    )
    fn = _view(rule) if view else _one(rule) if len(rule.inputs) == 1 and outs == 1 else _general(rule)
    return _enter(fn, rule)


def _enter(fn: Any, rule: Rule) -> Any:
    fn.rule = rule
    fn.__name__ = fn.__qualname__ = rule.name
    setattr(REC, rule.name, fn)
    return fn


def widened(kernel: Callable, raw: list, consts: tuple) -> Any:
    """Run a kernel on half-precision arrays in float32 and round once at the end."""
    half = next(a.dtype for a in raw if a.dtype in HALVES)
    f4 = np.dtype("f4")
    out = kernel(*[a.astype(f4) if a.dtype in HALVES else a for a in raw], *consts)
    if out.__class__ is tuple:
        return tuple([o.astype(half) if o.dtype == f4 else o for o in out])
    return out.astype(half) if out.dtype == f4 else out


def run(rule: Rule, place: Any, raw: list, consts: tuple) -> Any:
    """The kernel on arrays, silenced, with half types widened where the row asks for it."""
    kernel = rule.kernels[place.kind]
    token = hush()
    try:
        if rule.widen:
            for a in raw:
                if a.dtype in HALVES:
                    return widened(kernel, raw, consts)
        return kernel(*raw, *consts)
    finally:
        speak(token)


def common_place(rule: Rule, ins: tuple) -> Any:
    """The one place of all inputs; PyTorch's sentence if there are two."""
    place = ins[0]._place
    for t in ins:
        if t._place is not place:
            raise RuntimeError(errors.devices(place, t._place, rule.name))
    return place


def _general(rule: Rule) -> Callable:
    """Any number of tensors, any number of outputs."""
    k = len(rule.inputs)
    vjps = rule.vjps
    limit = rule.differentiable_outs

    def call(*args):
        ins, consts = args[:k], args[k:]
        place = common_place(rule, ins)
        needs = False
        for t, vjp in zip(ins, vjps, strict=False):
            if t._view is not None:
                sync(t)
            if t._rg and vjp is not None:
                needs = True
        result = run(rule, place, [t._data for t in ins], consts)
        many = result.__class__ is tuple
        outs = tuple([wrap(d, place) for d in result]) if many else (wrap(result, place),)
        if needs and mode.on:
            record(rule, ins, consts, outs)
        if hear.op is not None:
            hear.op(rule, ins, consts, outs)
        return outs if many else outs[0]

    del limit
    return call


def _one(rule: Rule) -> Callable:
    """One tensor, constants, one output."""
    kernels, cls = rule.kernels, rule.node_class
    differentiable = rule.vjps[0] is not None
    plain = not rule.saves
    widen = rule.widen

    def call(input, *consts):
        place = input._place
        a = input._data
        if widen and a.dtype in HALVES:
            d = run(rule, place, [a], consts)
        else:
            token = hush()
            try:
                d = kernels[place.kind](a, *consts)
            finally:
                speak(token)
        o = new(Tensor)
        o._data = d if d.__class__ is ndarray or place.kind else asarray(d)
        o._place = place
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            sync(input)
        on = mode.on
        if on and differentiable and input._rg:
            if on is True and plain:
                n = new(cls)
                e = input._node
                n.edges = (e if e is not None else leaf_of(input),)
                n.saved = ()
                n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, place, None
                n.seq = draw()
                o._node, o._rg = n, True
            else:
                record(rule, (input,), consts, (o,))
        else:
            o._node, o._rg = None, False
            if on is None:
                o._ver = UNTRACKED
        if hear.op is not None:
            hear.op(rule, (input,), consts, (o,))
        return o

    return call


def _view(rule: Rule) -> Callable:
    """One tensor, constants, one output (or several) that is the input's memory."""
    kernels, cls = rule.kernels, rule.node_class
    plain = not rule.saves or all(s[0] > 1 for s in rule.saves)
    single = rule.differentiable_outs == 1
    differentiable = rule.vjps[0] is not None
    assert single, "a view with several outputs is made of single views: see ops/split.py"

    def call(input, *consts):
        place = input._place
        d = kernels[place.kind](input._data, *consts)
        o = new(Tensor)
        o._data = d
        o._place = place
        o._grad = o._more = None
        if input._view is not None:
            sync(input)
        mark(o, input, (rule, consts))
        on = mode.on
        if on and differentiable and input._rg:
            if on is True and plain:
                n = new(cls)
                e = input._node
                n.edges = (e if e is not None else leaf_of(input),)
                n.saved = tuple(
                    [
                        consts[i] if kind == 2 else input._data.shape if kind == 3 else input._data.dtype
                        for kind, i, _ in rule.saves
                    ]
                )
                n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, place, None
                n.seq = draw()
                o._node, o._rg = n, True
            else:
                record(rule, (input,), consts, (o,))
        else:
            o._node, o._rg = None, False
        if hear.op is not None:
            hear.op(rule, (input,), consts, (o,))
        return o

    return call


# ---- pointwise: these callables are PyTorch's public functions -------------------------------------------------
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
        kernel: as for `op`.
        ints: what integers become: "float" (the default dtype), "same" (stay, and `out` has to be of the same
            type), "keep" (stay), "bool" (any input gives bool), "only bool"
            (and `out` has to be bool).
        name_in_graph: what `grad_fn` prints.
        holomorphic: as for `op`.
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
    kernels, cls = rule.kernels, rule.node_class
    saves = rule.saved_names
    differentiable = input is not None
    fast = differentiable and saves in ((), ("input",), ("out",))
    keeps_input, keeps_out = saves == ("input",), saves == ("out",)
    plain_types = FLOATS if floats else NONE

    def call(input, *, out=None):
        try:
            a = input._data
        except AttributeError:
            raise errors.must_be_tensor(name, "input", 1, input) from None
        if a.dtype not in plain_types or out is not None:
            return promote.unary(rule, ints, check, input, out)
        place = input._place
        token = hush()
        try:
            d = kernels[place.kind](a)
        finally:
            speak(token)
        o = new(Tensor)
        o._data = d if d.__class__ is ndarray or place.kind else asarray(d)
        o._place = place
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            sync(input)
        on = mode.on
        if on and differentiable and input._rg:
            if on is True and fast:
                n = new(cls)
                e = input._node
                n.edges = (e if e is not None else leaf_of(input),)
                if keeps_input:
                    v = input._ver
                    if v is UNTRACKED:
                        save_input(input)
                    n.saved = ((input, 0 if v is None else v.n),)
                elif keeps_out:
                    o._ver = v = Version()
                    n.saved = ((o._data, v, 0),)
                else:
                    n.saved = ()
                n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, place, None
                n.seq = draw()
                o._node, o._rg = n, True
            else:
                record(rule, (input,), (), (o,))
        else:
            o._node, o._rg = None, False
            if on is None:
                o._ver = UNTRACKED
        if hear.op is not None:
            hear.op(rule, (input,), (), (o,))
        return o

    call.ints, call.plain_types = ints, plain_types  # type: ignore[attr-defined]
    return _enter(call, rule)


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

    Args:
        name: the op's name.
        kernel: as for `op`.
        kind: "arith" (the promoted type), "float" (integers become the default dtype), "compare" and "logic" (bool).
        name_in_graph: what `grad_fn` prints.
        holomorphic: as for `op`.
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
        rule.twins = (twin(rule, names[0]), twin(rule, names[1]))
    takes = frozenset(numbers.split())
    plain_types = FLOATS if floats else NONE
    kernels, cls = rule.kernels, rule.node_class
    d_in, d_other = input is not None, other is not None
    plain = not rule.saves
    shared = rule.picks == ((0,), (0, 1))
    cross = rule.saved_names == ("other", "input") and (shared or rule.picks == ((0,), (1,)))
    fast = plain or cross
    scales = "other" in takes
    numbered = rule.twins[0]
    number_cls = numbered.node_class
    how = (kind, check, refuse, takes, wide_numbers)

    def scale(input, other):
        """Float tensor and real number: numpy's weak scalars do what PyTorch does."""
        place = input._place
        token = hush()
        try:
            d = kernels[place.kind](input._data, other)
        finally:
            speak(token)
        o = new(Tensor)
        o._data = d if d.__class__ is ndarray or place.kind else asarray(d)
        o._place = place
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            sync(input)
        on = mode.on
        if on and d_in and input._rg:
            if on is True and fast:
                n = new(number_cls)
                e = input._node
                n.edges = (e if e is not None else leaf_of(input), None)
                if plain:
                    n.saved = ()
                else:
                    n.saved = (other, None)
                n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, place, None
                n.seq = draw()
                o._node, o._rg = n, True
            else:
                record(numbered, (input, other), (), (o,))
        else:
            o._node, o._rg = None, False
            if on is None:
                o._ver = UNTRACKED
        if hear.op is not None:
            hear.op(numbered, (input, other), (), (o,))
        return o

    def build(as_operator):
        def call(input, other, *, out=None):
            kind_of_other = other.__class__
            if (kind_of_other is float or (kind_of_other is int and -LARGE < other < LARGE)) and (
                scales and out is None and input.__class__ is Tensor and input._data.dtype in plain_types
            ):
                return scale(input, other)
            try:
                a = input._data
                b = other._data
            except AttributeError:
                return promote.mixed(rule, how, input, other, out, as_operator)
            place = input._place
            if (
                a.dtype is not b.dtype
                or a.dtype not in plain_types
                or place is not other._place
                or out is not None
            ):
                return promote.binary(rule, how, input, other, out)
            token = hush()
            try:
                d = kernels[place.kind](a, b)
            except ValueError:
                raise RuntimeError(errors.broadcast(a.shape, b.shape)) from None
            finally:
                speak(token)
            o = new(Tensor)
            o._data = d if d.__class__ is ndarray or place.kind else asarray(d)
            o._place = place
            o._grad = o._ver = o._view = o._more = None
            if input._view is not None:
                sync(input)
            if other._view is not None:
                sync(other)
            on = mode.on
            rx = input._rg and d_in
            ry = other._rg and d_other
            if on and (rx or ry):
                if on is True and fast:
                    n = new(cls)
                    ex = ey = None
                    if rx:
                        ex = input._node
                        if ex is None:
                            ex = leaf_of(input)
                    if ry:
                        ey = other._node
                        if ey is None:
                            ey = leaf_of(other)
                    n.edges = (ex, ey)
                    if plain:
                        n.saved = ()
                    else:
                        vx, vy = input._ver, other._ver
                        if vx is UNTRACKED or vy is UNTRACKED:
                            save_input(other if vy is UNTRACKED else input)
                        n.saved = (
                            (other, 0 if vy is None else vy.n) if rx or shared else None,
                            (input, 0 if vx is None else vx.n) if ry else None,
                        )
                    n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, place, None
                    n.seq = draw()
                    o._node, o._rg = n, True
                else:
                    record(rule, (input, other), (), (o,))
            else:
                o._node, o._rg = None, False
                if on is None:
                    o._ver = UNTRACKED
            if hear.op is not None:
                hear.op(rule, (input, other), (), (o,))
            return o

        return call

    call = build(False)
    call.operator = _enter(build(True), rule)  # type: ignore[attr-defined]
    call.kind, call.takes, call.plain_types = kind, takes, plain_types  # type: ignore[attr-defined]
    return _enter(call, rule)
