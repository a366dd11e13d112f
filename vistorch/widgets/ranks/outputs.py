"""What the ranks print and display while a cell runs on them, in the order of the ranks.

The first rank that has not ended is shown as it goes on; what the ones after it put out waits for its turn. So the same
cell gives the same output each time.

Invariant: each line says whose it is.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from .._frame.shell import has_front_end


class Outputs:
    """Shows what ranks put out.

    Args:
        ranks: which, in their order.
        shell: the IPython shell; None outside of one.
    """

    def __init__(self, ranks: Sequence[int], shell: Any = None) -> None:
        self.waiting = {rank: deque() for rank in sorted(ranks)}
        self.ended: set[int] = set()
        self.parts: dict[tuple[int, str], str] = {}  # of a line that has no end yet
        self.shell = shell

    def take(self, what: str, rank: int, said: dict[str, Any]) -> None:
        """Take what a rank put out.

        Args:
            what: "stream" or "display"; others are not shown.
            rank: whose.
            said: the text or the display.
        """
        if what in ("stream", "display") and rank in self.waiting:
            self.waiting[rank].append((what, said))
            self._go_on()

    def end(self, rank: int) -> None:
        """A rank has come to its end.

        Args:
            rank: which.
        """
        self.ended.add(rank)
        self._go_on()

    def finish(self) -> None:
        """Show all that is left."""
        self.ended |= set(self.waiting)
        self._go_on()

    def _go_on(self) -> None:
        while self.waiting:
            rank = next(iter(self.waiting))
            while self.waiting[rank]:
                what, said = self.waiting[rank].popleft()
                self._text(rank, said) if what == "stream" else self._display(rank, said)
            if rank not in self.ended:
                return
            for name in ("stdout", "stderr"):
                self._rest(rank, name)
            del self.waiting[rank]

    def _text(self, rank: int, said: dict[str, Any]) -> None:
        name = said["name"]
        text = self.parts.pop((rank, name), "") + said["text"]
        *lines, rest = text.split("\n")
        for line in lines:
            _write(name, f"[{rank}] {_last(line)}\n")
        if rest:
            self.parts[rank, name] = rest

    def _rest(self, rank: int, name: str) -> None:
        if rest := self.parts.pop((rank, name), ""):
            _write(name, f"[{rank}] {_last(rest)}\n")

    def _display(self, rank: int, said: dict[str, Any]) -> None:
        for name in ("stdout", "stderr"):
            self._rest(rank, name)
        data = said["data"]
        if set(data) - {"text/plain"} and has_front_end(self.shell):
            from IPython.display import display

            _write("stdout", f"[{rank}]\n")
            sys.stdout.flush()
            display(data, raw=True, metadata=said.get("metadata") or {})
            return
        for line in str(data.get("text/plain", "")).split("\n"):
            _write("stdout", f"[{rank}] {line}\n")


def _last(line: str) -> str:
    """What is seen of a line that was written over, as a progress bar does."""
    return line.rstrip("\r").rpartition("\r")[2]


def _write(name: str, text: str) -> None:
    stream = sys.stdout if name == "stdout" else sys.stderr
    stream.write(text)
    stream.flush()
