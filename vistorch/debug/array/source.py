"""What can be shown: tensors, numpy and CUDA arrays, numbers; each as an array and the words about it.

Invariant: nothing is copied, moved or written here, and nothing of the tensor but its array leaves this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base import dtypes
from ...engine.core.tensor import Tensor
from ...engine.memory.placement import CPU, array_place
from ...nn.parameter import Buffer, Parameter, is_lazy
from ..source import is_torch, named


@dataclass
class Source:
    """An array of numpy or cupy, and what is said of it.

    `place` is where it is, to be entered around work with it; `parameter` whether it is trained: then it is no picture
    at first.
    """

    data: Any
    place: Any
    dtype: str
    device: str
    notes: list[str]
    text: str
    parameter: bool = False

    @property
    def xp(self) -> Any:
        """The module of the array: numpy or cupy."""
        return self.place.xp

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return tuple(self.data.shape)


def is_array(x: Any) -> bool:
    """Whether `record` takes it, as far as can be seen without touching its elements."""
    if isinstance(x, (Tensor, np.ndarray, np.generic, bool, int, float, complex)):
        return not isinstance(x, (np.ndarray, np.generic)) or _shown(x.dtype)
    return not isinstance(x, type) and (
        hasattr(x, "__cuda_array_interface__") or (hasattr(x, "__array__") and hasattr(x, "dtype"))
    )


def source_of(x: Any, *, text: bool = True) -> Source:
    """See a thing as an array.

    Args:
        x: the thing.
        text: also make its text, which for a tensor on a GPU waits for it.
    """
    if isinstance(x, Tensor):
        return _of_tensor(x, text)
    if is_torch(x):
        source = named("torch")
        if not source.is_tensor(x):
            raise TypeError(_refused(x))
        return source.array(x, text)
    words = repr(x) if text else ""
    if isinstance(x, (bool, int, float, complex)):
        data = np.asarray(x)
        if data.dtype == object:  # an integer of more than 64 bits
            data = data.astype(np.float64)
        return Source(data, CPU, type(x).__name__, "cpu", [], words)
    if isinstance(x, (np.ndarray, np.generic)):
        return _of_numpy(np.asarray(x), words, [])
    if not isinstance(x, type) and hasattr(x, "__cuda_array_interface__"):
        return _of_cuda(x, words)
    if isinstance(x, Mapping) or not hasattr(x, "__array__"):
        raise TypeError(_refused(x))
    given = x.detach() if hasattr(x, "detach") else x
    return _of_numpy(np.asarray(given), words, [])


def _of_tensor(x: Tensor, text: bool) -> Source:
    if is_lazy(x):
        raise ValueError("it has no shape yet: the first forward gives it one")
    data, place = x._data, x._place
    notes = []
    parameter = _is_parameter(x)
    if x.requires_grad:
        notes.append("requires grad")
    notes += _memory(data)
    device = place.name + (" (simulated)" if place.simulated else "")
    words = repr(x) if text else ""
    return Source(data, place, dtypes.of(data.dtype).name, device, notes, words, parameter)


def _is_parameter(x: Tensor) -> bool:
    return isinstance(x, Parameter) and not isinstance(x, Buffer)


def _of_numpy(data: np.ndarray, words: str, notes: list[str]) -> Source:
    if not _shown(data.dtype):
        raise TypeError(_refused(data))
    notes = notes + _memory(data)
    name = data.dtype.name
    if not data.dtype.isnative:
        notes.append("bytes swapped")
        data = data.astype(data.dtype.newbyteorder("="))
    if data.dtype.kind == "f" and data.dtype.itemsize > 8:
        notes.append("shown as float64")
        data = data.astype(np.float64)
    elif data.dtype.kind == "c" and data.dtype.itemsize > 16:
        notes.append("shown as complex128")
        data = data.astype(np.complex128)
    return Source(data, CPU, name, "cpu", notes, words)


def _of_cuda(x: Any, words: str) -> Source:
    """An array of cupy, or one that its protocol lets cupy read."""
    if type(x).__module__.partition(".")[0] != "cupy":
        import cupy  # only where a CUDA array was given

        x = cupy.asarray(x)
    place = array_place(x)
    return Source(x, place, str(x.dtype), place.name, _memory(x), words)


def _memory(data: Any) -> list[str]:
    """What is unusual about the memory of an array."""
    repeated = [n for n, s in zip(data.shape, data.strides, strict=True) if s == 0 and n > 1]
    if not repeated:
        return []
    stored = data.size
    for n in repeated:
        stored //= n
    return [f"expanded: {stored:,} stored"] if data.size else []


def _shown(dtype: np.dtype) -> bool:
    """Booleans, integers, floating point of any width, complex; also those of ml_dtypes."""
    if dtype.kind in "biufc":
        return True
    if dtype.kind != "V" or dtype.names is not None or dtype.itemsize > 2:
        return False
    try:
        return bool(np.can_cast(dtype, np.float32))
    except TypeError:
        return False


def _refused(x: Any) -> str:
    kind = f"{type(x).__module__}.{type(x).__name__}".removeprefix("builtins.")
    if isinstance(x, np.ndarray):
        return f"cannot show an array of dtype {x.dtype}: give one of numbers or booleans"
    return f"cannot show a {kind}: give a tensor, an array or a number; a dict, a list or a module goes to `strip`"
