"""What README and the pages quote exists: files, targets of make, commands, and names of Python."""

import importlib.util
import re
from pathlib import Path

import pytest

from vistorch import cli, vt

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "notebooks/README.md", "benchmarks/README.md", "benchmarks/GPU.md"]
PAGES += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
# The folders and files of the repository that a quoted path begins with.
TOP = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
# Made by a command that the same page names, and not in the repository.
MADE = re.compile(r"^(?:build|node_modules|tests/ui/artefacts|vistorch-tutorials)\b|[<>*]|NAME|NN_name|/tmp")


def quoted(text):
    """Yield what stands in backticks outside of blocks of code, and the lines of blocks that are typed in a shell."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    for language, block in blocks:
        if language in ("", "text", "sh", "bash"):
            yield from (line.strip() for line in block.splitlines())
    for span in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        yield " ".join(span.split())


def wrong(span):
    """Return what is wrong with something quoted, or an empty string."""
    if (
        re.fullmatch(r"[\w.-]+(?:/[\w.<>*{}-]+)+/?", span)
        and span.split("/")[0] in TOP
        and not MADE.search(span)
    ):
        return "" if (ROOT / span).exists() else "there is no such file"
    if found := re.match(r"make ([a-z]+)\b", span):
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        return "" if found[1] in targets else "make has no such target"
    if found := re.match(r"vistorch (-*\w+)", span):
        return "" if found[1] in (*cli.COMMANDS, "--help", "--version") else "vistorch has no such command"
    if found := re.match(r"%%?vt (\w+)", span):
        return "" if found[1] in vt.COMMANDS else "%vt has no such command"
    if found := re.match(r"python -m ([\w.]+)", span):
        spec = importlib.util.find_spec(found[1])
        return "" if spec else "there is no such module"
    if found := re.fullmatch(r"((?:vistorch|vt)(?:\.\w+)+)(?:\(.*\))?", span):
        return named(found[1])
    return ""


def named(name):
    """Return what is wrong with a dotted name."""
    first, *parts = ("vistorch." + name if name.startswith("vt.") else name).split(".")
    thing = importlib.import_module(first)
    for part in parts:
        try:
            thing = (
                getattr(thing, part)
                if hasattr(thing, part)
                else importlib.import_module(f"{thing.__name__}.{part}")
            )
        except (ImportError, AttributeError):
            return f"{thing.__name__} has no {part}"
    return ""


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_quotes_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {span: why for span in quoted(text) if (why := wrong(span))} == {}


@pytest.mark.parametrize(
    "span",
    [
        "vistorch/engine/nothing.py",
        "docs/nowhere",
        "make nothing",
        "vistorch fly",
        "%vt nothing x",
        "%%vt nothing",
        "python -m docs.nothing",
        "vistorch.no_such_name",
        "vt.nothing(x)",
        "vistorch.nn.Linearr",
    ],
)
def test_what_is_not_there_is_found(span):
    assert wrong(span)
    assert list(quoted(f"text `{span}` text\n\n```\n{span}\n```\n")).count(span) == 2


def test_words_that_are_no_names_are_left_alone():
    for span in (
        "a/b",
        "x / y",
        "loss.backward()",
        "torch.save",
        "%load_ext vistorch",
        "import vistorch as torch",
    ):
        assert wrong(span) == ""
