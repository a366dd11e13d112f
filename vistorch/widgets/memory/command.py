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
    from ...debug.source import has, lacking, source_of
    from ...debug.timeline import memory as kept
    from ...engine.backward.backward_pass import order_of
    from ...engine.core.graph import FREED, edge
    from ...engine.core.tensor import Tensor
    from .._frame.display import Display

    if x is None:
        raise Refusal(
            "`memory` needs a tensor or a cell: type `%vt memory loss`, or `%%vt memory` on the first line of a cell"
        )
    source = source_of(x)
    if source is not None and not has(source, "memory"):
        raise Refusal(f"{lacking(source, 'memory')}; `%vt graph` says what each node keeps")
    given = [x] if isinstance(x, Tensor) else x
    if not isinstance(given, (list, tuple)) or not all(isinstance(t, Tensor) for t in given) or not given:
        raise Refusal(f"expected a result with history, got {type(x).__name__}: type `%vt memory loss`")
    if not all(t.requires_grad for t in given):
        raise Refusal("it has no history: it was computed from nothing that requires a gradient")
    known = names_around(sys._getframe(1)) if namespace is None else namespace
    if any(getattr(n, "saved", None) is FREED for n in order_of(list({edge(t): None for t in given}))):
        raise Refusal(GONE)
    return Display(kept(given, namespace=known), NAME)


def _cell(cell: str, asked: Asked, *, x: Any = None, namespace: Mapping[str, Any] | None = None) -> Any:
    """Run a cell and show what it kept; names are those it leaves."""
    from ...debug.timeline import Timeline
    from .._frame.display import Display

    if x is not None:
        raise Refusal(
            "`%%vt memory` watches its cell and takes nothing else: type `%vt memory loss` for a result"
        )
    with Timeline(namespace=namespace if asked.shell is None else asked.shell.user_ns) as seen:
        error = run(cell, asked.shell, "%%vt memory")
    nothing = error is not None and not seen.account.tick
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
