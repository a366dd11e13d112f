"""A kata's card with a kernel: it judges the place, opens hints, and goes on to another kata.

Invariant: what is typed is judged here and kept; the page holds neither hints nor solutions that are not open.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...debug.kata import KATA
from ...debug.kata.progress import load
from ...debug.kata.record import KataRecord
from .._frame.display import Display
from .._frame.live import Live, Refused, whole
from . import deeds

LONGEST = 200  # letters of a place


class KataView(Live):
    """The card, or the table, that answers.

    Args:
        display: the display of a record of kind "kata".
    """

    answers: ClassVar[dict[str, str]] = {
        "now": "_now",
        "name": "_name",
        "hint": "_hint",
        "solution": "_solution",
        "open": "_open_one",
        "table": "_table",
        **Live.answers,
    }

    def __init__(self, display: Display) -> None:
        self.record: KataRecord = display.record
        self.begun = self.record
        super().__init__(display)

    def _show(self, record: KataRecord) -> None:
        self.record = record
        self.display = Display(record, record.title)
        self.send({"type": "card"}, [self.display.payload()])

    def _now(self, message: dict[str, Any]) -> None:
        """A page that is drawn anew, from what was stored when the cell ran."""
        if self.record is not self.begun:
            self.send({"type": "card"}, [self.display.payload()])

    def _card(self) -> KataRecord:
        if self.record.kata is None:
            raise Refused("the table of all kata has no place to name: open one")
        return self.record

    def _name(self, message: dict[str, Any]) -> None:
        said = message.get("place")
        if type(said) is not str or not 0 < len(said.strip()) <= LONGEST:
            raise Refused(f"expected a place of at most {LONGEST} letters")
        self._show(deeds.named(self._card(), said))

    def _hint(self, message: dict[str, Any]) -> None:
        self._show(deeds.hinted(self._card()))

    def _solution(self, message: dict[str, Any]) -> None:
        record = self._card()
        if not record.allowed:
            raise Refused("the solution opens after both hints, or when the kata is solved")
        self._show(deeds.shown(record))

    def _open_one(self, message: dict[str, Any]) -> None:
        number = whole(message.get("number"), 1, len(KATA))
        self._show(KataRecord(load(), KATA[number - 1]))

    def _table(self, message: dict[str, Any]) -> None:
        self._show(KataRecord(load()))
