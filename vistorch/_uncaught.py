"""What exceptions say beside their own words.

A script's uncaught shape error gets a note, drawn in letters; a NaN in anomaly mode its line, values and indices. A
shape error is looked at only when Python is about to print it and end. `VISTORCH_ERRORS=off` in the environment
leaves it as it is.

Invariant: the exception's own text is unchanged, and a hook that another program set is kept. What explains is
imported when there is something to explain.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from .engine.backward import anomaly

OFF = ("off", "0", "no", "false")


def begin() -> None:
    """Explain a NaN, and an error before Python prints it; a program that prints in a way of its own keeps that."""
    anomaly.explain = explain_nan
    before: Any = sys.excepthook
    ours = before is sys.__excepthook__ or getattr(before, "__module__", "").startswith("vistorch.")
    if not ours or sys.version_info < (3, 11) or os.environ.get("VISTORCH_ERRORS", "").lower() in OFF:
        return

    def say(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        note(error)
        before(kind, error, trace)

    sys.excepthook = say


def note(error: BaseException) -> None:
    """Add to an exception what does not fit together, if that is what it is about."""
    if isinstance(error, (RuntimeError, ValueError, IndexError, AssertionError)):
        try:
            from .debug.shapes import explain

            record = explain(error)
            if record is not None:
                error.add_note(f"\n{record.text()}")  # type: ignore[attr-defined]
        except Exception:  # the exception itself is what matters
            pass


def explain_nan(exc: BaseException, node: Any, g: Any, results: list, which: int) -> None:
    """Add to the exception of anomaly mode what is known of the first NaN."""
    from .debug.trace.anomaly import explain

    explain(exc, node, g, results, which)
