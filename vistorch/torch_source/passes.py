"""Backward passes of torch as they begin: who wants to see or to steer them is asked before torch runs them.

`Tensor.backward`, `torch.autograd.backward` and what calls them look the function up in `torch.autograd`; while
someone listens, ours stands there and asks each listener in turn. `torch.autograd.grad` is left alone.

Those that only look are asked before those that may steer the pass, whichever began first: a pass that is stepped is
still seen by what watches, traces or records it.

Invariant: while nobody listens, torch's own function stands there; a pass that no listener takes runs as it would have.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, NamedTuple

from . import private
from .real import torch
from .refusals import Unsteppable
from .stepper import TorchStepper

# A listener gets (tensors, gradient, options) of a pass and says whether it has run the pass itself.
Listener = Callable[[Any, Any, dict[str, Any]], bool]

LOOKS, STEERS, LAST = range(3)  # the order in which listeners are asked

_listeners: list[tuple[int, Listener]] = []
_lock = threading.Lock()
_real: Any = None
_within = threading.local()


def listen(listener: Listener, turn: int = LOOKS) -> Callable[[], None]:
    """Ask a listener before each pass from now on; returns the function that ends it.

    Args:
        listener: called with the tensors, their gradients and the other options of the pass; if it returns True, the
            pass has run and torch does nothing.
        turn: when it is asked: `LOOKS` first, then `STEERS`, then `LAST`.
    """
    global _real
    with _lock:
        entry = turn, listener
        _listeners.append(entry)
        _listeners.sort(key=itemgetter(0))  # stable: of one turn, who began first
        if _real is None:
            _real = torch.autograd.backward
            torch.autograd.backward = _backward

    def end() -> None:
        global _real
        with _lock:
            if entry in _listeners:
                _listeners.remove(entry)
            if not _listeners and _real is not None:
                if (
                    torch.autograd.backward is _backward
                ):  # else someone has wrapped ours: it stays, and asks nobody
                    torch.autograd.backward = _real
                    _real = None

    return end


def run(tensors: Any, gradient: Any, options: dict[str, Any]) -> None:
    """Run a pass as torch does, asking nobody."""
    real = torch.autograd.backward if _real is None else _real
    real(tensors, gradient, **options)


class Going(NamedTuple):
    """A pass that is about to run: what it starts from, with which gradients, and its other options."""

    tensors: Any
    gradient: Any
    options: dict[str, Any]


class HeldPass:
    """A pass of torch that waits while a person steps it.

    Args:
        going: the pass.
    """

    def __init__(self, going: Going) -> None:
        self.going = going
        self.has_run = False

    def why_not(self) -> str | None:
        """Why it cannot be stepped: the words of what refuses it."""
        try:
            self.stepper({}).undo()
        except (ValueError, TypeError, RuntimeError) as why:
            return " ".join(str(why).split())
        return None

    def stepper(self, names: dict[Any, str]) -> TorchStepper:
        """A stepper on it."""
        return TorchStepper(self.going.tensors, self.going.gradient, names=names, **self.going.options)

    def leave(self, finished: bool) -> None:
        """It has run, or is to be run by torch."""
        self.has_run = finished


def stepped(steer: Callable[[Any], None], names: Callable[[Any], dict]) -> Listener:
    """A listener that hands each pass on as a stepper; one that cannot be stepped runs, and says why.

    Args:
        steer: called with the stepper; when it returns, the pass has been run to its end or left.
        names: gives what leaves are called.
    """

    def listener(tensors: Any, gradient: Any, options: dict[str, Any]) -> bool:
        try:
            walk = TorchStepper(tensors, gradient, names=names(tensors), search=False, **options)
        except Unsteppable as why:
            warnings.warn(f"no breakpoint is looked at in this pass: {why}", stacklevel=4)
            return False
        except (ValueError, TypeError, RuntimeError):  # torch has its own words for a pass that cannot be
            return False
        steer(walk)
        return True

    return listener


@contextmanager
def optimizer_steps(phase: Callable[[str, Any], None]) -> Iterator[None]:
    """While it lasts, a function is called before and after each step of any optimizer.

    Args:
        phase: called with "step" or "step_end", and the optimizer.
    """
    handles = private.on_optimizer_step(
        lambda optimizer, args, kwargs: phase("step", optimizer),
        lambda optimizer, args, kwargs: phase("step_end", optimizer),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@private.uncompiled
def _backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    given = grad_tensors if grad_variables is None else grad_variables
    options = {"retain_graph": retain_graph, "create_graph": create_graph, "inputs": inputs}
    if not getattr(_within, "asking", False):  # a pass within one is torch's
        _within.asking = True
        try:
            for _, listener in list(_listeners):
                if listener(tensors, given, options):
                    return
        finally:
            _within.asking = False
    run(tensors, given, options)
