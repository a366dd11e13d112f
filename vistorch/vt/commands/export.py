"""`%vt export PATH`: a display as a file that needs no kernel: HTML, SVG or PNG.

Invariant: the file is written whole or not at all; what was there before stays until the new one is complete.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...serialization.atomic import replacing
from ...widgets._frame.command import DISPLAY, PATH, Command, Parser
from ...widgets._frame.note import Note
from ...widgets._frame.output import SUFFIXES
from ...widgets._frame.user_error import Refusal, either, first_line, perhaps

THEMES = ("light", "dark")


def export(path: Any, display: Any = None, *, theme: str = "light") -> Note:
    """Write a display to a file.

    Args:
        path: where; the ending says what: .html stays interactive, .svg and .png are pictures.
        display: what `vt.show` returned, or the name of something that was shown; None takes the last.
        theme: "light" or "dark", for pictures; a page follows its reader.

    Returns:
        A sentence with the file and its size.

    Example:
        >>> from vistorch import vt
        >>> vt.export("weights.txt")
        Traceback (most recent call last):
        ...
        vistorch.vt.Refusal: 'weights.txt' does not say what to write: end it in .html, .svg or .png
    """
    if not isinstance(path, (str, os.PathLike)):
        raise Refusal(
            f"export takes the file first, such as 'it.html', then what to write; got {type(path).__name__}"
        )
    target = Path(path).expanduser()
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise Refusal(f"{str(path)!r} does not say what to write: end it in {either(SUFFIXES)}")
    if theme not in THEMES:
        raise Refusal(f"there is no theme {theme!r}: type {either(THEMES)}")
    found = _find(display)
    try:
        data = _bytes(found, suffix, theme)
    except (ValueError, FileNotFoundError) as error:
        raise Refusal(str(error)) from None
    _write(target, data)
    name = f": {found.name}" if found.name else ""
    return Note(f"wrote {path} ({len(data) / 1e3:,.0f} kB){name}")


def names_shown() -> list[str]:
    """Return the names of what was shown of late, newest first."""
    from ...widgets._frame.display import shown

    return shown.names()


def _find(display: Any) -> Any:
    """Return the display that is meant."""
    from ...widgets._frame.display import shown

    if display is None:
        found = shown.last
        if found is None:
            raise Refusal("nothing was shown yet: type `%vt show x` first")
        return found
    if isinstance(display, str):
        found = shown.find(display)
        if found is None:
            names = shown.names()
            there = perhaps(display, names) or (
                f": type {either(names[:5])}" if names else ": type `%vt show x` first"
            )
            raise Refusal(f"nothing was shown under the name {display!r}{there}")
        return found
    found = getattr(display, "display", display)  # a live view has the display it shows
    if not hasattr(found, "record"):
        raise Refusal(f"expected what vt.show returned, or its name, got {type(display).__name__}")
    return found


def _bytes(display: Any, suffix: str, theme: str) -> bytes:
    """Return the file's content."""
    if suffix == ".html":
        return display.document().encode("utf-8", "replace")
    return display.svg(theme).encode("utf-8", "replace") if suffix == ".svg" else display.png(theme)


def _write(target: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        with replacing(str(target)) as file:
            file.write(data)
    except OSError as error:
        why = "there is no such folder" if not target.parent.is_dir() else first_line(error)
        raise Refusal(f"cannot write {str(target)!r}: {why}; type another path") from None


def _arguments(parser: Parser) -> None:
    parser.takes("path", "a file that ends in .html, .svg or .png", kind=PATH, metavar="PATH")
    parser.takes(
        "display",
        "the name it was shown under; the last one if not given",
        kind=DISPLAY,
        nargs="?",
        metavar="NAME",
    )
    parser.takes("--theme", "colours of a picture", choices=THEMES, default="light")


COMMANDS = (
    Command(
        name="export",
        summary="Write the last or a named display as HTML, SVG or PNG",
        function=export,
        arguments=_arguments,
        examples=(
            ("export weights.html", "what was shown last, to open anywhere"),
            ("export weights.png model.fc1.weight", "what was shown under that name"),
            ('export "my figures/weights.svg" --theme dark', "a path with spaces, on a dark page"),
        ),
        about="the last view as a file that anybody can open",
        rank=220,
    ),
)
