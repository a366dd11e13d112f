"""A cell that runs waits while a person steps one of its backward passes.

Clicks and keys are handled meanwhile, as at the steps of a watched loop. Invariant: it waits only where a page has
answered; an interrupt takes the pass back, so that `.grad` is what it was before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .._frame import pump

WAIT = 0.01  # seconds between two looks
PATIENCE = 8.0  # seconds for a page to answer: it may still be loading
AGAIN = 0.25  # between two questions whether one is there
OFF = "finish, off"  # it is finished, and its breakpoint is not to stop again
SAYS = (
    "The cell waits for this pass: Finish runs the rest of it, and the cell goes on. Undo takes every step back and "
    "ends the cell here."
)


def hindrance() -> str:
    """Why a cell cannot wait here; "" where it can."""
    return pump.why_not()


def waited(view: Any) -> str:
    """Let the running cell wait until a pass is left.

    Args:
        view: the page that steps it, displayed.

    Returns:
        How it was left: "finish", `OFF` or "undo"; "" where no page answered: then it stands as it stood.
    """
    end, ask = time.perf_counter() + PATIENCE, 0.0

    def answers() -> bool:
        """Whether a page has answered, or may still."""
        nonlocal ask
        now = time.perf_counter()
        if not view.answered and now >= ask:
            view.ask()
            ask = now + AGAIN
        return view.answered or now < end

    how = until_left(view, pump.pump, answers)
    return OFF if how == "finish" and view.stops_no_more else how


def until_left(view: Any, look: Callable[[], Any], waits: Callable[[], bool] = lambda: True) -> str:
    """Handle what is clicked until a pass is left, or is waited for no longer; one whose page is gone is finished.

    Args:
        view: the page that steps it.
        look: looks for clicks.
        waits: whether to wait on.

    Returns:
        How it was left: "finish" or "undo"; "" where it was not.
    """
    pump.route(view.comm)
    driver, how = view.driver, []
    close_before, stepper = driver.on_close, view.driver.stepper
    driver.on_close = lambda word: (how.append(word), close_before(word))
    try:
        while not stepper.closed and view.comm is not None and waits():
            look()
            time.sleep(WAIT)
        if not stepper.closed and view.comm is None:
            driver.leave("finish")
    except BaseException:
        driver.leave("undo")
        raise
    return "".join(how[-1:])
