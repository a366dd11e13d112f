"""What a cell that ends with an exception shows: the user's own frames, and a shape error drawn below them.

The exception is left as it is: `%tb` shows all of its frames and `%debug` walks them. What another exception shows, and
what happens when something here fails, is what the shell does by itself.

Invariant: nothing here raises, and `stop` leaves the shell as `start` found it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..debug.shapes import explain
from ..debug.trimmed import note_of, trimmed
from ..widgets._frame.defaults import defaults
from ..widgets._frame.output import show
from ..widgets._frame.shell import has_front_end

CHAIN = 20  # exceptions raised from each other


class Failures:
    """Stands before a shell's `showtraceback`.

    Args:
        shell: the IPython shell.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.depth = 0  # of cells run within cells, as `%%vt` does
        self.waiting: Any = None
        self.seen: BaseException | None = None

    def start(self) -> Callable[[], None]:
        """Begin; returns what ends it."""
        shell, before = self.shell, vars(self.shell).get("showtraceback")
        plain, show = shell.showtraceback, self._show

        def mine(*given: Any, **more: Any) -> None:
            show(plain, given, more)

        shell.showtraceback = mine
        shell.events.register("pre_run_cell", self._begins)
        shell.events.register("post_run_cell", self._ended)

        def stop() -> None:
            shell.events.unregister("pre_run_cell", self._begins)
            shell.events.unregister("post_run_cell", self._ended)
            if vars(shell).get("showtraceback") is mine:
                if before is None:
                    del shell.showtraceback
                else:
                    shell.showtraceback = before

        return stop

    def _begins(self, info: Any = None) -> None:
        """A cell begins."""
        if not self.depth:
            self.waiting = self.seen = None
        self.depth += 1

    def _ended(self, result: Any = None) -> None:
        """A cell is over, and its traceback is shown: what was drawn comes below it."""
        self.depth = max(0, self.depth - 1)
        if self.depth or self.waiting is None:
            return
        shown, self.waiting = self.waiting, None
        self.seen = None  # whose frames must not be kept alive
        with suppress(Exception):
            show(shown, self.shell)

    def _show(self, plain: Callable[..., None], given: tuple, more: dict[str, Any]) -> None:
        """Show an exception, in the shell's own way but for its frames."""
        error = sys.exc_info()[1]
        if not defaults.errors or not more.get("running_compiled_code") or given or error is None:
            plain(*given, **more)
            return
        with _only_users(self.shell):
            plain(**more)
        if error is self.seen:
            return
        self.seen = error
        with suppress(Exception):
            record = explain(error)
            if record is None:
                return
            if has_front_end(self.shell):
                from ..widgets._frame.display import Display

                self.waiting = Display(record)
            else:
                print(f"\n{record.text()}")


@contextmanager
def _only_users(shell: Any) -> Iterator[None]:
    """While a traceback is made, only the user's frames are in it."""
    maker: Any = getattr(shell, "InteractiveTB", None)
    make = getattr(maker, "structured_traceback", None)
    if make is None:
        yield
        return
    before = vars(maker).get("structured_traceback")

    def structured(kind: Any, value: Any, trace: Any = None, *args: Any, **more: Any) -> Any:
        kept = []
        hidden = 0
        short = trace
        with suppress(Exception):
            short, hidden = trimmed(trace)
            for error in _chain(value):
                other, count = trimmed(error.__traceback__)
                if count:
                    kept.append((error, error.__traceback__))
                    error.__traceback__ = other
                    hidden += count
        try:
            lines = make(kind, value, short, *args, **more)
        finally:
            for error, full in kept:
                error.__traceback__ = full
            if hasattr(maker, "tb"):
                maker.tb = trace  # %debug walks all frames
        return [*lines, note_of(hidden)] if hidden and getattr(maker, "mode", "") != "Minimal" else lines

    maker.structured_traceback = structured
    try:
        yield
    finally:
        if before is None:
            del maker.structured_traceback
        else:
            maker.structured_traceback = before


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exceptions that one was raised from, or while."""
    for _ in range(CHAIN):
        if error is None:
            return
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if error is not None:
            yield error
