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


class Programs:
    """The programs of a part.

    Attributes:
        faulty: those with a fault.
        sound: healthy ones by name, the counterparts included.
    """

    def __init__(self) -> None:
        self.faulty: list[Program] = []
        self.sound: dict[str, str] = {}

    def fault(
        self,
        name: str,
        cause: str,
        rules: tuple[str, ...],
        lines: tuple[int, ...],
        text: str,
        *changes: tuple[str, str],
    ) -> None:
        """Enter a faulty program; its counterpart is a healthy one."""
        self.faulty.append(Program(name, cause, rules, lines, text, changes))
        self.sound[f"{name}, mended"] = text

    def healthy(self, name: str, text: str) -> None:
        """Enter a program that only looks suspicious."""
        self.sound[name] = text


PROGRAMS = Programs()
fault, healthy = PROGRAMS.fault, PROGRAMS.healthy
