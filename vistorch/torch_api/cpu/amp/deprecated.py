"""Names of PyTorch before `amp` took the kind of device as an argument.

Invariant: each warns as PyTorch does, and does what its successor does.
"""

from __future__ import annotations

import warnings

from vistorch import amp
from vistorch.engine.base.dtypes import bfloat16, dtype
from vistorch.engine.base.warn_once import user_level
from vistorch.engine.library_name import library

__all__ = ["GradScaler", "autocast"]


def _older(name: str) -> None:
    warnings.warn(
        f"`{library}.cpu.amp.{name}(args...)` is deprecated. Please use `{library}.amp.{name}('cpu', args...)` "
        "instead.",
        FutureWarning,
        stacklevel=user_level(),
    )


class autocast(amp.autocast):
    """`vistorch.amp.autocast("cpu", ...)`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     casting = vistorch.cpu.amp.autocast()
        >>> with casting:
        ...     (vistorch.eye(2) @ vistorch.ones(2)).dtype
        vistorch.bfloat16
    """

    def __init__(self, enabled: bool = True, dtype: dtype = bfloat16, cache_enabled: bool = True) -> None:
        _older("autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`vistorch.amp.GradScaler("cpu", ...)`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     scaler = vistorch.cpu.amp.GradScaler(init_scale=8.0)
        >>> scaler.scale(vistorch.tensor(2.0))
        tensor(16.)
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _older("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
