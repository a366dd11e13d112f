"""The frames that an exception left behind: what their names mean, and where those were given.

Invariant: nothing of the program's is called or computed.
"""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...engine.base.events import OUTSIDE, kind_of
from ..line_lookup import Line, cell_of
from .written import at_line, scope_of, tree_of

NOTHING = object()  # what a name means that is not found


def outside(file: str) -> bool:
    """Whether a file is the user's own.

    Args:
        file: its name.
    """
    return kind_of(file) == OUTSIDE and not file.startswith("<frozen")


def users(error: BaseException) -> list[tuple[FrameType, int]]:
    """The user's frames that an exception went through, the innermost first, with their lines."""
    every = [(frame, number) for frame, number in traceback.walk_tb(error.__traceback__)]
    return [(f, n) for f, n in reversed(every) if outside(f.f_code.co_filename)]


def given(error: BaseException) -> Iterator[dict[str, Any]]:
    """What the frames of the library that raised were given, the innermost first."""
    for frame in reversed([frame for frame, _ in traceback.walk_tb(error.__traceback__)]):
        if outside(frame.f_code.co_filename):
            return
        yield frame.f_locals


def line_in(frame: FrameType, number: int) -> Line:
    """A line of a frame."""
    code = frame.f_code
    return at_line(Line(code.co_filename, number, code.co_name, "", cell_of(code.co_filename)), number)


def looked_up(node: ast.AST, frame: FrameType) -> Any:
    """What an expression of names, fields and entries means in a frame; `NOTHING` where that is not known.

    Args:
        node: of it.
        frame: where it stands.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, NOTHING))
    if isinstance(node, ast.Attribute):
        owner = looked_up(node.value, frame)
        fields = getattr(owner, "__dict__", None)
        for table in (fields, *((fields or {}).get(n) for n in ("_parameters", "_buffers", "_modules"))):
            if isinstance(table, dict) and node.attr in table:
                return table[node.attr]
    elif isinstance(node, ast.Subscript):
        owner, key = looked_up(node.value, frame), looked_up(node.slice, frame)
        if type(owner) in (list, tuple, dict) and isinstance(key, (int, str)):
            try:
                return owner[key]
            except (LookupError, TypeError):
                return NOTHING
    return NOTHING


def is_tensor(x: Any) -> bool:
    """Whether something is a tensor."""
    return hasattr(type(x), "_rg") and hasattr(x, "_data")


def nodes_at(frame: FrameType, number: int, kind: Any) -> list[Any]:
    """The nodes of one kind that a line of a frame has a part in."""
    tree = tree_of(frame.f_code.co_filename)
    if tree is None:
        return []
    every: list[Any] = [node for node in ast.walk(tree) if isinstance(node, kind)]
    return [node for node in every if node.lineno <= number <= (node.end_lineno or node.lineno)]


def assignment(frame: FrameType, number: int, name: str) -> ast.Assign | None:
    """The last assignment of a variable above a line of its function."""
    tree = tree_of(frame.f_code.co_filename)
    if tree is None:
        return None
    found = None
    node: Any
    for node in ast.walk(scope_of(tree, number)):
        if isinstance(node, ast.Assign) and node.lineno <= number:
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    found = node if found is None or node.lineno > found.lineno else found
    return found


def assigned(error: BaseException, ev: Any, thing: Any) -> Line | None:
    """The line that gives a thing its name, in the file of a frame that the exception went through."""
    for frame, number in users(error):
        for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
            if value is thing and not name.startswith("_"):
                found = ev.assigned(name, line_in(frame, number))
                if found is not None:
                    return found
    return None


def attribute_line(module: Any, own: str) -> Line | None:
    """The line of the `__init__` of a module's class that gives it an attribute.

    Args:
        module: which.
        own: name of the attribute.
    """
    code = getattr(type(module).__init__, "__code__", None)
    tree = None if code is None else tree_of(code.co_filename)
    if code is None or tree is None:
        return None
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    every: list[Any] = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    for node in every:
        if any(isinstance(t, ast.Attribute) and t.attr == own for t in node.targets):
            if code.co_firstlineno <= node.lineno <= last:
                here = Line(code.co_filename, node.lineno, "__init__", "", cell_of(code.co_filename))
                return at_line(here, node.lineno)
    return None
