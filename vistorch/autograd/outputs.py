"""What the outputs of a custom function become: nodes' outputs, views, aliases or rewritten inputs.

Invariant: every input in `mark_dirty` is among the outputs and is returned as the same object; every other output
that is an input is returned as a view of it.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..engine.base import errors
from ..engine.base.events import listeners
from ..engine.core import views
from ..engine.core.graph import UNTRACKED, out_of, version
from ..engine.core.rules import REC
from ..engine.core.tensor import Tensor, wrap
from ..engine.library_name import named

NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
    "are modified inplace must all be outputs of the Function."
)
NO_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
    "should be passed to ctx.mark_dirty()."
)
VIEW_OF_SEVERAL = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
    "return more than one Tensor. This is not supported by the current autograd engine. You should either "
    "make sure the input is not a view (using .clone() for example) or make your Function only return one "
    "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
    "Tensor and a second one that does the other operations). You can ask on the forum "
    "https://discuss.pytorch.org/ if you need help to do this change."
)
SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if "
    "you override setup_context. You should return and save a view of the input instead, e.g. with "
    "x.view_as(x) or setup ctx inside the forward function itself."
)


def attach(ctx: Any, node: Any, inputs: list, raw: tuple, apart: bool) -> tuple:
    """Give the raw outputs of a forward their history.

    Args:
        ctx: the context, with what the user marked and saved.
        node: the call's node, or None when nothing is recorded.
        inputs: the tensors among the arguments.
        raw: what forward returned, as a tuple.
        apart: whether `setup_context` filled the context.
    """
    given = {id(t) for t in inputs}
    written_to = _marked(
        ctx.dirty_tensors, "mark_dirty can only accept variables, but argument {} is of type {}"
    )
    for t in written_to:
        if t._ver is not UNTRACKED:
            version(t).n += 1
            if (emit := listeners.write) is not None:
                emit(t, None)
    dirty = {id(t) for t in written_to}
    barred = {
        id(t)
        for t in _marked(
            ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got {1}"
        )
    }
    saved = {id(t) for t in ctx.to_save or ()} if apart else ()
    if node is not None:
        _describe(node, raw)
    outs, differentiable = [], []
    for nr, o in enumerate(raw):
        if not isinstance(o, Tensor):
            outs.append(o)
            continue
        is_input, written = id(o) in given, id(o) in dirty
        if written and not is_input:
            warnings.warn(NO_INPUT, UserWarning, stacklevel=3)
        if is_input and not written and id(o) in saved:
            raise RuntimeError(SAVED_AS_IS)
        kind = o.dtype
        carries = node is not None and id(o) not in barred and (kind.is_floating_point or kind.is_complex)
        dirty.discard(id(o))
        made = (
            _carrying(node, nr, o, is_input, written, len(raw)) if carries else _plain(o, is_input, written)
        )
        if not (is_input and written) and made._view is not None:
            made._view.meta = "custom"
        if carries:
            differentiable.append(made)
        outs.append(made)
    if dirty:
        raise RuntimeError(NOT_RETURNED)
    if len(differentiable) > 1:
        for t in differentiable:
            if t._view is not None:
                t._view.meta = "multi"
    return tuple(outs)


def _marked(tensors: Any, refusal: str) -> tuple:
    """A tuple of tensors the user marked."""
    if tensors is None:
        return ()
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise RuntimeError(refusal.format(i, errors.type_name(t)))
    return tuple(tensors)


def _describe(node: Any, raw: tuple) -> None:
    """Write down what the executor and `run` must know of the outputs."""
    node.infos = [(o._data.shape, o._data.dtype, o._place) if isinstance(o, Tensor) else None for o in raw]
    first = next((i for i in node.infos if i is not None), ((), None, None))
    node.shape, node.dtype, node.place = first
    node.outs = len(raw)


def _plain(o: Tensor, is_input: bool, written: bool) -> Tensor:
    """An output without gradient."""
    if not o.requires_grad:
        return _alias(o) if is_input and not written else o
    if is_input:
        made = wrap(o._data, o._place)
        made._ver = o._ver
        return made
    if o._view is None:
        o._node, o._rg = None, False
    return o


def _alias(x: Tensor) -> Tensor:
    """A view of the whole of `x`."""
    o = wrap(x._data, x._place)
    views.mark(o, x, (REC.expand.rule, (x._data.shape,)), "custom")
    return o


def _carrying(node: Any, nr: int, o: Tensor, is_input: bool, written: bool, count: int) -> Tensor:
    """An output whose gradient goes to `node`."""
    if written:
        if o._view is not None and count > 1:
            raise RuntimeError(VIEW_OF_SEVERAL)
        if is_input:
            if o._view is None and o._rg and o._node is None:
                raise RuntimeError(errors.LEAF_WRITTEN.replace("is being used", "has been used"))
            views.before_write(o, True)
        stand_in = wrap(o._data, o._place)
        stand_in._node, stand_in._rg = _edge(node, nr, stand_in, count), True
        views.rebase(o, stand_in)
        return o
    if is_input:
        o = _alias(o)
    if o._ver is UNTRACKED:
        raise RuntimeError(named(errors.INFERENCE_SAVED))
    o._node, o._rg = _edge(node, nr, o, count), True
    return o


def _edge(node: Any, nr: int, o: Tensor, count: int) -> Any:
    return node if count == 1 else out_of(node, nr, o._data, o._place)
