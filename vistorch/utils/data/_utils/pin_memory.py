"""Batches in page-locked memory, from which a copy to a CUDA device does not hold up the host.

Invariant: structure and types of a batch are kept; what has no memory of its own passes unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....engine.base import cuda_probe
from ....engine.core.tensor import Tensor
from ....engine.memory.placement import CPU
from .collate import _same_mapping, _same_sequence


def available() -> bool:
    """Whether there is a device that page-locked memory is for."""
    return cuda_probe.find().ok


def _pinned(t: Tensor) -> Tensor:
    """A CPU tensor's values in page-locked memory."""
    if t.__class__ is not Tensor:
        method = getattr(t, "pin_memory", None)
        return t if method is None else method()
    return t.pin_memory() if t._place is CPU else t


def pin_memory(data: Any, device: Any = None) -> Any:
    """Move the tensors of a batch into page-locked memory.

    Args:
        data: the batch: a tensor, an object with a method `pin_memory`, or a mapping or sequence of such.
        device: accepted, as in PyTorch.
    """
    if isinstance(data, Tensor):
        return _pinned(data)
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return _same_mapping(data, {key: pin_memory(item, device) for key, item in data.items()})
    if isinstance(data, tuple):
        made: Any = type(data)
        items = [pin_memory(item, device) for item in data]
        return made(*items) if hasattr(data, "_fields") else made(items)
    if isinstance(data, Sequence):
        return _same_sequence(data, [pin_memory(item, device) for item in data])
    return data
