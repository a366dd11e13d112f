"""From an exception to what its op was given: the tensors in its frames, and their names in the user's own line.

Nobody need have listened. Invariant: nothing is run again, no attribute of a stranger is asked for, and whatever goes
wrong here, None is the answer.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

from ..graph.failed_forward import _frames, _module
from ..line_lookup import Line, line_of
from . import sentences  # noqa: F401 (adds its rules)
from .libraries import Library, called_through, libraries
from .names import described, module_of, names_of, written_in
from .record import Operand, ShapeRecord
from .rules import judge

KINDS = (RuntimeError, ValueError, IndexError, AssertionError)
LONGEST = 28  # letters of a name that is written in the line
CAUSES = 4  # of so many exceptions, each raised from the next
DEEP = 8  # frames of other libraries below ours


def explain(error: BaseException) -> ShapeRecord | None:
    """What does not fit together, drawn; None where the exception is of another kind.

    Args:
        error: an exception that was raised; what it was raised from is looked at too.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.shapes import explain
        >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(8, 16), vistorch.nn.Linear(84, 10))
        >>> try:
        ...     net(vistorch.ones(2, 8))
        ... except RuntimeError as error:
        ...     record = explain(error)
        >>> record.sentence, record.module
        ('net[1] takes 84 features, 16 arrive.', 'net[1] Linear 84 → 10')
    """
    for _ in range(CAUSES):
        try:
            found = _explained(error) if isinstance(error, KINDS) else None
        except Exception:  # an explanation that fails must not hide what it explains
            found = None
        if found is not None or error.__cause__ is None:
            return found
        error = error.__cause__
    return None


def _explained(error: BaseException) -> ShapeRecord | None:
    message = str(error)
    if message.startswith("Caught ") and "Original Traceback" in message:
        return None  # of another process: its frames are not here
    frames = _frames(error)
    for library in libraries(frames):
        found = _of_library(error, message, frames, library)
        if found is not None:
            return found
    return None


def _of_library(
    error: BaseException, message: str, frames: list[tuple[FrameType, int]], library: Library
) -> ShapeRecord | None:
    inside = [i for i, (frame, _) in enumerate(frames) if library.is_inside(frame)]
    straight = not library.python and bool(frames) and not library.is_inside(frames[-1][0])
    if not straight and (not inside or len(frames) - inside[-1] > DEEP):
        return None
    # the last frame of the user's before the library's, past other libraries that it called
    inner = (
        len(frames) - 1 if straight else max((i for i in range(inside[-1]) if i not in inside), default=-1)
    )
    last = max((i for i in inside if library.calls_ops(frames[i][0])), default=-1)
    last = max(last, inner)
    tensors, op = library.operands([frame for frame, _ in frames[last + 1 :]])
    while not tensors and last > inner:  # a module's own check, or an op that is no Python
        tensors, op = library.of_module(frames[last][0])
        last -= 1
    line = line_of((frames[inner][0].f_code, frames[inner][1])) if inner >= 0 else None
    path, module = module_of(frames, library)
    direct = not any(_module(frame) is not None for frame, _ in frames[inner + 1 :])
    if direct:
        path, module = "", None
    written: Mapping[Any, str] = {}
    sign = ""
    if inner >= 0 and inner + 1 < len(frames):
        called = frames[inner + 1][0]
        written, sign = names_of(frames[inner], called, library, called_through(called))
    elif inner >= 0:  # an op that is no Python, called in the user's own line
        tensors, written, sign, op = written_in(frames[inner], library)
    if straight and not tensors:
        return None
    named = [
        Operand(
            _called(tensor, argument, written, path, module),
            tuple(int(n) for n in tensor.shape),
            note=library.kind(tensor),
            argument=argument,
        )
        for argument, tensor in tensors
    ]
    verdict = judge(message, named, sign or op, path)
    if verdict is None:
        return None
    return ShapeRecord(
        sentence=verdict.sentence,
        error=f"{type(error).__name__}: {message}",
        op=verdict.op,
        operands=[replace(one, note="") if one.note in TYPES_UNSAID else one for one in verdict.operands],
        place=_place(line),
        module=described(path, module),
        result=verdict.result,
        sides=verdict.sides,
        source=_source(line),
    )


# as `scalar_name` says them: what an operand is noted as before a rule finds fault with it
TYPES_UNSAID = frozenset(
    "float double half bfloat16 long int short char byte bool complexfloat complexdouble complexhalf".split()
)


def _called(tensor: Any, argument: str, written: Mapping[Any, str], path: str, module: Any) -> str:
    """What a tensor is called: in the module, in the line, or else by the function."""
    if module is not None:
        for name, parameter in (*module.named_parameters(), *module.named_buffers()):
            if parameter is tensor:
                return f"{path}.{name}"
    found = written.get(id(tensor)) or (written.get(argument) if module is None else None)
    if found and len(found) <= LONGEST:
        return found
    if module is not None and argument in ("input", "x", "self", "query"):
        return f"input of {path}"
    return argument


def _place(line: Line | None) -> str:
    if line is None:
        return ""
    return (
        f"cell [{line.cell}], line {line.line}" if line.cell is not None else f"{line.path}, line {line.line}"
    )


def _source(line: Line | None) -> list[tuple[int, str, str]]:
    """The line and its neighbours."""
    every = linecache.getlines(line.file) if line is not None else []
    if line is None or not every:
        return []
    near = range(max(1, line.line - 2), min(len(every), line.line + 1) + 1)
    return [(n, every[n - 1].rstrip("\n"), "hit" if n == line.line else "") for n in near]
