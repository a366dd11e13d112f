"""A notebook as a page: its words, its code, its text, its views and its pictures, as they were committed.

A view stays what it is in a notebook without a kernel: a page that steps, zooms and answers from what it carries.
Invariant: nothing is run and nothing is fetched; the HTML of an output gets into the page only where vistorch made it.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from vistorch.tutorials.translations import ENGLISH, translated

from . import words

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LINK = re.compile(r"(\]\([\w./-]*?)\.ipynb(#[^)\s]*)?\)")
_RELATIVE = re.compile(r'(<a href="[\w./-]+)\.ipynb"')
PICTURES = {"image/png": ".png", "image/svg+xml": ".svg", "image/jpeg": ".jpg"}
FIGURE = "<Figure"  # how matplotlib says that a picture is one: those of the tutorials have no background
OURS = ("<div data-vistorch=", '<div class="vt-verdict"')  # how the HTML of a view and of a verdict begins
# Longer text goes into a box that is opened by a click.
LONG = 24


def page(path: Path, folder: Path, language: str = ENGLISH, last: str = "") -> str:
    """Return a notebook as Markdown, its pictures written beside the page.

    Args:
        path: the notebook.
        folder: where the page will be.
        language: the page's; if not English, the notebook has a translation.
        last: Markdown that stands below the notebook.
    """
    nb = read(path, language)
    parts = []
    for number, cell in enumerate(nb["cells"]):
        source = _joined(cell["source"])
        if not source.strip():
            continue
        if cell["cell_type"] == "markdown":
            parts.append(_LINK.sub(r"\1.md\2)", source))
        elif cell["cell_type"] == "code":
            parts.append(_fence(_language(source), source))
            parts += _outputs(cell.get("outputs", []), f"{path.stem}-{number:02}", folder, language)
    parts.append(last)
    parts.append(f"```{{note}}\n{words.FROM_A_NOTEBOOK[language].format(name=path.name)}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def read(path: Path, language: str = ENGLISH) -> dict[str, Any]:
    """Return a notebook in a language.

    Args:
        path: the English notebook.
        language: which.
    """
    data = path.read_bytes()
    if language != ENGLISH:
        data = translated(data, (path.parent / language / f"{path.stem}.md").read_text(encoding="utf-8"))
    return json.loads(data)


def title(path: Path, language: str = ENGLISH) -> str:
    """Return a notebook's first heading, or its name.

    Args:
        path: the notebook.
        language: which.
    """
    for cell in read(path, language)["cells"]:
        if cell["cell_type"] == "markdown" and (
            found := re.search(r"^# (.+)$", _joined(cell["source"]), re.M)
        ):
            return found[1].strip()
    return path.stem


def _language(source: str) -> str:
    """Return the language of a cell: with a magic in it, Python alone would be an error to a lexer."""
    return "ipython" if re.search(r"^\s*[%!]|\?\s*$", source, re.M) else "python"


def _outputs(outputs: list[dict[str, Any]], name: str, folder: Path, language: str) -> list[str]:
    """Return a cell's outputs; pieces of one stream that follow each other are one."""
    parts: list[str] = []
    said = ""
    for number, output in enumerate(outputs):
        if output["output_type"] == "stream":
            said += _joined(output["text"])
            continue
        if said:
            parts.append(_printed(said, language))
            said = ""
        if output["output_type"] == "error":
            parts.append(_printed("\n".join(output["traceback"]), language))
        else:
            parts.append(_shown(output, f"{name}-{number}", folder, language))
    if said:
        parts.append(_printed(said, language))
    return parts


def _shown(output: dict[str, Any], name: str, folder: Path, language: str) -> str:
    """Return what was displayed: a picture with its text in a box, or the text."""
    data = output.get("data", {})
    text = _joined(data.get("text/plain", ""))
    if (page := _joined(data.get("text/html", ""))).startswith(OURS):
        return _raw(_RELATIVE.sub(r'\1.html"', page))
    for mime, suffix in PICTURES.items():
        if mime not in data:
            continue
        raw = _joined(data[mime])
        path = folder / "pictures" / (name + suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw.encode() if mime == "image/svg+xml" else base64.b64decode(raw))
        wide = output.get("metadata", {}).get(mime, {}).get("width")
        picture = "\n".join(
            [
                f"```{{image}} pictures/{path.name}",
                f":alt: {_alternative(text)}",
                *([f":width: {wide}px"] if wide else []),
                f":class: vt-picture{' vt-figure' if text.startswith(FIGURE) else ''}",
                "```",
            ]
        )
        return (
            picture
            if text.startswith("<") or not text
            else f"{picture}\n\n{_box(text, words.AS_TEXT[language])}"
        )
    return _printed(text, language)


def _raw(page: str) -> str:
    """Return HTML as it stands, for the page alone: a list of contents or a search has no use for it."""
    return f"```{{raw}} html\n<div class='vt-view'>{page}</div>\n```"


def _alternative(text: str) -> str:
    """Return words for who does not see a picture: the first line of its text."""
    first = text.strip().split("\n", 1)[0][:120]
    return first.replace("<", "").replace(">", "") or "output of the cell"


def _printed(text: str, language: str) -> str:
    """Return printed text; where it is long, in a box."""
    if not text.strip():
        return ""
    return (
        _box(text, words.OUTPUT[language])
        if text.count("\n") > LONG
        else _fence("text", _ANSI.sub("", text), "vt-output")
    )


def _box(text: str, says: str) -> str:
    """Return text that is seen after a click."""
    return f"<details class='vt-box'><summary>{says}</summary>\n\n{_fence('text', _ANSI.sub('', text))}\n\n</details>"


def _fence(language: str, text: str, kind: str = "") -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    if kind:
        return f"{ticks}{{code-block}} {language}\n:class: {kind}\n\n{text.rstrip()}\n{ticks}"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
