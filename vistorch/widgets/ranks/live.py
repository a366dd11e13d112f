"""The panel of a run on ranks with a kernel: each picture of the run replaces the one before, clicks go to all ranks.

Invariant: a page shows a record as of one moment; what it asks for is done by all ranks or refused in a sentence.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...debug.ranks.controls import WORDS
from .._frame import pump
from .._frame.display import Display
from .._frame.live import Live, Refused, whole


class RanksView(Live):
    """The panel.

    Args:
        display: the run as it is now.
        run: what clicks are handed to.
    """

    answers: ClassVar[dict[str, str]] = {"do": "_do", **Live.answers}

    def __init__(self, display: Display, run: Any) -> None:
        self.run = run
        super().__init__(display)
        pump.route(self.comm)

    @property
    def busy(self) -> bool:
        """A running cell needs it."""
        return self.run.outcomes is None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **more: Any) -> Any:
        """The widget alone: text and picture of a run stand in the output that follows its end."""
        data, meta = self._widget(include=include, exclude=exclude, **more)
        kept = "application/vnd.jupyter.widget-view+json"
        return {"text/plain": "", **({kept: data[kept]} if kept in data else {})}, meta

    def give(self, display: Display) -> None:
        """Show another state.

        Args:
            display: the run as it is now.
        """
        self.display = display
        if self.comm is not None:
            self.payload = display.payload()

    def _do(self, message: dict[str, Any]) -> None:
        number, word = whole(message.get("id")), message.get("do")
        if type(word) is not str or word not in WORDS:
            raise Refused(f"expected one of {', '.join(WORDS)}, got {str(word)[:40]!r}")
        try:
            if self.run.outcomes is not None:
                raise ValueError("The run is over")
            if why := pump.why_not():
                raise ValueError(why)
            self.run.controls.command(word, message.get("value"))
        except ValueError as why:  # what a person may well ask for: said to them, not logged
            self.send({"type": "refused", "id": number, "why": str(why)[:300]})
