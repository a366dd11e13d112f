"""Types for what `wire()` of a record returns, beside Python's own: finite numbers, and arrays by their axes.

`docs/making/page_types.py` makes the pages' types of them.

Invariant: they are annotations alone; nothing is checked or changed at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np


class FiniteMark:
    """A number that is neither nan nor infinite, so that it travels as a number."""


@dataclass(frozen=True)
class Dims:
    """An array, whose values travel as bytes.

    Args:
        number: of axes; None for any.
    """

    number: int | None = None


Finite = Annotated[float, FiniteMark()]
Array = Annotated[np.ndarray, Dims()]
Array1 = Annotated[np.ndarray, Dims(1)]
Array2 = Annotated[np.ndarray, Dims(2)]
Array3 = Annotated[np.ndarray, Dims(3)]
