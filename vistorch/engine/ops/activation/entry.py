"""How this family enters a function: what its arguments may be, its in-place form, `out=`, and long arrays.

Invariant: whatever is refused is refused before anything is computed or written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import errors
from ...core import out_argument
from ...core.inplace import direct, replace
from ...core.private_order import Private, through
from ...core.tensor import Tensor
from ...core.type_promotion import FLOATS
from ...kernels.fast.spread import blocks
from ..create.numbers import as_scalar

BLOCK = 1 << 14  # a piece and what is computed on the way fit into the second-level cache
F4, F8 = np.dtype("f4"), np.dtype("f8")
# numpy reads a 0-d array sooner than a Python number
ZERO = {dt: np.zeros((), dt) for dt in (F4, F8)}
ONE = {dt: np.ones((), dt) for dt in (F4, F8)}


def pieces(xp: Any, run: Callable, arrays: tuple, consts: tuple = ()) -> Any:
    """`run(xp, *arrays, *consts)` of a pointwise kernel, piece by piece on long numpy arrays.

    `run` gets arrays of at least one dimension and returns a new array (it may write to no argument).
    """
    first = arrays[0]
    if not first.ndim:
        return run(xp, *[a.reshape(1) for a in arrays], *consts).reshape(())
    if xp is not np or first.size <= BLOCK:
        return run(xp, *arrays, *consts)
    shape = first.shape
    for a in arrays:
        if not a.flags.c_contiguous or a.shape != shape:
            return run(xp, *arrays, *consts)
    out = np.empty(shape, first.dtype)
    flat, flats = out.reshape(-1), [a.reshape(-1) for a in arrays]

    def piece(start: int, stop: int) -> None:
        flat[start:stop] = run(np, *[a[start:stop] for a in flats], *consts)

    blocks(piece, first.size, BLOCK, first.size, joined=True)
    return out


def tensor(input: Any, refuse: Callable, name: str) -> Any:
    """The input itself, if it is a tensor of a type the op knows."""
    try:
        dt = input._data.dtype
    except AttributeError:
        raise errors.must_be_tensor(name, "input", 1, input) from None
    if dt not in FLOATS:
        refuse(dt)
    return input


def real(value: Any, name: str, argument: str, position: int) -> Any:
    """A real number as a Python one."""
    number = as_scalar(value, name, argument, position)
    kind = number.__class__
    if kind is complex:
        if number.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return number.real
    if kind is int and not -(2**63) <= number < 2**63:
        raise OverflowError("int too big to convert")
    return number


def overwrite(
    input: Any, name: str, refuse: Callable, row: Any, consts: tuple = (), write: Callable | None = None
) -> Tensor:
    """`input` becomes `row(input, *consts)`, in its own memory.

    `write(array, *consts)` does in place what the kernel of the row returns.
    """
    if input.__class__ is Private:
        return through(overwrite, input, name, refuse, row, consts, write)
    if direct(row.rule, input, (), consts, write):
        return input
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)

    def fresh(old: Tensor) -> Tensor:
        return row(tensor(old, refuse, name), *consts)

    return replace(input, fresh, (), {}, row.rule)


def delivered(name: str, input: Any, out: Any, fn: Callable, *args: Any) -> Tensor:
    """`fn(input, *args)` written into `out`."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    out_argument.check_out(name, out, (input,))
    out_argument.check_memory(out, (input,))
    return out_argument.deliver(out, fn(input, *args))
