"""One more sentence under an error that an old program runs into, where Python itself cannot know what to say.

Invariant: imports nothing of vistorch (see `import_torch.py`), and changes nothing but what is printed for an error
that nobody caught.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

_undo: Callable[[], None] | None = None
ASYNC = re.compile(r"[(,]\s*async\s*=")


def advice(error: BaseException) -> str | None:
    """What to write instead, for an error of an old program."""
    if isinstance(error, SyntaxError) and error.text and ASYNC.search(error.text):
        return "`async` has been a word of Python itself since 3.7: write `non_blocking=` in its place."
    return None


def begin() -> None:
    """Say it after whatever prints uncaught errors now."""
    global _undo
    before = sys.excepthook

    def say(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        before(kind, error, trace)
        if (sentence := advice(error)) is not None:
            print(f"vistorch: {sentence}", file=sys.stderr)

    def undo() -> None:
        if sys.excepthook is say:  # else someone stands after us, and calls us as before
            sys.excepthook = before

    sys.excepthook, _undo = say, undo


def end() -> None:
    """Say it no more."""
    global _undo
    if _undo is not None:
        _undo()
        _undo = None
