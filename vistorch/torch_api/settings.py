"""Switches of the whole process, under PyTorch's names: threads, determinism, precision of matmul.

Invariant: everything that may be set can be read back; what numpy cannot follow is remembered and harmless.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

from vistorch.engine.base.device import device as _device
from vistorch.engine.base.dims import flag as _flag
from vistorch.engine.kernels import threads as _threads
from vistorch.engine.kernels.cuda import settings as _precision
from vistorch.engine.library_name import library
from vistorch.storage import TypedStorage, UntypedStorage

_MODES = {"default": 0, "warn": 1, "error": 2}


class _Switches:
    """What was set."""

    interop: int | None = None
    deterministic = 0
    warn_always = False


_now = _Switches()


def _positive(name: str, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise RuntimeError(f"{name} expects an int, but got {type(number).__name__}")
    if number <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    return number


def set_num_threads(int: int) -> None:
    """How many threads one operation may use: products, convolutions, and blocks of other large ones.

    Results of elementwise operations, products and forward passes do not depend on it. Sums over a whole batch may
    differ in rounding (gradients of the weights of convolutions and of layer normalisation), unless
    `use_deterministic_algorithms` is on.

    Args:
        int: the number.

    Example:
        >>> import vistorch
        >>> before = vistorch.get_num_threads()
        >>> vistorch.set_num_threads(1)
        >>> vistorch.get_num_threads()
        1
        >>> vistorch.set_num_threads(before)
    """
    _threads.set_count(_positive("set_num_threads", int))


def get_num_threads() -> int:
    """How many threads one operation may use: what was set, else `OMP_NUM_THREADS`, else the number of cores.

    Example:
        >>> import vistorch
        >>> vistorch.get_num_threads() >= 1
        True
    """
    return _threads.count()


def set_num_interop_threads(int: int) -> None:
    """Remembered only: ops here run one after another. As in PyTorch, it may be set once.

    Args:
        int: the number.

    Example:
        >>> import vistorch
        >>> vistorch.set_num_interop_threads(0)
        Traceback (most recent call last):
            ...
        RuntimeError: set_num_interop_threads expects a positive integer
    """
    number = _positive("set_num_interop_threads", int)
    if _now.interop is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _now.interop = number


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was given, or the number of cores.

    Example:
        >>> import vistorch
        >>> vistorch.get_num_interop_threads() >= 1
        True
    """
    return _now.interop if _now.interop is not None else os.cpu_count() or 1


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Let no result depend on the number of threads; from run to run all are the same anyway.

    Args:
        mode: whether products and the few sums whose rounding depends on it keep to one thread.
        warn_only: warn rather than raise.

    Example:
        >>> import vistorch
        >>> vistorch.use_deterministic_algorithms(True)
        >>> vistorch.are_deterministic_algorithms_enabled()
        True
        >>> vistorch.use_deterministic_algorithms(False)
    """
    mode = _flag(mode, "_set_deterministic_algorithms", "mode", 1)
    warn_only = _flag(warn_only, "_set_deterministic_algorithms", "warn_only")
    _decide((1 if warn_only else 2) if mode else 0)


def _decide(number: int) -> None:
    _now.deterministic = number
    _precision.settings.deterministic = number > 0
    _threads.set_deterministic(number > 0)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was given.

    Example:
        >>> import vistorch
        >>> vistorch.are_deterministic_algorithms_enabled()
        False
    """
    return _now.deterministic > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` is to warn only.

    Example:
        >>> import vistorch
        >>> vistorch.use_deterministic_algorithms(True, warn_only=True)
        >>> vistorch.is_deterministic_algorithms_warn_only_enabled()
        True
        >>> vistorch.use_deterministic_algorithms(False)
    """
    return _now.deterministic == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same switch by number or word: 0 "default", 1 "warn", 2 "error".

    Args:
        debug_mode: the number or the word.

    Example:
        >>> import vistorch
        >>> vistorch.set_deterministic_debug_mode("warn")
        >>> vistorch.get_deterministic_debug_mode()
        1
        >>> vistorch.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str) and debug_mode not in _MODES:
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
        )
    number = _MODES[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if number not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {number}")
    _decide(number)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2.

    Example:
        >>> import vistorch
        >>> vistorch.get_deterministic_debug_mode()
        0
    """
    return _now.deterministic


def set_float32_matmul_precision(precision: str) -> None:
    """Say how float32 operands may be rounded: on CUDA devices "high" and "medium" allow TF32; the CPU does not round.

    Args:
        precision: "highest", "high" or "medium".

    Example:
        >>> import vistorch
        >>> vistorch.set_float32_matmul_precision("high")
        >>> vistorch.get_float32_matmul_precision()
        'high'
        >>> vistorch.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            stacklevel=2,
        )
        return
    _precision.set_precision(precision)


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given; "highest" if nothing.

    Example:
        >>> import vistorch
        >>> vistorch.get_float32_matmul_precision()
        'highest'
    """
    return _precision.settings.precision


def set_flush_denormal(mode: bool) -> bool:
    """False: numpy keeps denormal numbers, and this cannot be changed.

    Args:
        mode: what is wanted.

    Example:
        >>> import vistorch
        >>> vistorch.set_flush_denormal(True)
        False
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False


def set_warn_always(b: bool) -> None:
    """Remembered: warnings here follow Python's own filters.

    Args:
        b: what is wanted.

    Example:
        >>> import vistorch
        >>> vistorch.set_warn_always(True)
        >>> vistorch.is_warn_always_enabled()
        True
        >>> vistorch.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _now.warn_always = b


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given.

    Example:
        >>> import vistorch
        >>> vistorch.is_warn_always_enabled()
        False
    """
    return _now.warn_always


def is_storage(obj: object) -> bool:
    """Whether `obj` is a storage.

    Example:
        >>> import vistorch
        >>> vistorch.is_storage(vistorch.ones(2).untyped_storage())
        True
    """
    return isinstance(obj, TypedStorage | UntypedStorage)


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device: `vistorch.cuda` or `vistorch.cpu`.

    Args:
        device: a device or the name of a kind; without it, the kind that is used first.

    Example:
        >>> import vistorch
        >>> vistorch.get_device_module("cuda") is vistorch.cuda
        True
    """
    if device is None:
        name = "cuda" if importlib.import_module("vistorch.cuda").is_available() else "cpu"
    else:
        name = _device(device).type
    try:
        return importlib.import_module(f"vistorch.{name}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as '{library}.{name}'."
        ) from None


def compiled_with_cxx11_abi() -> bool:
    """True, as PyTorch says since 2.6; nothing here is compiled.

    Example:
        >>> import vistorch
        >>> vistorch.compiled_with_cxx11_abi()
        True
    """
    return True


def is_vulkan_available() -> bool:
    """False: nothing here runs on Vulkan.

    Example:
        >>> import vistorch
        >>> vistorch.is_vulkan_available()
        False
    """
    return False


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection on or off; `autograd.detect_anomaly` does so for a while.

    Args:
        mode: whether to look for where a bad gradient was made.
        check_nan: whether to refuse gradients that are not numbers.

    Example:
        >>> import vistorch
        >>> vistorch.set_anomaly_enabled(True)
        >>> vistorch.is_anomaly_enabled()
        True
        >>> vistorch.set_anomaly_enabled(False)
    """
    from vistorch.engine.backward.anomaly import set_detect_anomaly

    set_detect_anomaly(mode, check_nan)
