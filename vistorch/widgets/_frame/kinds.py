"""Which kinds of views there are: the folders beside this one that have a picture.

Invariant: no list of kinds is written anywhere; a folder is one, and its files are found by their names.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

VIEWS = __name__.rpartition("._")[0]  # the package that holds the folders


@cache
def kinds() -> tuple[str, ...]:
    """The kinds of views, by name.

    Example:
        >>> from vistorch.widgets import kinds
        >>> "array" in kinds() and "flow" in kinds()
        True
    """
    folders = [found.name for found in pkgutil.iter_modules(import_module(VIEWS).__path__) if found.ispkg]
    return tuple(sorted(name for name in folders if not name.startswith("_") and part(name, "picture")))


def part(kind: str, name: str) -> str | None:
    """The module of one file in a view's folder, "picture", "live" or "command"; None where there is none.

    Args:
        kind: the folder.
        name: the file, without its ending.
    """
    module = f"{VIEWS}.{kind}.{name}"
    return module if find_spec(module) is not None else None


def painter(kind: str) -> ModuleType:
    """The module that paints one kind of record.

    Args:
        kind: as the record says it.
    """
    return import_module(f"{VIEWS}.{kind}.picture")
