"""`%vt memory` and `%%vt memory`: what is kept for backward, by node, over time."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .._frame.command import EXPRESSION, Asked, Command, Parser
from .._frame.run_cell import finish, run
from .._frame.shell import names_around
from .._frame.user_error import Refusal

NAME = "memory"
GONE = (
    "the graph was freed by a backward pass: what its nodes kept is gone; run the forward pass again, "
    "and look before backward()"
)


def memory(x: Any = None, *, namespace: Mapping[str, Any] | None = None) -> Any:
    """Show what the graph of a result keeps for backward, by node, over a pass forward and back.

    Args:
        x: a loss, or another result with history; or a list of such.
        namespace: variables by name, for the names on the graph; the notebook's, or the caller's.

    Returns:
        A display: the peak, the curve, and a table of nodes, the largest first.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> x = vistorch.ones(1000, requires_grad=True)
        >>> vt.memory(x.exp().sin().sum()).record.peak["bytes"]
        4000
    """
    from ...debug.source import source_of
    from .._frame.display import Display

    if x is None:
        raise Refusal(
            "`memory` needs a tensor or a cell: type `%vt memory loss`, or `%%vt memory` on the first line of a cell"
        )
    source = source_of(x)
    given = list(x) if isinstance(x, (list, tuple)) else [x]
    if source is None or not given or not all(source.is_tensor(t) for t in given):
        raise Refusal(f"expected a result with history, got {type(x).__name__}: type `%vt memory loss`")
    if any(not t.requires_grad and not t.is_inference() for t in given):
        raise Refusal("it has no history: it was computed from nothing that requires a gradient")
    known = names_around(sys._getframe(1)) if namespace is None else namespace
    try:
        if any(source.nodes.is_freed(n) for n in source.order(given) if not source.nodes.is_leaf(n)):
            raise Refusal(GONE)
        return Display(source.kept(given, known), NAME)
    except ValueError as why:  # no graph of its own, a version that is not supported
        raise Refusal(str(why)) from None


class _Accounts:
    """What runs shows whose it is, so every source that is in use is accounted for."""

    def __init__(self, namespace: Any) -> None:
        from ...debug.source import Unsupported, active

        self.each: list[Any] = []
        self.says: list[str] = []
        for source in active():
            try:
                self.each.append(source.timeline(namespace))
            except Unsupported as why:
                self.says.append(str(why))

    def __enter__(self) -> _Accounts:
        for one in self.each:
            one.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        for one in reversed(self.each):
            one.__exit__(*exc)

    @property
    def saw(self) -> bool:
        """Whether anything ran."""
        return any(one.account.tick for one in self.each)

    def record(self) -> Any:
        """What the source has kept that kept most."""
        found = sorted(self.each, key=lambda one: -one.account.top)[0].record()
        found.says += self.says
        return found


def _cell(cell: str, asked: Asked, *, x: Any = None, namespace: Mapping[str, Any] | None = None) -> Any:
    """Run a cell and show what it kept; names are those it leaves."""
    from .._frame.display import Display

    if x is not None:
        raise Refusal(
            "`%%vt memory` watches its cell and takes nothing else: type `%vt memory loss` for a result"
        )
    with _Accounts(namespace if asked.shell is None else asked.shell.user_ns) as seen:
        error = run(cell, asked.shell, "%%vt memory")
    nothing = error is not None and not seen.saw
    return finish(None if nothing else Display(seen.record(), NAME), error, asked.shell)


def _arguments(parser: Parser) -> None:
    parser.takes(
        "x",
        "a loss or another result; none where `%%vt memory` is a cell's first line and watches it run",
        kind=EXPRESSION,
        nargs="?",
        metavar="EXPRESSION",
    )


def _prepare(options: dict[str, Any], asked: Asked) -> dict[str, Any]:
    return {"namespace": asked.namespace, **options}


COMMANDS = (
    Command(
        name="memory",
        summary="What is kept for backward over time; also %%vt memory",
        function=memory,
        prepare=_prepare,
        cell=_cell,
        arguments=_arguments,
        examples=(("memory loss", "of the graph behind it, as if it were made and run back now"),),
        about="what is kept for the backward pass, over time",
        rank=110,
    ),
)
