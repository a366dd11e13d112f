"""Pickles from the network: what comes out is lists, dicts, texts, bytes, numbers and numpy arrays of numbers.

Invariant: nothing named in the file is imported or called. The names numpy writes for an array stand for functions
here, which check every argument and copy the numbers out of the file's own bytes.
"""

from __future__ import annotations

import math
import os
import pickle
from typing import Any, ClassVar

import numpy as np

from ...serialization.budget import budget, limited
from ...serialization.weights_only import Unpickler

MOST_DIMS = 32
MOST_PARTS = 1_000_000  # lists, dicts and arrays


def refuse(what: str) -> pickle.UnpicklingError:
    """The exception for a pickle that asks for more than data."""
    return pickle.UnpicklingError(f"{what}; such a file holds lists, dicts, texts, numbers and arrays only")


class _Kind:
    """A numpy dtype in the making: its letters, then its byte order."""

    def __init__(self, letters: Any):
        letters = letters.decode("latin1") if isinstance(letters, bytes) else letters
        if not (isinstance(letters, str) and letters in NUMBERS):
            raise refuse(f"An array of dtype {str(letters)[:20]!r} is no array of numbers")
        self.dtype = np.dtype(letters)

    def take(self, state: Any) -> None:
        """Take the byte order out of what numpy has written."""
        order = state[1] if type(state) is tuple and len(state) >= 2 else None
        order = order.decode("latin1") if isinstance(order, bytes) else order
        if order not in ("<", ">", "|", "="):
            raise refuse("A dtype has no byte order")
        self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """An array in the making."""

    made: np.ndarray | None = None

    def take(self, state: Any) -> None:
        """Take shape, dtype, order and numbers out of what numpy has written."""
        if type(state) is not tuple or len(state) != 5:
            raise refuse("An array has no state that numpy writes")
        _, shape, kind, fortran, raw = state
        if type(kind) is not _Kind or type(shape) is not tuple or type(fortran) not in (bool, int):
            raise refuse("An array has no state that numpy writes")
        if len(shape) > MOST_DIMS or not all(type(n) is int and n >= 0 for n in shape):
            raise refuse(f"An array has the shape {str(shape)[:60]}")
        if isinstance(raw, str):  # Python 2 wrote its bytes as a text
            raw = raw.encode("latin1")
        if type(raw) is not bytes or len(raw) != math.prod(shape) * kind.dtype.itemsize:
            raise refuse(f"An array of shape {shape} has not as many bytes as it needs")
        budget.spend(len(raw))
        flat = np.frombuffer(raw, kind.dtype).astype(kind.dtype.newbyteorder("="))
        self.made = flat.reshape(shape, order="F" if fortran else "C")


NUMBERS = frozenset(
    f"{kind}{size}" for kind, sizes in (("u", "1248"), ("i", "1248"), ("f", "248")) for size in sizes
)
NUMBERS |= {"b1", "?"}
CLASS, RECONSTRUCT, DTYPE, ENCODE, BYTES = object(), object(), object(), object(), object()
NAMES = {
    ("numpy", "ndarray"): CLASS,
    ("numpy", "dtype"): DTYPE,
    ("numpy.core.multiarray", "_reconstruct"): RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): RECONSTRUCT,
    ("_codecs", "encode"): ENCODE,  # how Python 3 writes bytes for Python 2
    ("__builtin__", "bytes"): BYTES,  # and none
}


def _named(module: str, name: str) -> Any:
    """What a name in the file stands for here."""
    try:
        return NAMES[module, name]
    except KeyError:
        raise refuse(f"The pickle names {module[:60]}.{name[:60]}, which is not allowed") from None


class _Reader(Unpickler):
    """Runs a pickle in which only numpy's names for an array mean anything."""

    def call(self, function: Any, args: Any) -> Any:
        """The functions that numpy's names stand for."""
        if type(args) is tuple and function is RECONSTRUCT and len(args) == 3 and args[0] is CLASS:
            return _Array()
        if type(args) is tuple and function is DTYPE and args:
            return _Kind(args[0])
        if type(args) is tuple and function is ENCODE and len(args) == 2:
            if type(args[0]) is str and args[1] == "latin1":
                return args[0].encode("latin1")
        if function is BYTES and args == ():
            return b""
        raise refuse("The pickle calls something that is not allowed")

    def newobj(self) -> None:
        """No class is made an instance of."""
        raise refuse("The pickle makes an instance of a class")

    def build(self) -> None:
        """Give an array or a dtype its state."""
        state = self.stack.pop()
        if type(self.stack[-1]) not in (_Array, _Kind):
            raise refuse("The pickle gives a state to something that has none")
        self.stack[-1].take(state)

    codes: ClassVar = list(Unpickler.codes)
    codes[pickle.BUILD[0]], codes[pickle.NEWOBJ[0]] = build, newobj
    codes[pickle.PERSID[0]] = codes[pickle.BINPERSID[0]] = None


def _finished(value: Any, known: dict[int, Any]) -> Any:
    """The value with its arrays made, and nothing in it that is not data; `known` holds what was met before."""
    kind = type(value)
    if kind in (str, bytes, int, float, bool, type(None)):
        return value
    if id(value) in known:
        if known[id(value)] is value:
            raise refuse("The pickle holds a list within itself")
        return known[id(value)][0]
    known[id(value)] = value  # until it is finished: a second meeting is a circle
    if len(known) > MOST_PARTS:
        raise refuse("The pickle has too many parts")
    if kind is _Array and value.made is not None:
        made: Any = value.made
    elif kind is list or kind is tuple:
        made = kind(_finished(item, known) for item in value)
    elif kind is dict:
        made = {_finished(k, known): _finished(v, known) for k, v in value.items()}
    else:
        raise refuse("The pickle holds something that is not data")
    known[id(value)] = (made,)
    return made


def load_pickle(path: str | os.PathLike) -> Any:
    """What a pickle of plain data holds; the texts of Python 2 become str, byte by byte.

    Args:
        path: the file.

    Raises:
        pickle.UnpicklingError: the file is broken, or asks for more than data.
    """
    with open(path, "rb") as file:
        data = file.read()
    with limited(len(data)):
        try:
            return _finished(_Reader(data, find_class=_named, encoding="latin1").load(), {})
        except (
            pickle.UnpicklingError,
            ArithmeticError,
            EOFError,
            MemoryError,
            RecursionError,
            TypeError,
            ValueError,
        ) as error:
            raise pickle.UnpicklingError(f"{os.fspath(path)}: {error}") from None
