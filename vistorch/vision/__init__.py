"""Pictures: data sets, networks, transforms, reading and writing, under torchvision's names.

Invariant: opening this room opens no other and imports neither Pillow nor tqdm; each of its rooms opens when its name
is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, io, models, utils

ROOMS = ("datasets", "io", "models", "transforms", "utils")


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *ROOMS})
