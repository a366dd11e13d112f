"""Dims, sizes and flags as users give them, turned into what kernels take.

Invariant: what leaves here is a plain non-negative int, a tuple of them, or a bool.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from . import errors

LARGEST, LEAST = 2**63 - 1, -(2**63)


def one(dim: Any, ndim: int, func: str = "", name: str = "dim", position: int = 1) -> int:
    """A dim of a tensor of `ndim` dims (a 0-d tensor counts as one of 1), negative ones from the end.

    Args:
        dim: what the user gave.
        ndim: how many dims there are.
        func: the public function, for the sentence about a dim that is no int.
        name: the argument.
        position: where the argument stands.
    """
    if dim.__class__ is not int:
        array = getattr(dim, "_data", None)
        if array is not None and (
            array.ndim or array.dtype.kind == "b"
        ):  # as a size it would do, as a dim not
            raise no_int(dim, func, name, position)
        dim = whole(dim, func, name, position)
    n = ndim or 1
    if 0 <= dim < n:
        return dim
    if -n <= dim < 0:
        return dim + n
    fits(dim)
    raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")


def flag(given: Any, func: str, name: str, position: int = 0) -> bool:
    """A flag; only a bool is one, so that a second dim or a list is not taken for "yes"."""
    if given is True or given is False:
        return given
    if isinstance(given, np.bool_):
        return bool(given)
    where = f" (position {position})" if position else ""
    raise TypeError(f"{func}(): argument '{name}'{where} must be bool, not {errors.type_name(given)}")


def switch(given: Any, func: str, name: str, none: bool = False) -> Any:
    """A flag of those that PyTorch reads as C does: a bool or an integer, and None where that means "not said"."""
    if given is True or given is False or (none and given is None):
        return given
    try:
        return bool(given if isinstance(given, np.bool_) else index(given))
    except TypeError:
        kind = errors.type_name(given)
        raise TypeError(f"{func}(): argument '{name}' must be bool, not {kind}") from None


def fits(value: int) -> int:
    """The value itself; PyTorch's error if 64 bits do not hold it."""
    if not LEAST <= value <= LARGEST:
        raise ValueError("Overflow when unpacking long long")
    return value


def many(dims: Any, ndim: int, func: str = "", name: str = "dim", position: int = 1) -> tuple[int, ...]:
    """One dim or several, all different."""
    if not isinstance(dims, (tuple, list)):
        return (one(whole(dims, func, name, position), ndim, func, name, position),)
    try:
        found = tuple([one(dim, ndim, func, name, position) for dim in dims])
    except ValueError:
        found = _converted(dims, func, name, position)  # raises: 64 bits do not hold one of them
    if len(set(found)) != len(found):
        seen: set[int] = set()
        for dim in found:
            if dim in seen:
                raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
            seen.add(dim)
    return found


def whole(value: Any, func: str = "", name: str = "dim", position: int = 1) -> int:
    """An int argument; numpy integers and integer tensors of one element count as ints, bools do not."""
    if value.__class__ is int:
        return value if LEAST <= value <= LARGEST else fits(value)
    if not isinstance(value, bool):
        try:
            return fits(index(value))
        except TypeError:
            pass
    raise no_int(value, func, name, position)


def scalar(value: Any) -> Any:
    """A tensor without dims as the number it holds, where a function takes it for one; anything else as it is."""
    array = getattr(value, "_data", None)
    return value if array is None or array.ndim else value.item()


def no_int(value: Any, func: str, name: str, position: int) -> TypeError:
    """PyTorch's error for what should be an int."""
    kind = "NoneType" if value is None else type(value).__name__
    where = f"{func}(): " if func else ""
    return TypeError(f"{where}argument '{name}' (position {position}) must be int, not {kind}")


def sizes(args: tuple, func: str, name: str = "size", position: int = 1) -> tuple[int, ...]:
    """Sizes given one by one, or as one tuple or list."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    for n in args:
        if n.__class__ is not int or not LEAST <= n <= LARGEST:
            return _converted(args, func, name, position)
    return args


def _converted(args: Sequence, func: str, name: str, position: int) -> tuple[int, ...]:
    found = []
    for at, n in enumerate(args):
        try:
            if isinstance(n, bool):
                raise TypeError
            found.append(index(n))
        except TypeError:
            kind = type(n).__name__
            if at == 0:
                said = f"must be tuple of ints, not {kind}"
                raise TypeError(f"{func}(): argument '{name}' (position {position}) {said}") from None
            raise TypeError(
                f"{func}(): argument '{name}' failed to unpack the object at pos {at + 1} with error "
                f'"type must be tuple of ints,but got {kind}"'
            ) from None
        if not LEAST <= found[-1] <= LARGEST:
            raise TypeError(
                f"{func}(): argument '{name}' failed to unpack the object at pos {at + 1} with error "
                '"Overflow when unpacking long long"'
            )
    return tuple(found)


def check_memory(shape: Sequence, itemsize: int) -> None:
    """Refuse the shape of a tensor that no memory holds; numpy has other words for it."""
    total = itemsize
    for n in shape:
        total *= n
    if total > LARGEST:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={errors.sizes(tuple(shape))}")


def sequence(value: Any, func: str, name: str = "size", position: int = 2) -> tuple[int, ...]:
    """Sizes where PyTorch's function takes nothing but a tuple or list."""
    if not isinstance(value, (tuple, list)):
        kind = "NoneType" if value is None else type(value).__name__
        raise TypeError(
            f"{func}(): argument '{name}' (position {position}) must be tuple of ints, not {kind}"
        )
    return sizes((tuple(value),), func, name, position)


def inferred(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The shape with its -1 filled in, checked against the number of elements."""
    known, hole = 1, -1
    for at, n in enumerate(shape):
        if n == -1:
            if hole >= 0:
                raise RuntimeError("only one dimension can be inferred")
            hole = at
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {at} of shape {errors.sizes(shape)}")
        else:
            known *= n
    if hole < 0:
        if known == count:
            return shape
    elif known:
        filled, rest = divmod(count, known)
        if not rest:
            return (*shape[:hole], filled, *shape[hole + 1 :])
    elif count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {errors.sizes(shape)} because the unspecified dimension "
            "size -1 can be any value and is ambiguous"
        )
    raise RuntimeError(f"shape '{errors.sizes(shape)}' is invalid for input of size {count}")
