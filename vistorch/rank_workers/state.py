"""What a cell changed in a rank: the names that it bound, and how far it came in each process group.

Invariant: looking keeps nothing alive but numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ranks.group import WORLD


class Before:
    """A namespace before a cell.

    Args:
        namespace: the names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.known = {name: id(value) for name, value in namespace.items()}

    def bound(self, namespace: Mapping[str, Any]) -> list[str]:
        """The names that are bound to something else now.

        Args:
            namespace: the names after the cell.
        """
        return sorted(name for name, value in namespace.items() if self.known.get(name) != id(value))

    @staticmethod
    def groups() -> list[list[Any]]:
        """Each process group: its ranks, how many operations this rank has begun in it, and whether it is broken."""
        return [
            [list(one.ranks), one.number, bool(one.broken)] for one in WORLD.groups if one.transport.size > 1
        ]
