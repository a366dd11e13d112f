"""Pictures: data sets, networks, transforms, reading and writing, under torchvision's names.

Invariant: importing this package imports no other and neither Pillow nor tqdm; each of its modules is imported when its
name is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, io, models, ops, tv_tensors, utils

MODULES = ("datasets", "io", "models", "ops", "transforms", "tv_tensors", "utils")


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES})
