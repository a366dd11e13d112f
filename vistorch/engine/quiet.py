"""Silence numpy's floating point warnings around one kernel, at a tenth of the price of `numpy.errstate`.

PyTorch never warns of an overflow or of log(0); numpy would, from inside our code. The state is a context variable
of numpy, so setting and resetting it touches no other thread, task or caller.
"""

from __future__ import annotations

import numpy as np

try:
    from numpy._core.umath import _extobj_contextvar as _state  # pyright: ignore
    from numpy._core.umath import _make_extobj  # pyright: ignore

    _SILENT = _make_extobj(all="ignore")
    _set = _state.set

    def hush():
        """Silence; give the result to `speak`."""
        return _set(_SILENT)

    speak = _state.reset
except ImportError:  # a numpy that moved its private names: the public way, slower

    def hush():
        """Silence; give the result to `speak`."""
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    def speak(token):
        """Undo one `hush`."""
        token.__exit__(None, None, None)


class quiet:
    """`with quiet():` for whatever is not on the hot path."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        self.token = hush()

    def __exit__(self, *exc: object) -> None:
        speak(self.token)
