"""The stepper inside a running training: the next backward pass is walked by hand, and the loop waits for it.

Invariant: however the stepper is left, the pass has run when the loop goes on: `.grad` is what it would have been. An
interrupt leaves `.grad` as it was before the pass.
"""

from __future__ import annotations

import time
from typing import Any

from ...debug.walked_pass import WalkedPass
from .._frame.shell import shell_of_user
from .._frame.user_error import first_line
from .waiting import until_left

SAYS = (
    "The training waits for this pass: undo takes your steps back, and the loop then runs the pass by itself."
)


def open_stepper(run: Any, going: Any, outputs: tuple) -> bool:
    """Show a backward pass that is about to run as a stepper, and wait until it is left.

    Args:
        run: the training.
        going: the pass, as its library has it.
        outputs: what it starts from.

    Returns:
        Whether the pass was run to its end.
    """
    shell = shell_of_user()
    held = run.probe.source.held_pass(going, outputs)
    why = "no notebook shows one" if shell is None else held.why_not()
    if why is not None:
        run.log.write(run.step, "stepper refused", why)
        return False
    how = ""
    with run.budget.holding():
        try:
            how = _walk(run, held.stepper(_names(run, shell)), shell)
        except Exception as error:  # showing it failed: the loop goes on
            run.log.write(run.step, "stepper refused", first_line(error))
        finally:
            held.leave(how == "finish")
            run.progress.set("running")
            run.changes.touch("log", "head")
            run.refresher.show_now()
    return how == "finish"


def _names(run: Any, shell: Any) -> dict[Any, str]:
    from ..graph.command import leaves

    named = {p: name for name, p in run.model.named_parameters()} if run.model is not None else {}
    return {**leaves(shell.user_ns, run.probe.source), **named}


def _walk(run: Any, stepper: WalkedPass, shell: Any) -> str:
    """Show it, and wait; returns how it was left."""
    from IPython.display import display

    from .command import shown

    try:
        view = shown(stepper, shell.user_ns, (), "on", [SAYS])
        display(view)
        if stepper.closed:  # no page asks the kernel
            return ""
        where = f"in the backward pass of step {run.step + 1:,}"
        run.progress.set("paused", f"The stepper is open below, {where}: leave it to go on.")
        run.changes.touch("head")
        run.refresher.show_now()
        how = until_left(
            view,
            lambda: run.refresher.look_for_clicks(time.perf_counter()),
            lambda: not any(command["do"] == "stop" for command, _ in list(run.commands.waiting)),
        )
        if not stepper.closed:
            view.driver.leave("finish")
            how = "finish"
        words = {"finish": "run to its end", "undo": "undone; the loop ran the pass by itself"}
        run.log.write(run.step, "stepper left", words.get(how, ""))
        return how
    finally:
        if not stepper.closed:
            stepper.undo()
