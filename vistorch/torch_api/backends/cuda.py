"""What PyTorch lets a program choose about CUDA: TF32 for products; the rest is settable, without effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vistorch.engine.kernels.cuda.settings import set_precision, tf32


class _Flags:
    """A group of settable flags."""

    def __init__(self, **flags: Any) -> None:
        vars(self).update(flags)

    def clear(self) -> None:
        """Nothing is kept."""


class _Products(_Flags):
    """The flags of matrix products."""

    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 may round their operands to TF32."""
        return tf32()

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        set_precision("high" if allowed else "highest")

    @property
    def fp32_precision(self) -> str:
        """How products of float32 are computed: "tf32", or "none" where nothing was chosen."""
        return "tf32" if tf32() else "none"

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        set_precision("high" if precision == "tf32" else "highest")


matmul = _Products(
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
)
cufft_plan_cache = _Flags(size=0, max_size=0)
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}
_linalg = ["default"]
_blas = ["default"]


def is_built() -> bool:
    """Whether CUDA can be used at all: whether cupy finds a device, real or simulated.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.backends.cuda.is_built()
        True
        >>> vistorch.cuda.simulate(None)
    """
    from vistorch.cuda import is_available

    return is_available()


def preferred_linalg_library(backend: Any = None) -> Any:
    """Remembered; gives what is set.

    Example:
        >>> import vistorch
        >>> vistorch.backends.cuda.preferred_linalg_library("magma")
        'magma'
        >>> vistorch.backends.cuda.preferred_linalg_library("default")
        'default'
    """
    if backend is not None:
        _linalg[0] = backend
    return _linalg[0]


def preferred_blas_library(backend: Any = None) -> Any:
    """Remembered; gives what is set.

    Example:
        >>> import vistorch
        >>> vistorch.backends.cuda.preferred_blas_library("cublaslt")
        'cublaslt'
        >>> vistorch.backends.cuda.preferred_blas_library("default")
        'default'
    """
    if backend is not None:
        _blas[0] = backend
    return _blas[0]


_ENABLE = """Remembered: attention here has one way only, not a {kind} one.

Args:
    enabled: whether.

Example:
    >>> from vistorch.backends import cuda
    >>> cuda.enable_{kind}_sdp(False)
    >>> cuda.{kind}_sdp_enabled()
    False
    >>> cuda.enable_{kind}_sdp(True)
"""
_ENABLED = """What was set.

Example:
    >>> from vistorch.backends import cuda
    >>> cuda.{kind}_sdp_enabled()
    True
"""


def _pair(kind: str) -> tuple:
    def enable(enabled: bool) -> None:
        _attention[kind] = bool(enabled)

    def is_enabled() -> bool:
        return _attention[kind]

    enable.__name__ = enable.__qualname__ = f"enable_{kind}_sdp"
    is_enabled.__name__ = is_enabled.__qualname__ = f"{kind}_sdp_enabled"
    enable.__doc__ = _ENABLE.format(kind=kind)
    is_enabled.__doc__ = _ENABLED.format(kind=kind)
    return enable, is_enabled


enable_flash_sdp, flash_sdp_enabled = _pair("flash")
enable_mem_efficient_sdp, mem_efficient_sdp_enabled = _pair("mem_efficient")
enable_math_sdp, math_sdp_enabled = _pair("math")
enable_cudnn_sdp, cudnn_sdp_enabled = _pair("cudnn")


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[dict[str, bool]]:
    """Remembered until the end of a `with` block.

    Example:
        >>> from vistorch.backends import cuda
        >>> with cuda.sdp_kernel(enable_math=False):
        ...     cuda.math_sdp_enabled()
        False
        >>> cuda.math_sdp_enabled()
        True
    """
    before = dict(_attention)
    _attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield dict(_attention)
    finally:
        _attention.update(before)


def is_flash_attention_available() -> bool:
    """False: attention here has one way only.

    Example:
        >>> import vistorch
        >>> vistorch.backends.cuda.is_flash_attention_available()
        False
    """
    return False
