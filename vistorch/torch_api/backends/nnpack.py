"""NNPACK: not used here."""

from __future__ import annotations

from typing import Any

from .flags import held

enabled = True


def is_available() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.backends.nnpack.is_available()
        False
    """
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the flag; gives what it was.

    Example:
        >>> from vistorch.backends import nnpack
        >>> before = nnpack.set_flags(False)
        >>> before, nnpack.enabled
        ((True,), False)
        >>> nnpack.set_flags(*before)
        (False,)
    """
    global enabled
    before = enabled
    enabled = _enabled
    return (before,)


def flags(enabled: bool = False) -> Any:
    """The flag until the end of a `with` block.

    Example:
        >>> from vistorch.backends import nnpack
        >>> with nnpack.flags(enabled=False):
        ...     nnpack.enabled
        False
        >>> nnpack.enabled
        True
    """
    return held(__name__, enabled=enabled)
