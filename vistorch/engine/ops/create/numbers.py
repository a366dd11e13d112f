"""Numbers as arguments: what counts as one, which type it asks for, whether a type can hold it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes
from ...core.tensor import Tensor
from .arguments import type_name

PLAIN = frozenset((bool, int, float, complex))
# How C++ calls the types, which is what PyTorch's sentences say.
CPP = {
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def as_scalar(value: Any, name: str, argument: str, position: int) -> Any:
    """A Python number from a number, a numpy scalar or a tensor of no dimensions."""
    if value.__class__ in PLAIN:
        return value
    if isinstance(value, Tensor):
        if value._data.ndim == 0 and not value._rg:
            return value._data.item()
    elif isinstance(value, np.generic) and value.dtype.kind in "bifcu":
        return value.item()
    elif isinstance(value, (int, float, complex)):
        return value
    raise TypeError(
        f"{name}(): argument '{argument}' (position {position}) must be Number, not {type_name(value)}"
    )


def filled_type(value: Any) -> np.dtype:
    """The type that `full` gives a number."""
    if isinstance(value, bool):
        return np.dtype(bool)
    if isinstance(value, int):
        return dtypes.int64.np
    return dtypes.default.complex_np if isinstance(value, complex) else dtypes.default.np


_LARGEST = {d.np: float(dtypes.ml_dtypes.finfo(d.np).max) for d in dtypes.ALL if d.is_floating_point}


def no_fit(dt: np.dtype) -> RuntimeError:
    """The error for a number that a type cannot hold."""
    name = dtypes.of(dt).name
    return RuntimeError(f"value cannot be converted to type {CPP.get(name, name)} without overflow")


def fit(value: Any, dt: np.dtype) -> Any:
    """A Python number in the form that `fill` takes for a type, or PyTorch's refusal."""
    kind = dt.kind
    if kind == "b":
        return value != 0
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        if not -(2**63) <= value < 2**64:  # up to there PyTorch has an unsigned number
            raise OverflowError("int too big to convert")
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    if kind == "c":
        value = complex(value)
        largest = _LARGEST[dtypes.of(dt).to_real().np]
        if any(abs(part) > largest and not math.isinf(part) for part in (value.real, value.imag)):
            raise no_fit(dt)
        return value
    if isinstance(value, complex):
        if value.imag:
            raise no_fit(dt)
        value = value.real
    if kind in "iu":
        if isinstance(value, float):
            if not math.isfinite(value):
                raise no_fit(dt)
        low, high = _limits(dt, isinstance(value, float))
        if not low <= value <= high:
            raise no_fit(dt)
        whole = int(value)
        return whole & (1 << 8 * dt.itemsize) - 1 if kind == "u" else whole
    value = float(value)
    if abs(value) > _LARGEST[dt] and not math.isinf(value):
        raise no_fit(dt)
    return value


def _limits(dt: np.dtype, exact: bool) -> tuple[int, int]:
    """What a type can hold; a negative int wraps around in an unsigned one."""
    if dt.kind == "u":
        most = (1 << 8 * dt.itemsize) - 1
        return 0 if exact else -most, most
    half = 1 << (8 * dt.itemsize - 1)
    return -half, half - 1
