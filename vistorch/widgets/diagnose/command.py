"""`%%vt diagnose`: run a cell that trains, and say what is wrong with it, why and where.

Invariant: the cell's own outcome is left as it is: values, output and exceptions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ...debug.diagnose import Diagnosis
from .._frame.command import Asked, Command, Parser
from .._frame.run_cell import finish, run
from .._frame.shell import names_around
from .._frame.user_error import Refusal

NAME = "diagnose"


class Diagnosing(Diagnosis):
    """What `vt.diagnose` gives: a context that looks on, then a display of what it found."""

    value: Any = None

    @property
    def display(self) -> Any:
        """The display of what is found by now."""
        from .._frame.display import Display

        return Display(self.record(), NAME)

    def __repr__(self) -> str:
        return self.record().text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.display._repr_mimebundle_(include, exclude)


def diagnose(function: Callable[..., Any] | None = None, *given: Any, **named: Any) -> Diagnosing:
    """Look on while a training runs, and say what is wrong with it, why and where.

    Args:
        function: what trains; without it, the result is a context to be used by `with`.
        *given: what it is called with.
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
    if function is None:
        return diagnosing
    with diagnosing:
        diagnosing.value = function(*given, **named)
    return diagnosing


def _cell(cell: str, asked: Asked) -> Any:
    """Run a cell and show what was found, also where an exception ended it."""
    number = "" if asked.shell is None else f" [{asked.shell.displayhook.prompt_count}]"
    diagnosing = Diagnosing(asked.namespace if asked.shell is None else asked.shell.user_ns, f"cell{number}")
    with diagnosing:
        error = run(cell, asked.shell, "%%vt diagnose")
    if error is not None:
        diagnosing.failed(error)
    nothing = error is not None and diagnosing.error is None and not diagnosing.evidence.passes
    return finish(None if nothing else diagnosing.display, error, asked.shell)


def _arguments(parser: Parser) -> None:
    """It takes nothing but the cell."""


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
