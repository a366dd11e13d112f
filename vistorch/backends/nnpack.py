"""NNPACK: not used here."""

from __future__ import annotations

from typing import Any

from .flags import held

enabled = True


def is_available() -> bool:
    """False."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the flag; gives what it was."""
    global enabled
    before = enabled
    enabled = _enabled
    return (before,)


def flags(enabled: bool = False) -> Any:
    """The flag until the end of a `with` block."""
    return held(__name__, enabled=enabled)
