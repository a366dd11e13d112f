"""The sources of the site, put together in one folder: pages by hand, copied pages, generated pages.

Invariant: a relative link of a page by hand works in the repository as it is written and on the site as it is rewritten
here; a link to a file that is not there is an error, one to a file that is no page becomes its name.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from vistorch.tutorials.translations import ENGLISH, MARK

from . import commands, notebooks, read_on, reference, words
from .translations import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
# Pages that live elsewhere in the repository.
COPIED = {
    "benchmarks/README.md": "measured/speed.md",
    "benchmarks/GPU.md": "measured/gpu.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
# What a link means on the site whose target in the repository is no page: what the page is made from.
MADE = {
    "README.md": "index.md",
    "docs/decisions": "decisions/index.md",
    "notebooks": "tutorials/index.md",
    "notebooks/README.md": "tutorials/index.md",
    "notebooks/zh": "zh/tutorials/index.md",
    "notebooks/zh/README.md": "zh/tutorials/index.md",
    "vistorch/vt/__init__.py": "notebook-tools.md",
    "vistorch/__init__.py": "reference/index.md",
}
# For who works on vistorch; a reader who searches for `backward` looks for the reference and the tutorials.
NOT_SEARCHED = ("decisions/", "contributing", "changelog", "measured/")
UNSEARCHED = "---\nnosearch: true\n---\n\n"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
_LESSON = re.compile(r"notebooks/([a-z]+/)?(\d[^/]*)\.(?:ipynb|md)$")
_FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)


def put_together(folder: Path) -> None:
    """Write all sources.

    Args:
        folder: where to; what was in it is deleted first.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = placed()
    for file, place in pages.items():
        text = relinked(MARK.sub("", (ROOT / file).read_text(encoding="utf-8")), file, pages)
        text = other_languages(text, place, set(pages.values()))
        _write(folder / place, UNSEARCHED + text if place.startswith(NOT_SEARCHED) else text)
    for kind in ("pictures", "looks"):
        if (ROOT / "docs" / kind).is_dir():
            shutil.copytree(ROOT / "docs" / kind, folder / kind)
    for path, text in reference.pages().items():
        _write(folder / f"{path}.md", text)
    _write(folder / "notebook-tools.md", commands.page(folder))
    _tutorials(folder / "tutorials")
    for language in LANGUAGES:
        _tutorials(folder / language / "tutorials", language)
    _decisions(folder / "decisions")


def placed() -> dict[str, str]:
    """Return every page by hand: its file in the repository, its place on the site."""
    here = ROOT / "docs"
    own = {
        path.relative_to(ROOT).as_posix(): path.relative_to(here).as_posix()
        for path in sorted(here.rglob("*.md"))
    }
    return {**own, **COPIED}


def relinked(text: str, file: str, pages: dict[str, str]) -> str:
    """Return a page's text with its links as they must be on the site.

    Args:
        text: the page.
        file: its file in the repository.
        pages: every page's file and place.
    """

    def there(found: re.Match[str]) -> str:
        says, target, anchor = found[1], found[2], found[3] or ""
        name = os.path.normpath(os.path.join(os.path.dirname(file), target)).replace(os.sep, "/")
        if not (ROOT / name).exists():
            raise FileNotFoundError(f"{file} links to {target}, and there is no {name}")
        place = pages.get(name) or MADE.get(name)
        if lesson := _LESSON.match(name):
            place = f"{lesson[1] or ''}tutorials/{lesson[2]}.md"
        if place is None:
            return f"{says} (`{name}`)" if name not in says else says
        return f"[{says}]({os.path.relpath(place, os.path.dirname(pages[file]) or '.')}{anchor})"

    pieces = _FENCED.split(text)
    pieces[::2] = [_LINK.sub(there, piece) for piece in pieces[::2]]
    return "".join(pieces)


def other_languages(text: str, place: str, places: set[str]) -> str:
    """Return a page's text with a line below its title that leads to the same page in other languages.

    Args:
        text: the page.
        place: where it is on the site.
        places: all places.
    """
    english = next((place.removeprefix(f"{one}/") for one in LANGUAGES if place.startswith(f"{one}/")), place)
    versions = {english: "English", **{f"{one}/{english}": says for one, says in LANGUAGES.items()}}
    links = [
        f"[{says}]({os.path.relpath(there, os.path.dirname(place) or '.')})"
        for there, says in versions.items()
        if there != place and there in places
    ]
    title, _, rest = text.partition("\n")
    return f"{title}\n\n:::{{container}} vt-language\n{' · '.join(links)}\n:::\n{rest}" if links else text


def _tutorials(folder: Path, language: str = ENGLISH) -> None:
    """Write a page for each notebook that is there, and the page that leads to them."""
    paths = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    translations = set(placed().values())
    pages = {
        path.stem: notebooks.page(path, folder, language, read_on.line(path.stem, language, translations))
        for path in paths
    }
    tree = "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", "", *pages, "```"])
    listed, last = _listed(paths, language), words.OF_TUTORIALS[language]
    pages["index"] = f"# {words.TUTORIALS[language]}\n\n{listed}\n\n{last}\n\n{tree}\n"
    ways = {one: "tutorials" if one == ENGLISH else f"{one}/tutorials" for one in (ENGLISH, *LANGUAGES)}
    places = {f"{way}/{name}.md" for way in ways.values() for name in pages}
    for name, text in pages.items():
        _write(folder / f"{name}.md", other_languages(text, f"{ways[language]}/{name}.md", places))


def _listed(paths: list[Path], language: str) -> str:
    """Return what `notebooks/README.md` says of the tutorials, each by its title and with a link to its page."""
    name = "README.md" if language == ENGLISH else f"{language}/README.md"
    readme = MARK.sub("", (ROOT / "notebooks" / name).read_text(encoding="utf-8"))
    listed = readme.partition("\n")[2].partition("\n- ")[0].strip()
    for path in paths:
        file = path.name if language == ENGLISH else f"{path.stem}.md"
        link = f"[{path.stem}]({file})"
        if link not in listed:
            raise ValueError(f"notebooks/{name} does not list {path.name}")
        listed = listed.replace(link, f"[{notebooks.title(path, language)}]({path.stem}.md)")
    return listed


def _decisions(folder: Path) -> None:
    """Write the page that leads to the decisions."""
    names = sorted(path.stem for path in folder.glob("[0-9]*.md"))
    text = "# Decisions\n\nWhat was chosen where there was a choice: the question, the answer, what it costs."
    _write(folder / "index.md", "\n".join([text, "", "```{toctree}", ":maxdepth: 1", "", *names, "```", ""]))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
