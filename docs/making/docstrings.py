"""A docstring of the project's form as Markdown: text, arguments as a list, the example as a session.

Invariant: text from a docstring is escaped where Markdown or MyST would read a sign of its own into it; what stands in
backticks stays as it is.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

LISTS = ("Args", "Raises", "Attributes")
TEXTS = ("Returns", "Yields", "Shape", "Note", "Notes", "Warning")
EXAMPLES = ("Example", "Examples")
_HEAD = re.compile(rf"^({'|'.join((*LISTS, *TEXTS, *EXAMPLES))}):\s*$")
_ITEM = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*)(?: \(([^)]*)\))?:\s*(.*)$")


def markdown(doc: str) -> str:
    """Return a docstring, already dedented, as Markdown.

    Args:
        doc: what `inspect.getdoc` returns.
    """
    parts = []
    for name, lines in _sections(doc):
        if name in EXAMPLES:
            parts.append(_example(lines))
        elif name in LISTS:
            parts.append(f"**{name if name != 'Args' else 'Arguments'}**\n\n" + _listed(lines))
        elif name:
            parts.append(f"**{name}**: " + _text(lines))
        else:
            parts.append(_text(lines))
    return "\n\n".join(part for part in parts if part.strip())


def signature(thing: Any, name: str) -> str:
    """Return how something is called: names and defaults, without types; just the name where Python cannot say.

    Args:
        thing: a function or a class.
        name: what it is called.
    """
    try:
        taken = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return name
    words, star = [], False
    for number, one in enumerate(taken):
        if number == 0 and one.name in ("self", "cls"):
            continue
        if one.kind is one.VAR_POSITIONAL:
            star = True
        if one.kind is one.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        sign = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        words.append(sign + one.name + ("" if one.default is one.empty else f"={_value(one.default)}"))
        if one.kind is one.POSITIONAL_ONLY and (
            number + 1 == len(taken) or taken[number + 1].kind is not one.POSITIONAL_ONLY
        ):
            words.append("/")
    return f"{name}({', '.join(words)})"


def _value(default: Any) -> str:
    """Return a default as it is written; what has no such form, as dots: an address would differ each time."""
    text = repr(default)
    if isinstance(default, type):
        return default.__name__
    return "..." if text.startswith("<") or " at 0x" in text else text


def escape(text: str) -> str:
    """Escape what Markdown would read signs into, outside of backticks.

    Args:
        text: one line or more.
    """
    pieces = re.split(r"(`+[^`]*`+)", text)
    for number in range(0, len(pieces), 2):
        pieces[number] = re.sub(r"([\\*_\[\]<>$#|{}~])", r"\\\1", pieces[number])
    return "".join(pieces)


def _sections(doc: str) -> list[tuple[str, list[str]]]:
    """Split a docstring at its headings; the text before the first has no name."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in doc.splitlines():
        if found := _HEAD.match(line):
            sections.append((found[1], []))
        elif sections[-1][0] and line.strip() and not line.startswith(" "):
            sections.append(("", [line]))  # text after a section
        else:
            sections[-1][1].append(line)
    return sections


def _text(lines: list[str]) -> str:
    """Return paragraphs, lists and sketches; what is indented by four more is a sketch."""
    paragraphs: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc("\n".join(["", *lines]))):
        rows = block.split("\n")
        if not block.strip():
            continue
        if any(row.startswith(">>>") for row in rows):
            paragraphs.append(_fence("pycon", block))
        elif all(row.startswith("    ") for row in rows):
            paragraphs.append(_fence("text", inspect.cleandoc("\n" + block)))
        else:
            paragraphs.append("\n".join(_bullet(row) for row in rows))
    return "\n\n".join(paragraphs)


def _bullet(row: str) -> str:
    """Return a line, its mark of a list left standing."""
    found = re.match(r"^(\s*(?:[-*]|\d+\.) )(.*)$", row)
    return found[1] + escape(found[2]) if found else escape(row)


def _listed(lines: list[str]) -> str:
    """Return `name: what it is` as a list."""
    rows: list[str] = []
    for line in inspect.cleandoc("\n".join(["", *lines])).split("\n"):
        if (found := _ITEM.match(line)) and not line.startswith(" "):
            names = ", ".join(f"`{name}`" for name in found[1].split(", "))
            kind = f" ({escape(found[2])})" if found[2] else ""
            rows.append(f"- {names}{kind}: {escape(found[3])}")
        elif line.strip():
            rows.append(f"  {escape(line.strip())}")
    return "\n".join(rows)


def _example(lines: list[str]) -> str:
    """Return an example; words between two pieces of it stand between two sessions."""
    text = inspect.cleandoc("\n".join(["", *lines]))
    if ">>>" in text:
        return _fence("pycon", text)
    return _fence("text", text)


def _fence(language: str, text: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"
