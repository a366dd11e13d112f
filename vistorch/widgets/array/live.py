"""The array view with a kernel: the overview at once, exact values of the part that is looked at on request."""

from __future__ import annotations

from typing import Any, ClassVar

from .._frame.display import Display
from .._frame.live import Live
from .._frame.tiles import Tiles


class ArrayView(Live):
    """The array view that asks its kernel for exact values.

    Args:
        display: the display of an array record.
        sources: what the record's items were made of, in their order; None where one has no values here.
        hold: whether nobody else holds them.
    """

    answers: ClassVar[dict[str, str]] = {"tile": "_tile", **Live.answers}

    def __init__(self, display: Display, sources: list[Any], hold: bool = False) -> None:
        self.tiles = Tiles(display.state()["items"], sources, hold)
        super().__init__(display)

    def close(self) -> None:
        """End the view and let go of what it holds."""
        self.tiles.let_go()
        super().close()

    def _tile(self, message: dict[str, Any]) -> None:
        self.send(*self.tiles.answer(message))
