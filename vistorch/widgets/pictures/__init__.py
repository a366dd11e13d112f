"""One picture for each kind of record: what is seen where no page runs.

A module here is named after its kind and has `MIME` and `paint(record, theme="light") -> bytes`; `svg(record,
theme)` too where a drawing with text can be made. Nothing else needs to know of it.

Invariant: the same record gives the same bytes.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def painter(kind: str) -> ModuleType:
    """The module that paints one kind of record."""
    return import_module(f"{__name__}.{kind}")
