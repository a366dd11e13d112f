"""Page-locked memory of the host, from and to which a device copies while the host goes on.

Simulated devices have none; there the memory is ordinary and believed to be page-locked. Invariant: memory that a copy
reads or writes is held until the copy is done.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..kernels import simulated
from .array_memory import owner

_known: WeakValueDictionary[int, np.ndarray] = WeakValueDictionary()  # by id: the arrays that own the memory
_copying: list[tuple[Any, Any]] = []  # an event behind a copy, and the memory it works with


def empty(shape: tuple, dtype: Any, order: Any = "C") -> np.ndarray:
    """An array in page-locked memory, without values."""
    if simulated.count():
        made = np.empty(shape, dtype, order)
    else:
        import cupyx

        made = cupyx.empty_pinned(shape, dtype, order)
    root = owner(made)
    _known[id(root)] = root
    return made


def copied(array: np.ndarray) -> np.ndarray:
    """An array's values in page-locked memory, in the order they have."""
    made = empty(array.shape, array.dtype, "F" if array.flags.fnc else "C")
    np.copyto(made, array)
    return made


def is_pinned(array: Any) -> bool:
    """Whether an array of the host lies in page-locked memory."""
    if not isinstance(array, np.ndarray):
        return False
    root = owner(array)
    return _known.get(id(root)) is root


def hold(event: Any, memory: Any) -> None:
    """Keep memory until an event has come; those that have come are let go."""
    _copying[:] = [(one, held) for one, held in _copying if not one.done]
    _copying.append((event, memory))
