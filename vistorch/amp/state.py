"""Whether this thread casts, for which kind of device, and to what.

Invariant: listed functions ask (see `engine/base/casting.py`) exactly while some thread casts; the count of such
threads and devices is kept here and nowhere else.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..engine.base.device import device as _device
from ..engine.base.dims import flag
from ..engine.base.dtypes import dtype
from ..engine.base.warn_once import user_level
from ..engine.library_name import library
from . import listed
from .thread import thread

DEVICES = ("cpu", "cuda")


class Casting(NamedTuple):
    """What a thread casts, for another one that works for it."""

    enabled: tuple[str, ...]
    dtypes: tuple[tuple[str, dtype], ...]
    caching: bool


_lock = threading.Lock()
_open = [0]


def kind(device_type: str) -> str:
    """The name of a kind of device, as PyTorch checks it."""
    return _device(device_type).type


def is_autocast_available(device_type: str) -> bool:
    """Whether regions of this kind of device exist here.

    Args:
        device_type: "cpu" or "cuda"; others exist in PyTorch, and not here.

    Example:
        >>> import vistorch
        >>> vistorch.amp.is_autocast_available("cuda")
        True
    """
    return kind(device_type) in DEVICES


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread casts on a kind of device now.

    Args:
        device_type: "cpu" or "cuda".

    Example:
        >>> import vistorch
        >>> with vistorch.autocast("cpu"):
        ...     vistorch.is_autocast_enabled("cpu")
        True
    """
    return kind(device_type) in thread.enabled


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch casting on or off for this thread: `with autocast(...)` is the way to do so for a while.

    Args:
        device_type: "cpu" or "cuda".
        enabled: whether to cast. With one argument alone it is this one, for CUDA.

    Example:
        >>> import vistorch
        >>> vistorch.set_autocast_enabled("cpu", True)
        >>> (vistorch.ones(2, 2) @ vistorch.ones(2, 2)).dtype
        vistorch.bfloat16
        >>> vistorch.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    name = kind(device_type)
    enabled = flag(enabled, "set_autocast_enabled", "enabled", 2)
    if (name in thread.enabled) == enabled:
        return
    # One switch at a time: another thread may begin or end a region meanwhile.
    with _lock:
        if enabled:
            thread.enabled = (*thread.enabled, name)
            _open[0] += 1
            if _open[0] == 1:
                listed.switch(True)
        else:
            thread.enabled = tuple(other for other in thread.enabled if other != name)
            _open[0] -= 1
            if _open[0] == 0:
                listed.switch(False)


def get_autocast_dtype(device_type: str) -> dtype:
    """What floats become on a kind of device: bfloat16 on the CPU and float16 on CUDA, if nothing else was chosen.

    Args:
        device_type: "cpu" or "cuda".

    Example:
        >>> import vistorch
        >>> vistorch.get_autocast_dtype("cpu")
        vistorch.bfloat16
    """
    name = kind(device_type)
    for device, found in thread.dtypes:
        if device == name:
            return found
    raise RuntimeError(f"unsupported device type for autocast in get_autocast_dtype(): {name}")


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Choose what floats become on a kind of device, in this thread.

    Args:
        device_type: "cpu" or "cuda".
        dtype: bfloat16 or float16.

    Example:
        >>> import vistorch
        >>> vistorch.set_autocast_dtype("cpu", vistorch.float16)
        >>> vistorch.get_autocast_dtype("cpu")
        vistorch.float16
        >>> vistorch.set_autocast_dtype("cpu", vistorch.bfloat16)
    """
    name = kind(device_type)
    others = tuple(pair for pair in thread.dtypes if pair[0] != name)
    if (name, dtype) not in thread.dtypes:
        thread.cache = None
    thread.dtypes = (*others, (name, dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether the cast of a parameter is kept until the region ends.

    Example:
        >>> import vistorch
        >>> vistorch.is_autocast_cache_enabled()
        True
    """
    return thread.caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether to keep casts of parameters.

    Args:
        enabled: whether to.

    Example:
        >>> import vistorch
        >>> vistorch.set_autocast_cache_enabled(False)
        >>> vistorch.is_autocast_cache_enabled()
        False
        >>> vistorch.set_autocast_cache_enabled(True)
    """
    thread.caching = flag(enabled, "set_autocast_cache_enabled", "enabled")


def clear_autocast_cache() -> None:
    """Forget the casts of parameters.

    Example:
        >>> import vistorch
        >>> weight = vistorch.ones(2, 2, requires_grad=True)
        >>> with vistorch.autocast("cpu"):
        ...     out = vistorch.ones(2, 2) @ weight
        ...     vistorch.clear_autocast_cache()  # the next product casts `weight` again
    """
    thread.cache = None


def autocast_increment_nesting() -> int:
    """One region more is open in this thread; gives how many are.

    Example:
        >>> import vistorch
        >>> vistorch.autocast_increment_nesting(), vistorch.autocast_decrement_nesting()
        (1, 0)
    """
    thread.nesting += 1
    return thread.nesting


def autocast_decrement_nesting() -> int:
    """One region less is open in this thread; gives how many are.

    Example:
        >>> import vistorch
        >>> with vistorch.autocast("cpu"):
        ...     vistorch.autocast_increment_nesting(), vistorch.autocast_decrement_nesting()
        (2, 1)
    """
    thread.nesting -= 1
    return thread.nesting


def casting() -> Casting:
    """What this thread casts now."""
    return Casting(thread.enabled, thread.dtypes, thread.caching)


@contextmanager
def cast_as(there: Casting) -> Iterator[None]:
    """Cast meanwhile what another thread casts."""
    here, cache = casting(), thread.cache
    autocast_increment_nesting()
    try:
        _set(there)
        thread.cache = None
        yield
    finally:
        _set(here)
        thread.cache = cache
        autocast_decrement_nesting()


def _set(wanted: Casting) -> None:
    for name in DEVICES:
        set_autocast_enabled(name, name in wanted.enabled)
    thread.dtypes, thread.caching = wanted.dtypes, wanted.caching


def _deprecated(old: str, new: str) -> None:
    warnings.warn(
        f"{library}.{old} is deprecated. Please use {library}.{new} instead.",
        DeprecationWarning,
        stacklevel=user_level(),
    )


def is_autocast_cpu_enabled() -> bool:
    """PyTorch's older name of `is_autocast_enabled("cpu")`.

    Example:
        >>> import vistorch, warnings
        >>> with vistorch.autocast("cpu"), warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.is_autocast_cpu_enabled()
        True
    """
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """PyTorch's older name of `set_autocast_enabled("cpu", ...)`.

    Args:
        enabled: whether to cast.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.set_autocast_cpu_enabled(False)
        >>> vistorch.is_autocast_enabled("cpu")
        False
    """
    _deprecated("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """PyTorch's older name of `get_autocast_dtype("cpu")`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.get_autocast_cpu_dtype()
        vistorch.bfloat16
    """
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """PyTorch's older name of `set_autocast_dtype("cpu", ...)`.

    Args:
        dtype: bfloat16 or float16.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.set_autocast_cpu_dtype(vistorch.bfloat16)
    """
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtype:
    """PyTorch's older name of `get_autocast_dtype("cuda")`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.get_autocast_gpu_dtype()
        vistorch.float16
    """
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: dtype) -> None:
    """PyTorch's older name of `set_autocast_dtype("cuda", ...)`.

    Args:
        dtype: float16 or bfloat16.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.set_autocast_gpu_dtype(vistorch.float16)
    """
    _deprecated("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)
