"""Where autocast comes in: what every function of its lists asks before it does anything.

Invariant: while no thread casts, `casting.on` is None, and a listed function pays for one look at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Casting:
    """What a listed function asks: `if casting.on and (recast := casting.ask(mm, locals())): return recast[0]`."""

    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on: Callable[[Any, dict[str, Any]], tuple | None] | None = None

    def ask(self, function: Any, given: dict[str, Any]) -> tuple | None:
        """Call a function anew with cast arguments, where its thread casts.

        Args:
            function: who asks.
            given: its local variables, which are its arguments before it does anything.

        Returns:
            The result in a tuple; None where nothing is cast and the function goes on.
        """
        on = self.on  # once: another thread may be the last to stop casting meanwhile
        return None if on is None else on(function, given)


casting = Casting()
