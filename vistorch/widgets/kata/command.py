"""`%vt kata 3`, and `%%vt kata 3` above a mended cell: twelve broken cells to mend.

Invariant: the cell runs as it stands, in the reader's own names; what it raises is shown as by any cell.
"""

from __future__ import annotations

from typing import Any

from ...debug.kata import KATA
from ...debug.kata.attempt import attempt
from ...debug.kata.kata import Kata
from ...debug.kata.progress import load
from ...debug.kata.record import KataRecord
from .._frame.command import Asked, Command, Parser
from .._frame.defaults import defaults
from .._frame.display import Display
from .._frame.run_cell import finish, run
from .._frame.shell import has_front_end, shell_of_user
from .._frame.user_error import Refusal
from . import deeds


def one(number: Any) -> Kata:
    """The kata of a number, or a refusal.

    Args:
        number: from 1 to 12.
    """
    if type(number) is not int or not 1 <= number <= len(KATA):
        raise Refusal(f"there are kata 1 to {len(KATA)}, and no {number!r}: type %vt kata for all of them")
    return KATA[number - 1]


def kata(
    number: int | None = None, *, place: str | None = None, hint: bool = False, solution: bool = False
) -> Any:
    """Show a broken cell to mend, or the table of all twelve.

    Args:
        number: which, from 1 to 12; none for the table.
        place: name the place where it is broken: a line, a part of its text, or a node of the graph.
        hint: open the next of two hints.
        solution: open the solution; after both hints, or when it is solved.

    Example:
        >>> from vistorch import vt
        >>> print(vt.kata(3, place="6").record.rows()[0].title)
        Not line 6
    """
    progress = load()
    if number is None:
        if place is not None or hint or solution:
            raise Refusal("which kata? type its number first: %vt kata 3 --hint")
        return shown(KataRecord(progress))
    record = KataRecord(progress, one(number))
    if place is not None:
        record = deeds.named(record, str(place))
    if hint:
        record = deeds.hinted(record)
    if solution:
        if not record.allowed:
            raise Refusal("the solution opens after both hints, or when the kata is solved: type --hint")
        record = deeds.shown(record)
    return shown(record)


def shown(record: KataRecord) -> Any:
    """The view of a record: live where a page asks the kernel.

    Args:
        record: a card or the table.
    """
    display = Display(record, record.title)
    if defaults.live == "off" or not has_front_end(shell_of_user()):
        return display
    try:
        from .live import KataView

        return KataView(display)
    except (ImportError, FileNotFoundError):  # `%vt doctor` says what is missing
        return display


def _cell(
    cell: str, asked: Asked, number: int | None = None, place: str | None = None, hint: bool = False,
    solution: bool = False,
) -> Any:  # fmt: skip
    """Run a mended cell and judge it."""
    if number is None or hint or solution:
        raise Refusal(
            "a cell is run for one kata: type %%vt kata 3 above it; --hint and --solution go without a cell"
        )
    which = one(number)
    names = asked.namespace if asked.shell is None else asked.shell.user_ns
    for name in (which.needs, "loss"):  # an earlier cell's would be measured where this one makes none
        names.pop(name, None)
    made = attempt(which, lambda: (names, run(cell, asked.shell, f"%%vt kata {number}")))
    record = deeds.ran(which, made)
    if place is not None:
        record = deeds.named(record, place)
    error = made.error
    return finish(shown(record), error, asked.shell)


def _arguments(parser: Parser) -> None:
    parser.takes("number", "which, from 1 to 12; none for all of them", nargs="?", type=int, metavar="NUMBER")
    parser.takes("--place", "name the place where it is broken: a line or a node", metavar="PLACE")
    parser.takes("--hint", "open the next of two hints", action="store_true")
    parser.takes("--solution", "open the solution", action="store_true")


COMMANDS = (
    Command(
        name="kata",
        summary="Twelve broken cells to mend, in four belts",
        function=kata,
        cell=_cell,
        arguments=_arguments,
        examples=(
            ("kata 3", "the third: a symptom, a broken cell, and two hints"),
            ("kata 3 --place 12", "name the line where it is broken"),
            ("kata", "all twelve, and how far you are"),
        ),
        about="a broken cell to mend, judged by the tools of the debugger",
        rank=140,
    ),
)
