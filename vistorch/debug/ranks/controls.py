"""In the notebook: what a person asks of a run on ranks, carried out by all of them at the end of the same step.

Invariant: either all ranks that still run do it, or none does, and a sentence says why not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, TypedDict

from ..wire_types import Finite
from .named import named

WORDS = ("pause", "resume", "step", "stop", "rate")
ANSWERS = 3.0  # seconds that ranks have to say where they are


class Bar(TypedDict):
    """What the page offers."""

    on: bool  # whether anything can be asked for
    paused: bool
    say: str
    rate: Finite | None


class Controls:
    """Takes what is asked for, and asks the ranks.

    Args:
        count: how many ranks.
        send: called with a request for all ranks.

    Example:
        >>> from vistorch.debug.ranks.controls import Controls
        >>> sent = []
        >>> controls = Controls(2, sent.append)
        >>> controls.command("pause")
        >>> for rank, coming in ((0, 7), (1, 6)):  # each says which end of a step comes next
        ...     controls.answered(rank, {"id": 1, "next": coming})
        >>> [(one["do"], one.get("step")) for one in sent]
        [('hold', None), ('at', 7)]
        >>> for rank in range(2):
        ...     controls.answered(rank, {"id": 1, "at": 7})
        >>> controls.paused, controls.say.partition(",")[0]
        (True, 'Paused after step 7')
    """

    def __init__(self, count: int, send: Callable[[dict[str, Any]], None]) -> None:
        self.send, self.active = send, set(range(count))
        self.over: set[int] = set()  # ranks that have come to the end of the cell
        self.number = 0  # of the newest request
        self.asked: dict[str, Any] | None = None  # what is being done
        self.coming: dict[int, int] = {}
        self.there: set[int] = set()
        self.paused, self.step, self.begin = False, 0, 0.0
        self.say, self.rate = "", None
        self.stopped = False

    def command(self, word: str, value: Any = None) -> None:
        """Ask for something.

        Args:
            word: one of `WORDS`.
            value: the learning rate.

        Raises:
            ValueError: it cannot be done; the sentence says why.
        """
        if self.over:
            still = "" if self.active else "; the run is over"
            raise ValueError(f"{named(self.over)} has come to the end of the cell{still}".capitalize())
        if self.asked is not None:
            raise ValueError(f"The ranks have not yet done what was asked for last ({self.asked['word']})")
        if word == "rate":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"a learning rate is a number, not {str(value)[:40]!r}")
            if value < 0:
                raise ValueError(f"a learning rate is 0 or more, not {value}")
        elif word in ("resume", "step") and not self.paused:
            raise ValueError("The run is not paused")
        elif word == "pause" and self.paused:
            raise ValueError("The run is paused already")
        self.number += 1
        self.begin = time.monotonic()
        self.coming, self.there = {}, set()
        if word == "resume":
            self.paused, self.say = False, ""
            self.send({"do": "go", "id": self.number})
            return
        then = {"pause": "pause", "step": "pause", "stop": "stop"}.get(word, "pause" if self.paused else "go")
        self.asked = {"word": word, "then": then, "rate": float(value) if word == "rate" else None}
        self.say = "Waiting for the end of a step on all ranks."
        if self.paused:
            self.paused = word == "rate"
            self._at(self.step + (word == "step"))
        else:
            self.send({"do": "hold", "id": self.number})

    def answered(self, rank: int, reply: dict[str, Any]) -> None:
        """Take what a rank answered.

        Args:
            rank: which.
            reply: "next", the step whose end it comes to, or "at", the one where it has done what was asked for.
        """
        if reply.get("id") != self.number or self.asked is None:
            return
        if "next" in reply:
            self.coming[rank] = int(reply["next"])
        else:
            self.there.add(rank)
        self._go_on()

    def ended(self, rank: int) -> None:
        """A rank has come to the end of the cell.

        Args:
            rank: which.
        """
        self.active.discard(rank)
        self.over.add(rank)
        if self.paused and self.active:  # the others would wait for ever
            self.paused = False
            self.send({"do": "go", "id": self.number})
        if self.asked is not None and self.asked["then"] == "stop" and rank in self.there:
            self._go_on()
        elif self.asked is not None:
            self.asked = None
            if self.active:
                self.send({"do": "go", "id": self.number})
            self.say = f"{named([rank]).capitalize()} came to the end of the cell first: the others go on."

    def tick(self, now: float | None = None) -> None:
        """Give up where a rank does not say where it is; called now and then.

        Args:
            now: the time.
        """
        now = time.monotonic() if now is None else now
        if self.asked is None or now - self.begin < ANSWERS:
            return
        if "step" not in self.asked:
            silent = self.active - self.coming.keys()
            does = "does" if len(silent) == 1 else "do"
            self.asked = None
            self.say = f"{named(silent).capitalize()} {does} not answer: nothing was done, and all go on."
            self.send({"do": "go", "id": self.number})
        else:
            late = self.active - self.there
            has = "has" if len(late) == 1 else "have"
            end = f"the end of step {self.asked['step']:,}"
            self.say = f"{named(late).capitalize()} {has} not come to {end} yet; the others wait there."

    def bar(self) -> Bar:
        """What the page offers now."""
        return {
            "on": bool(self.active) and not self.over,
            "paused": self.paused,
            "say": self.say,
            "rate": self.rate,
        }

    def _at(self, step: int) -> None:
        assert self.asked is not None
        self.asked["step"] = self.step = step
        self.send(
            {
                "do": "at",
                "id": self.number,
                "step": step,
                "then": self.asked["then"],
                "rate": self.asked["rate"],
            }
        )

    def _go_on(self) -> None:
        asked = self.asked
        assert asked is not None
        if "step" not in asked:
            if self.coming.keys() >= self.active:
                self._at(max(self.coming.values()))
            return
        if not self.there >= self.active:
            return
        self.asked = None
        took = f"all ranks, {1000 * (time.monotonic() - self.begin):.0f} ms after the click"
        after = f"after step {self.step:,}, {took}."
        if asked["rate"] is not None:
            self.rate = asked["rate"]
            self.say = f"Learning rate {self.rate:g} {after}"
        elif asked["then"] == "stop":
            self.stopped = True
            self.say = f"Stopped {after}"
        else:
            self.say = f"Paused {after}"
        self.paused = asked["then"] == "pause"
