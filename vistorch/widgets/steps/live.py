"""The stepper with a kernel: `.grad` of the leaves follows the page, and to leave finishes or undoes the pass.

The page holds every step and paints at once; the kernel follows where it stands. Invariant: a step that fails leaves
the pass where it stood, and the page says so.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from .._frame.display import Display
from .._frame.live import Refused, whole
from ..graph.live import Inside, NodeView


class Driver(Inside, Protocol):
    """What moves a pass."""

    on_close: Any

    def go(self, to: int) -> tuple[int, str]:
        """Move until so many steps are taken; where it stands, and why it is not there."""
        ...

    def leave(self, how: str) -> str:
        """Finish or undo; why not, or nothing."""
        ...


class StepsView(NodeView):
    """The steps of a pass that a kernel walks.

    Args:
        display: the display of a record of steps.
        driver: what moves the pass.
    """

    answers: ClassVar[dict[str, str]] = {**NodeView.answers, "go": "_go", "leave": "_leave"}

    def __init__(self, display: Display, driver: Driver) -> None:
        self.driver, self.stops_no_more = driver, False
        driver.on_close = self._left
        record = display.record
        super().__init__(display, record.graph, len(record.nodes), driver)

    def finish(self) -> None:
        """Run the rest of the pass: `.grad` is then as after `backward()`."""
        self.driver.leave("finish")

    def undo(self) -> None:
        """Take the pass back: no `.grad` has changed."""
        self.driver.leave("undo")

    def _go(self, message: dict[str, Any]) -> None:
        number, to = whole(message.get("id")), whole(message.get("to"), 0, self.display.record.count)
        at, why = self.driver.go(to)
        self.send({"type": "went", "id": number, "at": at, "why": why})

    def _leave(self, message: dict[str, Any]) -> None:
        number, how = whole(message.get("id")), message.get("how")
        if how not in ("finish", "undo"):
            raise Refused(f"expected finish or undo, got {str(how)[:40]!r}")
        self.stops_no_more = message.get("off") is True
        why = self.driver.leave(how)
        self.send({"type": "left", "id": number, "how": how, "why": why})

    def _left(self, how: str) -> None:
        """Let the page know that the pass was left, by it or by code."""
        if self.comm is not None:
            self.send({"type": "over", "how": how})
