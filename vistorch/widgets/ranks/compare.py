"""`%%vt compare --ranks`: a cell on all ranks, and the first tensor in which they part.

Invariant: the cell runs as without it, and how it failed is raised as without it.
"""

from __future__ import annotations

from typing import Any

from ...debug.ranks import RanksRun
from ...debug.ranks.parting import judge
from .._frame.display import Display
from .._frame.output import show
from .._frame.user_error import Refusal
from .errors import RanksFailed
from .run import NONE, RANKS, run_on_ranks


def compare_on_ranks(cell: str, shell: Any, name: str, same: bool) -> None:
    """Run a cell on the ranks, and show where they part.

    Args:
        cell: its text.
        shell: the IPython shell.
        name: what the display is exported by.
        same: whether all ranks are given the same data, so that every op has to be alike.
    """
    if shell is None:
        raise Refusal("`%%vt compare --ranks` runs a cell of a notebook")
    if not RANKS.open:
        raise Refusal(NONE)
    pool = RANKS.pool
    if pool.count < 2:
        raise Refusal("one rank has none to be compared with: type `%vt ranks stop`, then `%vt ranks 2`")
    run = RanksRun(pool.count, "compared")
    trails: dict[int, Any] = {}

    def message(what: str, rank: int, said: dict[str, Any]) -> None:
        if what == "trail":
            trails[rank] = said["trail"]

    outcomes, error = None, ""
    try:
        outcomes = run_on_ranks(cell, shell, "%%vt compare --ranks", compare=True, on_message=message)
    except RanksFailed as failure:
        outcomes, error = failure.outcomes, str(failure)
        raise
    except KeyboardInterrupt:
        error = "interrupted"
        raise
    finally:
        run.end(outcomes, error)
        if len(trails) > 1:
            run.parting = judge(trails, same, pool.values)
        show(Display(run.record(), name), shell)
