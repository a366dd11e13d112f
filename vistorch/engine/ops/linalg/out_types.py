"""`out=` in linear algebra: which types of `out` an op takes, in whose name it refuses gradients, and its sentences.

PyTorch has one way of saying it per op. Invariant: `out` is written, or resized, after every check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...base import dtypes
from ...base.modes import mode
from ...base.return_types import make
from ...core import out_argument
from ...core.base_ops import cast
from ...core.registry import METHODS
from ...core.tensor import Tensor
from ...library_name import named
from . import checks


class Style(NamedTuple):
    """What an op says.

    `says` refuses a type, with {want} {got} as "Float" and {wants} {gets} as "float". `casts`: types that can hold
    the result pass; None lets all pass. `refuses` is the name that refuses operands with gradients; None: the result is
    copied into `out`, history included.
    """

    refuses: str | None
    says: str = "Expected out tensor to have dtype {wants}, but got {gets} instead"
    casts: bool | None = False


def castable(name: str, what: str = "result", refuses: str | None = None) -> Style:
    """The style that says "safely castable"."""
    words = f"{name}: Expected {what} to be safely castable from {{want}} dtype, but got {what} with dtype {{got}}"
    return Style(refuses, words, True)


ANY = Style(None, "", None)
CAST = "result type {want} can't be cast to the desired output type {got}"
DOT = "result dtype {got} does not match input dtype {want}"
MV = "addmv input tensors must have the same dtype, but got {got}, {want}, and {want}"
TENSORDOT = (
    "tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype {got}"
)
NORM = "{} expected out tensor dtype {{want}} but got: {{got}}"
CHAIN = "multi_dot(): expected out tensor to have dtype {wants} but got {gets}"
COMPLEX_OUT = "{} expects a complex output tensor, but got {{got}}"
REAL_OUT = "{} expects a floating point output tensor, but got {{got}}"


def into(out: Any, style: Style, operands: tuple, fn: Callable, *args: Any) -> Any:
    """`fn(*args)` into `out`, or several results into several."""
    many = isinstance(out, (tuple, list))
    given = out if many else (out,)
    for o in given:
        if not isinstance(o, Tensor):
            name = getattr(fn, "__name__", "op")
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(o).__name__}")
    if style.refuses is not None:
        out_argument.refuse_grad(style.refuses, (*operands, *given))
    result = fn(*args)
    if many is not isinstance(result, tuple):
        wanted = "Tensor" if many else "tuple of Tensors"
        raise TypeError(f"{style.refuses}(): argument 'out' must be {wanted}, not {type(out).__name__}")
    results = result if many else (result,)
    for o, r in zip(given, results, strict=True):
        _check_type(style, o, r)
    filled = [_fill(style, o, r) for o, r in zip(given, results, strict=True)]
    if not many:
        return filled[0]
    return tuple(filled) if type(result) is tuple else make(type(result), tuple(filled))


def _check_type(style: Style, out: Tensor, result: Tensor) -> None:
    want, got = dtypes.of(result._data.dtype), dtypes.of(out._data.dtype)
    if want is got or style.casts is None or (style.casts and dtypes.can_cast(want, got)):
        return
    names = {"want": want.scalar_name, "got": got.scalar_name}
    raise RuntimeError(
        named(style.says).format(
            **names, wants=checks.NATIVE[want.scalar_name], gets=checks.NATIVE[got.scalar_name]
        )
    )


def _fill(style: Style, out: Tensor, result: Tensor) -> Tensor:
    """Write, with history where the style keeps it."""
    if style.refuses is None and mode.on and (out.requires_grad or result.requires_grad):
        return METHODS["copy_"](out, result)
    if style.casts is None and out._data.dtype != result._data.dtype:
        result = cast(result, out._data.dtype)
    return out_argument.deliver(out, result)
