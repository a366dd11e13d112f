"""`%vt ranks` and `%%vt ranks`: start ranks that stay, run a cell on them, end them.

Invariant: what cannot be done is refused before a rank is started or ended.
"""

from __future__ import annotations

from typing import Any

from ...debug.ranks.named import named
from ...widgets._frame.command import Asked, Command, Parser
from ...widgets._frame.note import Note
from ...widgets._frame.user_error import Refusal
from ...widgets.ranks.run import NONE, RANKS, run_on_ranks

MOST = 256


def ranks(what: Any = None, *, only: str = "") -> Note:
    """Start ranks that stay until the kernel ends: processes that train together. `%%vt ranks` runs a cell on them.

    Args:
        what: how many to start; "stop" ends them, with all that they hold; None says which there are.
        only: the ranks that run a cell, for `%%vt ranks` alone.

    Returns:
        What there is now, as text.

    Example:
        >>> from vistorch import vt
        >>> vt.ranks()
        there are no ranks: type `%vt ranks 2` to start two
    """
    if not isinstance(only, str):
        raise Refusal(f"only takes numbers of ranks as text, such as '0,2', not {type(only).__name__}")
    if only:
        raise Refusal(f"--only is for a cell: type `%%vt ranks --only {only}` on its first line")
    if what is None:
        return Note(RANKS.said())
    if isinstance(what, bool) or not isinstance(what, (int, str)):
        raise Refusal(
            f"`ranks` takes a number from 1 to {MOST}, or stop, not {type(what).__name__}: type `%vt ranks 2`"
        )
    if what == "stop":
        if not RANKS.open:
            RANKS.stop()
            return Note(NONE)
        count = RANKS.pool.count
        RANKS.stop()
        return Note(f"{count} rank{'s' * (count > 1)} ended")
    try:
        count = int(what)
    except ValueError:
        count = 0
    if not 1 <= count <= MOST:
        raise Refusal(f"`ranks` takes a number from 1 to {MOST}, or stop, not {what!r}: type `%vt ranks 2`")
    if RANKS.open:
        if RANKS.pool.count == count:
            return Note(RANKS.said())
        raise Refusal(
            f"there are {RANKS.pool.count} ranks already: type `%vt ranks stop` first, which ends what they hold"
        )
    RANKS.start(count)
    are = "1 rank is" if count == 1 else f"{count} ranks are"
    return Note(f"{are} there: `%%vt ranks` runs a cell on them, `%vt ranks stop` ends them")


def _cell(cell: str, asked: Asked, *, what: Any = None, only: str = "") -> None:
    """Run a cell on the ranks."""
    chosen = None
    if what is not None:
        if what == "stop":
            raise Refusal("`stop` takes no cell: type `%vt ranks stop`")
        if not RANKS.open:  # `%%vt ranks 2` starts them
            ranks(what)
        elif str(RANKS.pool.count) != str(what):
            ranks(what)
    if only:
        chosen = _chosen(only)
    run_on_ranks(cell, asked.shell, "%%vt ranks", chosen)


def _chosen(text: str) -> list[int]:
    if not RANKS.open:
        raise Refusal(NONE)
    count = RANKS.pool.count
    try:
        found = sorted({int(one) for one in text.split(",")})
    except ValueError:
        raise Refusal(f"--only takes numbers of ranks, not {text!r}: type --only 0") from None
    if not found or not 0 <= found[0] <= found[-1] < count:
        raise Refusal(
            f"--only takes numbers from 0 to {count - 1}, not {text!r}; there are {named(list(range(count)))}"
        )
    return found


def _arguments(parser: Parser) -> None:
    parser.takes("what", "how many to start; or stop", nargs="?", metavar="N|stop")
    parser.takes(
        "--only", "the ranks that run a cell: 0 or 0,2; all if not given", metavar="RANKS", default=""
    )


COMMANDS = (
    Command(
        name="ranks",
        summary="Ranks that stay; also %%vt ranks, a cell on all of them",
        function=ranks,
        cell=_cell,
        arguments=_arguments,
        examples=(
            ("ranks 2", "start two; they stay until the kernel ends"),
            ("ranks", "which there are; as %%vt ranks, the cell runs on all of them"),
            ("ranks stop", "end them"),
        ),
        about="start processes that train together; a cell runs on all of them, its output by rank",
        rank=75,
    ),
)
