"""How much is checked where several processes work together.

Invariant: the environment is read once, and when it is asked for anew.
"""

from __future__ import annotations

import os

LEVELS = ("OFF", "INFO", "DETAIL")


class _State:
    level = ""


def debug_level() -> str:
    """`TORCH_DISTRIBUTED_DEBUG` of the environment, or what was set: "OFF", "INFO" or "DETAIL"."""
    return _State.level or set_debug_level("")


def set_debug_level(level: str) -> str:
    """Set what `debug_level` answers; the environment's if empty.

    Args:
        level: one of `LEVELS`.
    """
    given = level or os.environ.get("TORCH_DISTRIBUTED_DEBUG") or "OFF"
    if given.upper() not in LEVELS:
        raise RuntimeError(
            "The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL, but it is "
            + repr(given)
            + "."
        )
    _State.level = given.upper()
    return _State.level
