"""Where a watched loop is: step, epoch, status, and the sentences that go with them.

Invariant: these are the only counters of the loop; all that is computed from them (speed, time left) is in `pace`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["waiting", "running", "paused", "finished", "ended", "stopped", "interrupted", "error"]
OPEN = ("waiting", "running", "paused")  # while the loop may go on


@dataclass(slots=True)
class Progress:
    """The state of a loop between two of its steps.

    Args:
        step: whole steps; after a rewind, the step of the snapshot.
        epoch: of the loader, from 1 on; 0 without one.
        epoch_steps: batches of an epoch, where the loader has a length.
        batch: samples of a batch.
        status: what the loop does.
        say: a sentence that explains the status.
        says: remarks that stay.
        error: the exception that ended the loop; see `failure.describe`.
        open: whether the loop is watched now.
    """

    step: int = 0
    epoch: int = 0
    epoch_steps: int | None = None
    batch: int | None = None
    status: Status = "waiting"
    say: str = ""
    says: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None
    open: bool = False

    def set(self, status: Status, say: str = "") -> None:
        """Change the status and its sentence together."""
        self.status, self.say = status, say
