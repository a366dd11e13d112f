"""cuDNN's flags: settable, without effect; cuDNN is not used here."""

from __future__ import annotations

from typing import Any

from .flags import held

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True
fp32_precision = "tf32"


def is_available() -> bool:
    """False: convolutions here are matrix products."""
    return False


def version() -> int | None:
    """None: there is no cuDNN here."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """False: no tensor goes to cuDNN."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple:
    """Set several flags; gives what they were."""
    global enabled, benchmark, benchmark_limit, deterministic, allow_tf32
    before = enabled, benchmark, None, deterministic, allow_tf32, fp32_precision
    enabled = enabled if _enabled is None else _enabled
    benchmark = benchmark if _benchmark is None else _benchmark
    benchmark_limit = benchmark_limit if _benchmark_limit is None else _benchmark_limit
    deterministic = deterministic if _deterministic is None else _deterministic
    allow_tf32 = allow_tf32 if _allow_tf32 is None else _allow_tf32
    return before


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Any:
    """Flags until the end of a `with` block.

    Example:
        >>> import vistorch
        >>> with vistorch.backends.cudnn.flags(benchmark=True):
        ...     vistorch.backends.cudnn.benchmark
        True
    """
    return held(
        __name__,
        enabled=enabled,
        benchmark=benchmark,
        benchmark_limit=benchmark_limit,
        deterministic=deterministic,
        allow_tf32=allow_tf32,
    )
