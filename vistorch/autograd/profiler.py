"""PyTorch's older module for profiling: `vistorch.profiler` under other names."""

from __future__ import annotations

from typing import Any

from .._lazy import unbuilt
from ..torch_api.profiler import profile as _profile
from ..torch_api.profiler import record_function

globals().update(unbuilt("autograd.profiler"))
__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


class profile(_profile):
    """Accepted in all its forms; measures nothing, and says so once.

    Args:
        enabled: not used.
        **options: not used.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it says once that it measures nothing
        ...     with vistorch.autograd.profiler.profile(use_cpu=True) as run:
        ...         total = vistorch.ones(3).sum()
        >>> total, run.events()
        (tensor(3.), [])
    """

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        super().__init__()


class emit_nvtx:
    """Accepted as a `with` block; emits nothing.

    Example:
        >>> import vistorch
        >>> with vistorch.autograd.profiler.emit_nvtx(), vistorch.autograd.profiler.emit_itt():
        ...     vistorch.ones(3).sum()
        tensor(3.)
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


emit_itt = emit_nvtx
