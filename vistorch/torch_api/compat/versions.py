"""Which PyTorch the alias stands for: what packages ask before they use a thing.

Invariant: imports nothing of vistorch, as `import_torch.py`, which reads it by its path.
"""

from __future__ import annotations

import importlib.metadata
import os
from typing import Any

TORCH = "2.13.0+vistorch"
TORCHVISION = "0.28.0+vistorch"
VERSIONS = {"torch": TORCH, "torchvision": TORCHVISION}


class Named(importlib.metadata.Distribution):
    """The metadata of a package that is here by its name: a name, a version, and no files.

    Args:
        name: "torch" or "torchvision".
    """

    def __init__(self, name: str) -> None:
        self.own = name

    def read_text(self, filename: str) -> str | None:
        """One file of the metadata: there is the one that says name and version."""
        if filename in ("METADATA", "PKG-INFO"):
            return f"Metadata-Version: 2.1\nName: {self.own}\nVersion: {VERSIONS[self.own]}\n"
        return None

    def locate_file(self, path: Any) -> Any:
        """Where a file of the package would be."""
        return os.path.join(os.path.dirname(__file__), path)


def distributions(name: str | None) -> list[Named]:
    """The packages of this name; all of them where none is named.

    Args:
        name: as it was asked for.
    """
    return [Named(own) for own in VERSIONS if name is None or name.lower() == own]
