"""LAPACK's own routines for large matrices, out of the library that numpy computes with.

`numpy.linalg.inv` solves for the unit matrix, which is three times the work of an inversion, and copies each matrix
by a routine of BLAS that takes one row at a time. Here the library's routines are called on memory by columns, which
is how results are to lie anyway.
Invariant: what the library lacks, and what is not plainly a batch of matrices of one type, is left to numpy.
"""

from __future__ import annotations

import ctypes as C
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .. import browser
from . import masks, threads
from .fast.copies import by_rows

LEAST = 96  # rows from which this is faster
_SPELLINGS = (  # of a routine's name in OpenBLAS, and the type of its integers
    ("scipy_{}_64_", np.int64),
    ("scipy_{}_", np.int32),
    ("{}_64_", np.int64),
    ("{}64_", np.int64),
    ("{}_", np.int32),
)
_ARGUMENTS = {"getrf": 6, "getri": 7, "getrs": 9, "potrf": 5}
_LETTERS = {np.dtype("f4"): "s", np.dtype("f8"): "d"}
_PANEL = 64  # columns of working memory for `getri`


class Routines:
    """The routines of one library for one type; each call gives what LAPACK says of it, 0 if all went well.

    Args:
        library: the opened library.
        spelling: how its names are written.
        integer: the type of its integers.
        letter: LAPACK's letter for the type of the numbers.
    """

    def __init__(self, library: Any, spelling: str, integer: Any, letter: str) -> None:
        self._integer = integer
        self._routines = {}
        for name, count in _ARGUMENTS.items():
            routine = getattr(library, spelling.format(letter + name))
            routine.argtypes, routine.restype = (C.c_void_p,) * count, None
            self._routines[name] = routine

    def call(self, name: str, *arguments: Any) -> int:
        """Numbers are passed as LAPACK's integers, bytes and arrays as they are."""
        said = np.zeros(1, self._integer)
        kept = [self._passed(a) for a in arguments]
        self._routines[name](*[a.ctypes.data for a in (*kept, said)])
        return int(said[0])

    def _passed(self, a: Any) -> np.ndarray:
        if isinstance(a, np.ndarray):
            return a
        return np.array([a]) if isinstance(a, bytes) else np.array([a], self._integer)

    def places(self, n: int) -> np.ndarray:
        """Memory for the exchanges of n rows."""
        return np.empty(n, self._integer)


@lru_cache(None)
def routines(dtype: Any) -> Routines | None:
    """The routines for a type, if the library of numpy has them and solves a small system rightly."""
    letter = _LETTERS.get(dtype)
    if letter is None or browser.HERE:
        return None
    for path in threads.loaded(("openblas",)):
        for spelling, integer in _SPELLINGS:
            try:
                found = Routines(C.CDLL(path), spelling, integer, letter)
            except (OSError, AttributeError):
                continue
            return found if _works(found, dtype) else None
    return None


def _works(found: Routines, dtype: Any) -> bool:
    a = np.array([[2, 1, 0], [0, 4, 1], [1, 0, 8]], dtype)
    made = _inverses(found, a)
    return made is not None and bool(np.allclose(made @ a, np.eye(3), atol=1e-5))


def _by_columns(a: np.ndarray) -> np.ndarray:
    """A copy of matrices that lie by columns."""
    return by_rows(a.swapaxes(-1, -2)).swapaxes(-1, -2)


def _each(a: np.ndarray) -> np.ndarray:
    """The memory of matrices by columns, one matrix after the other."""
    return a.swapaxes(-1, -2).reshape(prod(a.shape[:-2]), -1)


def _suits(a: np.ndarray) -> Routines | None:
    if a.ndim < 2 or a.shape[-1] < LEAST or a.shape[-1] != a.shape[-2] or not a.size:
        return None
    return routines(a.dtype)


def inv(a: np.ndarray) -> np.ndarray | None:
    """The inverses of matrices, by columns; None where numpy is to do it."""
    found = _suits(a)
    return None if found is None else _inverses(found, a)


def _inverses(found: Routines, a: np.ndarray) -> np.ndarray:
    out, n = _by_columns(a), a.shape[-1]
    places, work = found.places(n), np.empty(n * _PANEL, a.dtype)
    for one in _each(out):
        _factored(found, one, n, places)
        _check(found.call("getri", n, one, n, places, work, n * _PANEL))
    return out


def _factored(found: Routines, one: np.ndarray, n: int, places: np.ndarray) -> None:
    _check(found.call("getrf", n, n, one, n, places))


def _check(said: int) -> None:
    if said:
        raise np.linalg.LinAlgError("Singular matrix")


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The solutions of systems with the matrices `a`, by columns; None where numpy is to do it."""
    found = _suits(a)
    if found is None or b.dtype != a.dtype or b.ndim != a.ndim or b.shape[:-1] != a.shape[:-1] or not b.size:
        return None
    n, out, matrices = a.shape[-1], _by_columns(b), _by_columns(a)
    places = found.places(n)
    for one, right in zip(_each(matrices), _each(out), strict=True):
        _factored(found, one, n, places)
        _check(found.call("getrs", b"N", n, b.shape[-1], one, n, places, right, n))
    return out


def cholesky(a: np.ndarray) -> np.ndarray | None:
    """The lower Cholesky factors of matrices, by columns; None where numpy is to do it."""
    found = _suits(a)
    if found is None:
        return None
    out, n = _by_columns(a), a.shape[-1]
    for one in _each(out):
        _check(found.call("potrf", b"L", n, one, n))
    turned = out.swapaxes(-1, -2)
    return masks.kept(np.tri(n, dtype=bool).T, turned).swapaxes(-1, -2)


KNOWN = {"cholesky": cholesky, "inv": inv, "solve": solve}
