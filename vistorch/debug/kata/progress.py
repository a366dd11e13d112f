"""Which kata were opened, hinted and solved, kept in one small file between notebooks.

Invariant: a file that cannot be read counts as empty; where none can be written, it is kept in memory.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...serialization.atomic import replacing
from . import KATA


@dataclass
class Standing:
    """How far one kata is.

    Args:
        place: the right place, as it was named; "" while it is not.
        tries: places that were named.
        hints: that were opened.
        solved: whether it is.
        helped: whether a hint or the solution was open before it was solved.
    """

    place: str = ""
    tries: int = 0
    hints: int = 0
    solved: bool = False
    helped: bool = False


@dataclass
class Progress:
    """All twelve.

    Args:
        standings: by number.
    """

    standings: dict[int, Standing] = field(default_factory=dict)

    def of(self, number: int) -> Standing:
        """How far one is.

        Args:
            number: which.
        """
        return self.standings.setdefault(number, Standing())

    def next(self) -> int | None:
        """The first that is not solved."""
        return next((one.number for one in KATA if not self.of(one.number).solved), None)

    def save(self) -> None:
        """Write the file, where that is possible."""
        path = where()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = {str(number): asdict(one) for number, one in self.standings.items()}
            with replacing(str(path)) as file:
                file.write(json.dumps(whole).encode())
        except OSError:
            _unwritten[str(path)] = self
        else:
            _unwritten.pop(str(path), None)


_unwritten: dict[str, Progress] = {}  # by path, what could not be written: for as long as the process lives


def where() -> Path:
    """The file: `vistorch/kata.json` in the folder for a person's data."""
    return (
        Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "vistorch" / "kata.json"
    )


def load() -> Progress:
    """Read the file; what it does not have has not begun.

    Example:
        >>> from vistorch.debug.kata.progress import load
        >>> sorted(vars(load().of(12)))
        ['helped', 'hints', 'place', 'solved', 'tries']
    """
    if (held := _unwritten.get(str(where()))) is not None:
        return held
    try:
        whole = json.loads(where().read_text(encoding="utf-8"))
        return Progress(
            {int(number): _standing(one) for number, one in whole.items() if 0 < int(number) <= len(KATA)}
        )
    except (OSError, ValueError, TypeError, AttributeError):
        return Progress()


def _standing(one: dict[str, Any]) -> Standing:
    """Fields of their type; another one is left as it begins."""
    made = Standing()
    for f in fields(Standing):
        if type(one.get(f.name)) is type(getattr(made, f.name)):
            setattr(made, f.name, one[f.name])
    return made
