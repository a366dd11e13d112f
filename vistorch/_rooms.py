"""The rooms that `import vistorch` does not open: each is imported when its name is first asked for.

Invariant: `vistorch.nn` works after `import vistorch` alone, as `torch.nn` does, and costs nothing before.
"""

import importlib
import sys
from typing import Any

ROOMS = ("nn", "optim")


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return importlib.import_module(f"vistorch.{name}")
    raise AttributeError(f"module 'vistorch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules["vistorch"]), *ROOMS})
