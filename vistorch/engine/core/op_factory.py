"""From a row to something one can call: factories specialised by arity.

A generic `apply(rule, *args)` costs three times what `add` itself does, so each factory closes over its rule; nodes are
made by `rule.make`. Invariant: a fast path and the general path give the same graph.

Pointwise callables are the public functions themselves (PyTorch's argument names, `out=`); every other op is called by
its family's public function as `op(*tensors, *constants)`, the same way its kernel and `F.name` are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, errors
from ..base.events import listeners
from ..base.modes import inferring, mode
from ..base.numpy_warnings import aside, hushed, silently
from ..kernels.fast.copies import cast as to_type
from .graph import UNTRACKED, Version
from .private_order import Private, keep, through
from .record import record
from .rules import REC, Rule, define
from .sharing import same_place
from .tensor import Tensor, asarray, ndarray, new, wrap
from .views import View

F4, F8 = np.dtype("f4"), np.dtype("f8")
FLOATS = frozenset((F4, F8))
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
    together: Callable | None = None,
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
        together: together(xp, g, wants, *saved): all gradients of a plain pass at once.
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
        together=together,
        vjps=vjps,
    )
    fn = _view(rule) if view else _one(rule) if len(rule.inputs) == 1 and outs == 1 else _general(rule)
    return enter(fn, rule)


def enter(fn: Any, rule: Rule) -> Any:
    """Make `fn` the callable of its row, in `F` too."""
    fn.rule = rule
    fn.__name__ = fn.__qualname__ = rule.name
    setattr(REC, rule.name, fn)
    return fn


def in_any_order(call: Any, makes: bool = False) -> Any:
    """The callable of a row whose kernels and formulas work in any order of memory.

    Args:
        call: as `op` made it.
        makes: whether its results may lie with channels last where its operands do not.
    """

    def run(*args):
        for t in args:
            if t.__class__ is Private:
                return through(call, *args)
        outs = call(*args)
        if makes and not outs._place.kind:
            keep(outs)
        return outs

    return enter(run, call.rule)


def widened(kernel: Callable, raw: list, consts: tuple) -> Any:
    """Run a kernel on half-precision arrays in float32 and round once at the end."""
    half = next(a.dtype for a in raw if a.dtype in HALVES)
    f4 = np.dtype("f4")
    out = kernel(*[to_type(a, f4) if a.dtype in HALVES else a for a in raw], *consts)
    if out.__class__ is tuple:
        return tuple([to_type(o, half) if o.dtype == f4 else o for o in out])
    return to_type(out, half) if out.dtype == f4 else out


def run(rule: Rule, place: Any, raw: list, consts: tuple) -> Any:
    """The kernel on arrays, silenced, with half types widened where the row asks for it."""
    kernel = rule.kernels[place.kind]
    if rule.widen and not getattr(kernel, "halves", False):  # a device's kernel may compute them itself
        for a in raw:
            if a.dtype in HALVES:
                return hushed(widened, kernel, raw, consts)
    return hushed(kernel, *raw, *consts)


def at_one_place(rule: Rule, ins: tuple) -> tuple:
    """The inputs at one place; PyTorch's sentence if they are not."""
    place = ins[0]._place
    for t in ins:
        if t._place is not place:
            return same_place(rule.name, ins)
    return ins


def _general(rule: Rule) -> Callable:
    """Any number of tensors, any number of outputs."""
    k = len(rule.inputs)
    kernels, widen = rule.kernels, rule.widen
    wants = [vjp is not None for vjp in rule.vjps]

    def call(*args):
        ins, consts = args[:k], args[k:]
        place = ins[0]._place
        needs, floats = False, True
        raw = []
        for t, wanted in zip(ins, wants):  # noqa: B905  hot
            if t._place is not place:
                return call(*same_place(rule.name, ins), *consts)
            if t._view is not None:
                t._view.sync(t)
            if wanted and t._rg:
                needs = True
            a = t._data
            raw.append(a)
            if a.dtype is not F4 and a.dtype is not F8:
                floats = False
        if widen and not floats:
            result = run(rule, place, raw, consts)
        else:
            result = hushed(kernels[place.kind], *raw, *consts)
        many = result.__class__ is tuple
        outs = tuple([wrap(d, place) for d in result]) if many else (wrap(result, place),)
        if needs and mode.on:
            record(rule, ins, consts, outs)
        if (emit := listeners.op) is not None:
            emit(rule, ins, consts, outs)
        return outs if many else outs[0]

    return call


def _one(rule: Rule) -> Callable:
    """One tensor, constants, one output."""
    kernels = rule.kernels
    differentiable = rule.vjps[0] is not None
    widen = rule.widen

    def call(input, *consts):
        place = input._place
        a = input._data
        dt = a.dtype
        if dt is not F4 and dt is not F8 and widen and dt in HALVES:
            d = run(rule, place, [a], consts)
        else:
            try:
                d = silently(kernels[place.kind], a, *consts)
            except RuntimeError as exc:
                d = aside(exc, kernels[place.kind], a, *consts)
            except MemoryError as exc:
                raise errors.no_memory(exc) from None
        if d.__class__ is not ndarray:
            if d.__class__ is tuple:
                return _several(rule, input, consts, d)
            if not place.kind:
                d = asarray(d)
        o = new(Tensor)
        o._data = d
        o._place = place
        o._grad = o._ver = o._view = o._more = None
        if input._view is not None:
            input._view.sync(input)
        if differentiable and input._rg and mode.on:
            if mode.on is True:
                rule.make(o, input, consts)
            else:
                record(rule, (input,), consts, (o,))
        else:
            o._node, o._rg = None, False
            if inferring.threads and mode.on is None:
                o._ver = UNTRACKED
        if (emit := listeners.op) is not None:
            emit(rule, (input,), consts, (o,))
        return o

    return call


def _several(rule: Rule, input: Tensor, consts: tuple, results: tuple) -> tuple:
    """The outputs of an op of one tensor that has more than one, the differentiable one first."""
    outs = tuple([wrap(d, input._place) for d in results])
    if input._view is not None:
        input._view.sync(input)
    if mode.on and input._rg and rule.vjps[0] is not None:
        record(rule, (input,), consts, outs)
    if (emit := listeners.op) is not None:
        emit(rule, (input,), consts, outs)
    return outs


def _view(rule: Rule) -> Callable:
    """One tensor, constants, one output that is the input's memory.

    The callable's `of(input, array, consts)` does the same for an array that the caller has made already.
    """
    kernels = rule.kernels
    if rule.differentiable_outs != 1:
        raise TypeError(
            f"the view {rule.name!r} has several outputs: make it of single views, as ops/shape/split.py does"
        )
    differentiable = rule.vjps[0] is not None

    def of(input, d, consts):
        o = new(Tensor)
        o._data = d
        o._place = input._place
        o._grad = o._more = None
        origin = input._view
        if origin is not None:
            input._view.sync(input)
        ver = input._ver
        if ver is None:
            ver = input._ver = new(Version)
            ver.n = 0
        o._ver = ver
        o._view = v = new(View)
        v.seen = ver.n
        on = mode.on
        v.meta = None if on else "no_grad" if on is False else "inference"
        if origin is None or not origin.steps:
            v.base, v.steps = input, ((rule, consts),)
        else:
            v.base, v.steps = origin.base, (*origin.steps, (rule, consts))
            if v.meta is None:
                v.meta = origin.meta
        if differentiable and input._rg and on:
            if on is True:
                rule.make(o, input, consts)
            else:
                record(rule, (input,), consts, (o,))
        else:
            o._node, o._rg = None, False
        if (emit := listeners.op) is not None:
            emit(rule, (input,), consts, (o,))
        return o

    def call(input, *consts):
        return of(input, kernels[input._place.kind](input._data, *consts), consts)

    call.of = of  # type: ignore[attr-defined]
    return call
