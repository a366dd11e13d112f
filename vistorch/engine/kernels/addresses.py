"""Where the memory of an array is, for routines of other libraries.

Invariant: an address says nothing of shape and strides; who passes it on has looked at both.
"""

from __future__ import annotations

import ctypes as C
from collections.abc import Callable

import numpy as np

_at = C.c_void_p.from_address


def _by_layout(a: np.ndarray) -> int:
    return _at(id(a) + 16).value  # type: ignore[return-value]


def _by_question(a: np.ndarray) -> int:
    return a.ctypes.data


def _chosen() -> Callable[[np.ndarray], int]:
    """How to learn the address: the second word of numpy's object takes a tenth of the question."""
    try:
        for a in (np.empty(1, "f4"), np.empty((3, 4), "f4")[1:, ::2]):
            if _by_layout(a) != a.ctypes.data:
                return _by_question
    except (ValueError, TypeError):
        return _by_question
    return _by_layout


address = _chosen()
