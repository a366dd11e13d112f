"""Elementwise kernels on large arrays on several threads: oneDNN's where it has the function, else numpy's in blocks.

numpy lets go of the GIL while it computes, so threads of Python can share out its blocks.
Blocks begin at fixed multiples and each element depends on its own operands alone, so results are the same bits for any
number of threads. A kernel whose results are known to need no memory but the result may have an `into`, which takes
`out=` as a ufunc does, and a `shared`, which is to it what `elementwise.compute` is to a ufunc.
Invariant: whatever is not plainly cut in blocks is computed as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .. import threads
from .copies import F4, cast, turned
from .elementwise import compute, takes

MANY = 1 << 15  # elements from which `spread` and `write` are to be asked
BIG = 1 << 20  # elements from which it pays to wake other threads
_ELEMENT = 0.5  # nanoseconds
# Those of the functions that take longer than what BIG is for, as numpy computes them with AVX-512.
_ELEMENTS: dict[Any, float] = {
    np.exp: 0.4,
    np.sin: 0.45,
    np.cos: 0.45,
    np.hypot: 3.5,
}
_LONG = 300_000  # nanoseconds from which it pays to wake other threads
_BLOCK = 1 << 16  # elements that one call is given, so that what a kernel makes on the way stays in the cache
_SHARED = 1 << 19  # the same where several threads take turns at the interpreter's lock


def spread(run: Callable[..., Any], *operands: Any) -> Any:
    """`run(*operands)`, elementwise on arrays of at least `MANY` elements and numbers.

    Args:
        run: a ufunc, or a function that returns a new array; one that is `threaded` shares out its work itself.
        *operands: arrays that have the shape of the first or its last dims, and plain numbers.
    """
    if getattr(run, "threaded", False):
        return run(*operands)
    out = compute(run, operands)
    if out is not None:
        return out
    element = _ELEMENTS.get(run) if run.__class__ is np.ufunc else None
    long = operands[0].size >= BIG if element is None else operands[0].size * element >= _LONG
    if not long or threads.count() == 1:
        return run(*operands)
    cut = _cut(operands)
    if cut is None:
        return run(*operands)
    into = run if run.__class__ is np.ufunc else getattr(run, "into", None)
    shape, width, flat = cut
    rows = prod(shape) // width
    first = run(*[a[:1] if whole else a for a, whole in flat])
    if first.__class__ is not np.ndarray:
        return run(*operands)
    out = np.empty(shape, first.dtype)
    made = out.reshape(rows, width) if width > 1 else out.reshape(-1)
    step, longer = max(_BLOCK // width, 1), max(_SHARED // _BLOCK * (_BLOCK // width), 1)

    def block(start: int, stop: int) -> None:
        if into is not None:
            into(*[a[start:stop] if whole else a for a, whole in flat], out=made[start:stop])
            return
        length = longer if threads.pool.busy else step
        for at in range(start, stop, length):
            end = min(at + length, stop)
            made[at:end] = run(*[a[at:end] if whole else a for a, whole in flat])

    unit = step  # a function may itself work in blocks: they begin where they would in the whole
    threads.split(block, rows, out.size * (element or _ELEMENT), unit)
    return out


def in_singles(run: Callable[..., Any], half: Any, operands: list) -> Any:
    """`run(*operands)` in float32 for an elementwise kernel and arrays of a half type, rounded to it once.

    Some numbers at a time: arrays of twice the size for all of them would be made only to be thrown away.

    Args:
        run: a ufunc, or a function that returns a new array.
        half: the type of the result, if it is not a bool.
        operands: arrays of any type, of which those that are not float32 are cast.
    """
    cut = _cut(operands) if max([a.size for a in operands]) > _BLOCK else None
    if cut is None:
        made = run(*[_single(a) for a in operands])
        return cast(made, half) if made.dtype == F4 else made
    shape, width, flat = cut
    rows, step = prod(shape) // width, max(_BLOCK // width, 1)
    given = [(a if whole else _single(a), whole) for a, whole in flat]
    out: Any = None
    for at in range(0, rows, step):
        made = run(*[_single(a[at : at + step]) if whole else a for a, whole in given])
        if out is None:
            out = np.empty(shape, half if made.dtype == F4 else made.dtype)
            target = out.reshape(rows, width) if width > 1 else out.reshape(-1)
        target[at : at + step] = cast(made, half) if made.dtype == F4 else made
    return out


def _single(a: Any) -> Any:
    return a if a.dtype == F4 else cast(a, F4)


def large(plain: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise kernel that is cut in blocks where its first operand is large."""

    def run(a, *rest):
        return plain(a, *rest) if a.size < BIG else spread(plain, a, *rest)

    return run


def shared(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A ufunc that is shared out where its first operand is a large array."""

    def run(*operands):
        a = operands[0]
        return spread(plain, *operands) if a.__class__ is np.ndarray and a.size >= MANY else plain(*operands)

    return run


def write(run: Any, out: Any, *operands: Any) -> None:
    """`run(*operands, out)` of a ufunc, where `out` may be one of the operands; raises before anything is written."""
    if operands[0] is out and compute(run, operands, out) is not None:
        return
    cut = _cut((out, *operands)) if out.size >= BIG and threads.count() > 1 else None
    if cut is None or cut[0] != out.shape or cut[2][0][1] is False:
        run(*operands, out)
        return
    _, width, (made, *flat) = cut

    def block(start: int, stop: int) -> None:
        run(*[a[start:stop] if whole else a for a, whole in flat], made[0][start:stop])

    threads.split(block, len(made[0]), out.size * _ELEMENT, max(_BLOCK // width, 1))


def awake(x: Any) -> bool:
    """Whether OpenMP's threads take part in arithmetic on x: a call on all of it is better then than many on blocks."""
    return x.size >= 8 * MANY and takes(x) and threads.share(x.size * threads.LONG) > 1


def apply(run: Any, a: Any, b: Any, out: Any) -> Any:
    """`run(a, b, out)` of a ufunc and arrays with as many dims, of which b has 1 for some; `out` may be one of them."""
    return run(a, b, out) if compute(run, (a, b), out) is None else out


def copied(a: Any, dtype: Any, order: Any) -> Any:
    """`a.astype(dtype, order)`, which always copies."""
    if order == "C" and a.dtype == dtype and not a.flags.c_contiguous and (out := turned(a)) is not None:
        return out
    if a.dtype.itemsize + dtype.itemsize == 6 and (
        order == "K" or a.flags.c_contiguous
    ):  # float16 and float32, mostly
        return cast(a, dtype)
    if a.size < BIG or threads.count() == 1 or a.dtype.kind not in "fiub":
        return a.astype(dtype, order)
    out = np.empty_like(a, dtype, order)
    axis = max(range(a.ndim), key=lambda i: (a.shape[i] > 1, abs(out.strides[i])))
    source, target = np.moveaxis(a, axis, 0), np.moveaxis(out, axis, 0)

    def block(start: int, stop: int) -> None:
        target[start:stop] = source[start:stop]

    threads.split(block, len(source), a.size * _ELEMENT, 1)
    return out


def _cut(operands: Sequence) -> tuple | None:
    """(shape, width of a row, the operands in rows and whether they are cut), or None where they cannot be cut."""
    arrays = [a for a in operands if a.__class__ is np.ndarray and a.ndim]
    large = max(arrays, key=lambda a: a.size)
    shape = large.shape
    width = 1
    for a in arrays:
        if not a.flags.c_contiguous:
            return None
        if a.shape != shape:
            lead = len(shape) - a.ndim
            if lead < 1 or a.shape != shape[lead:]:
                return None
            width = max(width, a.size)
    rows = prod(shape) // width
    flat = []
    for a in operands:
        if a.__class__ is not np.ndarray or not a.ndim:
            flat.append((a, False))
        elif a.shape == shape:
            flat.append((a.reshape(rows, width) if width > 1 else a.reshape(-1), True))
        elif a.size == width:
            flat.append((a.reshape(-1), False))
        else:
            return None
    return shape, width, flat


def blocks(run: Callable[[int, int], None], n: int, block: int, elements: int, joined: bool = False) -> None:
    """`run(start, stop)` over the range of `n` in blocks of a fixed length, on several threads where there are many.

    Args:
        run: what to do with one block; blocks are independent.
        n: the length of the range.
        block: the length of a block.
        elements: how many elements all of them have.
        joined: whether several blocks may be given as one, because neither results nor much memory depend on it. So
            they are where threads share the work: each call of numpy hands the interpreter's lock from one thread to
            the next, which takes as long as ten thousand additions.
    """
    longer = max(_SHARED * n // max(elements, 1) // block, 1) * block if joined else block

    def some(start: int, stop: int) -> None:
        step = longer if threads.pool.busy else block
        for at in range(start, stop, step):
            run(at, min(at + step, stop))

    if elements < BIG:
        some(0, n)
    else:
        threads.split(some, n, elements * _ELEMENT, block)
