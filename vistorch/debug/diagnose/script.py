"""A whole program under diagnosis: what is found is written when it ends.

Invariant: the program's output, exceptions and exit code are its own; the findings go to stderr.
"""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType

from .session import Diagnosis


def begin() -> None:
    """Look on from here to the end of the program."""
    diagnosis = Diagnosis(
        title=os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else "the program"
    )
    diagnosis.__enter__()
    plain = sys.excepthook

    def noted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        diagnosis.failed(error)
        sys.excepthook = plain
        plain(kind, error, trace)

    sys.excepthook = noted

    def end() -> None:
        diagnosis.__exit__(None, None, None)
        if diagnosis.evidence.passes or diagnosis.error is not None:
            if sys.argv and sys.argv[0]:
                diagnosis.title = os.path.basename(sys.argv[0])
            print(diagnosis.record().text(), file=sys.stderr)

    atexit.register(end)
