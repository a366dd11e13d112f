"""The log of a run: what was done to it, with the step it was done at.

Invariant: at most `MOST` lines are kept; the oldest go first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

MOST = 1000
STAYS = "rewound", "paused"  # lines that a rewind does not undo


@dataclass
class Entry:
    """One line of the log."""

    number: int
    step: int
    what: str
    effect: str = ""
    before: Any = None
    after: Any = None
    undone: bool = False

    def wire(self) -> dict[str, Any]:
        """As it travels."""
        return {
            "number": self.number,
            "step": self.step,
            "what": self.what,
            "from": self.before,
            "to": self.after,
            "effect": self.effect,
            "undone": self.undone,
        }


class Log:
    """The lines, oldest first."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=MOST)
        self.number = 0

    def write(self, step: int, what: str, effect: str = "", before: Any = None, after: Any = None) -> Entry:
        """Add a line."""
        self.number += 1
        self.entries.append(Entry(self.number, step, what, effect, before, after))
        return self.entries[-1]

    def undo_after(self, step: int) -> None:
        """Mark what was done after a step as undone."""
        for entry in self.entries:
            if entry.step > step and not entry.undone and not entry.what.startswith(STAYS):
                entry.undone = True
                entry.effect += "; undone by the rewind" if entry.effect else "undone by the rewind"
