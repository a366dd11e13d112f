"""A tutorial in another language: the notebook's own code and outputs, with the words of a translation.

A translation is `notebooks/<language>/NN_name.md`, in sections. Each begins with a line that names a cell and the hash
of its English text, `<!-- cell: ID english: HHHHHHHH -->`. Below it stands the text of a Markdown cell, or for a cell
of code its comments, one a line, in their order.
Invariant: code and outputs are the English notebook's. A cell whose English text has changed since stays English.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tokenize
from dataclasses import dataclass
from typing import Any

ENGLISH = "en"
MARK = re.compile(r"^<!-- (?:cell|section): (\S+) english: (\w+) -->\n", re.M)
_MAGIC = re.compile(r"^\s*[%!].*|^.*\?\s*$")


@dataclass(frozen=True)
class Section:
    """A piece of a translation.

    Args:
        name: the cell, or the heading, that it translates.
        english: the hash of the text that it was made from.
        text: the translation.
    """

    name: str
    english: str
    text: str


def sections(text: str) -> list[Section]:
    r"""Return the pieces of a translation, in their order.

    Args:
        text: the file's text.

    Example:
        >>> from vistorch.tutorials.translations import sections
        >>> [(one.name, one.text) for one in sections("<!-- cell: a english: 01234567 -->\n你好\n")]
        [('a', '你好')]
    """
    _, *pieces = MARK.split(text)
    return [
        Section(name, english, piece.strip("\n"))
        for name, english, piece in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    ]


def fingerprint(english: str) -> str:
    """Return the hash by which a translation knows the text it was made from.

    Args:
        english: the text.
    """
    return hashlib.sha256(english.encode()).hexdigest()[:8]


def translated(notebook: bytes, translation: str) -> bytes:
    """Return a notebook with the words of a translation.

    Args:
        notebook: the English notebook, as its file has it.
        translation: the text of its translation.
    """
    book: dict[str, Any] = json.loads(notebook)
    found = {section.name: section for section in sections(translation)}
    for cell in book["cells"]:
        english = "".join(cell["source"])
        section = found.get(cell.get("id"))
        if section is None or section.english != fingerprint(english):
            continue
        if cell["cell_type"] == "markdown":
            cell["source"] = section.text.splitlines(keepends=True)
        elif cell["cell_type"] == "code":
            cell["source"] = commented(english, section.text.split("\n")).splitlines(keepends=True)
    return (json.dumps(book, ensure_ascii=False, indent=1) + "\n").encode()


def comments(code: str) -> list[tokenize.TokenInfo]:
    """Return the comments of a cell's code, in their order; those on a line of a magic are the magic's.

    Args:
        code: the cell's text.
    """
    plain = "\n".join("" if _MAGIC.match(line) else line for line in code.split("\n"))
    tokens = tokenize.generate_tokens(io.StringIO(plain).readline)
    return [token for token in tokens if token.type == tokenize.COMMENT]


def commented(code: str, words: list[str]) -> str:
    """Return code with other words in its comments; as it is, where there are not as many.

    Args:
        code: the cell's text.
        words: a comment for each one that is there, with its sign.
    """
    there = comments(code)
    if len(there) != len(words):
        return code
    lines = code.split("\n")
    for token, text in zip(there, words, strict=True):
        line, start = token.start[0] - 1, token.start[1]
        lines[line] = lines[line][:start] + text
    return "\n".join(lines)
