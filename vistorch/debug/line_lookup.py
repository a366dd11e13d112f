"""From a raw place (code, instruction) to the line a person wrote.

A cell of a notebook is a file too: IPython gives each execution a file name of its own, and `linecache` its text.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import os
import re
import sys
from dataclasses import dataclass
from types import CodeType

_CELL = re.compile(r"<ipython-input-(\d+)-")


@dataclass(frozen=True)
class Line:
    """One line of source code: `cell` is its execution number when it stands in a notebook cell.

    Example:
        >>> from vistorch.debug import Line
        >>> print(Line("train.py", 12, "step", "loss.backward()"))
        train.py:12: loss.backward()
    """

    file: str
    line: int
    function: str
    text: str
    cell: int | None = None

    @property
    def path(self) -> str:
        """The file as one would type it here: below the folder one is in, or below home; nothing for a cell.

        Example:
            >>> import os
            >>> from vistorch.debug import Line
            >>> Line(os.path.join(os.getcwd(), "train.py"), 12, "step", "").path
            'train.py'
        """
        return "" if self.cell is not None else _typed(self.file, _folder())

    def __str__(self) -> str:
        where = f"In [{self.cell}], line {self.line}" if self.cell is not None else f"{self.path}:{self.line}"
        return f"{where}: {self.text}" if self.text else where


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return ""


@functools.cache
def _typed(file: str, folder: str) -> str:
    for start, word in ((folder, ""), (os.path.expanduser("~"), "~" + os.sep)):
        start = start.rstrip(os.sep) + os.sep
        if len(start) > 1 and file.startswith(start):
            return word + file[len(start) :]
    return file


def line_of(place: tuple[CodeType, int] | None) -> Line | None:
    """The line behind what `events.where()` gave.

    Args:
        place: a function's code and the number of an instruction; None if nobody looked.

    Example:
        >>> from vistorch.debug import line_of
        >>> code = line_of.__code__
        >>> line_of((code, 0)).function
        'line_of'
    """
    if place is None:
        return None
    code, instruction = place
    number = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= instruction < end:
            number = line if line is not None else number
            break
    text = linecache.getline(code.co_filename, number).strip()
    return Line(code.co_filename, number, code.co_name, text, cell_of(code.co_filename))


def segment_of(place: tuple[CodeType, int] | None) -> str | None:
    """The part of its line that an instruction is, such as `p.log()`; None where Python does not keep it (3.10)."""
    if place is None or not hasattr(place[0], "co_positions"):
        return None
    code, instruction = place
    found = next(itertools.islice(code.co_positions(), instruction // 2, None), None)  # type: ignore[attr-defined]
    if found is None or None in found:
        return None
    first, last, start, end = found
    lines = [linecache.getline(code.co_filename, i) for i in range(first, last + 1)]
    if not all(lines):
        return None
    # columns count bytes
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][start:]
    return " ".join(part.decode(errors="replace").strip() for part in raw) or None


def cell_of(filename: str) -> int | None:
    """The execution number of the cell that has this file name, or None for a real file."""
    found = _CELL.search(filename)
    if found:
        return int(found.group(1))
    ipython = sys.modules.get("IPython")  # never imported for this: without it there are no cells
    shell = getattr(ipython, "get_ipython", lambda: None)()
    names = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return names.get(filename) if isinstance(names, dict) else None
