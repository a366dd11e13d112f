"""Commands: asked for from any thread, checked at once, acted on by the loop at its next step boundary.

What is asked for is refused with a ValueError that says why; what was done is written into the log with its step.
Invariant: nothing but the loop's own thread changes the model, the optimizer or a generator while the loop runs.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from contextlib import suppress
from time import perf_counter
from typing import Any

WAIT = 0.01  # seconds between two looks while the loop is held

WORDS = {
    "pause": (),
    "step": (),
    "resume": (),
    "stop": (),
    "lr": ("value", "group"),
    "snapshot": (),
    "rewind": ("step",),
    "filters": ("name",),
    "stepper": (),
    "autopause": ("on",),
    "trace": (),
    "into": (),
    "meant": ("number",),
}


class StopTraining(BaseException):
    """Ends a loop whose run was stopped; the run's `with` block keeps it to itself.

    It is no Exception, so that a loop which catches those ends all the same.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.watch import watch
        >>> net = vistorch.nn.Linear(1, 1)
        >>> optimizer = vistorch.optim.SGD(net.parameters(), lr=0.1)
        >>> with watch(net, optimizer) as run:
        ...     for step in range(100):
        ...         net(vistorch.ones(1, 1)).sum().backward()
        ...         optimizer.step()
        ...         if step == 2:
        ...             run.stop()
        >>> run.status, run.step
        ('stopped', 4)
    """

    def __init__(self, run: Any) -> None:
        super().__init__("the training was stopped; the model is kept")
        self.run = run


def checked(message: Any) -> dict[str, Any]:
    """A command as it may come from a page: known words, plain values; ValueError says what is wrong.

    Args:
        message: {"do": word, ...}.

    Example:
        >>> from vistorch.debug.watch.commands import checked
        >>> checked({"do": "lr", "value": 0.1})
        {'do': 'lr', 'value': 0.1, 'group': None}
        >>> checked({"do": "lr", "value": -1})
        Traceback (most recent call last):
        ValueError: the learning rate must be a positive number, got -1
    """
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise ValueError('a command is {"do": word, ...}')
    word = message["do"]
    if word not in WORDS:
        raise ValueError(f"unknown command {word[:40]!r}; known are: {', '.join(WORDS)}")
    found: dict[str, Any] = {"do": word, **{name: message.get(name) for name in WORDS[word]}}
    if word == "lr":
        found["value"] = positive(found["value"])
        group = found["group"]
        if group is not None and (type(group) is not int or not 0 <= group < 2**53):
            raise ValueError(f"a parameter group is a number from 0 on, got {_short(group)}")
    if word == "rewind" and found["step"] is not None:
        step = found["step"]
        if type(step) is not int or not 0 <= step < 2**53:
            raise ValueError(f"a step is a number from 0 on, got {_short(step)}")
    if word == "autopause" and type(found["on"]) is not bool:
        raise ValueError(f"pausing at an alarm is on or off, got {_short(found['on'])}")
    if word == "meant" and (type(found["number"]) is not int or not 0 <= found["number"] < 3):
        raise ValueError(
            f"a finding is one of those that are shown, from 0 on, got {_short(found['number'])}"
        )
    if word == "filters" and not isinstance(found["name"], str):
        raise ValueError("filters are chosen by the name of a parameter")
    return found


def positive(value: Any) -> float:
    """A learning rate: a positive, finite number."""
    with suppress(OverflowError):  # a whole number that is larger than any float
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < float(value) < math.inf:
            return float(value)
    raise ValueError(f"the learning rate must be a positive number, got {_short(value)}")


def _short(value: Any) -> str:
    """A value in a sentence; Python writes no number of thousands of digits out."""
    if type(value) is int and abs(value) >= 2**53:
        return f"a number of {value.bit_length():,} bits"
    return repr(value)[:60]


class CommandQueue:
    """Where commands wait for the loop."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[dict[str, Any], float]] = deque()
        self.woken = threading.Condition()
        self.paused = False
        self.once = False  # one step, then hold again

    def ask(self, command: dict[str, Any]) -> None:
        """Queue a command; wakes a loop that is held."""
        with self.woken:
            self.waiting.append((command, perf_counter()))
            self.woken.notify_all()

    def take(self) -> tuple[dict[str, Any], float] | None:
        """The next command, oldest first."""
        with self.woken:
            return self.waiting.popleft() if self.waiting else None

    def wait(self) -> None:
        """Wait for a command, or until it is time to look for clicks."""
        with self.woken:
            if not self.waiting:
                self.woken.wait(WAIT)
