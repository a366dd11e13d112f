"""Recording an op: its node, what the node keeps of the forward pass, and how that comes back.

Invariant: an input is kept as (tensor, version it had), an output as (array, version cell, version), anything else as
it is; what comes back has the version it had, or an error says so.
"""

from __future__ import annotations

import traceback
from typing import Any
from weakref import ref as ref_to

from ..base import errors
from ..base.events import listeners
from ..base.home import HOME
from ..base.modes import mode
from ..library_name import named
from .graph import (
    CONST,
    DTYPE,
    IN,
    NUMBERS,
    OUT,
    SHAPE,
    UNTRACKED,
    Leaf,
    Node,
    Version,
    draw,
    leaf_of,
    more,
    out_of,
)
from .private_order import READERS
from .tensor import Tensor, new, wrap


class Packed:
    """A saved value that a pair of `saved_tensors_hooks` turned into something else."""

    __slots__ = ("unpack", "value")

    def __init__(self, pack: Any, unpack: Any, t: Tensor) -> None:
        self.unpack = unpack
        self.value = pack(t)


def pack(t: Tensor) -> Packed:
    """Save `t` through the innermost pair of saved_tensors_hooks, which do not themselves record or pack."""
    packer, unpacker = mode.packers[-1]
    before, packers, mode.on, mode.packers = mode.on, mode.packers, False, ()
    v = t._ver
    then = 0 if v is None else v.n
    try:
        made = Packed(packer, unpacker, t)
    finally:
        mode.on, mode.packers = before, packers
    v = t._ver
    if v is not None and v.n != then:
        raise RuntimeError(errors.PACK_WROTE)
    return made


def unpacked(entry: Packed) -> Tensor:
    """What the unpack hook makes of a packed value."""
    t = entry.unpack(entry.value)
    if not hasattr(t, "_data"):
        raise TypeError(errors.UNPACKED_NO_TENSOR.format(errors.type_name(t)))
    return t


def continued(t: Tensor, e: Any) -> Tensor:
    """The value of `t` with the history an edge leads to: an unpacked value need not have kept its own."""
    if e.__class__ is Leaf:
        o = wrap(t._data, t._place)
        more(o).leaf, o._rg = ref_to(e), True
    else:
        o = wrap(t._data, t._place)
        o._node, o._rg = e, True
    return o


class Promoted:
    """A saved operand of another type than the op computed in; formulas see it in that one."""

    __slots__ = ("dtype", "saved")

    def __init__(self, saved: tuple, dtype: Any) -> None:
        self.saved, self.dtype = saved, dtype


def save_input(t: Any) -> Any:
    """What a node keeps of an input: (tensor, version it has now); a plain number as it is."""
    try:
        v = t._ver
    except AttributeError:
        return t
    if v is UNTRACKED and not mode.keeps:
        raise RuntimeError(named(errors.INFERENCE_SAVED))
    if mode.packers:
        return pack(t)
    return (t, 0 if v is None else v.n)


def save_output(node: Node, t: Tensor) -> Any:
    """What a node keeps of its own output: (array, version cell, version); keeping the Tensor would be a cycle."""
    if mode.packers:
        return pack(t.detach())
    v = t._ver
    if v is None:
        v = t._ver = Version()
    return (t._data, v, v.n)


def record(rule: Any, ins: tuple, consts: tuple, outs: tuple) -> Node:
    """Give `outs` (Tensors) the history `rule(ins, consts)`; the general form of what the fast paths unroll."""
    n = new(rule.node_class)
    edges: list = []
    for t, vjp in zip(ins, rule.vjps):  # noqa: B905  hot
        if vjp is None or t.__class__ in NUMBERS:
            edges.append(None)
            continue
        if t._view is not None:
            t._view.sync(t)  # first: only then does a view know whether its base requires grad by now
        e = t._node
        edges.append(None if not t._rg else leaf_of(t) if e is None else e)
    first = outs[0]
    d = first._data
    plain = mode.on is True  # nobody packs what is saved, nobody asks where
    saved: list = []
    for kind, index, readers in rule.saves:
        for i in readers:
            if edges[i] is not None:
                break
        else:
            saved.append(None)
            continue
        if kind == IN:
            t = ins[index]
            v = t._ver if plain and t.__class__ not in NUMBERS else UNTRACKED
            saved.append(save_input(t) if v is UNTRACKED else (t, 0 if v is None else v.n))
        elif kind == CONST:
            saved.append(consts[index])
        elif kind == OUT:
            saved.append(save_output(n, outs[index]))
        elif kind == SHAPE:
            saved.append(ins[index]._data.shape)
        elif kind == DTYPE:
            saved.append(ins[index]._data.dtype)
        else:
            saved.append(ins[index]._data.strides)
    n.edges, n.saved, n.consts = tuple(edges), tuple(saved), consts
    n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, first._place, None
    n.seq = draw()
    if not plain and mode.anomaly:
        remember(n)
    if rule.differentiable_outs == 1:
        first._node = n
        first._rg = True
    else:
        n.outs = rule.differentiable_outs or len(outs)
        for nr in range(n.outs):
            t = outs[nr]
            t._node = out_of(n, nr, t._data, t._place)
            t._rg = True
    return n


def remember(node: Any) -> None:
    """In anomaly mode: keep where the forward call was made, and which backward made it."""
    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(HOME):
        stack.pop()
    node.note = {"where": stack, "parent": mode.node}


def source_of(t: Tensor) -> Any:
    """The node or output that `t` comes from now, for a sentence."""
    if t._view is not None:
        t._view.sync(t)
    return t._node


def overwritten(node: Any, entry: tuple, sentence: str) -> RuntimeError:
    """The error for a saved value that was written since, with what listeners know of saver and writer."""
    error = RuntimeError(sentence)
    if (emit := listeners.saved) is not None:
        emit(node, entry, error)
    return error


def unpack_raw(node: Any, entry: Any, kind: int, index: int) -> Any:
    """The array behind a saved entry, after the version check."""
    cls = entry.__class__
    if cls is tuple and kind <= OUT:
        if kind == IN:
            t, n = entry
            v = t._ver
            if v is not None and v.n != n:
                raise overwritten(node, entry, errors.modified(t._data, t._place, source_of(t), v.n, n))
            return t._data
        d, v, n = entry
        if v.n != n:
            raise overwritten(node, entry, errors.modified(d, node.place, node, v.n, n, index))
        return d
    if cls is Packed:
        return unpacked(entry)._data
    if cls is Promoted:
        return unpack_raw(node, entry.saved, kind, index).astype(entry.dtype)
    return entry


READERS.add(unpack_raw.__code__)


def unpack_recorded(node: Any, entry: Any, kind: int, index: int) -> Any:
    """The saved entry as a Tensor with its history, for a backward pass that is itself recorded."""
    cls = entry.__class__
    if cls is tuple and kind <= OUT:
        d = unpack_raw(node, entry, kind, index)
        if kind == IN:
            return entry[0]
        t = wrap(d, node.place)
        t._ver = entry[1]
        history(t, node, index)
        return t
    if cls is Packed:
        t = unpacked(entry)
        if kind == OUT:
            t = wrap(t._data, node.place)
            history(t, node, index)
        elif node.edges[index] is not None:
            t = continued(t, node.edges[index])
        return t
    if cls is Promoted:
        return unpack_recorded(node, entry.saved, kind, index)
    return entry


def history(t: Tensor, node: Any, nr: int) -> None:
    """Make `t` output `nr` of `node` again, if that output is differentiable."""
    count = node.rule.differentiable_outs
    if count == 1:
        if nr == 0:
            t._node, t._rg = node, True
    elif not count or nr < count:
        t._node, t._rg = out_of(node, nr, t._data, t._place), True
