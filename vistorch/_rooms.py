"""The rooms that `import vistorch` does not open: each is imported when its name is first asked for.

Invariant: `vistorch.nn` works after `import vistorch` alone, as `torch.nn` does, and costs nothing before.
"""

import importlib
import sys
from typing import Any

ROOMS = ("nn", "optim", "serialization", "storage", "vision")

_kinds = "Half BFloat16 Float Double Char Short Int Long Byte ComplexFloat ComplexDouble Bool".split()
# What vistorch itself offers out of a room, by name.
NAMES = {
    "load": "serialization",
    "save": "serialization",
    "TypedStorage": "storage",
    "UntypedStorage": "storage",
    **{f"{kind}Storage": "storage" for kind in _kinds},
}


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return importlib.import_module(f"vistorch.{name}")
    if name in NAMES:
        found = getattr(importlib.import_module(f"vistorch.{NAMES[name]}"), name)
        setattr(sys.modules["vistorch"], name, found)
        return found
    raise AttributeError(f"module 'vistorch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules["vistorch"]), *ROOMS, *NAMES})
