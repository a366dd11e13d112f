"""`%vt show`: values as a picture."""

from __future__ import annotations
from typing import Any
from .command import EXPRESSION, Asked, Command, Parser
from .defaults import MAPS, SWITCH


def show(
    x: Any, *, name: str | None = None, size=None, map=None, scale=None, grad=False, live=None, image="auto"
):
    """Show."""
    raise NotImplementedError


def _arguments(parser: Parser) -> None:
    parser.takes(
        "x",
        "what to show: a tensor, an array, a module, a dict or a list",
        kind=EXPRESSION,
        metavar="EXPRESSION",
    )
    parser.takes("--size", "pixels", type=int, metavar="PIXELS")
    parser.takes("--map", "colour map", choices=MAPS)
    parser.takes("--scale", "scale", choices=("clip", "max", "log", "fixed"))
    parser.takes("--grad", "gradient", action="store_true")


COMMAND = Command(
    name="show",
    summary="Show values as a picture",
    line=show,
    arguments=_arguments,
    examples=(("show x", "a tensor"),),
)
