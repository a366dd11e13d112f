"""What Python lacks in a browser: threads, processes, the C library, and memory that several processes see.

Invariant: this is decided once, when the module is imported, and asked of `HERE` alone; what cannot be done without
them is refused by the one sentence of `refused`, before anything has changed.
"""

from __future__ import annotations

import os
import sys
from typing import Any

# Tests set the variable: the same answers then come from any Python.
HERE = sys.platform == "emscripten" or os.environ.get("VISTORCH_BROWSER") == "1"

PROCESSES = "other processes"
MEMORY = "memory that several processes see"


def refused(what: str, needs: str, instead: str) -> RuntimeError:
    """The error for what cannot be done in a browser.

    Args:
        what: what was called.
        needs: what it cannot do without, which a browser's Python does not have.
        instead: what to do.
    """
    return RuntimeError(f"{what} needs {needs}, which Python in a browser does not have: {instead}.")


def refuse(what: str, needs: str, instead: str) -> None:
    """Raise that error in a browser; elsewhere do nothing.

    Args:
        what: what is called.
        needs: what it cannot do without.
        instead: what to do.
    """
    if HERE:
        raise refused(what, needs, instead)


def refusing(what: str, needs: str, instead: str) -> Any:
    """A function or method that raises that error, whatever it is given.

    Args:
        what: its name in the sentence.
        needs: what it cannot do without.
        instead: what to do.
    """

    def refusal(*args: Any, **kwargs: Any) -> Any:
        raise refused(what, needs, instead)

    refusal.__name__ = refusal.__qualname__ = what.rpartition(".")[2].rstrip("()")
    return refusal
