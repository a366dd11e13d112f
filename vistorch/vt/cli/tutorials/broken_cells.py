"""`kata(3)` and `kata.progress()`: the broken cells by the names that a notebook imports.

Invariant: what is shown is what `%vt kata` shows.
"""

from __future__ import annotations

from typing import Any

from vistorch.widgets.kata.command import kata as show


class Kata:
    """Twelve broken cells to mend: call it with a number.

    Example:
        >>> from vistorch.tutorials import kata
        >>> print(kata(1).text().splitlines()[0])
        kata 1: The loss that climbs (white belt, about 5 minutes)
    """

    def __call__(
        self, number: int, *, place: str | None = None, hint: bool = False, solution: bool = False
    ) -> Any:
        """Show one of them.

        Args:
            number: which, from 1 to 12.
            place: name the place where it is broken: a line, a part of its text, or a node of the graph.
            hint: open the next of two hints.
            solution: open the solution; after both hints, or when it is solved.
        """
        return show(number, place=place, hint=hint, solution=solution)

    def progress(self) -> Any:
        """Show all twelve, and how far you are.

        Example:
            >>> from vistorch.tutorials import kata
            >>> print(kata.progress().text().splitlines()[2].partition(",")[0])
            white belt
        """
        return show()


kata = Kata()
