"""The reader's own copies of the tutorials: where the originals are, and how a folder is brought up to date.

Invariant: a file that the reader has changed is never written to. What was copied is noted in the folder by its hash,
so that a copy nobody has touched follows its original, and a changed one gets the newer original beside it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from vistorch.serialization.atomic import replacing

from .translations import ENGLISH, translated

NOTE = ".copied.json"
BESIDE = ".new.ipynb"
PACKED = Path(__file__).parent / "notebooks"  # in an installed package
CHECKOUT = Path(__file__).parents[4] / "notebooks"  # in a clone, and in an editable install of it


class Refusal(Exception):
    """Why the copies cannot be made, in a sentence."""


@dataclass(frozen=True)
class Copied:
    """What became of each tutorial, by name.

    Args:
        new: copied for the first time, or again because it was deleted.
        updated: not touched by the reader, and replaced by a newer original.
        kept: changed by the reader, or as it was.
        beside: newer originals that lie beside a changed copy.
    """

    folder: Path
    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    @property
    def written(self) -> list[Path]:
        """The files that are now, byte for byte, what the package carries."""
        return [self.folder / name for name in [*self.new, *self.updated, *self.beside]]

    def text(self) -> str:
        """A line for each thing that happened."""
        lines = [f"The tutorials are in {self.folder}"]
        for names, says in (
            (self.new, "new"),
            (self.updated, "brought up to date"),
            (self.kept, "kept as they are"),
        ):
            if names:
                lines.append(f"  {says}: {len(names)} notebook{'s' * (len(names) > 1)}")
        lines += [f"  {name}: a newer tutorial, beside the one you changed" for name in self.beside]
        return "\n".join(lines)


def originals() -> list[Path]:
    """Return the tutorials that this installation carries, in their order.

    Example:
        >>> from vistorch.tutorials.copies import originals
        >>> originals()[0].suffix
        '.ipynb'
    """
    for folder in (PACKED, CHECKOUT):
        if found := sorted(folder.glob("[0-9]*.ipynb")):
            return found
    raise Refusal("this installation carries no tutorials; they are in the folder notebooks/ of the project.")


def languages() -> list[str]:
    """Return the languages that this installation has the tutorials in.

    Example:
        >>> from vistorch.tutorials.copies import languages
        >>> languages()
        ['en', 'zh']
    """
    beside = sorted(originals()[0].parent.glob("*/[0-9]*.md"))
    return [ENGLISH, *dict.fromkeys(path.parent.name for path in beside)]


def edition(language: str = ENGLISH) -> dict[str, bytes]:
    """Return the tutorials in a language, by the names of their files; one without a translation is English.

    Args:
        language: one of `languages()`.
    """
    if language not in (known := languages()):
        raise Refusal(f"there are no tutorials in {language!r}; they are there in {' and '.join(known)}.")
    return {path.name: _in(path, language) for path in originals()}


def _in(path: Path, language: str) -> bytes:
    translation = path.parent / language / f"{path.stem}.md"
    if language == ENGLISH or not translation.is_file():
        return path.read_bytes()
    return translated(path.read_bytes(), translation.read_text(encoding="utf-8"))


def copy_to(folder: str | os.PathLike[str], language: str = ENGLISH) -> Copied:
    """Copy the tutorials into a folder; what the reader has changed there stays.

    Args:
        folder: where to; made if it is not there.
        language: one of `languages()`.

    Returns:
        What became of each.
    """
    sources = edition(language)
    folder = Path(folder)
    if originals()[0].parent.resolve() == folder.resolve():
        raise Refusal(f"{folder} holds the originals, which are not to be changed: name another folder.")
    if folder.exists() and not folder.is_dir():
        raise Refusal(f"{folder} is a file: name a folder for the tutorials.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _bring_up_to_date(sources, folder)
    except OSError as error:
        raise Refusal(f"the tutorials cannot be copied to {folder}: {error.strerror or error}.") from None


def _bring_up_to_date(sources: dict[str, bytes], folder: Path) -> Copied:
    noted = _read_note(folder)
    copied = Copied(folder)
    for name, fresh in sources.items():
        there = folder / name
        if not there.exists():
            _write(there, fresh)
            copied.new.append(name)
        elif (old := there.read_bytes()) == fresh or noted.get(name) == _hash(fresh):
            copied.kept.append(name)
        elif noted.get(name) == _hash(old):
            _write(there, fresh)
            copied.updated.append(name)
        else:
            copied.kept.append(name)
            copied.beside.append(_put_beside(there, fresh))
        noted[name] = _hash(fresh)
    _write(folder / NOTE, json.dumps(noted, indent=1).encode())
    return copied


def _put_beside(there: Path, fresh: bytes) -> str:
    """Write a newer original under a name that is free."""
    number = 1
    while True:
        beside = there.with_name(there.stem + (f"-{number}" if number > 1 else "") + BESIDE)
        if not beside.exists() or beside.read_bytes() == fresh:
            _write(beside, fresh)
            return beside.name
        number += 1


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: an interrupt must not leave half a notebook that looks like the reader's."""
    with replacing(str(path)) as file:
        file.write(data)


def _read_note(folder: Path) -> dict[str, str]:
    """Return what was copied before, by name; a note that cannot be read counts as none: then nothing is replaced."""
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(noted, dict):
        return {}
    return {name: value for name, value in noted.items() if isinstance(value, str)}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
