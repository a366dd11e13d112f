"""What a command answers in words."""

from __future__ import annotations


class Note(str):
    """A text that shows itself as it is, without quotes, as the last value of a cell."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
