"""The base of every widget: a view of a record with a kernel behind it.

What the page sends is looked at before anything is done: a handler names the fields it takes and the kind of each,
and what does not fit is refused with one logged line. How many views stay open is bounded; a cell that runs again
closes its own. In Jupyter the output is the page as HTML, which finds the view's model in the window by the key that
both carry: what is saved needs no widget, and shows all that was recorded where no kernel answers.

Invariant: a callback never computes for long and never sets what the page sets: the page speaks by messages alone.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import OrderedDict
from typing import Any, ClassVar

import anywidget
import traitlets

from . import bundles
from .display import Display, shown

log = logging.getLogger("vistorch")

OPEN = 8  # views that answer; an older one says that its cell is to be run again
FREE = ("_view_count",)  # how many pages show it: ipywidgets' own
INTEGER = 2**53  # what a page can count to exactly


class Refused(Exception):
    """What the page asked for is not given, and why."""


def whole(value: Any, low: int = 0, high: int = INTEGER) -> int:
    """A whole number within limits, or a refusal."""
    if type(value) is not int or not low <= value <= high:
        raise Refused(f"expected a whole number from {low} to {high}, got {_short(value)}")
    return value


def _short(value: Any) -> str:
    """A value in a sentence; Python writes no number of thousands of digits out."""
    if type(value) is int and abs(value) > INTEGER:
        return f"a number of {value.bit_length():,} bits"
    return repr(str(value)[:40])


def wholes(value: Any, length: int, low: int = 0, high: int = INTEGER) -> list[int]:
    """A list of that many whole numbers, or a refusal."""
    if type(value) is not list or len(value) != length:
        raise Refused(f"expected a list of {length} whole numbers, got {_short(value)}")
    return [whole(item, low, high) for item in value]


def _cell() -> tuple[str, str] | None:
    """The cell that runs, as the front end names it, and this run of it; None where none is named."""
    import IPython

    shell = IPython.get_ipython()
    try:
        parent = shell.get_parent()  # type: ignore[union-attr]
        return parent["metadata"]["cellId"], parent["header"]["msg_id"]
    except (AttributeError, KeyError, TypeError):
        return None


def _widgets_only() -> bool:
    """Whether the front end shows outputs apart from each other, so that only a widget's own output meets its model."""
    return "VSCODE_PID" in os.environ or "google.colab" in sys.modules


class Live(anywidget.AnyWidget):
    """A record's page with a kernel that answers.

    Subclasses list what they answer in `answers`: a message's `type` and the method that takes the message.
    """

    payload = traitlets.Bytes(b"").tag(sync=True)
    live = traitlets.Bool(True).tag(sync=True)
    key = traitlets.Unicode("").tag(sync=True)

    answers: ClassVar[dict[str, str]] = {"close": "_close"}
    _open: ClassVar[OrderedDict[str, tuple[tuple[str, str] | None, Live]]] = OrderedDict()

    def __init__(self, display: Display, **more: Any) -> None:
        self.display = display
        page = bundles.source(display.record.kind)
        if os.environ.get("ANYWIDGET_HMR"):  # `make js`: anywidget watches the file that a class names
            cls = type(self)
            watching = type(cls.__name__, (cls,), {"_esm": page, "__module__": cls.__module__})
            self.__class__ = watching  # type: ignore[assignment]
        else:
            more["_esm"] = page.read_text(encoding="utf-8")
        super().__init__(payload=display.payload(), key=display.key(), **more)
        self.on_msg(self._receive)
        self._keep()

    @property
    def name(self) -> str:
        """What `%vt export --name` finds it by."""
        return self.display.name

    def _keep(self) -> None:
        cell = _cell()
        for owner, view in list(Live._open.values()):
            if cell is not None and owner is not None and owner[0] == cell[0] and owner[1] != cell[1]:
                view.replaced()
        idle = [view for _, view in Live._open.values() if not view.busy]
        for view in idle[: max(0, len(Live._open) - OPEN + 1)]:
            view.close()
        Live._open[self.model_id] = (cell, self)

    @property
    def busy(self) -> bool:
        """Whether a running cell needs it: it is then not closed for others' sake."""
        return False

    def replaced(self) -> None:
        """The cell that made it runs again."""
        self.close()

    def close(self) -> None:
        """End the view: its page keeps what it has and asks no more."""
        if self.comm is not None:
            Live._open.pop(self.model_id, None)
            self.live = False
        super().close()

    def _close(self, message: dict[str, Any]) -> None:
        self.close()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Refuse what a page sets: it asks by messages; the program that draws it, and what it draws, are given here.

        Args:
            sync_data: properties by name.
        """
        wanted = [name for name in sync_data if name not in FREE]
        if wanted:
            named = ", ".join(str(name)[:40] for name in wanted[:4])
            log.warning("%s keeps its properties; its page wanted to set %s", type(self).__name__, named)
        super().set_state({name: sync_data[name] for name in FREE if name in sync_data})

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        try:
            kind = content.get("type") if isinstance(content, dict) else None
            if not isinstance(kind, str) or kind not in self.answers:
                raise Refused(
                    f"expected a message of type {' or '.join(self.answers) or 'none'}, got {str(kind)[:40]!r}"
                )
            getattr(self, self.answers[kind])(content)
        except Refused as why:
            log.warning("%s refused a message from its page: %s", type(self).__name__, why)
            number = content.get("id") if isinstance(content, dict) else None
            if type(number) is int and 0 <= number <= INTEGER:
                self.send({"type": "refused", "id": number, "why": str(why)})

    def __repr__(self) -> str:
        return self.display.text()  # stable: what nbval compares

    def _widget(self, **asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The layers of a widget."""
        made = super()._repr_mimebundle_(**asked)
        shown.add(self.display)
        return made if isinstance(made, tuple) else (made or {}, {})

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **more: Any) -> Any:
        data, meta = self._widget(include=include, exclude=exclude, **more)
        page = {**self.display.still(), "text/html": self.display.html(live=True)}
        return ({**data, **page}, meta) if _widgets_only() else (page, {})
