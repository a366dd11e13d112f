"""What a person calls the tensors and the modules of a line that failed.

Invariant: a name is taken from the line only where the function that it calls got that very tensor there.
"""

from __future__ import annotations

import ast
from types import FrameType, ModuleType
from typing import Any

from ..graph.failed_forward import VARARGS, _module
from ..layers import is_module
from ..line_lookup import line_of, segment_of
from .libraries import ARGUMENTS, PAIR, Given, Library

OPERATORS = {
    "Add": "+", "Sub": "−", "Mult": "*", "MatMult": "@", "Div": "/", "Pow": "**", "FloorDiv": "//", "Mod": "%",
    "Lt": "<", "Gt": ">", "LtE": "≤", "GtE": "≥", "Eq": "=", "NotEq": "≠", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}  # fmt: skip


def module_of(frames: list, library: Library) -> tuple[str, Any]:
    """The innermost module that ran, and how one would type it from the variable of the outermost one.

    Args:
        frames: of the traceback, the outermost first.
        library: whose modules they are.
    """
    chain = [module for frame, _ in frames if (module := _module(frame)) is not None]
    if not chain:
        return "", None
    root, module = chain[0], chain[-1]
    name = _variable(frames, root, library) or type(root).__name__
    path = next((path for path, one in root.named_modules() if one is module), "")
    for part in path.split(".") if path else []:
        name += f"[{part}]" if part.isdigit() else f".{part}"
    return name, module


def _variable(frames: list, value: Any, library: Library) -> str:
    """The name of the variable that holds a value, in a frame of the user's."""
    for frame, _ in frames:
        if not library.is_inside(frame):
            for scope in (frame.f_locals, frame.f_globals):
                for name, held in list(scope.items()):
                    if held is value and name != "self" and not name.startswith("_"):
                        return name
    return ""


def described(path: str, module: Any) -> str:
    """A module in a few words: `net[2] Linear 84 → 10`."""
    if module is None:
        return ""
    held, kind = vars(module), type(module).__name__
    ends = [("in_features", "out_features"), ("in_channels", "out_channels"), ("num_embeddings", "embedding_dim"),
            ("input_size", "hidden_size")]  # fmt: skip
    size = next((f" {held[a]} → {held[b]}" for a, b in ends if a in held and b in held), "")
    return f"{path} {kind}{size}" if path != kind else f"{kind}{size}"


def names_of(
    place: tuple[FrameType, int], called: FrameType, library: Library, seen: Given
) -> tuple[dict[Any, str], str]:
    """The parts of the user's line by the tensors that were given as them, and the operator's sign.

    Args:
        place: the user's frame and instruction.
        called: the frame of the function that the line called.
        library: whose function it is.
        seen: what a function mode saw it given, where that frame is one.
    """
    frame, instruction = place
    segment = segment_of((frame.f_code, instruction))
    tree = _tree(segment.strip()) if segment else None
    if segment is None or tree is None:
        return {}, ""
    parts, words = _parts(tree, frame)
    code = called.f_code
    if code.co_name.strip("_") == "setitem" and len(parts) == 2:
        parts += _assigned(place)
    values = dict(seen) if seen else called.f_locals
    arguments = list(values) if seen else list(code.co_varnames[: code.co_argcount])
    if not seen and arguments and _module(called) is not None and arguments[0] == "self":
        del arguments[0]  # the module itself is what was called
    rest = len(parts) - len(arguments)
    found: dict[Any, str] = {}
    entry = _Entry(found, segment.strip(), frame, library)
    for name, part in [*zip(arguments, parts, strict=False), *words.items()]:
        entry.match(name, values.get(name), part)
    if rest > 0 and code.co_flags & VARARGS and not seen:
        name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        given = called.f_locals.get(name, ())
        for i, (value, part) in enumerate(zip(given, parts[len(arguments) :], strict=False)):
            entry.match(f"{name}[{i}]", value, part)
    return found, _sign(tree)


def written_in(place: tuple[FrameType, int], library: Library) -> tuple[Given, dict[Any, str], str, str]:
    """What an op that is no Python was given, by the variables in the user's line; nothing where one part is no name.

    Args:
        place: the user's frame and instruction.
        library: whose op it is.
    """
    frame, instruction = place
    segment = segment_of((frame.f_code, instruction))
    tree = _tree(segment.strip()) if segment else None
    if tree is None:
        return [], {}, "", ""
    parts, words = _parts(tree, frame)
    op = tree.func.attr if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) else ""
    called = ARGUMENTS.get(op, PAIR)
    given: Given = []
    names: dict[Any, str] = {}
    for i, part in enumerate([*parts, *words.values()]):
        value = _held(frame, part.id) if isinstance(part, ast.Name) else _several(part, frame)
        if value is None and not isinstance(part, ast.Constant):
            return [], {}, "", ""
        given.append((called[i] if i < len(called) else f"argument {i + 1}", value))
    tensors = library.tensors(given)
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and library.is_tensor(value := _held(frame, part.id)):
            names[id(value)] = part.id
    return tensors, names, _sign(tree), op


def _several(part: Any, frame: FrameType) -> Any:
    """The variables of a list that is written out; None of anything else."""
    if not isinstance(part, (ast.List, ast.Tuple)) or not all(isinstance(e, ast.Name) for e in part.elts):
        return None
    return [_held(frame, e.id) for e in part.elts if isinstance(e, ast.Name)]


def _sign(tree: Any) -> str:
    """The sign of the operator that a line is; "" where it is none."""
    sign = getattr(tree, "op", None) or next(iter(getattr(tree, "ops", [])), None)
    return OPERATORS.get(type(sign).__name__, "") if sign is not None else ""


class _Entry:
    """Enters what the parts of a line are called."""

    def __init__(self, found: dict[Any, str], segment: str, frame: FrameType, library: Library) -> None:
        self.found, self.segment, self.frame, self.library = found, segment, frame, library

    def match(self, name: str, value: Any, part: Any) -> None:
        """Enter a part of the line for the tensor, or the tensors, that was given as it."""
        if self.library.is_tensor(value):
            text = ast.get_source_segment(self.segment, part) or ast.unparse(part)
            written: Any = _held(self.frame, part.id) if isinstance(part, ast.Name) else None
            if not self.library.is_tensor(written) or written is value or written.shape == value.shape:
                self.found.setdefault(id(value), text)
                self.found[name] = text
        elif (
            isinstance(value, (list, tuple))
            and isinstance(part, (ast.List, ast.Tuple))
            and len(value) == len(part.elts)
        ):
            for i, (one, element) in enumerate(zip(value, part.elts, strict=True)):
                self.match(f"{name}[{i}]", one, element)


def _held(frame: FrameType, name: str) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _tree(segment: str) -> Any:
    try:
        return ast.parse(segment, mode="eval").body
    except SyntaxError:
        pass
    try:
        return ast.parse(segment).body[0]
    except (SyntaxError, IndexError):
        return None


def _parts(tree: Any, frame: FrameType) -> tuple[list[Any], dict[str, Any]]:
    """What the op at this place is written with, in order, and by keyword."""
    if isinstance(tree, ast.Call):
        if any(isinstance(part, ast.Starred) for part in tree.args):
            return [], {}
        parts: list[Any] = list(tree.args)
        if isinstance(tree.func, ast.Attribute) and not _is_module(tree.func.value, frame):
            parts.insert(0, tree.func.value)
        return parts, {word.arg: word.value for word in tree.keywords if word.arg}
    if isinstance(tree, ast.BinOp):
        return [tree.left, tree.right], {}
    if isinstance(tree, ast.AugAssign):
        return [tree.target, tree.value], {}
    if isinstance(tree, ast.Compare):
        return [tree.left, *tree.comparators], {}
    if isinstance(tree, ast.Subscript):
        return [tree.value, tree.slice], {}
    return [], {}


def _is_module(tree: Any, frame: FrameType) -> bool:
    """Whether what stands before the dot is no tensor: a package such as `F`, or a module whose child is called."""
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    if not isinstance(tree, ast.Name):
        return False
    held = _held(frame, tree.id)
    return isinstance(held, (ModuleType, type)) or is_module(held)


def _assigned(place: tuple[FrameType, int]) -> list[Any]:
    """The right side of an assignment that stands in one line."""
    line = line_of((place[0].f_code, place[1]))
    tree = None if line is None else _tree(line.text)
    return [tree.value] if isinstance(tree, ast.Assign) else []
