"""What surrounds training: checkpointing, the handles of hooks, data and its loaders."""

import importlib
from typing import Any

from vistorch.engine.library_name import library as _library

from . import checkpoint, hooks


def __getattr__(name: str) -> Any:
    if name in ("collect_env", "data", "dlpack", "tensorboard"):  # opened when it is asked for
        return importlib.import_module(f"vistorch.utils.{name}")
    raise AttributeError(f"module '{_library}.utils' has no attribute {name!r}")


def set_module(obj: Any, mod: Any) -> None:
    """Let an object say that it is of a module.

    Args:
        obj: a function or class.
        mod: the module's name.

    Example:
        >>> import vistorch
        >>> def double(x):
        ...     return x * 2
        >>> vistorch.utils.set_module(double, "my_package")
        >>> double.__module__
        'my_package'
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
