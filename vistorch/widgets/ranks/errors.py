"""How a cell failed on ranks: one exception in the notebook that shows each rank's own traceback.

Invariant: ranks that failed alike are shown once, with all their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...debug.ranks.named import named


class RanksFailed(RuntimeError):
    """A cell did not run to its end on all ranks.

    Args:
        outcomes: how it ended, by rank.
        notes: what else is to be said, a sentence each.

    Example:
        >>> from vistorch.rank_workers.pool import Outcome
        >>> from vistorch.widgets.ranks.errors import RanksFailed
        >>> print(RanksFailed({0: Outcome(0, ok=True), 1: Outcome(1, name="ValueError", says="no data")}))
        rank 1: ValueError: no data
    """

    def __init__(self, outcomes: Mapping[int, Any], notes: tuple[str, ...] = ()) -> None:
        self.outcomes, self.notes = dict(sorted(outcomes.items())), notes
        super().__init__("; ".join([*self._sentences(), *notes]))

    def failed(self) -> list[tuple[list[int], Any]]:
        """The ranks that failed, those that failed alike together; without those that only were interrupted for it."""
        found: dict[Any, tuple[list[int], Any]] = {}
        own = [one for one in self.outcomes.values() if not one.ok and (one.gone or not one.interrupted)]
        for one in own or [one for one in self.outcomes.values() if not one.ok]:
            key = (one.name, one.says) if one.gone is None else one.rank
            found.setdefault(key, ([], one))[0].append(one.rank)
        return list(found.values())

    def _sentences(self) -> list[str]:
        said = []
        for ranks, one in self.failed():
            if one.gone is not None:
                said.append(one.gone.sentence())
            else:
                first = one.says.strip().partition("\n")[0]
                said.append(f"{named(ranks)}: {one.name}{': ' if first else ''}{first}")
        if others := self._others():
            said.append(f"{named(others)} {'was' if len(others) == 1 else 'were'} interrupted for it")
        return said

    def _others(self) -> list[int]:
        shown = {rank for ranks, _ in self.failed() for rank in ranks}
        return [one.rank for one in self.outcomes.values() if not one.ok and one.rank not in shown]

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the tracebacks of the ranks, not our own."""
        lines: list[str] = []
        for ranks, one in self.failed():
            if one.trace:
                lines += [f"On {named(ranks)}:", *one.trace, ""]
        return [*lines, f"{type(self).__name__}: {self}"]
