"""The bench in its parts: programs that were written with the rules, and those of someone who had read none.

Invariant: a part is reported by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import (  # noqa: F401  (structured enters its programs)
    eighth,
    eleventh,
    fifth,
    fourth,
    independent,
    ninth,
    second,
    seventh,
    sixth,
    structured,
    tenth,
    third,
    twelfth,
)
from .bases import BASES
from .faults import FAULTS
from .healthy import HEALTHY


@dataclass(frozen=True)
class Faulty:
    """A faulty program: its name, its cause, rules that mean it, guilty lines (none for any place), its text."""

    name: str
    cause: str
    rules: tuple[str, ...]
    lines: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Part:
    """One part: its name, faulty programs, healthy ones by name, and what it is called on the page."""

    name: str
    faulty: list[Faulty]
    healthy: dict[str, str]
    title: str


READ = "since then it was read, and rules were improved on it"
PARTS = (
    Part(
        "written with the rules",
        [
            Faulty(
                f"{i} {one.base}: {one.cause}",
                one.cause,
                one.rules,
                () if one.line is None else (one.line,),
                one.faulty,
            )
            for i, one in enumerate(FAULTS)
        ],
        {
            **{f"base {name}": text for name, text in BASES.items()},
            **{f"healthy {name}": text for name, text in HEALTHY.items()},
        },
        "Written beside the rules",
    ),
    *(
        Part(
            f"{nth} part, written without the rules",
            [
                Faulty(one.name, one.cause.partition(":")[0], one.rules, one.lines, one.faulty)
                for one in programs.faulty
            ],
            programs.sound,
            f"The {nth} part, written by {who} who had read no rule; {since}",
        )
        for nth, who, programs, since in (
            ("first", "someone", independent.PROGRAMS, READ),
            ("second", "someone else", second.PROGRAMS, READ),
            ("third", "another person", third.PROGRAMS, READ),
            ("fourth", "another person", fourth.PROGRAMS, "rules were added since, for other programs"),
            ("fifth", "two people", fifth.PROGRAMS, READ),
            ("sixth", "two people", sixth.PROGRAMS, READ),
            ("seventh", "two people", seventh.PROGRAMS, READ),
            ("eighth", "two people", eighth.PROGRAMS, READ),
            ("ninth", "two people", ninth.PROGRAMS, READ),
            ("tenth", "five people", tenth.PROGRAMS, READ),
            ("eleventh", "three people", eleventh.PROGRAMS, READ),
            ("twelfth", "three others", twelfth.PROGRAMS, "no rule was changed on it since"),
        )
    ),
)
