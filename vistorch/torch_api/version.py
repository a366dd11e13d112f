"""The version of vistorch, and of what it stands on, under PyTorch's names.

Invariant: reading it imports no cupy.
"""

from __future__ import annotations

from vistorch._version import __version__
from vistorch.engine.library_name import library

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]  # noqa: F822  `cuda` is found out when it is asked for


def _cuda() -> str | None:
    """The CUDA version that the installed cupy is for; None without cupy."""
    from importlib.metadata import distributions

    for found in distributions():
        name = (found.metadata["Name"] or "").lower()
        if name.startswith("cupy-cuda"):
            return name.removeprefix("cupy-cuda").removesuffix("x") + ".0"
    return None


debug = False
git_version = "Unknown"
hip: str | None = None
rocm: str | None = None
xpu: str | None = None


def __getattr__(name: str) -> str | None:
    if name == "cuda":
        globals()["cuda"] = found = _cuda()
        return found
    raise AttributeError(f"module '{library}.version' has no attribute {name!r}")
