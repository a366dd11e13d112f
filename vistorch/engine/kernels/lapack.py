"""LAPACK's own routines, out of the library that numpy computes with.

What numpy has no function for (LU factors, triangular systems, solutions from factors, L D L^T) would be loops or more
work than is needed; `numpy.linalg.inv` solves for the unit matrix, `det` copies one row at a time, and `qr` computes in
double precision. Here the library's routines are called on memory by columns, which is how results are to lie anyway.
Invariant: what the library lacks, and what is not plainly a batch of matrices of one type, gives None and is left to
numpy, as are batches of many small matrices, which numpy takes at once.
"""

from __future__ import annotations

import ctypes as C
from functools import lru_cache
from itertools import repeat
from math import prod
from typing import Any

import numpy as np

from .. import browser
from . import masks, threads
from .addresses import address
from .fast.copies import by_rows

LEAST = 96  # rows from which this is faster
_SPELLINGS = (  # of a routine's name in OpenBLAS, and the type of its integers
    ("scipy_{}_64_", np.int64),
    ("scipy_{}_", np.int32),
    ("{}_64_", np.int64),
    ("{}64_", np.int64),
    ("{}_", np.int32),
)
# How many arguments each takes; the last is what LAPACK says of it, which BLAS (trsm) does not have.
_ARGUMENTS = {
    "getrf": 6,
    "getri": 7,
    "getrs": 9,
    "potrf": 5,
    "potri": 5,
    "potrs": 8,
    "geqrf": 8,
    "orgqr": 9,
    "sytrf": 8,
    "sytrs": 9,
    "trsm": 11,
}
_COMPLEX = {"orgqr": "ungqr"}  # what the complex types call it
_HERMITIAN = {"hetrf": 8, "hetrs": 9}  # what only they have
_LETTERS = {np.dtype("f4"): "s", np.dtype("f8"): "d", np.dtype("c8"): "c", np.dtype("c16"): "z"}
_TYPES = {letter: dtype for dtype, letter in _LETTERS.items()}
_PANEL = 64  # columns of working memory


class Routines:
    """The routines of one library for one type; each call gives what LAPACK says of it, 0 if all went well.

    Args:
        library: the opened library.
        spelling: how its names are written.
        integer: the type of its integers.
        letter: LAPACK's letter for the type of the numbers.
    """

    def __init__(self, library: Any, spelling: str, integer: Any, letter: str) -> None:
        self.one = np.ones(1, _TYPES[letter])
        self._integer, self._width = integer, np.dtype(integer).itemsize
        self._routines = {}
        hermitian = letter in "cz"
        for name, count in (_ARGUMENTS | _HERMITIAN if hermitian else _ARGUMENTS).items():
            known = _COMPLEX.get(name, name) if hermitian else name
            routine = getattr(library, spelling.format(letter + known))
            routine.argtypes, routine.restype = (C.c_void_p,) * count, None
            self._routines[name] = routine

    def call(self, name: str, *arguments: Any) -> int:
        """Numbers are passed as LAPACK's integers, bytes and arrays as they are."""
        numbers = np.array(
            [0 if a.__class__ is np.ndarray or a.__class__ is bytes else a for a in (*arguments, 0)],
            self._integer,
        )
        at, width = address(numbers), self._width
        passed = [
            address(a) if a.__class__ is np.ndarray else a if a.__class__ is bytes else at + i * width
            for i, a in enumerate(arguments)
        ]
        if name != "trsm":
            passed.append(at + len(arguments) * width)
        self._routines[name](*passed)
        return int(numbers[-1])

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
    if a.ndim == 2:
        return a.T[None]
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


def _few(a: np.ndarray, each: int) -> bool:
    """Whether a batch has so few or so large matrices that a call for each is less than numpy's loops over all."""
    return a.ndim == 2 or a.shape[-1] >= 16 or prod(a.shape[:-2]) <= each


def _own(a: np.ndarray, *others: np.ndarray) -> Routines | None:
    """The routines for matrices of one type with memory."""
    if a.ndim < 2 or not a.size or any(b.dtype != a.dtype or not b.size for b in others):
        return None
    return routines(a.dtype)


def _regular(a: np.ndarray) -> bool:
    """Whether no zero stands on the diagonal of triangular matrices."""
    return bool(a.diagonal(0, -2, -1).all())


def lu(a: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """L and U in one matrix by columns, and the pivots, counted from 1."""
    found = _own(a)
    m, n = a.shape[-2:]
    if found is None or not _few(a, 2 * min(m, n)):
        return None
    out, places = (
        _by_columns(a),
        found.places(prod(a.shape[:-2]) * min(m, n)).reshape((*a.shape[:-2], min(m, n))),
    )
    for one, order in zip(_each(out), places.reshape(-1, min(m, n)), strict=True):
        found.call("getrf", m, n, one, m, order)  # a zero pivot is no failure: it stands in U
    return out, places.astype("i4")


def _diagonal(a: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The diagonal of U of large square matrices, and the sign of the exchange of rows."""
    if _suits(a) is None or (made := lu(a)) is None:
        return None
    both, pivots = made
    odd = (pivots != np.arange(1, a.shape[-1] + 1)).sum(-1) % 2
    return both.diagonal(axis1=-2, axis2=-1), (1 - 2 * odd).astype(a.dtype)


def det(a: np.ndarray) -> Any:
    """The determinants of large matrices."""
    made = _diagonal(a)
    return None if made is None else made[0].prod(-1) * made[1]


def slogdet(a: np.ndarray) -> tuple | None:
    """The sign of the determinants of large matrices, and the logarithm of their size."""
    made = _diagonal(a)
    if made is None:
        return None
    diagonal, sign = made
    size = np.abs(diagonal)
    with np.errstate(divide="ignore", invalid="ignore"):
        phase = np.where(size == 0, 0, diagonal / size).astype(a.dtype)
        return sign * phase.prod(-1), np.log(size).sum(-1)


def qr(a: np.ndarray, mode: str = "reduced") -> Any:
    """Q and R, or R alone; "raw" gives the packed factors and the scales of the reflections."""
    found = _own(a)
    if found is None or not _few(a, 4):
        return None
    m, n = a.shape[-2:]
    k = min(m, n)
    width = m if mode == "complete" else k if mode == "reduced" else n
    # one memory for both steps: as many columns as the wider of A and Q has
    whole = np.empty((*a.shape[:-2], max(n, width), m), a.dtype)
    whole[..., :n, :] = a.swapaxes(-1, -2)
    packed = whole.swapaxes(-1, -2)
    scales = np.empty((*a.shape[:-2], k), a.dtype)
    work = np.empty(max(n, width) * _PANEL, a.dtype)
    pairs = list(zip(_each(packed), scales.reshape(-1, k), strict=True))
    for one, tau in pairs:
        found.call("geqrf", m, n, one, m, tau, work, len(work))
    if mode == "raw":
        return packed, scales
    upper = np.triu(packed[..., : m if mode == "complete" else k, :n])
    if mode == "r":
        return upper
    for one, tau in pairs:
        found.call("orgqr", m, width, k, one, m, tau, work, len(work))
    return packed[..., :width], upper


def _lying(a: np.ndarray) -> tuple[np.ndarray, int, bool]:
    """One matrix where it lies if that is by rows or columns, else a copy; rows apart in memory; whether by rows."""
    size = a.itemsize
    rows, columns = a.strides if a.flags.aligned else (0, 0)
    if columns == size and rows % size == 0 and rows >= a.shape[1] * size:
        return a, rows // size, True
    if rows == size and columns % size == 0 and columns >= a.shape[0] * size:
        return a, columns // size, False
    copy = np.asfortranarray(a)
    return copy, max(a.shape[0], 1), False


def triangular(a: np.ndarray, b: np.ndarray, upper: bool, left: bool, unit: bool) -> np.ndarray | None:
    """The X for which A X = B (X A = B if not `left`), by columns; of A only one triangle is read."""
    found = _own(a, b)
    if found is None or not _few(a, 8) or (a.ndim > 2 and a.shape[:-2] != b.shape[:-2]):
        return None
    if not unit and not _regular(a):
        return None
    out = _by_columns(b)
    m, n = b.shape[-2:]
    side, ones = (b"L" if left else b"R"), (b"U" if unit else b"N")
    matrices = a.reshape(-1, *a.shape[-2:]) if a.ndim > 2 else repeat(a, prod(b.shape[:-2]))
    for matrix, right in zip(matrices, _each(out), strict=True):
        memory, apart, is_by_rows = _lying(matrix)
        # by rows it is the transposed matrix to LAPACK, so the other triangle of it
        triangle, turn = (b"U" if upper is not is_by_rows else b"L"), (b"T" if is_by_rows else b"N")
        found.call("trsm", side, triangle, turn, ones, m, n, found.one, memory, apart, right, m)
    return out


def lu_solve(both: np.ndarray, pivots: np.ndarray, b: np.ndarray, adjoint: bool) -> np.ndarray | None:
    """The X for which A X = B (A^H X = B if `adjoint`), by columns, from the factors of A."""
    found = _own(both, b)
    if found is None or not _few(both, 8) or both.shape[:-2] != b.shape[:-2]:
        return None
    if not _regular(both):
        return None
    n, out, matrices = both.shape[-1], _by_columns(b), _by_columns(both)
    order = pivots.astype(found.places(0).dtype).reshape(-1, n)
    for one, places, right in zip(_each(matrices), order, _each(out), strict=True):
        found.call("getrs", b"C" if adjoint else b"N", n, b.shape[-1], one, n, places, right, n)
    return out


def cholesky_solve(b: np.ndarray, factor: np.ndarray, upper: bool) -> np.ndarray | None:
    """The X for which A X = B, by columns, from a Cholesky factor of A."""
    found = _own(factor, b)
    if found is None or not _few(factor, 8) or factor.shape[:-2] != b.shape[:-2]:
        return None
    if not _regular(factor):
        return None
    n, out, matrices = factor.shape[-1], _by_columns(b), _by_columns(factor)
    for one, right in zip(_each(matrices), _each(out), strict=True):
        found.call("potrs", b"U" if upper else b"L", n, b.shape[-1], one, n, right, n)
    return out


def cholesky_inverse(factor: np.ndarray, upper: bool) -> np.ndarray | None:
    """The inverse of A, by columns, from a Cholesky factor of A."""
    found = _own(factor)
    if found is None or not _few(factor, 8):
        return None
    n, out = factor.shape[-1], _by_columns(factor)
    for one in _each(out):
        _check(found.call("potri", b"U" if upper else b"L", n, one, n))
    return _mirrored(out, upper)


def _mirrored(a: np.ndarray, upper: bool) -> np.ndarray:
    """A Hermitian matrix by columns, of which one triangle is known."""
    turned = a.swapaxes(-1, -2).conj()
    i = np.tri(a.shape[-1], k=-1, dtype=bool)
    return _by_columns(np.where(i.T if upper else i, a, np.where(i if upper else i.T, turned, a)))


def ldl(a: np.ndarray, hermitian: bool) -> tuple | None:
    """L and D in one lower triangle, the pivots, and the first zero block, counted from 1."""
    found = _own(a)
    if found is None:
        return None
    name = "hetrf" if hermitian and a.dtype.kind == "c" else "sytrf"
    n = a.shape[-1]
    out = _by_columns(np.tril(a))
    places = found.places(prod(a.shape[:-2]) * n).reshape(a.shape[:-1])
    work = np.empty(n * _PANEL, a.dtype)
    said = [
        found.call(name, b"L", n, one, n, order, work, len(work))
        for one, order in zip(_each(out), places.reshape(-1, n), strict=True)
    ]
    return out, places.astype("i4"), np.array(said, "i4").reshape(a.shape[:-2])


def ldl_solve(both: np.ndarray, pivots: np.ndarray, b: np.ndarray, hermitian: bool) -> np.ndarray | None:
    """The X for which A X = B, by columns, from the factors of A."""
    found = _own(both, b)
    if found is None or both.shape[:-2] != b.shape[:-2]:
        return None
    name = "hetrs" if hermitian and both.dtype.kind == "c" else "sytrs"
    n, out, matrices = both.shape[-1], _by_columns(b), _by_columns(both)
    order = pivots.astype(found.places(0).dtype).reshape(-1, n)
    for one, places, right in zip(_each(matrices), order, _each(out), strict=True):
        found.call(name, b"L", n, b.shape[-1], one, n, places, right, n)
    return out


KNOWN = {"cholesky": cholesky, "det": det, "inv": inv, "qr": qr, "slogdet": slogdet, "solve": solve}
