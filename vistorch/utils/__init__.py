"""What surrounds training: checkpointing, the handles of hooks, data and its loaders."""

import importlib
from typing import Any

from . import checkpoint, hooks


def __getattr__(name: str) -> Any:
    if name == "data":  # opened when it is asked for: `import vistorch` has no need of it
        return importlib.import_module("vistorch.utils.data")
    raise AttributeError(f"module 'vistorch.utils' has no attribute {name!r}")
