"""Silence numpy's floating point warnings around a kernel at almost no price.

PyTorch never warns of an overflow or of log(0); numpy would, from inside our code. numpy keeps its error state in a
context variable, so a kernel run inside a Context where that state is "ignore" is silent, and no thread, task or
caller outside sees a difference. Entering a Context costs ten nanoseconds, `numpy.errstate` eight hundred.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

from . import errors

_silent = contextvars.Context()
_silent.run(np.seterr, all="ignore")

silently = _silent.run
"""`silently(kernel, *args)`: RuntimeError "cannot enter context..." while another thread is inside: see `aside`."""


def aside(exc: RuntimeError, kernel: Callable, *args: Any) -> Any:
    """What to do on a RuntimeError from `silently`: run elsewhere if the Context was taken, else let it pass."""
    if not str(exc).startswith("cannot enter context"):
        raise exc
    with np.errstate(all="ignore"):
        return kernel(*args)


def hushed(kernel: Callable, *args: Any) -> Any:
    """Run a kernel silently; the general form of what hot paths unroll."""
    try:
        return silently(kernel, *args)
    except RuntimeError as exc:
        return aside(exc, kernel, *args)
    except MemoryError as exc:
        raise errors.no_memory(exc) from None


try:  # numpy's own words for what errstate does, without its parsing of five arguments
    from numpy._core.umath import _extobj_contextvar, _make_extobj  # pyright: ignore

    _SILENT = _make_extobj(all="ignore")

    class without_warnings:  # pyright: ignore[reportRedeclaration]
        """`with quiet():` for a stretch of code rather than one kernel, such as a whole backward pass."""

        __slots__ = ("token",)

        def __enter__(self) -> None:
            self.token = _extobj_contextvar.set(_SILENT)

        def __exit__(self, *exc: object) -> None:
            _extobj_contextvar.reset(self.token)

except ImportError:  # a numpy that moved its private names

    def without_warnings() -> Any:
        """Silence a stretch of code rather than one kernel, such as a whole backward pass."""
        return np.errstate(all="ignore")
