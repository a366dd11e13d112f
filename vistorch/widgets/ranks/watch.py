"""`%%vt watch --ranks`: a cell on all ranks, watched in one panel.

Invariant: what shows a run never ends it: where no panel can be shown the cell runs all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from ...debug.ranks import RanksRun
from ...debug.ranks.controls import Controls
from .._frame.defaults import defaults
from .._frame.display import Display
from .._frame.output import show
from .._frame.shell import has_front_end
from .._frame.user_error import Refusal
from .errors import RanksFailed
from .run import NONE, RANKS, run_on_ranks

APART = 0.25  # seconds between two pictures of a run


class Panel:
    """The live panel, where there is a page.

    Args:
        run: what is shown.
        name: what it is exported by.
    """

    def __init__(self, run: RanksRun, name: str) -> None:
        self.run, self.name, self.view, self.next = run, name, None, 0.0
        self.shown: Any = None
        try:
            from IPython.display import display

            from .live import RanksView

            self.view = RanksView(Display(run.record(), name), run)
        except (ImportError, FileNotFoundError):  # `%vt doctor` says what is missing
            return
        display(self.view)

    def look(self) -> None:
        """Show what is new, now and then."""
        now = perf_counter()
        if self.run.controls is not None:
            self.run.controls.tick()
            state = self.run.controls.bar()
            if state != self.shown:  # what was clicked shows at once
                self.shown, self.next = state, now
        if self.view is not None and now >= self.next:
            self.view.give(Display(self.run.record(), self.name))
            self.next = perf_counter() + APART

    def finish(self) -> None:
        """Show the last state, in the panel and in what stays."""
        from IPython.display import display

        from .._frame.kept import Kept
        from .._frame.output import keep

        last = Kept(self.run.record(), self.name)
        if self.view is not None:
            self.view.give(last)
        keep(last)
        display(last)


def watch_on_ranks(cell: str, shell: Any, name: str, title: str, live: Any) -> None:
    """Run a cell on the ranks, and show its training.

    Args:
        cell: its text.
        shell: the IPython shell.
        name: what the display is exported by.
        title: what it is called.
        live: "off" shows nothing until the end.
    """
    if shell is None:
        raise Refusal("`%%vt watch --ranks` runs a cell of a notebook")
    if not RANKS.open:
        raise Refusal(NONE)
    run = RanksRun(RANKS.pool.count, title)
    run.controls = Controls(RANKS.pool.count, RANKS.pool.control)
    wanted = defaults.live if live is None else live
    panel = Panel(run, name) if has_front_end(shell) and wanted not in ("off", False) else None
    look: Callable[[], None] = panel.look if panel is not None else lambda: None

    def message(what: str, rank: int, said: dict[str, Any]) -> None:
        if what == "seen":
            run.take(rank, said)
        elif what == "ended":
            run.ended.add(rank)
            run.controls.ended(rank)
        look()

    outcomes, error = None, ""
    try:
        outcomes = run_on_ranks(
            cell, shell, "%%vt watch --ranks", watch={"on": True}, on_message=message, on_wait=look
        )
    except RanksFailed as failure:
        outcomes, error = failure.outcomes, str(failure)
        raise
    except KeyboardInterrupt:
        error = "interrupted"
        raise
    finally:
        run.end(outcomes, error)
        if panel is not None:
            panel.finish()
        else:
            show(Display(run.record(), name), shell)
