"""A whole program under diagnosis: what is found is written when it ends.

Invariant: the program's output, exceptions and exit code are its own; the findings go to stderr.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import linecache
import os
import sys
from types import TracebackType

from .session import Diagnosis
from .trial.rerun import Body


def body_of(words: list[str]) -> tuple[Body | None, str]:
    """The program that runs, as far as it can be run again.

    Args:
        words: as the interpreter was given them, itself first.
    """
    words = words[1:]
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c", "-"):
        words = words[2 if words[0] in ("-X", "-W") else 1 :]
    path = words[0] if words else ""
    if not path.endswith(".py") or not os.path.exists(path):
        return None, "only a script can be run again"
    file = os.path.abspath(path)
    text = "".join(linecache.getlines(file))
    space = {"__name__": "__main__", "__file__": path, "__builtins__": builtins}
    return Body("script", file, text, space, words=tuple(words)), ""


def begin(tries: bool = True, real: bool = False) -> None:
    """Look on from here to the end of the program.

    Args:
        tries: whether cures are tried on a copy of it.
        real: whether it runs on PyTorch itself, which is imported before it, so that it is seen from its beginning.
    """
    if real:
        importlib.import_module("torch")
    diagnosis = Diagnosis(
        title=os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else "the program"
    )
    diagnosis.prepare(*(body_of(list(sys.orig_argv)) if tries else (None, "trials are switched off")))
    diagnosis.__enter__()
    plain = sys.excepthook

    def noted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        diagnosis.failed(error)
        sys.excepthook = plain
        plain(kind, error, trace)

    sys.excepthook = noted

    def end() -> None:
        diagnosis.__exit__(None, None, None)
        diagnosis.finish()
        if diagnosis.evidence.passes or diagnosis.error is not None or diagnosis.failures:
            if sys.argv and sys.argv[0]:
                diagnosis.title = os.path.basename(sys.argv[0])
            print(diagnosis.record().text(), file=sys.stderr)

    atexit.register(end)
