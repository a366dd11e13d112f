"""The table of names with a kernel: a row that is opened shows its array view below the table.

The page of the array view travels with a row that is opened, not with the table. Invariant: a row is looked
up by its name when it is opened, so what is shown is what the name holds then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .._frame import bundles
from .._frame.display import Display
from .._frame.live import Live, Refused, whole
from .._frame.tiles import Tiles


class VarsView(Live):
    """The table of names that opens its rows.

    Args:
        display: the display of a record of kind "vars".
        look: from a name to an array view's display and the arrays behind it; `LookupError` where the name is gone.
    """

    answers: ClassVar[dict[str, str]] = {"open": "_open_row", "tile": "_tile", **Live.answers}

    def __init__(self, display: Display, look: Callable[[str], tuple[Display, list[Any]]]) -> None:
        self.look = look
        self.tiles: Tiles | None = None
        super().__init__(display)

    def _open_row(self, message: dict[str, Any]) -> None:
        rows = self.display.state()["rows"]
        row = whole(message.get("row"), 0, max(0, len(rows) - 1))
        name = rows[row]["name"] if rows else ""
        try:
            shown, sources = self.look(name)
        except LookupError:
            self.send({"type": "opened", "row": row, "why": f"{name} is gone: type %vt vars for a new table"})
            return
        self.tiles = Tiles(shown.state()["items"], sources)
        page = bundles.source(shown.record.kind).read_bytes()
        self.send({"type": "opened", "row": row}, [shown.payload(), page])

    def _tile(self, message: dict[str, Any]) -> None:
        if self.tiles is None:
            raise Refused("no row is open")
        self.send(*self.tiles.answer(message))
