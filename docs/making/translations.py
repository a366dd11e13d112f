"""`python -m docs.making.translations` says where a translation does not fit its original; a test asks the same.

A lesson's translation is `notebooks/<language>/NN_name.md`, that of a page by hand is a page of its name in a folder
`<language>` beside it; a page's pieces are its headings with what is below them.
Invariant: only words differ. Code, formulas, pictures, tags and what links lead to are those of the English text, and
every name in backticks is there.
"""

from __future__ import annotations

import io
import json
import posixpath
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

from vistorch.tutorials.translations import Section, comments, fingerprint, sections

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = {"zh": "中文"}
# How each language's own words are recognized, where the English text has words.
LETTERS = {"zh": re.compile(r"[\u4e00-\u9fff]")}
# What a text is not set with: Chinese has full-width marks, and a space between its characters and letters or digits.
SET_WRONG = {"zh": re.compile(r"[\u4e00-\u9fff][,;:!?A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")}
# A page that is no translation: the first page of a language.
OWN = ("docs/{}/index.md",)
TERMS = "terms.md"

_FENCE = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1[ \t]*$", re.M | re.S)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$]+\$", re.S)
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")
_LINK = re.compile(r"\]\(([^)\s]*)\)")
_TAG = re.compile(r"</?[a-z][^>]*>")
_HEADING = re.compile(r"^(#+) +(.+?)\s*$")


def pieces(page: str) -> dict[str, str]:
    """Return the parts of a page, each a heading with what stands below it, by the names that translations give them.

    Args:
        page: the page's text.
    """
    found: dict[str, list[str]] = {}
    name, fenced = "", False
    for line in page.split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and (heading := _HEADING.match(line)):
            plain = name = re.sub(r"[^\w]+", "-", heading[2].lower()).strip("-")
            while name in found:
                name += f"-{plain}"
        found.setdefault(name, []).append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items() if name}


def cells(notebook: str) -> dict[str, str]:
    """Return what is to be translated of a notebook: its Markdown cells, and its cells of code that have comments.

    Args:
        notebook: the file's text.
    """
    found = {}
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" or _comments(text):
            found[cell["id"]] = text
    return found


def _comments(code: str) -> list[str]:
    return [token.string for token in comments(code) if not token.string.startswith(("# fmt:", "# noqa"))]


def translations(root: Path = ROOT) -> list[tuple[Path, Path, str]]:
    """Return every translation: its file, that of the English text, the language.

    Args:
        root: the repository.
    """
    found = []
    for language in LANGUAGES:
        lessons = (root / "notebooks" / language).glob("[0-9]*.md")
        found += [(path, path.parents[1] / f"{path.stem}.ipynb", language) for path in sorted(lessons)]
        own = {root / name.format(language) for name in OWN}
        for folder in ("notebooks", "docs"):
            for path in sorted((root / folder / language).glob("[!0-9]*.md")):
                if path not in own and path.name != TERMS:
                    found.append((path, path.parents[1] / path.name, language))
    return found


def trouble(root: Path = ROOT) -> list[str]:
    """Return what does not fit, a line each.

    Args:
        root: the repository.
    """
    found = []
    for path, english, language in translations(root):
        name = path.relative_to(root).as_posix()
        if not english.is_file():
            found.append(
                f"{name}: there is no {english.relative_to(root).as_posix()} that it could translate"
            )
            continue
        text, there = path.read_text(encoding="utf-8"), english.read_text(encoding="utf-8")
        lesson = english.suffix == ".ipynb"
        for line in _of_one(text, there, english.relative_to(root).as_posix(), language, lesson):
            found.append(f"{name}: {line}")
    for language in LANGUAGES:
        for path in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
            if not (path.parent / language / f"{path.stem}.md").is_file():
                found.append(f"notebooks/{path.name} is not translated into {language}")
    return found


def _of_one(text: str, english: str, place: str, language: str, lesson: bool) -> list[str]:
    wanted = cells(english) if lesson else pieces(english)
    kinds = {cell["id"]: cell["cell_type"] for cell in json.loads(english)["cells"]} if lesson else {}
    given = sections(text)
    names = [section.name for section in given]
    found = [f"{name} is there {count} times" for name, count in Counter(names).items() if count > 1]
    found += [f"the original has no {name}" for name in names if name not in wanted]
    found += [f"{name} is not translated" for name in wanted if name not in names]
    if not found and names != list(wanted):
        found.append("its pieces are in another order than those of the original")
    for section in given:
        if section.name not in wanted:
            continue
        original = wanted[section.name]
        if section.english != (now := fingerprint(original)):
            found.append(
                f"the English of {section.name} has changed: mend its translation, then write english: {now}"
            )
        elif kinds.get(section.name) == "code":
            found += [f"{section.name} {line}" for line in _of_comments(section, original, language)]
        else:
            found += [
                f"{section.name} {line}" for line in differences(section.text, original, place, language)
            ]
    return found


def _of_comments(section: Section, code: str, language: str) -> list[str]:
    lines, wanted = section.text.split("\n"), _comments(code)
    if len(lines) != len(comments(code)) or not all(line.startswith("#") for line in lines):
        return [f"needs {len(wanted)} lines, a comment each"]
    return [] if LETTERS[language].search(section.text) else ["is not translated"]


def differences(text: str, english: str, place: str, language: str) -> list[str]:
    """Return what a translation changed that is not words.

    Args:
        text: the translation.
        english: the original.
        place: the original's file in the repository.
        language: the translation's.
    """
    here = f"{posixpath.dirname(place)}/{language}/{posixpath.basename(place)}"
    old = _kept(english, place, language)
    new = _kept(text, here if place.endswith(".md") else place, language)
    found = []
    for kind in old:
        missing, more = old[kind] - new[kind], new[kind] - old[kind]
        if kind == "name":
            missing, more = Counter(set(old[kind]) - set(new[kind])), Counter()
        found += [f"lacks the {kind} {_short(one)}" for one in missing]
        found += [f"has a {kind} that the original has not: {_short(one)}" for one in more]
    if re.search(r"[A-Za-z]{3}", _prose(english)) and not LETTERS[language].search(text):
        found.append("is not translated")
    levels = [[len(one[1]) for line in part.split("\n") if (one := _HEADING.match(line))] for part in
              (_FENCE.sub("", english), _FENCE.sub("", text))]  # fmt: skip
    if levels[0] != levels[1]:
        found.append("has other headings")
    plain = _FORMULA.sub("x", _CODE.sub("x", _TAG.sub("", _IMAGE.sub("", _FENCE.sub("", text)))))
    for wrong in SET_WRONG[language].finditer(plain):
        found.append(
            f"needs a space or a full-width mark at {plain[max(0, wrong.start() - 8) : wrong.end() + 8]!r}"
        )
    return found


def _kept(text: str, place: str, language: str) -> dict[str, Counter[str]]:
    """Return what a translation must have as its original has it, by kind."""
    fences = Counter(f"{kind.strip()}: {_plain(kind, code)}" for _, kind, code in _FENCE.findall(text))
    text = _FENCE.sub("", text)
    images = Counter(_IMAGE.findall(text))
    text = _IMAGE.sub("", text)
    names = Counter(" ".join(code.split()) for _, code in _CODE.findall(text))
    text = _CODE.sub("code", text)
    formulas = Counter("".join(one.split()) for one in _FORMULA.findall(text))
    links = Counter(_target(one, place, language) for one in _LINK.findall(text))
    tags = Counter(_TAG.findall(text))
    return {"code": fences, "picture": images, "formula": formulas, "link": links, "tag": tags, "name": names}


def _prose(text: str) -> str:
    for pattern in (_FENCE, _IMAGE, _CODE, _FORMULA, _TAG):
        text = pattern.sub("", text)
    return text


def _plain(kind: str, code: str) -> str:
    """Return code without its comments, which are words; of a directive, without its words and the way to a file."""
    if kind.strip() != "python":
        return re.sub(r"^:alt:.*$|(?<=^:file: )(?:\.\./)+", "", code, flags=re.M)
    skipped = {tokenize.COMMENT, tokenize.NL}
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return " ".join(token.string for token in tokens if token.type not in skipped)


def _target(link: str, place: str, language: str) -> str:
    """Return what a link leads to in the repository; a translation stands for its original, wherever in it."""
    if re.match(r"[a-z]+:", link):
        return link
    path, _, anchor = link.partition("#")
    if not path:
        return "#"
    name = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
    parts = name.split("/")
    if language not in parts[1:2]:
        return (
            f"{name}#{anchor}"
            if anchor and not (ROOT / parts[0] / language / "/".join(parts[1:])).exists()
            else name
        )
    if re.match(r"\d", parts[-1]) and parts[0] == "notebooks":
        parts[-1] = parts[-1].removesuffix(".md") + ".ipynb"
    return "/".join([parts[0], *parts[2:]])


def _short(text: str) -> str:
    return text if len(text) < 80 else f"{text[:77]}..."


def main() -> int:
    """Print what does not fit; return an exit code."""
    found = trouble()
    print("\n".join(found) or f"all {len(translations())} translations fit")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
