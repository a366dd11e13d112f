"""What a program of this part of the bench is: healthy text, the changes that plant a fault, the lines to blame.

Invariant: each change is made once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A faulty program and its healthy counterpart.

    Args:
        name: of it. cause: what is wrong. rules: those that mean this cause.
        lines: of the faulty program, any of which is right.
        text: of the healthy one. changes: (old, new).
    """

    name: str
    cause: str
    rules: tuple[str, ...]
    lines: tuple[int, ...]
    text: str
    changes: tuple[tuple[str, str], ...]

    @property
    def faulty(self) -> str:
        """The program with the fault."""
        text = self.text
        for old, new in self.changes:
            assert text.count(old) == 1, (self.name, old)
            text = text.replace(old, new)
        return text


FAULTY: list[Program] = []
SOUND: dict[str, str] = {}


def fault(
    name: str,
    cause: str,
    rules: tuple[str, ...],
    lines: tuple[int, ...],
    text: str,
    *changes: tuple[str, str],
) -> None:
    """Enter a faulty program; its counterpart is a healthy one."""
    FAULTY.append(Program(name, cause, rules, lines, text, changes))
    SOUND[f"{name}, mended"] = text


def healthy(name: str, text: str) -> None:
    """Enter a program that only looks suspicious."""
    SOUND[name] = text
