"""What does not fit: where a value got its type, and sizes that differ come from.

Invariant: nothing is run again; what is not known of the lineage is not said.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..layers import is_module
from ..line_lookup import Line
from ..lineage import SHAPED, Value, ancestors, beyond
from .evidence import LAYERS, MOVES
from .frames import assigned, attribute_line, given, is_tensor, line_in, looked_up, nodes_at, outside, users
from .written import batches, literal, returned

SIZES = (
    "must match",
    "cannot be multiplied",
    "size mismatch",
    "channels",
    "to have shape",
    "batch_size",
    "input",
)


def typed(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where values of another type than what they meet were made.

    Args:
        error: that they raise.
        ev: the evidence.
    """
    text = str(error)
    if not re.search(r"dtype|scalar type|Tensor for argument|\bLong\b|\bDouble\b", text):
        return None
    wanted = ("target",) if "target" in text else ("indices", "index", "input") if "indices" in text else ()
    for names in _tensors(error):
        odd = [t for t in names.values() if not t._rg and type(t).__name__ == "Tensor"]
        chosen = [names[n] for n in wanted if n in names]
        chosen += [] if wanted else [t for t in odd if str(t._data.dtype) != "float32"]
        for t in chosen:
            line = _made_so(error, ev, t)
            if line is not None:
                return line, f"makes {t._data.dtype}"
    return None


def counted(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where labels were made that count from 1.

    Args:
        error: that they raise.
        ev: the evidence.
    """
    for names in given(error):
        if is_tensor(names.get("target")):
            line = _made_so(error, ev, names["target"])
            return None if line is None else (line, "counts from 1")
    return None


def _tensors(error: BaseException) -> Iterator[dict[str, Any]]:
    """The tensors of the library's frames, then those that the user's own line names."""
    for names in given(error):
        yield {k: x for k, x in names.items() if is_tensor(x)}
    for frame, number in users(error)[:1]:
        named = {n.id: looked_up(n, frame) for n in nodes_at(frame, number, ast.Name)}
        yield {k: x for k, x in named.items() if is_tensor(x)}


def _made_so(error: BaseException, ev: Any, t: Any) -> Line | None:
    """The line that made a tensor of its type."""
    v, kind = ev.of(t), str(t._data.dtype)
    for _ in range(32):
        parents = v.parents
        if not parents or not (v.op in MOVES or v.op.startswith("index")):
            break
        before = parents[0].data
        if before is not None and str(before.dtype) != kind:
            break
        v = parents[0]
    line = ev.line(v.place)
    if line is not None and (v.op not in MOVES or v.consts):
        return line
    named = assigned(error, ev, v.tensor) if v.tensor is not None else None
    return named or _of_data(error, ev, kind, tuple(t.shape)) or line


def _of_data(error: BaseException, ev: Any, kind: str, shape: tuple) -> Line | None:
    """Where the data set of the newest loader gives values of a type, or was given them."""
    data = getattr(ev.loaders[-1][0], "dataset", None) if ev.loaders else None
    for t in getattr(data, "tensors", ()):
        if is_tensor(t) and str(t._data.dtype) == kind and tuple(t.shape[1:]) == shape[1:]:
            return ev.line(ev.of(t).place) or assigned(error, ev, t)
    give = getattr(type(data), "__getitem__", None)
    if give is not None and hasattr(give, "__code__") and outside(give.__code__.co_filename):
        return returned(give)
    return None


def made(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the layer that raised was made.

    Args:
        error: that it raised.
        ev: the evidence.
    """
    for names in given(error):
        found = ev.origins.get(id(names.get("self")))
        if found is not None and found[0] == "module":
            line = ev.line(found[2])
            return None if line is None else (line, "made here")
    return None


def sized(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where sizes that do not fit come from: a layer, a view that made other samples, a data set, an optimizer's model.

    Args:
        error: that they raise.
        ev: the evidence.
    """
    text = str(error)
    if "batch_size" in text or "batch size" in text:
        for names in given(error):
            scores = names.get("input")
            if is_tensor(scores):
                return _resized(ev, ev.of(scores))
    if "expects each tensor to be equal size" in text:
        data = getattr(ev.loaders[-1][0], "dataset", None) if ev.loaders else None
        give = getattr(type(data), "__getitem__", None)
        if give is not None and hasattr(give, "__code__") and outside(give.__code__.co_filename):
            line = returned(give)
            return None if line is None else (line, "gives samples")
        return None
    if "between 0 and 1" in text:
        return _gives(error, ev)
    return made(error, ev) or (_operands(error, ev) if "must match" in text else None)


def _resized(ev: Any, scores: Value) -> tuple[Line, str] | None:
    """The newest view behind scores whose samples are more, or fewer, than those it was given."""
    for v in itertools.islice(ancestors(scores), 400):
        before = v.parents[0].shape if v.parents else ()
        if (
            v.op in SHAPED
            and v.shape
            and before
            and v.shape[0] != before[0]
            and np.prod(v.shape) == np.prod(before)
        ):
            line = ev.line(v.place)
            return None if line is None else (line, f"{before[0]} become {v.shape[0]}")
    return None


def _gives(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """The line that gives what a loss is given."""
    for names in given(error):
        t = names.get("input")
        if is_tensor(t):
            line = ev.line(ev.blamed(beyond(ev.of(t))))
            return None if line is None else (line, "gives them")
    return None


def _operands(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """The layer that gave the last operand of a line of the user's own."""
    for frame, number in users(error)[:1]:
        named = [looked_up(n, frame) for n in nodes_at(frame, number, ast.Name)]
        values = [ev.of(t) for t in named if is_tensor(t)]
        newest = ev.values[-1] if ev.values else None
        for v in [newest, *reversed(values)]:
            if (
                v is None
                or v.module is None
                or not any(a.op in LAYERS for a in itertools.islice(ancestors(v), 4))
            ):
                continue
            found = ev.origins.get(id(v.module))
            line = None if found is None else ev.line(found[2])
            if line is not None:
                return line, "gives one side"
    return None


def rows(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the number of rows of a table was written that has too few, or else where the table was made.

    Args:
        error: that a look-up raises.
        ev: the evidence.
    """
    for names in given(error):
        module: Any = names.get("self")
        if is_module(module) and "Embedding" in type(module).__name__:
            found = ev.origins.get(id(module))
            line = None if found is None else ev.line(found[2])
            if line is not None:
                size = literal(line, ("num_embeddings",), 0)
                if size is None or not re.search(rf"\b{module.num_embeddings}\b", size.text):
                    size = line  # what is computed may be right
                return size, "has too few rows"
    return None


def loop(error: BaseException) -> tuple[Line, str] | None:
    """The innermost loop around the user's lines that an exception went through."""
    for frame, number in users(error):
        line = batches(line_in(frame, number))
        if line is not None:
            return line, "its last batch is one sample"
    return None


def unregistered(error: BaseException) -> tuple[Line, str] | None:
    """Where a model keeps modules in a plain list, when an optimizer is given none of their parameters."""
    if "empty parameter list" not in str(error):
        return None
    for frame, number in users(error)[:1]:
        for node in nodes_at(frame, number, (ast.Name, ast.Attribute)):
            module = looked_up(node, frame)
            if not is_module(module):
                continue
            for own, value in vars(module).items():
                inner = (
                    value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
                )
                if not own.startswith("_") and any(is_module(x) for x in inner):
                    line = attribute_line(module, own)
                    return None if line is None else (line, "not registered")
    return None
