"""The older home of the names of `distributed`, which libraries import from.

Invariant: a name here is the same object as in `distributed`.
"""

from __future__ import annotations

from typing import Any, NewType

from ..ranks.backends import Backend
from ..ranks.group import default
from ..ranks.splits import get_backend_config
from . import GroupMember, P2POp, ProcessGroup, ReduceOp, Store, Work
from . import __dict__ as _names

_get_default_group = default  # by the name that libraries import
GroupName = NewType("GroupName", str)

__all__ = [
    "Backend",
    "GroupMember",
    "GroupName",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "Work",
    "get_backend_config",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in _names:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _names[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in _names if not name.startswith("_"))})
