"""Regions in which the listed functions run in a narrower type.

Invariant: after a region, however it was left, everything is as it was before.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..engine.base import cuda_probe
from ..engine.base.dtypes import bfloat16, dtype, float16, float64
from ..engine.base.warn_once import user_level
from ..engine.core.tensor import Tensor
from ..engine.library_name import library
from . import state
from .state import is_autocast_available

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]


class autocast:
    """A region, as a context manager or decorator, in which products run in a narrower type.

    Which functions run in which type is PyTorch's choice (see `lists.py`): products in `dtype`, what loses too much
    in float32, and everything else in what it is given. Gradients pass through the casts.

    Args:
        device_type: "cuda" or "cpu": whose tensors are cast.
        dtype: float16 or bfloat16; float16 on CUDA and bfloat16 on the CPU if not given.
        enabled: False makes a region without casts inside another one.
        cache_enabled: keep the cast of a parameter until the outermost region ends.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, 2)
        >>> with vistorch.autocast("cpu"):
        ...     y = x @ x
        >>> y.dtype
        vistorch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = state.get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = state.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled) and self._is_possible()

    def _is_possible(self) -> bool:
        """Whether the region can do what it says; a warning if not."""
        if self.device == "cuda":
            why = "" if cuda_probe.find().ok else "CUDA is not available. Disabling autocast."
        elif self.fast_dtype in (bfloat16, float16):
            why = ""
        else:
            name = self.device.upper()
            why = (
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of {bfloat16}, {float16} currently."
            )
        if why:
            warnings.warn(why, stacklevel=user_level())
        return not why

    def __enter__(self) -> Any:
        self.prev_cache_enabled = state.is_autocast_cache_enabled()
        self.prev = state.is_autocast_enabled(self.device)
        self.prev_fastdtype = state.get_autocast_dtype(self.device)
        state.set_autocast_enabled(self.device, self._enabled)
        state.set_autocast_dtype(self.device, self.fast_dtype)
        state.autocast_increment_nesting()
        state.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exc: object) -> bool:
        if state.autocast_decrement_nesting() == 0:
            state.clear_autocast_cache()
        state.set_autocast_enabled(self.device, self.prev)
        state.set_autocast_dtype(self.device, self.prev_fastdtype)
        state.set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, func: Callable) -> Callable:
        """Decorate a function: its body is a region."""
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast "
                f"as a context manager? For example:\n    with {library}.autocast(device_type=...):\n        "
                "output = model(input)"
            )
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable) -> Callable:
    """A function whose body is a region."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return call


def _cast(value: Any, device_type: str, dtype: dtype) -> Any:
    """Cast the floats in a value, however deep."""
    if isinstance(value, Tensor):
        ours = value.is_floating_point() and value.device.type == device_type and value.dtype is not float64
        return value.to(dtype) if ours else value
    if isinstance(value, str | bytes | np.ndarray):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        cast = (_cast(one, device_type, dtype) for one in value)
        return type(value)(cast) if isinstance(value, list | tuple) else cast  # type: ignore[call-arg]
    return value


def _device_type(device_type: object) -> str:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return device_type


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str, cast_inputs: dtype | None = None
) -> Callable:
    """For the `forward` of a custom Function: what it does inside a region.

    Args:
        fwd: the method; without it, a decorator is given.
        device_type: "cuda" or "cpu".
        cast_inputs: cast the inputs to this type and run without casts; None lets `forward` run as called.

    Example:
        >>> import vistorch
        >>> class Twice(vistorch.autograd.Function):
        ...     @staticmethod
        ...     @vistorch.amp.custom_fwd(device_type="cpu", cast_inputs=vistorch.float32)
        ...     def forward(ctx, x):
        ...         return x + x
        >>> with vistorch.autocast("cpu"):
        ...     Twice.apply(vistorch.ones(1, dtype=vistorch.bfloat16)).dtype
        vistorch.float32
    """
    kind = _device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=kind, cast_inputs=cast_inputs)
    body = fwd

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = state.get_autocast_dtype(kind)
        inside = state.is_autocast_enabled(kind)
        ctx._fwd_used_autocast = inside and cast_inputs is None
        if cast_inputs is None or not inside:
            return body(*args, **kwargs)
        with autocast(device_type=kind, enabled=False):
            rest = [_cast(value, kind, cast_inputs) for value in args[1:]]
            return body(ctx, *rest, **_cast(kwargs, kind, cast_inputs))

    return call


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """For the `backward` of a custom Function whose `forward` has `custom_fwd`: it runs as `forward` ran.

    Args:
        bwd: the method; without it, a decorator is given.
        device_type: "cuda" or "cpu".

    Example:
        >>> import vistorch
        >>> class Product(vistorch.autograd.Function):
        ...     @staticmethod
        ...     @vistorch.amp.custom_fwd(device_type="cpu")
        ...     def forward(ctx, x, w):
        ...         ctx.save_for_backward(w)
        ...         return x @ w
        ...     @staticmethod
        ...     @vistorch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, g):
        ...         (w,) = ctx.saved_tensors
        ...         print("casting as in forward:", vistorch.is_autocast_enabled("cpu"))
        ...         return g @ w.T, None
        >>> x, w = vistorch.ones(1, 2, requires_grad=True), vistorch.ones(2, 1)
        >>> with vistorch.autocast("cpu"):
        ...     y = Product.apply(x, w)
        >>> y.float().backward()
        casting as in forward: True
    """
    kind = _device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=kind)
    body = bwd

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=kind, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return body(*args, **kwargs)

    return call
