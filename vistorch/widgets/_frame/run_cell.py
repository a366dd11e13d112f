"""The rest of a cell, run as the shell runs a cell, while listeners are active.

Invariant: output, last value, names and exceptions are those of the same cell without its first line; an exception
ends the whole cell too, and is shown once, after what was found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from ...debug.line_lookup import cell_of
from .output import show
from .user_error import Refusal


def run(
    cell: str, shell: Any, first: str, ours: Callable[[BaseException], bool] = lambda error: False
) -> BaseException | None:
    """Run a cell's text in the user's namespace; return the exception it ended with.

    Args:
        cell: all lines but the first.
        shell: the IPython shell.
        first: the line that was taken off, kept as a comment so that line numbers are those of the editor.
        ours: whether an exception is one that the caller raised to end the cell: it is shown nowhere.
    """
    if shell is None:
        raise Refusal(
            f"`{first}` runs a cell of a notebook: outside of one, use the function of the same name"
        )
    body = cell if cell.lstrip().startswith("%%") else f"# {first}\n{cell}"
    with _as_outer(shell) as lines:
        result = shell.run_cell(body, store_history=False)
    error = result.error_before_exec or result.error_in_exec
    if error is not None and lines and not ours(error):
        _show_as(shell, error, _own(shell, error) or lines[-1])
    return error


def as_compiled(cell: str, shell: Any, first: str) -> tuple[str, str]:
    """The file name and the text under which the shell compiles a cell that `run` is given.

    Args:
        cell: all lines but the first.
        shell: the IPython shell.
        first: the line that was taken off.
    """
    body = cell if cell.lstrip().startswith("%%") else f"# {first}\n{cell}"
    text = shell.transform_cell(body)
    return shell.compile.get_code_name(body, text, shell.displayhook.prompt_count), text


def _own(shell: Any, error: BaseException) -> Any:
    """The traceback of an interrupt down to the person's own line: where in a library it came is chance."""
    trace, kept, last = error.__traceback__, [], 0
    if not isinstance(error, KeyboardInterrupt):
        return None
    while trace is not None:
        kept.append(trace)
        if cell_of(trace.tb_frame.f_code.co_filename) is not None:
            last = len(kept)
        trace = trace.tb_next
    if not last:
        return None
    cut: TracebackType | None = None
    for one in reversed(kept[:last]):
        cut = TracebackType(cut, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return shell.InteractiveTB.structured_traceback(type(error), error, cut)


def finish(display: Any, error: BaseException | None, shell: Any) -> Any:
    """Return what was found, or where the cell failed, show it and let the exception go on its way.

    Args:
        display: what was found; None shows nothing.
        error: the cell's exception.
        shell: the IPython shell.
    """
    if error is None:
        return display
    show(display, shell)
    raise error


@contextmanager
def _as_outer(shell: Any) -> Iterator[list[Any]]:
    """Give what runs the number of the cell it stands in, and keep a traceback's lines for when that cell ends."""
    lines: list[Any] = []
    number, cache = shell.displayhook.prompt_count, shell.compile.cache
    ours = [
        (shell, "_showtraceback", lambda kind, value, shown: lines.append(shown)),
        (shell, "show_usage_error", lambda value: None),
        # a shell counts on before or after a cell has run, as its version likes
        (shell.compile, "cache", lambda code, _=0, **more: cache(code, number, **more)),
    ]
    before = [vars(one).get(name) for one, name, _ in ours]
    for one, name, does in ours:
        setattr(one, name, does)
    try:
        yield lines
    finally:
        for (one, name, _), was in zip(ours, before, strict=True):
            delattr(one, name) if was is None else setattr(one, name, was)


def _show_as(shell: Any, error: BaseException, lines: Any) -> None:
    """Let the shell show these lines for an exception, once: the frames of the magic are none of the person's."""
    before = vars(shell).get("showtraceback")

    def once(*given: Any, **more: Any) -> None:
        if before is None:
            del shell.showtraceback
        else:
            shell.showtraceback = before
        if sys.exc_info()[1] is error:
            shell._showtraceback(type(error), error, lines)
        else:
            shell.showtraceback(*given, **more)

    shell.showtraceback = once
