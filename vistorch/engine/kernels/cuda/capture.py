"""The capture of a CUDA graph that is under way: what must not happen in it, and what it needs to be replayed.

What a graph replays is the device's work alone. A copy from or to the host, or a look at the device's results, would
happen once, while it is captured, and never again: it is refused, with the op's name. Invariant: without a capture a
question here is one look at a list.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = str(Path(__file__).parents[3]) + os.sep
_active: list[Capture] = []
# Makes a phrase of (file, line, functions); an upper file, which knows the ops, enters itself.
naming: list[Callable[[tuple], str]] = []


class CaptureError(RuntimeError):
    """Something that a CUDA graph cannot hold."""


class Capture:
    """What a graph is being made of.

    Args:
        device: the index of its device.
        thread: whose work is captured.
    """

    def __init__(self, device: int, thread: int) -> None:
        self.device, self.thread = device, thread
        self.constants: list[
            Any
        ] = []  # arrays that were made of the host's numbers, kept as long as the graph
        self.side: Any = None  # the stream on which they are copied
        # Takes (what to call, what it is about) and runs it between two graphs at each replay; None if there is one.
        self.between: Callable[[Callable[[], Any], tuple], None] | None = None

    def begin(self) -> None:
        """What this thread does is captured from now on."""
        _active.append(self)

    def end(self) -> None:
        """No more."""
        _active.remove(self)


def current() -> Capture | None:
    """The capture that this thread works for."""
    if not _active:
        return None
    me = threading.get_ident()
    return next((one for one in reversed(_active) if one.thread == me), None)


def outside(method: Callable) -> Callable:
    """A method whose work is the host's: in a step that is captured in pieces it runs between them at each replay."""

    @functools.wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _active and (now := current()) is not None and now.between is not None:
            return now.between(functools.partial(method, *args, **kwargs), args)
        return method(*args, **kwargs)

    return run


def refuse(why: str) -> None:
    """Raise if this thread's work is being captured.

    Args:
        why: the end of the sentence "... cannot be captured in a CUDA graph: it".
    """
    if _active and current() is not None:
        raise refusal(why, place_here())


def refusal(why: str, where: tuple) -> CaptureError:
    """The error for something at a place."""
    return CaptureError(
        f"{phrase(where)} cannot be captured in a CUDA graph: it {why}. Do it before or after the captured part"
    )


def phrase(where: tuple) -> str:
    """The op and line of a place."""
    for name in naming:
        if said := name(where):
            return said
    return "this"


def place_here() -> tuple[str, int, tuple[str, ...]]:
    """The innermost line outside of vistorch and cupy, and what of vistorch ran in it: file, number, functions."""
    return place_of(sys._getframe(2))


def place_of(frame: Any) -> tuple[str, int, tuple[str, ...]]:
    """The same, from a frame outwards."""
    functions = []
    while frame is not None:
        code = frame.f_code
        if not _ours(code.co_filename):
            return code.co_filename, frame.f_lineno, tuple(functions)
        functions.append(code.co_name)
        frame = frame.f_back
    return "", 0, tuple(functions)


_SLASH = "/" if "/" in HOME else "\\"


def _ours(name: str) -> bool:
    return name.startswith(HOME) or f"{_SLASH}cupy{_SLASH}" in name or name[0] == "<"
