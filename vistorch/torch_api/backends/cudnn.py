"""cuDNN's flags: convolutions of CUDA devices go to it where `nvidia-cudnn-frontend` is installed."""

from __future__ import annotations

import sys
from typing import Any

from vistorch.engine.base import cuda_probe
from vistorch.engine.kernels import simulated
from vistorch.engine.kernels.cuda import convolution, launch
from vistorch.engine.kernels.cuda.settings import settings

from .flags import held

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True
fp32_precision = "tf32"


def is_available() -> bool:
    """Whether there is a real CUDA device, and cuDNN for it."""
    return bool(cuda_probe.find().ok and not simulated.count() and convolution.frontend() is not None)


def version() -> int | None:
    """The version of cuDNN, None where there is none."""
    cudnn = convolution.frontend()
    return None if cudnn is None else int(cudnn.backend_version())


def is_acceptable(tensor: Any) -> bool:
    """Whether a tensor goes to cuDNN."""
    return enabled and is_available() and tensor.is_cuda and launch.known(tensor._data)


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


settings.convolution = sys.modules[__name__]
