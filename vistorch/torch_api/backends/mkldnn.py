"""oneDNN's flags: settable, without effect; it is not used here."""

from __future__ import annotations

from typing import Any

from .flags import held

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """False: products are numpy's."""
    return False


def is_acl_available() -> bool:
    """False, as above."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple:
    """Set several flags; gives what they were."""
    global enabled, deterministic, allow_tf32
    before = enabled, deterministic, allow_tf32, fp32_precision
    enabled = enabled if _enabled is None else _enabled
    deterministic = deterministic if _deterministic is None else _deterministic
    allow_tf32 = allow_tf32 if _allow_tf32 is None else _allow_tf32
    return before


def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, **other: Any) -> Any:
    """Flags until the end of a `with` block."""
    return held(__name__, enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)
