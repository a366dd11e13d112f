"""The IPython shell around us, if there is one; IPython is never imported for the question.

Invariant: outside of IPython the answers are None and False, and nothing was imported.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


def shell_of_user() -> Any:
    """Return the running IPython shell, or None."""
    module = sys.modules.get("IPython")
    ask = getattr(module, "get_ipython", None)
    return ask() if ask else None


def has_front_end(shell: Any) -> bool:
    """Say whether what is displayed goes to a page: a kernel shows pictures, a terminal shows text."""
    return getattr(shell, "kernel", None) is not None


def last_value(shell: Any) -> str:
    """Return how the value that its cell ends with is written from then on; "" for what is shown otherwise."""
    hook = getattr(shell, "displayhook", None)
    if hook is None or getattr(hook, "msg", None) is None:  # ipykernel's: the message it fills, and only then
        return ""
    return f"Out[{hook.prompt_count}]"


def names_around(frame: FrameType) -> dict[str, Any]:
    """Return the names that leaves may have: of the notebook, else of the function that asks."""
    shell = shell_of_user()
    return {**frame.f_globals, **frame.f_locals} if shell is None else shell.user_ns
