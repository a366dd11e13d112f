"""`%%vt trace`: run a cell, and find where its first NaN or infinity came from."""

from __future__ import annotations

import sys
from typing import Any

from ...debug.source import Unsupported, active, real_torch
from .._frame.command import Asked, Command, Parser
from .._frame.finding import find
from .._frame.run_cell import finish, run
from .._frame.shell import names_around
from .._frame.user_error import Refusal, is_number

NAME = "trace"


class Tracing:
    """What `vt.trace` gives: a context that records, then a display of what it found.

    Args:
        bound: also what is larger than this counts as bad.
        namespace: where leaves are named.
    """

    def __init__(self, bound: float | None, namespace: dict[str, Any]) -> None:
        self._bound, self._namespace = bound, namespace
        self._traces: list[tuple[Any, Any]] = []  # (source, what records it)
        self._says: list[str] = []
        self._display: Any = None

    def __enter__(self) -> Tracing:
        """Begin to record: what runs shows whose it is, so every source that is in use is recorded."""
        self._display, self._traces, self._says = None, [], []
        self._torch_was_there = real_torch() is not None
        around = self._namespace
        for source in active():
            try:
                made = source.tracer(
                    bound=self._bound,
                    names=lambda leaf: find(leaf, around)[0],
                    namespace=self._namespace,
                )
                made.__enter__()
            except Unsupported as why:
                self._says.append(str(why))
            else:
                self._traces.append((source, made))
        return self

    def __exit__(self, *exc: Any) -> None:
        """End; an exception goes on its way, and what ran before it can be looked at."""
        for _, made in reversed(self._traces):
            made.__exit__(*exc)
        if not self._torch_was_there and real_torch() is not None:
            self._says.append(
                "PyTorch was imported while this ran, too late to be seen: run it again to trace what runs on it"
            )

    def _failed(self, error: BaseException | None) -> None:
        """Note the exception that ended a cell."""
        for _, made in self._traces:
            made.failed(error)

    def _ran(self) -> bool:
        """Whether any op ran."""
        return any(made.rows or made.back_order for _, made in self._traces)

    def _found(self) -> Any:
        """The record of the source that something bad was found in, else of the one that ran most."""
        records = [(source, made.record()) for source, made in self._traces if made.rows or made.back_order]
        if not records:
            records = [(source, made.record()) for source, made in self._traces[:1]]
        records.sort(key=lambda pair: (pair[1].first is None, -pair[1].forward - pair[1].backward))
        record = records[0][1]
        for source, other in records[1:]:
            record.says.append(
                f"On {source.chip}, in the same run: {other.sentence[:1].lower()}{other.sentence[1:]}"
            )
        record.says += self._says
        return record

    @property
    def display(self) -> Any:
        """The display of what was found so far."""
        from .._frame.display import Display

        if self._display is None:
            self._display = Display(self._found(), NAME)
        return self._display

    @property
    def record(self) -> Any:
        """The record of what was found so far."""
        return self.display.record

    def __repr__(self) -> str:
        return repr(self.display)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.display._repr_mimebundle_(include, exclude)


def trace(*, bound: float | None = None) -> Tracing:
    """Record every op forward and backward, and find where the first NaN or infinity came from.

    Args:
        bound: also call bad what is larger than this.

    Returns:
        A context; after it, the last value of a cell shows what was found, also if an exception ended it.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> p = vistorch.tensor([0.5, 0.0], requires_grad=True)
        >>> with vt.trace() as found:
        ...     vistorch.where(p > 0, p.log(), 0.0).sum().backward()
        >>> found.record.first["op"], found.record.first["pass"]
        ('log', 'forward')
    """
    return Tracing(_positive(bound), names_around(sys._getframe(1)))


def _cell(cell: str, asked: Asked, *, bound: float | None = None) -> Any:
    """Run a cell and show what was found, also where an exception ended it."""
    tracing = Tracing(_positive(bound), asked.namespace if asked.shell is None else asked.shell.user_ns)
    with tracing:
        error = run(cell, asked.shell, "%%vt trace")
    tracing._failed(error)
    nothing = error is not None and not tracing._ran()
    return finish(None if nothing else tracing.display, error, asked.shell)


def _positive(bound: float | None) -> float | None:
    if bound is not None and not (is_number(bound) and bound > 0):
        raise Refusal(f"bound is a number above 0, not {bound!r}: type --bound 1e4")
    return bound


def _arguments(parser: Parser) -> None:
    parser.takes("--bound", "also call bad what is larger than this", type=float, metavar="NUMBER")


COMMANDS = (
    Command(
        name="trace",
        summary="Run a cell and find where the first NaN or inf came from",
        function=trace,
        cell=_cell,
        only_cell=True,
        arguments=_arguments,
        examples=(
            ("trace", "run the lines below it, and mark every op of forward and backward"),
            ("trace --bound 1e4", "also what is larger than 10,000"),
        ),
        about="the op and the line where the first NaN or infinity appeared",
        rank=60,
    ),
)
