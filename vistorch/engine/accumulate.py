"""Where gradients end: added to `.grad`, caught for `grad()`, or kept on a non-leaf that asked to retain its own.

Invariant: a `.grad` shares its array with nobody. An array that only the pass holds becomes `.grad` as it is; any
other is copied once.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from . import errors
from .graph import REPLACED, Leaf, version
from .rules import REC
from .tensor import Tensor, asarray, ndarray, wrap

_adding = threading.Lock()  # `.grad += g` of one leaf from two threads


def _sole() -> int:
    """What `sys.getrefcount(g)` says in `Pass._leaf`, on this interpreter, of an array nobody else holds."""
    take = {0: np.ones(1)}.pop

    def called(leaf: Any, g: Any, undo: Any) -> int:
        return sys.getrefcount(g)

    g = take(0, None)
    return called(0, g, None)


SOLE = _sole()


class Accumulating:
    """The part of a pass that deals with leaves and retained gradients."""

    __slots__ = ()

    accumulate: bool
    caught: dict
    create_graph: bool
    journal: list | None

    _before: Any
    _of_tensor: Any

    def _retain(self, t: Tensor, g: Any, undo: list | None) -> None:
        if undo is not None:
            undo.append((t, "_grad", t._grad))
        new = REC.clone(g) if self.create_graph else wrap(g.copy(), t._place)
        t._grad = new if t._grad is None else _sum(t._grad, new, self.create_graph)

    def _catch(self, n: Any, g: Any, undo: list | None) -> None:
        if self.accumulate and n.__class__ is not Leaf:
            return
        if undo is not None:
            undo.append((self.caught, n, self.caught.get(n)))
        self.caught[n] = g

    def _leaf(self, leaf: Leaf, g: Any, undo: list | None) -> None:
        """Add to `.grad`, or catch."""
        hooks = leaf.hooks
        if not self.accumulate:
            if hooks is not None:
                g = self._of_tensor(leaf, hooks, g, undo)
            self._catch(leaf, g, undo)
            return
        if hooks is not None:
            g = self._before(leaf, hooks, g, undo)
            if g is None:
                return
            if self.journal is not None:
                self.journal[-1] = (*self.journal[-1], g)
        t = leaf.variable
        if not t._rg:
            return  # requires_grad was switched off since
        if t._node is not None and t._view is None:
            if t._node is REPLACED:
                raise RuntimeError(errors.LEAF_RESHAPED.format(errors.sizes(t._data.shape)))
            raise RuntimeError("leaf variable has been moved into the graph interior")
        with _adding:
            before = t._grad
            if self.create_graph:
                t._grad = _copied(g) if before is None else before + g
            elif before is None:
                # a gradient nobody else holds becomes .grad itself; anything else is copied once
                if g.__class__ is ndarray and undo is None and g.base is None and sys.getrefcount(g) <= SOLE:
                    t._grad = wrap(g, t._place)
                else:
                    t._grad = wrap(_own(g, t._place), t._place)
            elif undo is not None:
                t._grad = wrap(_array(before._data + g, t._place), t._place)
            else:
                d = before._data
                if d.shape != g.shape:
                    _check_sum(d.shape, g.shape)
                d += g
                v = before._ver
                if v is None:
                    v = version(before)
                v.n += 1
            if undo is not None:
                undo.append((t, "_grad", before, t._grad))
        if hooks is not None:
            from .hooks import run_accumulated, run_node_hook

            run_accumulated(hooks, t)
            for hook in list(hooks.after.values()):
                run_node_hook(hook, ((), (tensor_of(g, t._place),)), ())


def _own(g: Any, place: Any) -> Any:
    """A contiguous copy nobody else holds."""
    return place.xp.array(g, order="C")


def _copied(g: Tensor) -> Tensor:
    """What `.grad` becomes in a recorded pass: PyTorch copies into a new tensor, and its graph says so."""
    o = REC.copy_grad(wrap(g._place.xp.empty((), g._data.dtype), g._place), g)
    version(o).n += 1
    return o


def _array(d: Any, place: Any) -> Any:
    return d if place.kind else asarray(d)


def _check_sum(held: tuple, g: tuple) -> None:
    """Refuse a gradient that does not broadcast to what `.grad` holds: its leaf got another shape since."""
    said = errors.broadcast(held, g)
    if said is None and (full := np.broadcast_shapes(held, g)) != held:
        said = (
            f"output with shape {errors.sizes(held)} doesn't match the broadcast shape {errors.sizes(full)}"
        )
    if said is not None:
        raise RuntimeError(said)


def tensor_of(g: Any, place: Any) -> Any:
    """A gradient as hooks see it: a Tensor that may be written, or None."""
    if g is None or isinstance(g, Tensor):
        return g
    # what a scalar's pass starts with is shared by all passes, and locked
    return wrap(g.copy() if g.__class__ is ndarray and not g.flags.writeable else g, place)


def _sum(a: Tensor, b: Tensor, create_graph: bool) -> Tensor:
    return a + b if create_graph else wrap(_array(a._data + b._data, a._place), a._place)
