"""Borders put around a tensor: constant, reflected, replicated, circular. A negative pad takes a border away.

Invariant: `pads` is flat as users write it, (before, after) of the last dim first, and checked before it comes here.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op

MODES = ("reflection", "replication", "circular")


def _pairs(pads: tuple, ndim: int) -> list:
    """(axis, before, after) of every padded dim, last dim first."""
    return [(ndim - 1 - i // 2, pads[i], pads[i + 1]) for i in range(0, len(pads), 2)]


def _constant(xp, input, pads, value):
    source = [slice(None)] * input.ndim
    target = source.copy()
    shape = list(input.shape)
    grows = False
    for axis, before, after in _pairs(pads, input.ndim):
        n = shape[axis]
        shape[axis] = n + before + after
        grows = grows or before > 0 or after > 0
        source[axis] = slice(max(-before, 0), n - max(-after, 0))
        target[axis] = slice(max(before, 0), shape[axis] - max(after, 0))
    inner = input[tuple(source)]
    if not grows:
        return xp.array(inner, order="K")
    out = xp.zeros(shape, input.dtype) if value == 0 else xp.full(shape, value, input.dtype)
    out[tuple(target)] = inner
    return out


constant_pad = op(
    "constant_pad_nd",
    _constant,
    widen=False,
    name_in_graph="ConstantPadNdBackward0",
    formula=r"\bar x = \mathrm{crop}(\bar y)",
    input=lambda F, g, pads: F.constant_pad_nd(g, tuple([-p for p in pads]), 0),
)


# ---- borders made of the tensor's own elements --------------------------------------------------------------------
def _grown(pads: tuple) -> tuple:
    return tuple([p if p > 0 else 0 for p in pads])


def _cut(pads: tuple) -> tuple:
    return tuple([p if p < 0 else 0 for p in pads])


def _at(ndim: int, axis: int, what: Any) -> tuple:
    return (slice(None),) * axis + (what,) + (slice(None),) * (ndim - axis - 1)


def _origins(mode: str, before: int, after: int, n: int) -> tuple[slice, slice]:
    """Which of the `n` elements of a dim the border before it repeats, and which the border after it."""
    if mode == "reflection":
        stop = n - 2 - after
        return slice(before, 0, -1), slice(n - 2, stop if stop >= 0 else None, -1)
    if mode == "replication":
        return slice(0, 1), slice(n - 1, n)
    return slice(n - before, n), slice(0, after)


def _bordered(xp, input, pads, mode):
    """The tensor with borders that are not negative."""
    pairs = _pairs(pads, input.ndim)
    shape = list(input.shape)
    inner = [slice(None)] * input.ndim
    for axis, before, after in pairs:
        shape[axis] += before + after
        inner[axis] = slice(before, before + input.shape[axis])
    out = xp.empty(shape, input.dtype)
    out[tuple(inner)] = input
    for (
        axis,
        before,
        after,
    ) in pairs:  # dims behind `axis` are complete, those before it are still without borders
        inner[axis] = slice(None)
        n = input.shape[axis]
        rows = out[tuple(inner)]
        own = rows[_at(input.ndim, axis, slice(before, before + n))]
        if mode == "circular" and max(before, after) > n:
            rows[...] = xp.take(own, xp.arange(-before, n + after) % n, axis)
            continue
        first, last = _origins(mode, before, after, n)
        if before:
            rows[_at(input.ndim, axis, slice(before))] = own[_at(input.ndim, axis, first)]
        if after:
            rows[_at(input.ndim, axis, slice(before + n, None))] = own[_at(input.ndim, axis, last)]
    return out


def _folded(xp, g, pads, mode):
    """The borders added to the elements they came from."""
    ndim = g.ndim
    for axis, before, after in reversed(_pairs(pads, ndim)):
        n = g.shape[axis] - before - after
        out = g[_at(ndim, axis, slice(before, before + n))].copy()
        if mode == "circular" and max(before, after) > n:
            for at in (*range(before), *range(before + n, before + n + after)):
                out[_at(ndim, axis, (at - before) % n)] += g[_at(ndim, axis, at)]
        else:
            first, last = _origins(mode, before, after, n)
            for size, border, origin in (
                (before, slice(before), first),
                (after, slice(before + n, None), last),
            ):
                if size:
                    added = g[_at(ndim, axis, border)]
                    if mode == "replication":
                        added = added.sum(axis, keepdims=True, dtype=g.dtype)
                    out[_at(ndim, axis, origin)] += added
        g = out
    return g


def _pad(xp, input, pads, mode):
    if mode == "circular":  # wraps what is left; the others take away from what was bordered
        return _bordered(
            xp, _constant(xp, input, _cut(pads), 0) if min(pads) < 0 else input, _grown(pads), mode
        )
    out = _bordered(xp, input, _grown(pads), mode)
    return xp.ascontiguousarray(_constant(xp, out, _cut(pads), 0)) if min(pads) < 0 else out


def _pad_backward(xp, g, pads, mode):
    back = tuple([-p for p in _cut(pads)])
    if mode == "circular":
        out = _folded(xp, g, _grown(pads), mode)
        return _constant(xp, out, back, 0) if any(back) else out
    return _folded(xp, _constant(xp, g, back, 0) if any(back) else g, _grown(pads), mode)


def _row(mode: str, dims: int) -> Any:
    name = f"{mode}_pad{dims}d"
    label = "".join(part.capitalize() for part in name[:-1].split("_"))
    graph = "CopySlices" if mode == "circular" else f"{label}DBackward0"
    again = "SliceBackwardBackward0" if mode == "circular" else f"{label}DBackwardBackward0"
    row = op(
        name,
        lambda xp, input, pads: _pad(xp, input, pads, mode),
        widen=False,
        name_in_graph=graph,
        formula=r"\bar x_j = \textstyle\sum_{i:\ k_i = j} \bar y_i",
        input=lambda F, g, pads: getattr(F, name + "_backward")(g, pads),
    )
    op(
        name + "_backward",
        lambda xp, g, pads: _pad_backward(xp, g, pads, mode),
        name_in_graph=again,
        formula=r"\bar x_i = \bar y_{k_i}",
        g=lambda F, g, pads: getattr(F, name)(g, pads),
    )
    return row


ROWS = {(mode, dims): _row(mode, dims) for mode in MODES for dims in (1, 2, 3)}
