"""Modules made without initial values."""

from __future__ import annotations

import inspect
from typing import Any

from ...engine.random.generators import get_rng_state, set_rng_state
from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a module whose parameters are to be filled by the caller, such as from a state dict.

    The random numbers that its initial values would take are not taken. There is no device without memory here, so
    the values are written once, and then mean nothing.

    Args:
        module_cls: the class of the module; it must have a `device` argument.
        *args: the arguments of the class.
        **kwargs: the arguments of the class by name.

    Example:
        >>> import vistorch
        >>> vistorch.nn.utils.skip_init(vistorch.nn.Linear, 2, 3).weight.shape
        vistorch.Size([3, 2])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    state = get_rng_state()
    try:
        module = module_cls(*args, device="cpu", **kwargs)
    finally:
        set_rng_state(state)
    return module.to_empty(device=device)
