"""What autocast does to the arguments of a listed function: which operands it casts, to what.

Invariant: only floats of the region's kind of device are cast, and never float64; what is written to (`out=`) is not
cast at all.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..engine.base.dtypes import bfloat16, dtype, float16, float32
from ..engine.base.modes import mode
from ..engine.core.tensor import Tensor
from ..engine.library_name import named
from .thread import thread

_FLOATS = frozenset((float32, float16, bfloat16))
_UNSAFE = """\
vistorch.nn.functional.binary_cross_entropy and vistorch.nn.BCELoss are unsafe to autocast.
Many models use a sigmoid layer right before the binary cross entropy layer.
In this case, combine the two layers using vistorch.nn.functional.binary_cross_entropy_with_logits
or vistorch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are
safe to autocast."""


def _tensors(args: tuple, kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors of a call, those in lists too."""
    found = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(_tensors(tuple(value), {}))
    return found


def is_here(args: tuple, kwargs: dict[str, Any], device: str) -> bool:
    """Whether a tensor on this kind of device is among the arguments."""
    return any(tensor.device.type == device for tensor in _tensors(args, kwargs))


def _is_ours(tensor: Tensor, device: str) -> bool:
    return tensor.dtype in _FLOATS and tensor.device.type == device


def _over(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """Change the tensors in a value."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, list | tuple) and any(isinstance(one, Tensor | list | tuple) for one in value):
        changed = [_over(change, one) for one in value]
        return type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)
    return value


def _all(change: Callable[[Tensor], Tensor], args: tuple, kwargs: dict[str, Any]) -> tuple:
    return (
        tuple([_over(change, value) for value in args]),
        {name: _over(change, value) for name, value in kwargs.items()},
    )


def _to(device: str, target: dtype) -> Callable[[Tensor], Tensor]:
    def change(tensor: Tensor) -> Tensor:
        if not _is_ours(tensor, device) or tensor.dtype is target:
            return tensor
        return _kept(tensor, target) if target is not float32 else tensor.to(target)

    return change


def _kept(tensor: Tensor, target: dtype) -> Tensor:
    """The cast of a tensor; that of a parameter is made once in a region."""
    if not (
        thread.caching
        and tensor.dtype is float32
        and tensor.requires_grad
        and tensor.is_leaf
        and not tensor._is_view()
    ):
        return tensor.to(target)
    cache = thread.cache
    if cache is None:
        cache = thread.cache = {}
    known = cache.get(id(tensor))
    if known is not None and known[0]() is tensor and known[1].dtype is target:
        return known[1]
    made = tensor.to(target)
    if mode.on:  # what is cast without history must not be found where a history is wanted
        cache[id(tensor)] = (weakref.ref(tensor), made)
    return made


def _chosen(device: str) -> dtype:
    """What floats become on a kind of device, in this thread."""
    return dict(thread.dtypes)[device]


def _lower(device: str, args: tuple, kwargs: dict[str, Any]) -> tuple:
    return _all(_to(device, _chosen(device)), args, kwargs)


def _full(device: str, args: tuple, kwargs: dict[str, Any]) -> tuple:
    return _all(_to(device, float32), args, kwargs)


def _mirror(device: str, args: tuple, kwargs: dict[str, Any]) -> tuple:
    how = kwargs.get("mode", args[2] if len(args) > 2 else "constant")
    pad = kwargs.get("pad", args[1] if len(args) > 1 else ())
    listed = how == "replicate" or (how == "reflect" and len(pad) < 6)
    return _full(device, args, kwargs) if listed else (args, kwargs)


def _full_result(device: str, args: tuple, kwargs: dict[str, Any]) -> tuple:
    """Ask for a float32 result, where none was asked for."""
    first = args[0] if args else kwargs.get("input")
    asked = kwargs.get("dtype") is not None or any(isinstance(value, dtype) for value in args)
    if asked or not isinstance(first, Tensor) or not _is_ours(first, device):
        return args, kwargs
    return args, {**kwargs, "dtype": float32}


def _widest(device: str, args: tuple, kwargs: dict[str, Any]) -> tuple:
    floats = [tensor for tensor in _tensors(args, kwargs) if tensor.dtype.is_floating_point]
    if any(not _is_ours(tensor, device) for tensor in floats):
        return args, kwargs  # a float64 among them: the function promotes as ever
    lower = _chosen(device)
    widest = float32 if any(tensor.dtype is float32 for tensor in floats) else lower
    if any(tensor.dtype not in (lower, float32) for tensor in floats):
        raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return _all(_to(device, widest), args, kwargs)


def _unsafe(device: str, args: tuple, kwargs: dict[str, Any]) -> tuple:
    raise RuntimeError(named(_UNSAFE))


CHANGES: dict[str, Callable[[str, tuple, dict[str, Any]], tuple]] = {
    "lower": _lower,
    "full": _full,
    "mirror": _mirror,
    "full_result": _full_result,
    "widest": _widest,
    "unsafe": _unsafe,
}
