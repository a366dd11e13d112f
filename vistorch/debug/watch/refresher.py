"""When what is pending is read and shown: ten times a second, or less often where that is more than its share.

Invariant: an error of what shows the run, or of what looks for clicks, is noted and never raised into the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .budget import Budget
from .changes import Changes
from .commands import StopTraining
from .pace import Pace
from .pending import Pending
from .progress import Progress
from .reader import Reader

REFRESH = 0.1  # seconds between two refreshes, at least
SELDOM = 2.0  # at most
GLANCE = 0.2  # seconds between two looks at the head and the curve, however dear all else is
POLL = 1 / 30


@dataclass(eq=False)
class Refresher:
    """Reads, shows and looks for clicks when it is time."""

    reader: Reader  # reads what is pending
    pending: Pending  # what is
    progress: Progress  # where the loop is
    pace: Pace  # learns where the loop is at each refresh
    budget: Budget  # of the loop's time
    changes: Changes  # learns what changed
    poll: Callable[[], Any] | None = None  # looks for clicks
    show: Callable[[], Any] | None = None  # shows the run
    next_refresh: float = 0.0
    next_glance: float = 0.0
    next_poll: float = 0.0

    def refresh(self, show: bool = True) -> None:
        """Read what waits, with one transfer a device; show it.

        Args:
            show: whether to show it.
        """
        begun = self.budget.begin()
        self.reader.read()
        self.pace.mark()
        if show:
            self.show_now()
        self.budget.end("refresh", begun)
        if show:
            now = perf_counter()
            each = min(now - begun[0], 2 * self.budget.jobs["refresh"].cost)  # the first take long
            self.next_glance = now + GLANCE
            self.next_refresh = now + min(max(REFRESH, each * 4 / self.budget.share), SELDOM)

    def glance(self) -> None:
        """Show where the run is and what the loss was, between two refreshes: neither waits for what is dear."""
        begun = self.budget.begin()
        # what is on a device comes with the next refresh; so does the mark from which a page is sent what is new
        losses = self.reader.read_losses() if self.pending.losses_on_host() else ()
        self.changes.touch("head", *losses)
        self.pace.mark()
        self.show_now()
        self.budget.end("glance", begun)
        self.next_glance = perf_counter() + GLANCE

    def show_now(self) -> None:
        """Show the run as it is."""
        if self.show is None:
            return
        try:
            self.show()
        except StopTraining:
            raise
        except Exception as error:
            sentence = f"Showing failed: {type(error).__name__}: {error}"
            if sentence not in self.progress.says:
                self.progress.says.append(sentence)

    def look_for_clicks(self, now: float) -> None:
        """Look for clicks, at most 30 times a second."""
        if self.poll is not None and now >= self.next_poll:
            try:
                self.poll()
            except Exception as error:
                self.progress.says.append(f"Clicks are not read any more: {type(error).__name__}: {error}")
                self.poll = None
            self.next_poll = perf_counter() + POLL
