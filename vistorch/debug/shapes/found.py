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

from ...engine.core.tensor import Tensor
from ..graph.failed_forward import VARARGS, _calls_ops, _frames, _is_ours, _module, _name
from ..line_lookup import Line, line_of
from . import sentences  # noqa: F401 (adds its rules)
from .names import described, module_of, names_of
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
    ours = [i for i, (frame, _) in enumerate(frames) if _is_ours(frame)]
    if not ours or len(frames) - ours[-1] > DEEP:
        return None
    # the last frame of the user's before ours, past the libraries that ours called
    inner = max((i for i in range(ours[-1]) if i not in ours), default=-1)
    last = max((i for i in ours if _calls_ops(frames[i][0])), default=-1)
    last = max(last, inner)
    tensors, op = _operands([frame for frame, _ in frames[last + 1 :]])
    while not tensors and last > inner:  # a module's own check
        tensors, op = _operands([frames[last][0]])
        last -= 1
    line = line_of((frames[inner][0].f_code, frames[inner][1])) if inner >= 0 else None
    path, module = module_of(frames)
    direct = not any(_module(frame) is not None for frame, _ in frames[inner + 1 :])
    if direct:
        path, module = "", None
    written, sign = names_of(frames[inner], frames[inner + 1][0]) if inner >= 0 else ({}, "")
    named = [
        Operand(
            _called(tensor, argument, written, path, module),
            tuple(int(n) for n in tensor.shape),
            note=tensor.dtype.scalar_name.lower(),
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


def _operands(frames: list[FrameType]) -> tuple[list[tuple[str, Tensor]], str]:
    """What the failing op was given, by argument, and its name: the outermost function of ours that got tensors."""
    for frame in frames:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & VARARGS)
        found: list[tuple[str, Tensor]] = []
        for name in code.co_varnames[:count]:
            value = frame.f_locals.get(name)
            if isinstance(value, Tensor):
                found.append((name, value))
            elif isinstance(value, (list, tuple)) and len(value) <= 64:
                found += [(f"{name}[{i}]", one) for i, one in enumerate(value) if isinstance(one, Tensor)]
        if found:
            return found, _name(frame)
    return [], ""


def _called(tensor: Tensor, argument: str, written: Mapping[Any, str], path: str, module: Any) -> str:
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
