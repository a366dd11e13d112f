"""The IPython shell around us, if there is one; IPython is never imported for the question.

Invariant: outside of IPython the answers are None and False, and nothing was imported.
"""

from __future__ import annotations

import sys
from typing import Any


def shell_of_user() -> Any:
    """Return the running IPython shell, or None."""
    module = sys.modules.get("IPython")
    ask = getattr(module, "get_ipython", None)
    return ask() if ask else None


def has_front_end(shell: Any) -> bool:
    """Say whether what is displayed goes to a page: a kernel shows pictures, a terminal shows text."""
    return getattr(shell, "kernel", None) is not None
