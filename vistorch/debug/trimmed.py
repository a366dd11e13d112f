"""A traceback without the frames of this library: what a person wrote, and nothing of how it was carried out.

Invariant: the exception keeps its own traceback; a trimmed one is another chain over the same frames.
"""

from __future__ import annotations

import os
from types import TracebackType

from ..engine.base.events import _INSTALLED, _LIBRARY
from ..engine.base.home import HOME

NOTE = "{} inside vistorch {} hidden: type %tb to see {}."


def note_of(hidden: int) -> str:
    """What is said of hidden frames.

    Example:
        >>> note_of(1)
        '1 frame inside vistorch is hidden: type %tb to see it.'
    """
    return NOTE.format(
        f"{hidden} frame{'' if hidden == 1 else 's'}", *(("is", "it") if hidden == 1 else ("are", "them"))
    )


def trimmed(trace: TracebackType | None) -> tuple[TracebackType | None, int]:
    """A traceback without our frames and those of libraries that ours called, and how many these are.

    Args:
        trace: an exception's traceback. Where none of its frames is the user's, it comes back as it is.

    Example:
        >>> import vistorch
        >>> try:
        ...     vistorch.ones(2) @ vistorch.ones(3)
        ... except RuntimeError as error:
        ...     short, hidden = trimmed(error.__traceback__)
        >>> short.tb_next is None, hidden > 0
        (True, True)
    """
    kept: list[TracebackType] = []
    hidden, inside = 0, False
    at = trace
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        inside = file.startswith(HOME) or (inside and is_library(file))
        if inside:
            hidden += 1
        else:
            kept.append(at)
        at = at.tb_next
    if not hidden or all(is_library(one.tb_frame.f_code.co_filename) for one in kept):
        return trace, 0
    made: TracebackType | None = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made, hidden


def is_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return file.startswith((_LIBRARY, "<frozen ")) or any(
        f"{os.sep}{part}{os.sep}" in file for part in _INSTALLED
    )
