"""Backward passes of torch as they begin: who wants to see or to steer them is asked before torch runs them.

`Tensor.backward`, `torch.autograd.backward` and what calls them look the function up in `torch.autograd`; while
someone listens, ours stands there and asks each listener in turn. `torch.autograd.grad` is left alone.

Invariant: while nobody listens, torch's own function stands there; a pass that no listener takes runs as it would have.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .real import torch

# A listener gets (tensors, gradient, options) of a pass and says whether it has run the pass itself.
Listener = Callable[[Any, Any, dict[str, Any]], bool]

_listeners: list[Listener] = []
_lock = threading.Lock()
_real: Any = None
_within = threading.local()


def listen(listener: Listener) -> Callable[[], None]:
    """Ask a listener before each pass from now on; returns the function that ends it.

    Args:
        listener: called with the tensors, their gradients and the other options of the pass; if it returns True, the
            pass has run and torch does nothing.
    """
    global _real
    with _lock:
        _listeners.append(listener)
        if _real is None:
            _real = torch.autograd.backward
            torch.autograd.backward = _backward

    def end() -> None:
        global _real
        with _lock:
            if listener in _listeners:
                _listeners.remove(listener)
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
            for listener in list(_listeners):
                if listener(tensors, given, options):
                    return
        finally:
            _within.asking = False
    run(tensors, given, options)
