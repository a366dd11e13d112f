"""The training panel with a kernel: what changed goes to the page, what is clicked is handed to the run.

While the cell runs, the loop itself looks for clicks (`pump.py`); where that cannot work, the page says so and offers
nothing that would come too late. Invariant: at most ten deltas in any second, each from the version that was sent last.
"""

from __future__ import annotations

import threading
from collections import deque
from time import perf_counter
from typing import Any, ClassVar

from ...debug.watch.commands import WORDS
from .._frame import pump, wire
from .._frame.display import Display
from .._frame.kept import Kept
from .._frame.live import Live, Refused, whole

APART = 0.125  # seconds between two deltas where nothing was done to the run
MOST = 10  # deltas in any second: what was done is sent at once as long as there are fewer
LONGEST = 300  # letters of a sentence that answers a page
AT_ONCE = ("rewind", "filters")  # also act when the run is over


def hindrance() -> str:
    """Why what is clicked would come too late for a run that is opened here; "" where it would not."""
    # A loop in a thread of its own leaves the main thread free for clicks.
    return pump.why_not() if threading.current_thread() is threading.main_thread() else ""


class WatchView(Live):
    """The panel of a run.

    Args:
        display: the display of the run's record as it is now.
        run: the run; let go of when the view is closed.
    """

    answers: ClassVar[dict[str, str]] = {"do": "_do", "all": "_all", "here": "_here", **Live.answers}

    def __init__(self, display: Display, run: Any) -> None:
        self.run = run
        self.since = int(display.state()["version"])
        self.sent_at, self.late = 0.0, False
        self.times: deque[float] = deque(maxlen=MOST)
        self.shown_state: tuple[str, int] = ("", 0)  # the status and the line of the log that a page knows
        self.sending = threading.Lock()
        self.why = hindrance()
        if self.why:  # the page begins with this state
            _hindered(display.state()["head"], self.why)
        super().__init__(display)
        pump.route(self.comm)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **more: Any) -> Any:
        """The widget alone: text and picture of a run stand in the output that follows its end."""
        data, meta = self._widget(include=include, exclude=exclude, **more)
        kept = "application/vnd.jupyter.widget-view+json"
        return {"text/plain": "", **({kept: data[kept]} if kept in data else {})}, meta

    # ---- to the page -------------------------------------------------------------------------------------------
    def notify(self, run: Any) -> None:
        """Send what changed, or do so a little later if a delta was sent just now: a run calls this.

        Args:
            run: the run.
        """
        if run.open and not self._due(run):
            self.late = True
        else:
            self._give(run)

    def _due(self, run: Any) -> bool:
        """Whether a delta may be sent now."""
        now = perf_counter()
        if len(self.times) == MOST and now - self.times[0] < 1:
            return False
        return now - self.sent_at >= APART or self.shown_state != (run.status, run.log.number)

    def poll(self) -> None:
        """Look for clicks, and send what is late: a run calls this at the boundaries of its steps."""
        pump.pump()
        if self.late and self.run is not None and self._due(self.run):
            self._give(self.run)

    def _give(self, run: Any) -> None:
        with self.sending:
            self.late = False
            if not run.open:
                self.display = Kept(run.record(), self.display.name)
            if self.comm is None:
                return
            state = run.delta(self.since)
            self.since = state["version"]
            if self.why and run.open:
                _hindered(state["head"], self.why)
            packed = wire.pack("delta", state)
            self.sent_at = perf_counter()
            self.times.append(self.sent_at)
            self.shown_state = run.status, run.log.number
            self.send({"type": "delta"}, [packed])
            if not run.open:  # a page that is opened later begins here; those that are open get no message
                self._trait_values["payload"] = self.display.payload()

    # ---- from the page -----------------------------------------------------------------------------------------
    def _do(self, message: dict[str, Any]) -> None:
        number, word = whole(message.get("id")), message.get("do")
        if type(word) is not str or word not in WORDS:
            raise Refused(f"expected one of {', '.join(WORDS)}, got {str(word)[:40]!r}")
        run = self.run
        if run is None:
            return
        was_open = run.open
        try:
            if self.why and was_open and word not in AT_ONCE:
                raise ValueError(self.why)
            run.command(message)
        except ValueError as why:  # what a person may well ask for: said to them, not logged
            self.send({"type": "refused", "id": number, "why": _short(str(why), word)})
            return
        self.send({"type": "asked", "id": number, "say": _said(word, run, was_open)})

    def _all(self, message: dict[str, Any]) -> None:
        whole(message.get("id"))
        self.since = 0
        if self.run is not None:
            self.notify(self.run)

    def ask(self) -> None:
        """Ask the pages whether one is open: a run that is to be held calls this."""
        self.send({"type": "there"})

    def _here(self, message: dict[str, Any]) -> None:
        if self.run is not None:
            self.run.alarms.answered += 1

    # ---- its life ----------------------------------------------------------------------------------------------
    @property
    def busy(self) -> bool:
        """Whether the run goes on."""
        return self.run is not None and self.run.open

    def replaced(self) -> None:
        """Its cell runs again: a run that it left open ends."""
        run = self.run
        if run is not None and run.open:
            run.close("interrupted", "Left open; its cell ran again.")
        self.close()

    def close(self) -> None:
        """End the view; the run goes on without it."""
        super().close()
        self.run = None


def _hindered(head: dict[str, Any], why: str) -> None:
    """Say in a page's head why clicks do nothing now."""
    head["why"] = {word: said or ("" if word in AT_ONCE else why) for word, said in head["why"].items()}
    head["says"] = [*head["says"], why]


def _said(word: str, run: Any, was_open: bool) -> str:
    if not was_open:
        return "Done."
    return "Asked; the waiting loop acts now." if run.commands.paused else "Asked; acts at the next step."


def _short(text: str, word: str) -> str:
    text = " ".join(text.removeprefix(f"{word}: ").split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
