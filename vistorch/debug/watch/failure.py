"""What ended a run, in words: the exception, the module it came from, the user's line.

Invariant: nothing of the exception is kept alive; only text is.
"""

from __future__ import annotations

import os
from typing import Any

from ..line_lookup import cell_of

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def describe(error: BaseException, model: Any, step: int) -> dict[str, Any]:
    """Describe the exception that ended a loop.

    Args:
        error: the exception.
        model: the model, whose modules are named.
        step: the last whole step.
    """
    names = {id(m): path for path, m in model.named_modules()} if model is not None else {}
    module, line, where = "", None, ""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        path = names.get(id(frame.f_locals.get("self")))
        if path:
            module = path
        file = frame.f_code.co_filename
        if not file.startswith(_HOME):
            cell = cell_of(file)
            line = trace.tb_lineno
            where = f"cell [{cell}]" if cell is not None else os.path.basename(file)
        trace = trace.tb_next
    kind, message = type(error).__name__, (str(error).splitlines() or [""])[0]
    inside = [f"in {module}" if module else "", f"{where}, line {line}" if where else ""]
    place = ", ".join([part for part in inside if part])
    if where and not module:
        place = f"in {place}"
    say = f"Step {step + 1} did not finish: {kind}{f' {place}' if place else ''}{f': {message}' if message else ''}"
    say += "" if say.endswith((".", "!", "?")) else "."
    return {
        "kind": kind,
        "message": message,
        "module": module,
        "where": where,
        "line": line,
        "say": f"{say} Shown: the last whole step, {step}; the model holds its weights.",
    }
