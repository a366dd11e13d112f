"""Flags that are set for a while.

Invariant: what was set before is set again at the end, whatever happened.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held(module: str, **values: Any) -> Iterator[None]:
    """Set flags of a module, those that are not None, until the end of the block."""
    holder: Any = sys.modules[module]
    values = {name: value for name, value in values.items() if value is not None}
    before = {name: getattr(holder, name) for name in values}
    vars(holder).update(values)
    try:
        yield
    finally:
        vars(holder).update(before)
