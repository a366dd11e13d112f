"""oneDNN's flags: `enabled` decides whether its kernels are used, the others are remembered.

Invariant: `enabled` is read from, and written to, the kernels themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from vistorch.engine.kernels.fast.switch import onednn

enabled: bool
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """Whether oneDNN is there: with the extra `fast`, or where `VISTORCH_ONEDNN` names it.

    Example:
        >>> import vistorch
        >>> vistorch.backends.mkldnn.is_available() in (True, False)
        True
    """
    return onednn.available()


def is_acl_available() -> bool:
    """False: the kernels of Arm's library are not used."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str | None = None,
) -> tuple:
    """Set several flags, those that are not None; gives what they were."""
    global deterministic, allow_tf32, fp32_precision
    before = onednn.wanted, deterministic, allow_tf32, fp32_precision
    if _enabled is not None:
        onednn.want(bool(_enabled))
    deterministic = deterministic if _deterministic is None else _deterministic
    allow_tf32 = allow_tf32 if _allow_tf32 is None else _allow_tf32
    fp32_precision = fp32_precision if _fp32_precision is None else _fp32_precision
    return before


@contextmanager
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> Iterator[None]:
    """Flags until the end of a `with` block; without arguments, the plain kernels.

    Example:
        >>> import vistorch
        >>> with vistorch.backends.mkldnn.flags(enabled=False):
        ...     vistorch.backends.mkldnn.enabled
        False
    """
    before = set_flags(enabled, deterministic, allow_tf32, fp32_precision)
    try:
        yield
    finally:
        set_flags(*before)


class _Module(ModuleType):
    """This module, whose `enabled` is the switch of the kernels."""

    @property
    def enabled(self) -> bool:
        return onednn.wanted

    @enabled.setter
    def enabled(self, value: bool) -> None:
        onednn.want(bool(value))


sys.modules[__name__].__class__ = _Module
