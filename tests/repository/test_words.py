"""Plain words: what has a standard term in this field is called by it, in code, docs, messages and pages.

Invariant: each entry names the term to use in its place; each exception gives its reason.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".pyi", ".ts", ".mjs", ".css", ".md", ".toml", ".ipynb", ".cfg", ""}

# The word, and what to say. A word counts in prose and as a part of an identifier: `_told`, `TWINS`, `HeardOps`.
INSTEAD = {
    "told": "given, reported, emitted, shown",
    "heard": "recorded, received",
    "hear": "listen, get",
    "hears": "listens, gets",
    "hearing": "listening",
    "born": "made, comes from",
    "birth": "origin",
    "births": "origins",
    "twin": "variant, counterpart, copy",
    "twins": "variants, counterparts, copies",
    "whoever": "who, a caller, code that",
    "somebody": "someone, or what really does it",
    "kin": "and the like, similar functions",
    "door": "entry, connection",
    "doors": "entries, patches",
    "room": "package, module; space where it is drawn",
    "rooms": "packages, modules",
    "ear": "listener",
    "ears": "listeners",
    "desk": "server, context",
    "shelf": "section, snapshots",
    "crew": "pool of workers",
    "parcel": "buffers",
    "freight": "transfer",
}
# Where the word is right: a pattern of the text around it, and why.
RIGHT = {
    r"\btold apart\b|_told_apart\b": "the idiom",
    r"\b(?i:make|makes|leave|leaves|no|little|more|is|has|with) room\b|\b[Rr]oom (?:for|to)\b": "space, as in any text",
    r"_(?:is|little)_room\b|_make_room\b": "the same in the name of a test",
    r"\((?:was|state was) [^)]*\)": "the changelog names what was called otherwise",
    r"\bROOM\b": "the folder of tests that `make test ROOM=optim` runs",
    r"\btwins:inplace_docs\b": "a former name of a module, which old pickles have",
}
# Files that quote the words.
QUOTE = {"tests/repository/test_words.py"}
# Programs of the bench that others wrote, about houses and shops: their text stays as it is.
PROGRAMS = ("tests/diagnose/second/", "tests/diagnose/third/", "tests/diagnose/fourth/")

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_RIGHT = re.compile("|".join(RIGHT))


def found(text):
    """Yield the number of a line, the word, and what to say in its place."""
    for number, line in enumerate(text.splitlines(), 1):
        for part in _PARTS.findall(_RIGHT.sub("", line)):
            if part.lower() in INSTEAD:
                yield number, part, INSTEAD[part.lower()]


def text_of(path):
    """What a person reads of a file: of a notebook the cells and what they print, not the pictures."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    lines = []
    for cell in json.loads(text)["cells"]:
        lines += cell["source"]
        for output in cell.get("outputs", ()):
            lines += [*output.get("text", ()), *output.get("data", {}).get("text/plain", ())]
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def files():
    """The files of the repository that are written by hand, and notebooks."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        quoted = name in QUOTE or name.startswith(PROGRAMS)
        if path.suffix in TEXT and not quoted and path.name != "package-lock.json" and path.is_file():
            yield name, path


def test_words_are_those_of_the_field():
    wrong = [
        f"{name}:{number}: {word!r}: say {instead}"
        for name, path in files()
        for number, word, instead in found(text_of(path))
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "line",
    [
        "x = _told(y)",
        "class HeardOps:",
        "TWINS = ()",
        "# whoever calls it",
        "the value is born here",
        "vt-tr-born",
    ],
)
def test_a_word_is_found_wherever_it_stands(line):
    assert len(list(found("fine\n" + line))) == 1


@pytest.mark.parametrize(
    "line", ["two outputs cannot be told apart", "make test ROOM=optim", "hearts, a storeroom"]
)
def test_right_uses_and_other_words_pass(line):
    assert not list(found(line))
