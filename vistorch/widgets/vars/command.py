"""`%vt vars`: every tensor and module of the notebook in one table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ...debug.variables import KINDS, ORDERS, survey
from .._frame.command import Asked, Command, Parser
from .._frame.defaults import defaults
from .._frame.shell import has_front_end, shell_of_user
from .._frame.user_error import Refusal, either, perhaps
from ..array.command import opened


def vars(
    namespace: dict[str, Any] | None = None, *, sort: str = "name", reverse: bool = False, kind: str = "all"
) -> Any:
    """Show every tensor, parameter, module and array of a namespace in one table.

    Args:
        namespace: names and values; the notebook's, or those of the caller's module, if not given.
        sort: the column to order by: "name", "kind", "shape", "dtype", "device", "bytes" or "grad".
        reverse: the other way round; numbers begin with the largest otherwise.
        kind: "tensor", "parameter", "module" or "array" for these alone.

    Returns:
        A display: a table with a small picture of each, text in a terminal.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> print(vt.vars({"x": vistorch.ones(2, 3)}).record.rows[0].shape)
        (2, 3)
    """
    from .._frame.display import Display

    if namespace is not None and not isinstance(namespace, Mapping):
        raise Refusal(
            f"vars takes a dict of names, such as globals(), not {type(namespace).__name__}: type vt.show(x) to see one"
        )
    if not isinstance(sort, str) or sort not in ORDERS:
        raise Refusal(f"there is no column {sort!r}{perhaps(str(sort), ORDERS)}: type {either(ORDERS)}")
    if not isinstance(kind, str) or kind not in ("all", *KINDS):
        raise Refusal(f"there is no kind {kind!r}{perhaps(str(kind), KINDS)}: type {either(KINDS)}")
    shell = shell_of_user()
    around = sys._getframe(1).f_globals if shell is None else shell.user_ns
    around = around if namespace is None else namespace
    display = Display(survey(around, sort=sort, reverse=reverse, kind=kind), "vars")
    if defaults.live == "off" or not has_front_end(shell):
        return display
    try:
        from .live import VarsView

        return VarsView(display, lambda name: opened(around[name], name))
    except (ImportError, FileNotFoundError):  # `%vt doctor` says what is missing
        return display


def _arguments(parser: Parser) -> None:
    parser.takes(
        "--sort", "the column to order by; numbers begin with the largest", choices=ORDERS, default="name"
    )
    parser.takes("--reverse", "the other way round", action="store_true")
    parser.takes("--kind", "only these", choices=("all", *KINDS), default="all")


def _prepare(options: dict[str, Any], asked: Asked) -> dict[str, Any]:
    """Look at the notebook's own names where a function adds none: a copy would keep what is deleted later."""
    own = {} if asked.shell is None else asked.shell.user_ns
    alike = all(name in own and own[name] is value for name, value in asked.namespace.items())
    return {"namespace": own if own and alike else asked.namespace, **options}


COMMANDS = (
    Command(
        name="vars",
        summary="A table of every tensor and module of the notebook",
        function=vars,
        arguments=_arguments,
        prepare=_prepare,
        examples=(
            ("vars", "everything, by name"),
            ("vars --sort bytes", "the largest first"),
            ("vars --kind parameter --sort grad", "parameters, the largest gradient first"),
        ),
        about="every tensor and module of the notebook, in one table",
        rank=20,
    ),
)
