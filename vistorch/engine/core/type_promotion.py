"""Pointwise ops off the fast path: type promotion, plain numbers, half precision, `out=`, mixed devices.

Invariant: whatever arrives here gives the result type PyTorch gives, and one node with the operands as they were.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..base import dtypes, errors
from ..base.events import listeners
from ..base.modes import mode
from ..base.numpy_warnings import hushed
from ..kernels.fast.copies import cast as to_type
from ..kernels.fast.spread import in_singles
from ..library_name import library
from ..memory.placement import BATCHED, CPU
from . import out_argument, sharing
from .base_ops import to_place
from .graph import NUMBERS, sync_rg
from .record import Promoted, record
from .tensor import Tensor, asarray, ndarray, wrap

BOOL = np.dtype(bool)
INT64 = np.dtype("i8")
HALVES = frozenset((np.dtype("f2"), dtypes.bfloat16.np))
FLOATS = frozenset((np.dtype("f4"), np.dtype("f8")))
_F4 = np.dtype("f4")


def default_float() -> np.dtype:
    """The numpy dtype of the default dtype."""
    return dtypes.get_default_dtype().np


def number(value: Any) -> Any:
    """A Python or numpy number as a plain Python one; None if it is neither."""
    cls = value.__class__
    if cls in NUMBERS:
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "bifcu":
        return value.item()
    if isinstance(value, numbers.Number) and not isinstance(value, Tensor):
        return value
    return None


def floating(dt: np.dtype) -> bool:
    """Whether a numpy dtype is floating or complex in PyTorch's sense (bfloat16 included)."""
    return dt.kind in "fc" or dt in HALVES


def compute(rule: Any, place: Any, arrays: list, common: Any, consts: tuple = ()) -> Any:
    """The kernel on arrays cast to one type (or as they are), half types in float32 with one rounding at the end."""
    kernel = rule.kernels[place.kind]
    half = common if common in HALVES and rule.widen else None
    if half is not None and place is CPU and rule.batching == "pointwise":
        try:
            return hushed(in_singles, kernel, half, arrays)
        except ValueError:
            raise RuntimeError(misfit(arrays)) from None
    use = _F4 if half is not None else common
    if use is not None:
        arrays = [a if getattr(a, "dtype", use) == use else to_type(a, use) for a in arrays]
    try:
        d = hushed(kernel, *arrays, *consts)
    except ValueError:
        said = misfit(arrays)
        if said is None:
            raise
        raise RuntimeError(said) from None
    # a number too large for the half type becomes infinite, without a word
    return hushed(to_type, d, half) if half is not None and d.dtype == _F4 else d


def misfit(arrays: list) -> str | None:
    """The sentence for the first operand that does not broadcast with those before it."""
    shape = np.shape(arrays[0])
    for a in arrays[1:]:
        said = errors.broadcast(shape, np.shape(a))
        if said is not None:
            return said
        shape = np.broadcast_shapes(shape, np.shape(a))
    return None


def refuse_last(refuse: Any, common: np.dtype, operands: tuple) -> None:
    """Ask `refuse` about the promoted type; shapes that do not fit are noticed before a missing kernel."""
    try:
        refuse(common)
    except NotImplementedError:
        said = misfit([t._data for t in operands if isinstance(t, Tensor)])
        if said is not None:
            raise RuntimeError(said) from None
        raise


def finish(
    rule: Any, place: Any, d: Any, ins: tuple, out: Any, consts: tuple = (), common: Any = None
) -> Tensor:
    """Wrap, record, emit, deliver; `common`: the type that operands of other types were promoted to."""
    if out is not None:
        out_argument.check_memory(out, ins)
        return out_argument.deliver(out, wrap(d, place))
    o = wrap(d, place)
    if mode.on:
        for t, vjp in zip(ins, rule.vjps):  # noqa: B905  hot
            if (
                vjp is not None
                and t.__class__ not in NUMBERS
                and (t._rg or (t._view is not None and sync_rg(t)))
            ):
                n = record(rule, ins, consts, (o,))
                if common is not None:
                    n.saved = tuple([_promoted(s, common) for s in n.saved])
                break
    if (emit := listeners.op) is not None:
        emit(rule, ins, consts, (o,))
    return o


def _promoted(s: Any, common: np.dtype) -> Any:
    """A saved operand that would make numpy compute in a wider type than PyTorch: a zero-dim one, or integers."""
    if s.__class__ is tuple and s and isinstance(s[0], Tensor):
        d = s[0]._data
        if d.dtype != common and (d.ndim == 0 or d.dtype.kind in "iub"):
            return Promoted(s, common)
    return s


INTEGERS_ONLY = frozenset(
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift gcd lcm".split()
)


def _check_out(rule: Any, out: Any, operands: tuple) -> None:
    """Refuse an `out` where a gradient would be lost, in the words PyTorch has for this kind of op."""
    name = rule.public
    if rule.grad_name == "NotImplemented" or rule.name in INTEGERS_ONLY:
        out_argument.check_out("aten::" + name, out)
    elif any(rule.vjps):
        out_argument.check_out(name, out, operands)
    else:
        out_argument.check_out(name, out, overwrites=True)


def check_exact(out: Tensor, common: Any) -> None:
    """Refuse an `out` that is not of the result's own type."""
    if out._data.dtype != common:
        given, expected = dtypes.of(out._data.dtype).scalar_name, dtypes.of(common).scalar_name
        raise RuntimeError(f"Found dtype {given} but expected {expected}")


def unary(rule: Any, ints: str, check: Any, input: Tensor, out: Any) -> Tensor:
    """A pointwise op of one tensor of any type."""
    a = input._data
    if check is not None:
        check(a.dtype)
    if out is not None:
        _check_out(rule, out, (input,))
    common = a.dtype
    if ints == "float" and not floating(common):
        common = default_float()
    if out is not None:
        if ints == "same":
            check_exact(out, a.real.dtype if rule.name == "abs" else common)
        elif ints == "only bool" and out._data.dtype != BOOL:
            raise RuntimeError(f"{rule.public} does not support non-boolean outputs.")
        out_argument.check_memory(out, (input,))
    return finish(rule, input._place, compute(rule, input._place, [a], common), (input,), out)


def category(t: Any) -> int:
    """How strongly an operand pulls the result type: 0 dimensioned tensor, 1 zero-dim tensor, 2 number."""
    return (0 if t._data.ndim else 1) if isinstance(t, Tensor) else 2


def type_of(t: Any) -> np.dtype:
    """The numpy dtype of a tensor, or the one a Python number stands for."""
    if isinstance(t, Tensor):
        return t._data.dtype
    if isinstance(t, bool):
        return BOOL
    if isinstance(t, int):
        return INT64
    return dtypes.get_default_dtype().to_complex().np if isinstance(t, complex) else default_float()


def result_type(*operands: Any) -> np.dtype:
    """The promoted numpy dtype of tensors and numbers."""
    return dtypes.result_of(tuple([(type_of(t), category(t)) for t in operands]))


def same_place(name: str, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Bring a zero-dim CPU tensor to the other's device; refuse any other mixture."""
    if x._place is not y._place:
        if BATCHED in (x._place.kind, y._place.kind):
            return sharing.same_place(name, (x, y))  # type: ignore[return-value]
        if y._data.ndim == 0 and y._place.device.type == "cpu":
            return x, _brought(y, x._place)
        if x._data.ndim == 0 and x._place.device.type == "cpu":
            return _brought(x, y._place), y
        raise RuntimeError(errors.devices(x._place, y._place, name))
    return x, y


def _brought(t: Tensor, place: Any) -> Tensor:
    return to_place(t, place)


def binary(rule: Any, how: tuple, x: Tensor, y: Tensor, out: Any) -> Tensor:
    """A pointwise op of two tensors whose types, places or destination are not the plain case."""
    if out is not None:
        _check_out(rule, out, (x, y))
    x, y = same_place(rule.name, x, y)
    return _binary(rule, how, x, y, out, x._place)


def _binary(rule: Any, how: tuple, x: Any, y: Any, out: Any, place: Any) -> Tensor:
    kind, check, refuse, _, wide = how
    if check is not None:
        check(type_of(x), type_of(y))
    common = result_type(x, y)
    if kind == "float" and not floating(common):
        common = default_float()
    if out is not None:
        out_argument.check_memory(out, (x, y))
    if refuse is not None:
        refuse_last(refuse, common, (x, y))
    if out is not None and kind in ("arith", "float"):
        out_argument.check_cast(common, out._data.dtype)
    arrays = [t._data if isinstance(t, Tensor) else _as_array(t, common, place, wide) for t in (x, y)]
    d = compute(rule, place, arrays, None if kind == "logic" else common)
    if kind in ("arith", "float") and d.dtype != common:
        d = d.astype(common)
    return finish(rule, place, d, (x, y), out, (), None if kind in ("logic", "compare") else common)


def _as_array(value: Any, common: Any, place: Any, wide: bool = False) -> Any:
    """A number as a 0-d array of the type the op computes in, wrapping integers as PyTorch does."""
    xp = place.xp
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise OverflowError("int too big to convert")
        return xp.asarray(np.asarray(value, INT64).astype(common))
    return xp.asarray(np.asarray(value).astype(_F4 if wide and common in HALVES else common))


def plain(rule: Any, ins: tuple, consts: tuple) -> Any:
    """The kernel's result if all operands are tensors of one float type at one place, else None."""
    first = ins[0]
    if first.__class__ is not Tensor:
        return None
    dt, place = first._data.dtype, first._place
    if dt not in FLOATS:
        return None
    arrays = []
    for t in ins:
        if t.__class__ is not Tensor or t._data.dtype is not dt or t._place is not place:
            return None
        arrays.append(t._data)
    try:
        return hushed(rule.kernels[place.kind], *arrays, *consts)
    except ValueError:
        raise RuntimeError(misfit(arrays)) from None


def several(
    rule: Any,
    ins: tuple,
    consts: tuple = (),
    out: Any = None,
    common: Any = None,
    same: bool = True,
    exact_out: bool = False,
) -> Tensor:
    """A pointwise op of any number of operands, each a tensor or a number, with constants.

    Args:
        rule: its row.
        ins: the operands.
        consts: what else the kernel takes.
        out: where to put the result.
        common: the type to compute in, where not the promoted one.
        same: False for operands that the kernel takes as they are.
        exact_out: `out` has to have the result's type, not one it can be cast to.
    """
    if out is not None:
        _check_out(rule, out, ins)
    else:
        d = plain(rule, ins, consts)
        if d is not None:
            return finish(rule, ins[0]._place, d, ins, None, consts)
    if any(isinstance(t, Tensor) and t._place.kind == BATCHED for t in ins):
        ins = sharing.same_place(rule.name, ins)
    place = None
    for t in ins:
        if isinstance(t, Tensor) and (
            place is None or (t._place is not place and place.device.type == "cpu")
        ):
            place = t._place
    given = ins
    if place is not None:
        for t in ins:
            if isinstance(t, Tensor) and t._place is not place:
                if t._data.ndim or t._place.device.type != "cpu":
                    raise RuntimeError(errors.devices(ins[0]._place, place, rule.name))
                given = tuple(
                    [
                        _brought(t, place) if isinstance(t, Tensor) and t._place is not place else t
                        for t in given
                    ]
                )
    if common is None and same:
        common = result_type(*given)
    if exact_out and out is not None:
        check_exact(out, common)
    if out is not None:
        out_argument.check_memory(out, ins)
    if out is not None and same:
        out_argument.check_cast(common, out._data.dtype)
    arrays = [t._data if isinstance(t, Tensor) else _as_array(t, common, place) for t in given]
    d = compute(rule, place, arrays, common if same else None, consts)
    return finish(rule, place, d, given, out, consts, common if same else None)


# The ops that PyTorch computes of two plain numbers, too.
_OF_NUMBERS = frozenset("add sub mul multiply div divide true_divide floor_divide".split())


def mixed(rule: Any, how: tuple, x: Any, y: Any, out: Any, as_operator: bool) -> Any:
    """A pointwise op with at least one operand that is no Tensor."""
    takes = how[3]
    if isinstance(x, Tensor):
        n = number(y)
        if n is not None and "other" in takes:
            rule = rule.variants[0]
            y = n
            if x._data.dtype in FLOATS and n.__class__ is not complex and out is None:
                return _scaled(rule, how, x, n)
    elif isinstance(y, Tensor):
        if as_operator and rule.public not in _TURNED:  # `Tensor.__radd__(2, x)`
            raise _no_method(rule, x)
        n = number(x)
        if n is not None and "input" in takes:
            rule = rule.variants[1]
            x = n
    elif as_operator:
        raise _no_method(rule, x)
    elif len(takes) == 2:
        m, n = number(x), number(y)
        if m is not None and n is not None:
            if rule.public not in _OF_NUMBERS:
                raise errors.no_tensor(rule.public, x, y)
            x, y = wrap(asarray(m, type_of(m))), n
    for t, argument, position in ((x, "input", 1), (y, "other", 2)):
        if not isinstance(t, Tensor) and (t.__class__ not in NUMBERS or argument not in takes):
            if as_operator:
                return _foreign(rule, how, x, y)
            raise errors.must_be_tensor(rule.public, argument, position, t)
    if out is not None:
        _check_out(rule, out, (x, y))
    place = x._place if isinstance(x, Tensor) else y._place
    return _binary(rule, how, x, y, out, place)


# Operators whose reflected form hands a foreign operand on: `Tensor.__rpow__(x, foreign)` is `foreign ** x`.
_TURNED = frozenset(("pow", "floor_divide", "remainder", "bitwise_left_shift", "bitwise_right_shift"))


def _no_method(rule: Any, x: Any) -> TypeError:
    kind = errors.type_name(x)
    return TypeError(
        f"descriptor '__{rule.public}__' for '{library}.Tensor' objects doesn't apply to a '{kind}' object"
    )


def _scaled(rule: Any, how: tuple, x: Tensor, n: Any) -> Tensor:
    """Float tensor and real number: numpy's weak scalars do what PyTorch does."""
    place = x._place
    if n.__class__ is int and not -(2**63) <= n < 2**63:
        raise OverflowError("int too big to convert")
    _, check, refuse, _, _ = how
    if check is not None:
        check(x._data.dtype, type_of(n))
    if refuse is not None:
        refuse(x._data.dtype)
    d = hushed(rule.kernels[place.kind], x._data, n)
    return finish(rule, place, d, (x, n), None)


def _foreign(rule: Any, how: tuple, x: Any, y: Any) -> Any:
    """`tensor + ndarray` gives a tensor; anything else is left to the other operand."""
    if isinstance(y, ndarray) and isinstance(x, Tensor) and y.dtype.kind in "bifcu":
        return binary(rule, how, x, wrap(y), None)
    return NotImplemented
