"""Numbers in nested sequences as one array: the sizes, the element type, the values.

A clean nest of lists and Python numbers is flattened level by level at C speed; anything else is walked element by
element, so that what is refused is refused with PyTorch's sentence. Invariant: both ways give the same array.
"""

from __future__ import annotations

from itertools import chain
from operator import index
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.numpy_warnings import without_warnings
from ...core.tensor import Tensor, ndarray

NUMBERS = frozenset((bool, int, float, complex))
LISTS = frozenset((list, tuple))
HALVES = frozenset((np.dtype("f2"), dtypes.bfloat16.np))
BOOL, INT64, F4 = np.dtype(bool), np.dtype("i8"), np.dtype("f4")
MOST = 128
OVERFLOW = "Overflow when unpacking long long"


def number_type(kinds: Any) -> np.dtype:
    """What Python numbers of these types become together."""
    if complex in kinds:
        return dtypes.default.complex_np
    if float in kinds:
        return dtypes.default.np
    return INT64 if int in kinds else BOOL


def array_of(data: Any, dt: np.dtype | None) -> ndarray:
    """A new array from a number or a nested sequence."""
    cls = data.__class__
    if cls in NUMBERS:
        return _filled(data, (cls,), number_type((cls,)) if dt is None else dt, ())
    if cls in LISTS:
        shape = [len(data)]
        flat = data
        while flat:
            kinds = set(map(type, flat))
            if kinds <= NUMBERS:
                return _filled(flat, kinds, number_type(kinds) if dt is None else dt, tuple(shape))
            if not kinds <= LISTS:
                break
            lengths = set(map(len, flat))
            if len(lengths) != 1 or len(shape) == 64:
                break
            shape.append(lengths.pop())
            flat = list(chain.from_iterable(flat))
    return _walked(data, dt)


def _filled(flat: Any, kinds: Any, dt: np.dtype, shape: tuple) -> ndarray:
    """Python numbers of known types as an array."""
    if dt.kind in "iu":
        if float in kinds or dt is not INT64:
            return np.array([store_int(x, dt) for x in flat] if shape else store_int(flat, dt), dt).reshape(
                shape
            )
        if complex in kinds:
            raise TypeError("'complex' object cannot be interpreted as an integer")
    elif complex in kinds and dt.kind not in "cb":
        raise TypeError("must be real number, not complex")
    try:
        if float in kinds or dt.itemsize < 8 or dt in HALVES:
            with without_warnings():
                out = np.array(flat, F4).astype(dt) if dt in HALVES else np.array(flat, dt)
        else:
            out = np.array(flat, dt)
    except OverflowError as error:
        if dt.kind in "iu":
            raise ValueError(OVERFLOW) from None
        raise OverflowError(str(error)) from None
    return out if len(shape) == out.ndim else out.reshape(shape)


def store_int(x: Any, dt: np.dtype) -> int:
    """One element of an integer type: floats are cut, what does not fit is refused."""
    if x.__class__ is float or isinstance(x, float):
        if x != x or x in (float("inf"), float("-inf")):
            raise _no_fit(dt)
        value = int(x)
        beyond = x
    else:
        value = beyond = index(x)
        if not -(2**63) <= value < 2**63:
            raise ValueError(OVERFLOW)
    limits = _LIMITS[dt]
    if not limits[0] <= beyond <= limits[1]:
        raise _no_fit(dt)
    return value & 255 if value < 0 and dt.kind == "u" else value


_WHOLE = [d.np for d in (*dtypes.ALL, *dtypes.UNSIGNED) if d.np.kind in "iu"]
_LIMITS = {kind: (int(np.iinfo(kind).min), int(np.iinfo(kind).max)) for kind in _WHOLE}
_LIMITS[dtypes.uint8.np] = (-255, 255)  # a small negative number wraps; this is PyTorch's leniency


def _no_fit(dt: np.dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {dtypes.of(dt).name} without overflow")


# ---- the walk ---------------------------------------------------------------------------------------------------
def is_sequence(x: Any) -> bool:
    """Whether PyTorch would look inside."""
    return hasattr(type(x), "__getitem__") and not isinstance(x, (dict, Tensor, np.generic))


def _sizes(data: Any) -> list[int]:
    """The sizes that the first elements tell."""
    shape: list[int] = []
    while is_sequence(data):
        n = len(data)
        shape.append(n)
        if len(shape) > MOST:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if n == 0:
            break
        data = data[0]
    return shape


def _infer(data: Any) -> Any:
    """The dtype that all elements together need."""
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (ndarray, np.generic)) and not isinstance(data, (np.str_, np.bytes_)):
        return dtypes.of(data.dtype)
    if isinstance(data, bool):
        return dtypes.bool
    if isinstance(data, float):
        return dtypes.default.dtype
    if isinstance(data, int):
        return dtypes.int64
    if isinstance(data, complex):
        return dtypes.of(dtypes.default.complex_np)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not is_sequence(data):
        name = type(data).__name__
        module = type(data).__module__
        raise RuntimeError(f"Could not infer dtype of {f'{module}.{name}' if module == 'decimal' else name}")
    found = None
    for i in range(len(data)):
        item = data[i]
        if item is data:
            raise TypeError("new(): self-referential lists are incompatible")
        each = _infer(item)
        found = each if found is None else dtypes.promote_types(found, each)
    return dtypes.default.dtype if found is None else found


def _walked(data: Any, dt: Any) -> ndarray:
    """Any nest, element by element."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    shape = _sizes(data)
    dt = _infer(data).np if dt is None else dt
    if len(shape) > 64:
        raise ValueError(f"a tensor has at most 64 dimensions, got {len(shape)}")
    if 0 in shape:  # nothing is stored, so nothing more is looked at
        return np.empty(shape, dt)
    flat: list = []
    _gather(data, shape, 0, flat, _STORES[dt.kind if dt not in HALVES else "f"], dt)
    with without_warnings():
        out = np.array(flat, F4).astype(dt) if dt in HALVES else np.array(flat, dt)
    return out.reshape(shape)


def _gather(data: Any, shape: list, depth: int, flat: list, store: Any, dt: np.dtype) -> None:
    """Append every element, made ready for `dt`."""
    if depth == len(shape):
        flat.append(store(data, dt))
        return
    if not is_sequence(data) and not (hasattr(data, "__iter__") and getattr(data, "ndim", 1)):
        raise TypeError("not a sequence")
    n = len(data)
    if n != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {n})")
    for i in range(n):
        _gather(data[i], shape, depth + 1, flat, store, dt)


def _store_float(x: Any, dt: np.dtype) -> float:
    if isinstance(x, complex) or not (hasattr(x, "__float__") or hasattr(x, "__index__")):
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return float(x)


def _store_complex(x: Any, dt: np.dtype) -> complex:
    if not (hasattr(x, "__complex__") or hasattr(x, "__float__") or hasattr(x, "__index__")):
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return complex(x)


def _store_bool(x: Any, dt: np.dtype) -> bool:
    return bool(x)


def _store_int(x: Any, dt: np.dtype) -> int:
    if isinstance(x, np.floating):
        x = float(x)
    return store_int(x, dt)


_STORES = {"f": _store_float, "c": _store_complex, "b": _store_bool, "i": _store_int, "u": _store_int}
