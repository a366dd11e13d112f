"""In a rank: the end of each step, where it waits, stops or changes its learning rate as the notebook asked.

All ranks have to act after the same step, and one that waits at an earlier one holds the others up in their next
operation. So first each rank says the end of which step comes next, and does not pass it; then all are given the last
of these.

Invariant: without a request an end of a step costs one test.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

_LOOK = 0.1  # seconds after which a wait looks for interrupts


class StopRanks(BaseException):
    """Ends the loop of a rank; the cell counts as run.

    It is no Exception, so that a loop which catches those ends all the same.
    """


class Gate:
    """Holds the loop at the end of a step.

    Args:
        send: called with what is reported to the notebook.

    Example:
        >>> from vistorch.debug.ranks.gate import Gate
        >>> said = []
        >>> gate = Gate(lambda **what: said.append(what["control"]))
        >>> gate.ask({"do": "hold", "id": 1})
        >>> gate.ask({"do": "at", "id": 1, "step": 0, "then": "go"})
        >>> gate.pass_step(0)
        >>> said
        [{'id': 1, 'next': 0}, {'id': 1, 'at': 0}]
    """

    def __init__(self, send: Callable[..., None]) -> None:
        self.send, self.changed = send, threading.Condition()
        self.next = 0  # the step whose end comes next
        self.busy = False  # whether anything was asked for
        self.holds = False  # whether no end may be passed until it is said which
        self.wanted: dict[str, Any] | None = None
        self.waiting = False

    def ask(self, request: dict[str, Any]) -> None:
        """Take a request, from any thread.

        Args:
            request: "hold", "at" with the step, or "go".
        """
        with self.changed:
            do = request["do"]
            self.holds = do == "hold"
            self.wanted = request if do == "at" else None
            self.busy = do != "go"
            coming = self.next
            self.changed.notify_all()
        if do == "hold":
            self.send(control={"id": request["id"], "next": coming})

    def pass_step(self, number: int, optimizers: Iterable[Any] = ()) -> None:
        """Called at the end of a step; returns when the loop may go on.

        Args:
            number: of the step.
            optimizers: whose learning rate may be changed.

        Raises:
            StopRanks: the run is to end here.
        """
        if not self.busy:
            self.next = number + 1
            if not self.busy:  # asked for in between: the answer has named this end, or the next
                return
        reported = None
        try:
            while True:
                with self.changed:
                    self.next = number
                    wanted = self.wanted
                    if not self.holds and (wanted is None or number < wanted["step"]):
                        self.next = number + 1
                        return
                    if self.holds or wanted is None or wanted is reported:
                        self.waiting = True
                        self.changed.wait(_LOOK)
                        continue
                reported = wanted
                self._do(wanted, number, optimizers)
                if wanted["then"] == "stop":
                    raise StopRanks
                if wanted["then"] == "go":
                    with self.changed:
                        if self.wanted is wanted:
                            self.wanted, self.busy = None, False
        finally:
            self.waiting = False

    def _do(self, wanted: dict[str, Any], number: int, optimizers: Iterable[Any]) -> None:
        if wanted.get("rate") is not None:
            for one in optimizers:
                for group in one.param_groups:
                    if hasattr(group["lr"], "fill_"):
                        group["lr"].fill_(wanted["rate"])
                    else:
                        group["lr"] = wanted["rate"]
        self.send(control={"id": wanted["id"], "at": number})
