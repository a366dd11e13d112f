"""A run in a terminal: one line that stays up to date (tqdm's where it is installed), and the table at the end.

Invariant: nothing is written before the first step, and the line is cleared before the table comes.
"""

from __future__ import annotations

import sys
from typing import Any

from ...engine import browser
from .words import alarm_lines, health_text, line_of, table_text


class Line:
    r"""Shows a run as it goes; give it to `watch` as `notify`.

    Args:
        file: where to write; standard error by default.
        table: whether the table of classes comes at the end.

    Example:
        >>> import io
        >>> import vistorch
        >>> from vistorch.debug.watch import Line, watch
        >>> out = io.StringIO()
        >>> with watch(vistorch.nn.Linear(1, 1), notify=Line(out)):
        ...     pass
        >>> out.getvalue()
        'Finished\n'
    """

    def __init__(self, file: Any = None, table: bool = True) -> None:
        self.file, self.table, self.bar, self.wide = file, table, None, 0
        self.done = False
        self.warned: Any = None  # the alarm that was written

    def __call__(self, run: Any) -> None:
        """Show where the run is."""
        file = self.file if self.file is not None else sys.stderr
        if run.open:
            if run.step:
                self._show(run, file)
            if run.alarm is not None and run.alarm is not self.warned:
                self.warned = run.alarm
                self._warn(run.alarm, file)
            return
        if self.done:
            return
        self.done = True
        if self.bar is not None:
            self.bar.n = run.step
            self.bar.set_postfix_str(_facts(run))
            self.bar.close()
        elif self.wide:
            file.write("\r" + " " * self.wide + "\r")
        file.write((table_text(run) if self.table else line_of(run)) + "\n")
        if self.table and (layers := health_text(run)):
            file.write("\n" + layers + "\n")
        file.flush()

    def _warn(self, alarm: Any, file: Any) -> None:
        lines = "\n".join(alarm_lines(alarm))
        if self.bar is not None:
            self.bar.write(lines, file=file)
            return
        file.write("\r" + " " * self.wide + "\r" + lines + "\n")
        file.flush()

    def _show(self, run: Any, file: Any) -> None:
        if self.bar is None and not self.wide:
            try:
                from tqdm import tqdm  # pyright: ignore[reportMissingModuleSource, reportMissingImports]

                if browser.HERE:  # without threads, tqdm cannot watch over its bars
                    tqdm.monitor_interval = 0
                self.bar = tqdm(
                    total=run.steps, file=file, unit="step", desc=run.title or None, mininterval=0
                )
            except ImportError:
                pass
        if self.bar is not None:
            self.bar.n = run.step
            self.bar.set_postfix_str(_facts(run), refresh=True)
            return
        line = line_of(run)
        file.write("\r" + line.ljust(self.wide))
        file.flush()
        self.wide = max(self.wide, len(line))


def _facts(run: Any) -> str:
    return ", ".join(part for part in line_of(run).split(", ")[1:] if not part.endswith("steps/s"))
