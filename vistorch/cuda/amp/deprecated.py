"""Names of PyTorch before `amp` took the kind of device as an argument.

Invariant: each warns as PyTorch does, and does what its successor does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from ... import amp
from ...engine.base.dtypes import dtype, float16
from ...engine.base.warn_once import user_level
from ...engine.library_name import library

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]


def _older(name: str) -> None:
    warnings.warn(
        f"`{library}.cuda.amp.{name}(args...)` is deprecated. "
        f"Please use `{library}.amp.{name}('cuda', args...)` instead.",
        FutureWarning,
        stacklevel=user_level(),
    )


class autocast(amp.autocast):
    """`vistorch.amp.autocast("cuda", ...)`.

    Example:
        >>> import vistorch, warnings
        >>> vistorch.cuda.simulate(1)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     casting = vistorch.cuda.amp.autocast()
        >>> x = vistorch.eye(2, device="cuda")
        >>> with casting:
        ...     (x @ x).dtype
        vistorch.float16
        >>> vistorch.cuda.simulate(None)
    """

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        _older("autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`vistorch.amp.GradScaler("cuda", ...)`.

    Example:
        >>> import vistorch, warnings
        >>> vistorch.cuda.simulate(1)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     scaler = vistorch.cuda.amp.GradScaler(init_scale=8.0)
        >>> scaler.scale(vistorch.tensor(2.0, device="cuda"))
        tensor(16., device='cuda:0')
        >>> vistorch.cuda.simulate(None)
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
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.amp.amp_definitely_not_available()
        False
        >>> vistorch.cuda.simulate(None)
    """
    from .. import is_available

    return not is_available()


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: dtype | None = None) -> Callable:
    """`vistorch.amp.custom_fwd(device_type="cuda", ...)`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     class Double(vistorch.autograd.Function):
        ...         @staticmethod
        ...         @vistorch.cuda.amp.custom_fwd(cast_inputs=vistorch.float32)
        ...         def forward(ctx, x):
        ...             print(x.dtype)
        ...             return x * 2
        >>> vistorch.cuda.simulate(1)
        >>> with vistorch.amp.autocast("cuda"):
        ...     y = Double.apply(vistorch.ones(1, device="cuda", dtype=vistorch.float16))
        vistorch.float32
        >>> vistorch.cuda.simulate(None)
    """
    _older("custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable | None = None) -> Callable:
    """`vistorch.amp.custom_bwd(device_type="cuda")`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     class Double(vistorch.autograd.Function):
        ...         @staticmethod
        ...         @vistorch.cuda.amp.custom_fwd
        ...         def forward(ctx, x):
        ...             return x * 2
        ...         @staticmethod
        ...         @vistorch.cuda.amp.custom_bwd
        ...         def backward(ctx, grad_output):
        ...             print(vistorch.is_autocast_enabled("cuda"))  # as it was in forward
        ...             return grad_output * 2
        >>> vistorch.cuda.simulate(1)
        >>> with vistorch.amp.autocast("cuda"):
        ...     y = Double.apply(vistorch.ones(1, device="cuda", requires_grad=True))
        >>> y.backward()
        True
        >>> vistorch.cuda.simulate(None)
    """
    _older("custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
