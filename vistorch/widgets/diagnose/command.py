"""`%%vt diagnose`: run a cell that trains, and say what is wrong with it, why and where.

Invariant: the cell's own outcome is left as it is: values, output and exceptions.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any

from ...debug.diagnose import Diagnosis
from ...debug.diagnose.trial.rerun import Body
from .._frame.command import Asked, Command, Parser
from .._frame.run_cell import as_compiled, finish, run
from .._frame.shell import names_around
from .._frame.user_error import Refusal

NAME = "diagnose"
FIRST = "%%vt diagnose"
OFF = "trials are switched off"


class Diagnosing(Diagnosis):
    """What `vt.diagnose` gives: a context that looks on, then a display of what it found."""

    value: Any = None
    around: Any = None  # the frame of a `with`, until that begins
    tries = True  # whether cures are tried
    later = False  # whether `finish` is called by what began this

    def __enter__(self) -> Diagnosing:
        if self.around is not None:
            self.prepare(*(block_of(self.around) if self.tries else (None, OFF)))
            self.around = None
        super().__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(kind, error, trace)
        if not self.later:
            self.finish(error)

    @property
    def display(self) -> Any:
        """The display of what is found by now."""
        from .._frame.display import Display

        return Display(self.record(), NAME)

    def __repr__(self) -> str:
        return self.record().text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.display._repr_mimebundle_(include, exclude)


def diagnose(
    function: Callable[..., Any] | None = None, *given: Any, no_try: bool = False, **named: Any
) -> Diagnosing:
    """Look on while a training runs, and say what is wrong with it, why and where.

    Args:
        function: what trains; without it, the result is a context to be used by `with`.
        *given: what it is called with.
        no_try: show cures without trying them on a copy of the program.
        **named: likewise.

    Returns:
        A context; after it, the last value of a cell shows what was found. `record().findings` are records, `value` is
        what the function returned.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> net = vistorch.nn.Linear(2, 1)
        >>> opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
        >>> with vt.diagnose() as found:
        ...     for _ in range(5):
        ...         loss = net(vistorch.ones(4, 2)).square().mean()
        ...         loss.backward()
        ...         opt.step()
        >>> found.record().findings[0].rule
        'used twice'
    """
    if function is not None and not callable(function):
        raise Refusal(
            f"diagnose takes a function that trains, not {type(function).__name__}: "
            "write vt.diagnose(train, model), or with vt.diagnose(): around a loop"
        )
    diagnosing = Diagnosing(
        names_around(sys._getframe(1)), NAME if function is None else getattr(function, "__name__", NAME)
    )
    diagnosing.tries = not no_try
    if function is None:
        diagnosing.around = sys._getframe(1)
        return diagnosing
    body = Body("call", call=lambda: function(*given, **named))
    diagnosing.prepare(*((None, OFF) if no_try else (body, "")))
    with diagnosing:
        diagnosing.value = function(*given, **named)
    return diagnosing


def block_of(frame: Any) -> tuple[Body | None, str]:
    """What stands in the `with` that a frame is about to begin, as far as it can be run again.

    Args:
        frame: of the program.
    """
    code = frame.f_code
    if code.co_name != "<module>":
        return None, "a `with` inside of a function cannot be run again"
    text = "".join(linecache.getlines(code.co_filename))
    if not text:
        return None, "its lines are not known"
    return Body("block", code.co_filename, text, frame.f_globals, line=frame.f_lineno), ""


def cell_body(cell: str, shell: Any) -> tuple[Body | None, str]:
    """A cell, as far as it can be run again.

    Args:
        cell: its lines.
        shell: that runs it.
    """
    file, text = as_compiled(cell, shell, FIRST)
    if "get_ipython()" in text and "get_ipython()" not in cell:
        return None, "the cell runs a magic"
    return Body("cell", file, text, shell.user_ns), ""


def _cell(cell: str, asked: Asked, no_try: bool = False) -> Any:
    """Run a cell and show what was found, also where an exception ended it."""
    number = "" if asked.shell is None else f" [{asked.shell.displayhook.prompt_count}]"
    diagnosing = Diagnosing(asked.namespace if asked.shell is None else asked.shell.user_ns, f"cell{number}")
    if asked.shell is not None:
        diagnosing.prepare(*((None, OFF) if no_try else cell_body(cell, asked.shell)))
    diagnosing.later = True
    with diagnosing:
        error = run(cell, asked.shell, FIRST)
    if error is not None:
        diagnosing.failed(error)
    diagnosing.finish(error)
    nothing = error is not None and diagnosing.error is None and not diagnosing.evidence.passes
    return finish(None if nothing else diagnosing.display, error, asked.shell)


def _arguments(parser: Parser) -> None:
    """Add its option."""
    parser.takes("--no-try", "shows cures without trying them on a copy of the program", action="store_true")


COMMANDS = (
    Command(
        name=NAME,
        summary="Run a cell that trains and say what is wrong, and where",
        function=diagnose,
        cell=_cell,
        only_cell=True,
        arguments=_arguments,
        examples=(("diagnose", "run the lines below it, and find the line that keeps it from learning"),),
        about="what keeps a training from learning: the line, the proof, and what would mend it",
        rank=65,
    ),
)
