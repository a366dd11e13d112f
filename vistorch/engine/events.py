"""What the engine tells when someone listens; nothing, at one `is None` test, when nobody does."""

from __future__ import annotations

from typing import Any


class Hear:
    """One slot per kind of event; None means nobody listens."""

    __slots__ = ("cut", "op", "requires_grad", "step", "write")

    def __init__(self) -> None:
        self.op: Any = None
        self.cut: Any = None
        self.write: Any = None
        self.requires_grad: Any = None
        self.step: Any = None


hear = Hear()


def told_requires_grad(t: Any, value: bool) -> None:
    """Tell that a leaf's `requires_grad` was set."""
    if hear.requires_grad is not None:
        hear.requires_grad(t, value)
