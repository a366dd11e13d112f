"""A gradient that is zero but for one element of each row, and says where: what picking one number per row sends back.

It is an ordinary array with all its zeros, so code that does not know it reads it as any other; a formula that does
need not read the zeros. Invariant: nobody who could write to it ever gets it, only `plain` of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Placed(np.ndarray):
    """A matrix with `values` at the flat places `at`, one in each row, in the order of rows; zero elsewhere."""

    at: Any = None  # None for whatever numpy makes of one: then it is a plain array under another name
    values: Any = None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else array


def placed(shape: tuple, dtype: Any, at: Any, values: Any) -> Placed:
    """The matrix with these values at these places."""
    out = np.zeros(shape, dtype).view(Placed)
    if at.size:
        np.ndarray.reshape(out, -1)[at] = values
    out.at, out.values = at, values
    return out
