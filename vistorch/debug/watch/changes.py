"""Which sections of the state have changed since a version: what a page needs to be sent.

Invariant: versions only rise, so a page that has version v lacks exactly the sections that changed after v.
"""

from __future__ import annotations

from collections import deque

MARKS = 512  # versions whose step is known


class Changes:
    """Counts versions, and remembers the version at which each section changed last."""

    def __init__(self) -> None:
        self.version = 0
        self.sections: dict[str, int] = {}
        self.marks: deque[tuple[int, int]] = deque(maxlen=MARKS)  # (version, step)

    def touch(self, *sections: str) -> None:
        """Note that sections have changed."""
        self.version += 1
        for name in sections:
            self.sections[name] = self.version

    def mark(self, step: int) -> None:
        """Note the step that the newest version is of."""
        self.marks.append((self.version, step))

    def after(self, section: str, version: int) -> bool:
        """Whether a section has changed after a version."""
        return self.sections.get(section, 0) > version

    def step_of(self, version: int) -> int:
        """The step that a version is of; 0 where that is forgotten."""
        for v, step in reversed(self.marks):
            if v <= version:
                return step
        return 0
