"""What `memory` counts, in PyTorch's tables, and the older names of its functions.

Invariant: a number here is one of `memory`'s; what cupy's pool does not count is not in a table.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..engine.base import cuda_probe
from ..engine.base.warn_once import user_level
from ..engine.library_name import library
from . import usage

_KINDS = {
    "allocated_bytes": (usage.memory_allocated, usage.max_memory_allocated),
    "reserved_bytes": (usage.memory_reserved, usage.max_memory_reserved),
}


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return the bytes used and held on a device, now and at most; empty without CUDA.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.memory_stats().get("allocated_bytes.all.current", 0)
        0
    """
    if not cuda_probe.find().ok:
        return OrderedDict()
    found: dict[str, Any] = OrderedDict()
    for name, (now, most) in _KINDS.items():
        found[f"{name}.all.current"], found[f"{name}.all.peak"] = now(device), most(device)
    return found


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Return `memory_stats` as dicts in dicts.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.memory_stats_as_nested_dict()["allocated_bytes"]
        {'all': {'current': 0, 'peak': 0}}
        >>> vistorch.cuda.simulate(None)
    """
    whole: dict[str, Any] = {}
    for name, number in memory_stats(device).items():
        kind, pool, when = name.split(".")
        whole.setdefault(kind, {}).setdefault(pool, {})[when] = number
    return whole


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return the bytes used and held on a device as a table.

    Args:
        device: the device, or None for the current one.
        abbreviated: changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> print(vistorch.cuda.memory_summary().splitlines()[1])
        allocated bytes               0              0
        >>> vistorch.cuda.simulate(None)
    """
    rows = [f"{'':<16} {'now':>14} {'at most':>14}"]
    for name, (now, most) in _KINDS.items():
        rows.append(f"{name.replace('_', ' '):<16} {now(device):>14} {most(device):>14}")
    return "\n".join(rows)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Do nothing: nothing is added up over time.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.reset_accumulated_memory_stats()
    """


def _older(name: str, new: str, then: Callable) -> Callable:
    def call(device: Any = None) -> Any:
        warnings.warn(
            f"`{library}.cuda.{name}` has been renamed to `{library}.cuda.{new}`"
            if "cached" in name and "reset" not in name
            else f"{library}.cuda.{name} now calls {library}.cuda.{new}, which resets /all/ peak memory stats.",
            FutureWarning,
            stacklevel=user_level(),
        )
        return then(device)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""PyTorch's older name of `{new}`.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch, warnings
        >>> vistorch.cuda.simulate(1)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     print(vistorch.cuda.{name}())
        {"None" if name.startswith("reset") else 0}
        >>> vistorch.cuda.simulate(None)
    """
    return call


memory_cached = _older("memory_cached", "memory_reserved", usage.memory_reserved)
max_memory_cached = _older("max_memory_cached", "max_memory_reserved", usage.max_memory_reserved)
reset_max_memory_allocated = _older(
    "reset_max_memory_allocated", "reset_peak_memory_stats", usage.reset_peak_memory_stats
)
reset_max_memory_cached = _older(
    "reset_max_memory_cached", "reset_peak_memory_stats", usage.reset_peak_memory_stats
)
