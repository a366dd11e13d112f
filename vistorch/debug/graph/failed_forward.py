"""What was recorded when an exception came: the graph up to the op that failed, with the shapes it was given.

Nobody need have listened: the exception's traceback holds the frames, and they hold the tensors. Of the user's frames
only those of functions are looked into; at the top of a cell or script stand all names of the session, which have
nothing to do with it.

Invariant: no attribute of a stranger is asked for, and nothing is run again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from ...engine.backward.backward_pass import Pass, order_of
from ...engine.base.home import HOME
from ...engine.core.graph import Out, edge
from ...engine.core.tensor import Tensor
from ..layers import is_module
from ..meaning import short
from .capture import Source, tensors_in
from .names import Names, line_text
from .record import GraphRecord
from .words import one_line, shape_text

MODULES = HOME + "nn" + os.sep + "modules" + os.sep
OVERRIDES = os.path.join(HOME + "torch_api", "overrides.py")
VARARGS = 4  # the flag of a code object that takes *args
NOTHING = "no exception was raised yet, or it is not known here: pass it as `error`"
NO_OP = "the exception came from no op of a graph: there is nothing to draw"


def capture_last(
    error: BaseException | None = None,
    names: Any = None,
    modules: Any = None,
    namespace: Mapping[str, Any] | None = None,
) -> GraphRecord:
    """The partial graph that the last exception left, up to the op that failed.

    Args:
        error: the exception; by default the last one that nobody caught.
        names: names of tensors, as for `capture`.
        modules: modules, as for `capture`.
        namespace: variables by name.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.graph import capture_last
        >>> w = vistorch.ones(3, 4, requires_grad=True)
        >>> try:
        ...     vistorch.ones(2, 3) @ w @ vistorch.ones(5, 5)
        ... except RuntimeError as exc:
        ...     record = capture_last(exc, names={"w": w})
        >>> print(record.text())
        mm failed: 1 op, saved 24 B
        step  op             output              saved
           ×  mm             given 2 × 4, 5 × 5
                  input      5 × 5
           1  Mm             2 × 4                24 B
                  w (input)  3 × 4
        RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x4 and 5x5)
    """
    if error is None:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is None:
        raise ValueError(NOTHING)
    frames = _frames(error)
    if not frames:
        raise ValueError(NO_OP)
    known = Names(names, modules, namespace)
    for frame, _ in frames:  # the outermost module on the way, where no variable holds it
        module = _module(frame)
        if module is not None and known.path_of(module) is None:
            known.modules([(type(module).__name__, module)])
    run = next((f for f, _ in reversed(frames) if f.f_code is Pass.steps.__code__), None)
    made = _forward(frames, known) if run is None else _backward(run, known)
    made.builder.says.append(one_line(f"{type(error).__name__}: {error}").strip())
    return made.builder.record()


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """Frame and instruction, outermost first, without those that asked classes before a function."""
    found, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != OVERRIDES:
            found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(HOME)


def _calls_ops(frame: FrameType) -> bool:
    """Whether a frame is the user's, or that of a module: what it calls are ops."""
    return not _is_ours(frame) or frame.f_code.co_filename.startswith(MODULES)


def _module(frame: FrameType) -> Any:
    """The module whose method a frame runs, or None."""
    code = frame.f_code
    found = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    return found if is_module(found) else None


def _backward(frame: FrameType, known: Names) -> Source:
    """A pass that stopped: its whole graph, with the node at which it stopped marked."""
    run, node, g = (frame.f_locals.get(name) for name in ("self", "n", "g"))
    assert isinstance(run, Pass)
    source = Source(list(run.order), known, "backward()")
    number = source.number.get(node.node if isinstance(node, Out) else node)
    if number is not None:
        builder = source.builder
        builder.title = f"{short(builder.nodes[number].name)} failed in the backward pass"
        given = _shapes(g if isinstance(g, list) else [g])
        builder.change(number, kind="failed", says=f"given a gradient of {given}" if given else "")
    return source


def _forward(frames: list, known: Names) -> Source:
    """An op that failed: what leads to what it was given, and to what the functions around it had made."""
    last = max(i for i, (f, _) in enumerate(frames) if _calls_ops(f) or i == 0)
    given, name = _given([f for f, _ in frames[last + 1 :]])
    others = []
    for frame, _ in frames[: last + 1]:
        if frame.f_code.co_name != "<module>" and _calls_ops(frame):
            others += tensors_in([v for k, v in frame.f_locals.items() if k != "self"])
    made = [t for t in dict.fromkeys([*given, *others]) if t._rg]
    if not given and all(t._node is None for t in made):
        raise ValueError(NO_OP)
    direct = set(map(id, given))  # a leaf that only stands in a frame had no part in it
    edges = dict.fromkeys([edge(t) for t in made if t._node is not None or id(t) in direct])
    order = order_of([e for e in edges if e is not None])
    if not given:
        return Source(order, known, "forward, up to the exception")

    def lead(builder: Any, groups: Any) -> None:
        place = next((p for p in reversed(frames[: last + 1]) if not _is_ours(p[0])), None)
        modules = [known.path_of(_module(f)) for f, _ in frames if _module(f) is not None]
        builder.node(
            "failed",
            name,
            line="" if place is None else line_text((place[0].f_code, place[1])),
            group=groups.by_path(modules[-1]) if modules and modules[-1] is not None else -1,
            says=f"given {_shapes(given)}",
        )

    source = Source(order, known, f"{name} failed", lead=lead)
    for t in dict.fromkeys(given):
        e = edge(t) if t._rg else None
        target = source.unreached(t) if e is None else source.number[e.node if isinstance(e, Out) else e]
        source.builder.edge(0, target, shape=tuple(t._data.shape), dead=e is None)
    return source


def _given(frames: list[FrameType]) -> tuple[list[Tensor], str]:
    """What the failing op was given, and what it is called: the outermost function of ours that got tensors."""
    for frame in frames:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & VARARGS)
        given = tensors_in([frame.f_locals[k] for k in code.co_varnames[:count] if k in frame.f_locals])
        if given:
            return given, _name(frame)
    return [], ""


def _name(frame: FrameType) -> str:
    """An op's name; functions that a factory made are all called `call`, and hold the name."""
    name = frame.f_code.co_name
    if name == "call":
        held = frame.f_locals
        general = getattr(held.get("general") or held.get("rest"), "__name__", "").strip("_")
        rule = getattr(held.get("rule"), "name", "")
        name = held.get("name") or (general if general != "operator" else rule) or rule or name
    return name.strip("_")


def _shapes(values: list) -> str:
    return ", ".join([shape_text(tuple(v.shape)) for v in values if v is not None])
