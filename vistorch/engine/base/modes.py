"""Grad mode, inference mode and everything else that changes how an op is recorded.

One thread-local word, `mode.on`, carries it all so that an op reads a single attribute: True (record), False
(do not), None (inference mode: do not, and mark what is made), `CAREFUL` (record, and someone wants to see what is
saved or where, so leave the fast path).
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .events import listeners

CAREFUL = 2


class Mode(threading.local):
    """What this thread records. Class attributes are every thread's defaults."""

    on: Any = True
    said: bool = False  # what `is_grad_enabled()` answers in inference mode, where nothing is recorded
    packers: tuple = ()  # stack of (pack, unpack) from saved_tensors_hooks
    keeps: bool = False  # within a transform of `func`: an inference tensor may be saved, as a constant
    no_packers: str | None = None  # why saved_tensors_hooks may not be entered now
    anomaly: bool = False
    anomaly_nan: bool = True
    run: Any = None  # the backward pass that runs now
    node: Any = None  # the node whose backward runs now: parent of what it records


mode = Mode()


class Inferring:
    """How many inference modes are open in all threads: while none is, no op need ask its thread."""

    __slots__ = ("lock", "threads")

    def __init__(self) -> None:
        self.threads = 0
        self.lock = threading.Lock()

    def add(self, n: int) -> None:
        """Count one more, or one less."""
        with self.lock:
            self.threads += n


inferring = Inferring()


def recording() -> Any:
    """The value of `mode.on` that means "record" in this thread now."""
    return CAREFUL if mode.packers or mode.anomaly else True


def careful() -> None:
    """Re-derive `mode.on` after the packers or the anomaly flag changed."""
    if mode.on:
        mode.on = recording()


def _switch(to: bool) -> tuple:
    """Turn recording on or off; inference mode stays what it is until its own switch ends it, and only says so."""
    before = mode.on, mode.said
    if before[0] is None:
        mode.said = to
    else:
        mode.on = recording() if to else False
        if before[0] and not to and (emit := listeners.cut) is not None:
            emit("no_grad", None)
    return before


class _Switch:
    """A context manager that is also a decorator, for functions and generator functions."""

    def __call__(self, func: Callable) -> Callable:
        if inspect.isclass(func):
            raise TypeError(
                f"Cannot decorate classes with {type(self).__name__}; decorate its methods instead."
            )
        if inspect.isgeneratorfunction(func):
            return self._generator(func)

        @functools.wraps(func)
        def call(*args, **kwargs):
            with self.clone():
                return func(*args, **kwargs)

        return call

    def _generator(self, func: Callable) -> Callable:
        # The body runs in our mode, the caller between two items in its own.
        @functools.wraps(func)
        def run(*args, **kwargs):
            gen = func(*args, **kwargs)
            send, value = gen.send, None
            while True:
                try:
                    with self.clone():
                        item = send(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    value = yield item
                    send = gen.send
                except GeneratorExit:
                    with self.clone():
                        gen.close()
                    raise
                except BaseException as exc:
                    send, value = gen.throw, exc

        return run

    def clone(self) -> _Switch:
        """A fresh switch for one use.

        Example:
            >>> import vistorch
            >>> off = vistorch.no_grad()
            >>> with off.clone():
            ...     vistorch.is_grad_enabled()
            False
        """
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError


class _GradSwitch(_Switch):
    __slots__ = ("before", "to")

    to: bool

    def __new__(cls, func: Callable | None = None) -> Any:
        made = object.__new__(cls)
        return made if func is None else made(func)  # `@no_grad` without brackets

    def __enter__(self) -> None:
        self.before = _switch(self.to)

    def __exit__(self, *exc: object) -> None:
        mode.on, mode.said = self.before


class no_grad(_GradSwitch):
    """Do not record: results do not require grad.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with vistorch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    to = False


class enable_grad(_GradSwitch):
    """Record again, inside `no_grad`.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with vistorch.no_grad(), vistorch.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    to = True


def _bool(given: Any, what: str) -> bool:
    """A flag; `base.dims` has the one for all others, and needs this file."""
    if not isinstance(given, (bool, np.bool_)):
        raise TypeError(f"{what} must be bool, not {type(given).__name__}")
    return bool(given)


class set_grad_enabled(_Switch):
    """Switch recording on or off, at once; as a context manager, until its end.

    Args:
        mode: whether to record.

    Example:
        >>> import vistorch
        >>> _ = vistorch.set_grad_enabled(False)
        >>> vistorch.is_grad_enabled()
        False
        >>> _ = vistorch.set_grad_enabled(True)
        >>> off = vistorch.set_grad_enabled(False)
        >>> _ = vistorch.set_grad_enabled(True)
        >>> with off.clone():  # the same switch again, for one block
        ...     vistorch.is_grad_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        self.to = (
            mode
            if mode is True or mode is False
            else _bool(mode, "set_grad_enabled(): argument 'enabled' (position 1)")
        )
        self.before = _switch(self.to)

    def clone(self) -> set_grad_enabled:
        """A fresh switch for one use."""
        return set_grad_enabled(self.to)

    def __call__(self, func: Callable) -> Callable:
        """Decorate: undo what making the switch did, and switch around each call instead."""
        _mode.on, _mode.said = self.before  # used as a decorator: only the function's body is meant
        return super().__call__(func)

    def __enter__(self) -> None:
        _switch(self.to)

    def __exit__(self, *exc: object) -> None:
        _mode.on, _mode.said = self.before


class inference_mode(_Switch):
    """Like `no_grad`, and what is made inside can never enter a graph.

    Args:
        mode: False leaves inference mode inside another `inference_mode`.

    Example:
        >>> import vistorch
        >>> with vistorch.inference_mode():
        ...     y = vistorch.ones(2)
        >>> y.is_inference()
        True
        >>> with vistorch.inference_mode(), vistorch.inference_mode(False).clone():
        ...     vistorch.is_inference_mode_enabled()
        False
    """

    def __new__(cls, mode: Any = True) -> Any:
        """`@inference_mode` without brackets decorates at once."""
        made = object.__new__(cls)
        if callable(mode):
            made.to = True
            return made(mode)
        return made

    def __init__(self, mode: Any = True) -> None:
        self.to = _bool(mode, "inference_mode(): argument 'mode' (position 1)")

    def clone(self) -> inference_mode:
        """A fresh switch for one use."""
        return inference_mode(self.to)

    def __enter__(self) -> None:
        self.before = _mode.on, _mode.said
        inferring.add(1)
        _mode.on, _mode.said = None if self.to else recording(), False
        if self.before[0] and self.to and (emit := listeners.cut) is not None:
            emit("inference_mode", None)

    def __exit__(self, *exc: object) -> None:
        _mode.on, _mode.said = self.before
        inferring.add(-1)


class out_of_inference(_Switch):
    """Inference mode counts as `no_grad` inside: a derivative that is computed and given back needs to record."""

    def __enter__(self) -> None:
        self.before = _mode.on, _mode.said, _mode.keeps
        if _mode.on is None:
            _mode.on, _mode.said, _mode.keeps = False, False, True

    def __exit__(self, *exc: object) -> None:
        _mode.on, _mode.said, _mode.keeps = self.before


_mode = mode  # the classes above take PyTorch's argument name `mode`


def is_grad_enabled() -> bool:
    """Whether ops are recorded now, in this thread.

    Example:
        >>> import vistorch
        >>> with vistorch.no_grad():
        ...     vistorch.is_grad_enabled()
        False
    """
    return mode.said if mode.on is None else bool(mode.on)


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread.

    Example:
        >>> import vistorch
        >>> with vistorch.inference_mode():
        ...     vistorch.is_inference_mode_enabled()
        True
    """
    return mode.on is None
