"""The ranks of this notebook, and a cell that runs on them.

Invariant: there is one set of ranks in a notebook, and it ends with its kernel.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

from .._frame.pump import pump
from .._frame.user_error import Refusal
from .errors import RanksFailed
from .outputs import Outputs

NONE = "there are no ranks: type `%vt ranks 2` to start two"


class Ranks:
    """The ranks of this notebook, and what they have of its names."""

    def __init__(self) -> None:
        self.pool: Any = None
        self.forget()

    def forget(self) -> None:
        """Nothing was sent yet."""
        self.sent: dict[str, Any] = {}  # name -> what gives the value that was sent
        self.own: set[str] = set()  # the names that a cell of theirs has bound

    @property
    def open(self) -> bool:
        """Whether there are ranks."""
        return self.pool is not None and self.pool.open

    def start(self, count: int) -> None:
        """Start ranks.

        Args:
            count: how many.
        """
        from ...rank_workers.pool import Pool, RanksGone
        from ...ranks import wiring

        if not wiring.is_there():
            raise Refusal(f"`%vt ranks` {wiring.NEEDS}")
        if os.name != "posix":
            raise Refusal("`%vt ranks` needs Linux or macOS: start ranks with `vistorch launch` here")
        self.forget()
        try:
            self.pool = Pool(count)
        except (RanksGone, OSError) as error:
            raise Refusal(f"the ranks did not start: {error}") from None

    def stop(self) -> None:
        """End the ranks."""
        if self.pool is not None:
            self.pool.stop()
        self.pool = None
        self.forget()

    def needed(self, cell: str, shell: Any) -> tuple[bytes, dict[str, Any]]:
        """What a cell reads of the notebook and the ranks do not have, as bytes and by name.

        Args:
            cell: its text.
            shell: the IPython shell whose names are read.
        """
        from ...rank_workers.transfer import CannotTravel, names_read, pack

        namespace = shell.user_ns
        read, bound = names_read(shell.transform_cell(cell))
        hidden = {name for name in shell.user_ns_hidden if name in namespace}
        known = (
            self.own
            | hidden
            | {
                name
                for name, value in self.sent.items()
                if (kept := value()) is not None and kept is namespace.get(name)
            }
        )
        try:
            return pack(read, namespace, known, bound)
        except CannotTravel as why:
            raise Refusal(str(why)) from None

    def note(self, values: dict[str, Any], outcomes: dict[int, Any]) -> None:
        """Remember what the ranks have after a cell.

        Args:
            values: what was sent.
            outcomes: how the cell ended.
        """
        for name, value in values.items():
            self.sent[name] = _reference(value)
        for one in outcomes.values():
            self.own |= {name for name in one.bound if not name.startswith("_")}

    def said(self) -> str:
        """What there is, in a line."""
        if not self.open:
            return NONE
        pids = ", ".join(f"{one.number} (process {one.pid})" for one in self.pool.ranks)
        return f"ranks: {pids}; `%%vt ranks` runs a cell on them, `%vt ranks stop` ends them"


def _reference(value: Any) -> Any:
    """What gives a value without keeping it, where that can be."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


RANKS = Ranks()


def run_on_ranks(
    cell: str,
    shell: Any,
    first: str,
    only: list[int] | None = None,
    watch: dict[str, Any] | None = None,
    compare: bool = False,
    on_message: Any = None,
    on_wait: Any = None,
) -> dict[int, Any]:
    """Run a cell on the ranks, show what they put out, and raise if one of them failed.

    Args:
        cell: all lines but the first.
        shell: the IPython shell.
        first: the line that was taken off, kept as a comment so that line numbers are those of the editor.
        only: the ranks to run it on; all if None.
        watch: how it is recorded, if it is.
        compare: whether each rank keeps what ranks are compared by.
        on_message: called with what else the ranks say.
        on_wait: called after each message, and about twenty times a second while nothing comes.
    """
    from ...rank_workers.pool import RanksGone

    if shell is None:
        raise Refusal(
            f"`{first}` runs a cell of a notebook: outside of one, start ranks with `vistorch launch`"
        )
    if not RANKS.open:
        raise Refusal(NONE)
    pool = RANKS.pool
    body = cell if cell.lstrip().startswith("%%") else f"# {first}\n{cell}"
    packed, values = RANKS.needed(body, shell)
    chosen = list(range(pool.count)) if only is None else only
    outputs = Outputs(chosen, shell)
    outcomes: dict[int, Any] = {}

    def message(what: str, rank: int, said: dict[str, Any]) -> None:
        outputs.take(what, rank, said)
        if what == "ended":
            outputs.end(rank)
        if on_message is not None:
            on_message(what, rank, said)

    def wait() -> None:
        pump()
        if on_wait is not None:
            on_wait()

    number = shell.displayhook.prompt_count if shell.displayhook is not None else 1
    try:
        outcomes = pool.run(
            body, packed, chosen, {"number": number, "watch": watch, "compare": compare}, message, wait
        )
    except RanksGone:
        raise Refusal(NONE) from None
    finally:
        outputs.finish()
        for rank, text in pool.written().items():
            outputs = Outputs([rank], shell)
            outputs.take("stream", rank, {"name": "stderr", "text": text})
            outputs.finish()
        if not pool.open:
            RANKS.stop()
    RANKS.note(values, outcomes)
    if any(not one.ok for one in outcomes.values()):
        raise RanksFailed(outcomes, _notes(pool, outcomes))
    return outcomes


def _notes(pool: Any, outcomes: dict[int, Any]) -> tuple[str, ...]:
    if pool.lost:
        return (f"all ranks have ended: type `%vt ranks {pool.count}` to start them again",)
    if pool.left:
        return (
            "the ranks stood at different operations and have left their process group: call init_process_group again",
        )
    return ()
