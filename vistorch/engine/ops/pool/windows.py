"""Windows along dims: which elements each output sees, and reductions over them one dim at a time.

A dim's windows are pieces, one for each place inside the window: (out, into) select the outputs that have an element
at this place and the elements themselves, both as slices (regular windows) or as index arrays (adaptive ones). So k
operations on whole arrays reduce a dim, and nothing is ever laid out window by window.
Invariant: within a piece, no output is named twice; pieces come in the order of the places.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

EVERY = slice(None)
BLOCK = 2**17  # elements of the larger side at a time, so that what is computed on the way stays in the cache


class Window(NamedTuple):
    """A dim's regular windows: size, step, padding in front, distance of elements, number of outputs."""

    size: int
    stride: int
    padding: int
    dilation: int
    outputs: int


class Dim(NamedTuple):
    """The pieces of one dim, ready to use."""

    outputs: int
    pieces: tuple  # of (out, into, whether `out` is all outputs)
    disjoint: bool  # no element belongs to two windows
    covers: bool  # every element belongs to a window
    same: bool  # each window is one element, in order
    whole: tuple  # the elements of the pieces that all outputs have
    regular: bool = True  # the pieces are slices


def _whole(pieces: list) -> tuple:
    return tuple([into for _, into, full in pieces if full])


@lru_cache(4096)
def regular(n: int, size: int, stride: int, padding: int, dilation: int, outputs: int) -> Dim:
    """The pieces of windows that all look the same."""
    pieces = []
    for j in range(size):
        shift = j * dilation - padding
        first = max(0, -(shift // stride))
        stop = min(outputs, (n - 1 - shift) // stride + 1)
        if stop > first:
            at = first * stride + shift
            into = slice(at, at + (stop - first - 1) * stride + 1, stride)
            pieces.append((slice(first, stop), into, first == 0 and stop == outputs))
    disjoint = stride > (size - 1) * dilation
    exact = padding == 0 and dilation == 1 and stride == size and outputs * stride == n
    same = size == 1 and stride == 1 and padding == 0 and outputs == n
    return Dim(outputs, tuple(pieces), disjoint, exact, same, _whole(pieces))


@lru_cache(4096)
def bounds(n: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Where adaptive windows begin and end."""
    at = np.arange(outputs, dtype=np.int64)
    return at * n // outputs, -((-(at + 1) * n) // outputs)


def _intervals(starts: np.ndarray, ends: np.ndarray) -> Dim:
    lengths = ends - starts
    pieces = []
    for j in range(int(lengths.max(initial=0))):
        has = lengths > j
        if has.all():
            pieces.append((EVERY, starts + j, True))
        else:
            pieces.append((np.flatnonzero(has), starts[has] + j, False))
    return Dim(len(starts), tuple(pieces), False, False, False, _whole(pieces), False)


@lru_cache(1024)
def adaptive(n: int, outputs: int) -> Dim:
    """The pieces of adaptive windows: regular ones where they divide the dim evenly."""
    if outputs and n % outputs == 0:
        step = n // outputs
        return regular(n, step, step, 0, 1, outputs)
    return _intervals(*bounds(n, outputs))


@lru_cache(1024)
def adaptive_back(n: int, outputs: int) -> Dim:
    """For each element the adaptive windows it belongs to: an interval of them again."""
    starts, ends = bounds(n, outputs)
    at = np.arange(n)
    return _intervals(np.searchsorted(ends, at, "right"), np.searchsorted(starts, at, "right"))


@lru_cache(4096)
def dims_of(shape: tuple, windows: tuple) -> list[Dim]:
    """The pieces of the last dims."""
    return [regular(n, *w) for n, w in zip(shape[len(shape) - len(windows) :], windows, strict=True)]


def at(axis: int, what: Any) -> tuple:
    """The key that selects along one axis."""
    return (*(EVERY,) * axis, what)


def part(xp: Any, a: Any, axis: int, what: Any) -> Any:
    """The elements of an array at some places of one axis."""
    if what.__class__ is slice:
        return a[at(axis, what)]
    return xp.take(a, xp.asarray(what), axis)


def fold(xp: Any, run: Any, a: Any, axis: int, dim: Dim, start: Any) -> Any:
    """Reduce the windows of one axis by a binary function; `start` is the value of a window without elements."""
    if dim.same:
        return a
    whole = dim.whole
    if len(whole) == len(dim.pieces) == 2 and dim.regular:
        lead = (EVERY,) * axis
        return run(a[(*lead, whole[0])], a[(*lead, whole[1])])
    if not whole:
        shape = list(a.shape)
        shape[axis] = dim.outputs
        out = xp.full(shape, start, a.dtype)
    elif len(whole) == 1:
        out = part(xp, a, axis, whole[0]).copy()
    else:
        out = run(part(xp, a, axis, whole[0]), part(xp, a, axis, whole[1]))
    for into in whole[2:]:
        run(out, part(xp, a, axis, into), out=out)
    for to, into, full in dim.pieces:
        if not full:
            key = at(axis, to if to.__class__ is slice else xp.asarray(to))
            out[key] = run(out[key], part(xp, a, axis, into))
    return out


def folds(xp: Any, run: Any, a: Any, dims: list[Dim], start: Any) -> list:
    """The array and what each step makes of it, last dim first."""
    steps = [a]
    for back, dim in enumerate(reversed(dims), 1):
        steps.append(fold(xp, run, steps[-1], a.ndim - back, dim, start))
    return steps


def spread(xp: Any, g: Any, axis: int, n: int, dim: Dim) -> Any:
    """Add each output to all elements of its (regular) window: the transpose of a sum over windows."""
    if dim.same:
        return g
    shape = list(g.shape)
    shape[axis] = n
    out = (xp.empty if dim.disjoint and dim.covers else xp.zeros)(shape, g.dtype)
    for to, into, _ in dim.pieces:
        into, part = at(axis, into), g[at(axis, to)]
        if dim.disjoint:
            out[into] = part
        else:
            out[into] += part
    return out


def in_blocks(run: Any, dims: list[Dim], shape: tuple, *arrays: Any) -> Any:
    """`run(np, *arrays, dims)`, some channels at a time; `shape` is that of the result."""
    k = len(dims)
    planes = prod(shape[: len(shape) - k])
    parts = [np.ascontiguousarray(a).reshape(planes, *a.shape[a.ndim - k :]) for a in arrays]
    out = np.empty((planes, *shape[len(shape) - k :]), arrays[0].dtype)
    step = max(1, BLOCK // max(prod(p.shape[1:]) for p in (out, *parts)))
    for start in range(0, planes, step):
        out[start : start + step] = run(np, *[p[start : start + step] for p in parts], dims)
    return out.reshape(shape)
