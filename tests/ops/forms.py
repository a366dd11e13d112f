"""Which forms an op has, found out from torch itself so that none is forgotten.

Invariant: a form exists exactly when torch has it for some sample of the record; of an op that torch lacks, when we do.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from tests.ops.cases import dtypes_of
from tests.ops.library import (
    Call,
    L,
    attempt,
    function_of,
    in_place,
    prepare,
    run,
    tensors_of,
    torch,
    with_forms,
)
from tests.ops.record import Op, Sample, X


def starts_with_tensor(sample: Sample) -> bool:
    """Whether the call can be written as a method of its first argument."""
    return bool(sample.args) and isinstance(sample.args[0], X)


def has_method(op: Op) -> bool:
    """Whether the function is a method too."""
    if op.fn is not None or op.name.startswith("Tensor.") or not any(map(starts_with_tensor, op.samples)):
        return False
    return callable(getattr(side(op).Tensor, op.base, None)) and "." not in op.name


def side(op: Op) -> Any:
    """The library that says which forms an op has: torch, or the one under test where torch has no such op."""
    return torch if op.reference is None else L


def method(op: Op, call: Call, name: str | None = None) -> Callable[[], Any]:
    """The call as a method."""
    if op.reference is not None and call.lib is torch:
        act = in_place if (name or op.base).endswith("_") else with_forms
        return lambda: act(op.reference, call.args, call.kwargs)
    return lambda: getattr(call.args[0], name or op.base)(*call.args[1:], **call.kwargs)


@cache
def has_in_place(op: Op) -> bool:
    """Whether there is a method with a trailing underscore that takes the same arguments."""
    name = op.base + "_"
    if op.fn is not None or op.base.endswith("_") or not callable(getattr(side(op).Tensor, name, None)):
        return False
    for sample in filter(starts_with_tensor, op.samples):
        for dtype in dtypes_of(op, sample):
            if attempt(method(op, prepare(torch, sample, dtype), name)).error is None:
                return True
    return False


@cache
def has_out(op: Op) -> bool:
    """Whether the function takes `out=`."""
    return next(with_out(op), None) is not None


def with_out(op: Op) -> Iterator[tuple[Sample, str]]:
    """The samples, with a dtype, that torch accepts with `out=`."""
    if op.fn is not None or op.name.startswith("Tensor."):
        return
    if op.reference is not None and "out" not in inspect.signature(function_of(op, L)).parameters:
        return
    for sample in op.samples:
        for dtype in ("float64", "int64", "bool"):
            if dtype not in dtypes_of(op, sample):
                continue
            plain = run(op, prepare(torch, sample, dtype))
            if plain.error is not None or not tensors_of(plain.value, torch):
                continue
            call = prepare(torch, sample, dtype)
            if attempt(call_out, op, call, fresh(torch, plain.value)).error is None:
                yield sample, dtype


def call_out(op: Op, call: Call, out: Any) -> Any:
    """Call with `out=`."""
    return function_of(op, call.lib)(*call.args, **call.kwargs, out=out)


def fresh(lib: Any, like: Any, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> Any:
    """Tensors to write a result of torch into, in the library, of another dtype or shape if given."""
    if isinstance(like, tuple | list):
        return tuple(fresh(lib, part, dtype, shape) for part in like)
    name = dtype or str(like.dtype).rpartition(".")[2]
    return lib.zeros(tuple(like.shape) if shape is None else shape, dtype=getattr(lib, name))
