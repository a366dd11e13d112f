"""What an uncaught exception of a script says beside its own words: a shape error gets a note, drawn in letters.

It is looked at only when Python is about to print it and end. `VISTORCH_ERRORS=off` in the environment leaves all as it
is.

Invariant: the exception's own text is unchanged, and whoever prints uncaught exceptions still does.
"""

from __future__ import annotations

import os
import sys
from typing import Any

OFF = ("off", "0", "no", "false")


def begin() -> None:
    """Say it before Python prints; a program that prints in a way of its own keeps that."""
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
