"""How much is checked: `TORCH_DISTRIBUTED_DEBUG`, as a value.

Invariant: DETAIL compares each collective operation of all ranks before it runs.
"""

from __future__ import annotations

import enum

from ..ranks import debug_level


class DebugLevel(enum.Enum):
    """How much is checked.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.get_debug_level() is dist.DebugLevel.OFF
        True
    """

    OFF = 0
    INFO = 1
    DETAIL = 2


def get_debug_level() -> DebugLevel:
    """How much is checked now.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.get_debug_level().name
        'OFF'
    """
    return DebugLevel[debug_level.debug_level()]


def set_debug_level(level: DebugLevel) -> None:
    """Set how much is checked.

    Args:
        level: DETAIL compares each collective operation of all ranks before it runs.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.set_debug_level(dist.DebugLevel.DETAIL)
        >>> dist.set_debug_level_from_env()
    """
    debug_level.set_debug_level(level.name)


def set_debug_level_from_env() -> None:
    """Check as much as the environment says in `TORCH_DISTRIBUTED_DEBUG`.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.set_debug_level_from_env()
    """
    debug_level.set_debug_level("")
