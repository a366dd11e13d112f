"""What a report of a problem should say of the machine: `python -m vistorch.utils.collect_env`.

Invariant: nothing is run but this interpreter, and nothing is imported but what vistorch needs.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["get_pretty_env_info", "main"]

PACKAGES = (
    "numpy ml_dtypes cloudpickle cupy-cuda13x cupy-cuda12x onednn-cpu-gomp ipykernel ipywidgets anywidget torch"
).split()


def get_pretty_env_info() -> str:
    """The versions and devices, a line each.

    Example:
        >>> from vistorch.utils.collect_env import get_pretty_env_info
        >>> get_pretty_env_info().splitlines()[0].startswith("vistorch version: ")
        True
    """
    from .. import cuda
    from .._version import __version__

    lines = [
        f"vistorch version: {__version__}",
        f"Python version: {sys.version.splitlines()[0]} ({platform.machine()})",
        f"OS: {platform.platform()}",
        f"CPUs: {os.cpu_count()}",
        f"Is CUDA available: {cuda.is_available()}",
    ]
    if cuda.is_available():
        lines += [f"  device {i}: {cuda.get_device_name(i)}" for i in range(cuda.device_count())]
    for name in PACKAGES:
        try:
            lines.append(f"{name}: {version(name)}")
        except PackageNotFoundError:
            continue
    return "\n".join(lines)


def main() -> None:
    """Print it.

    Example:
        >>> import contextlib, io
        >>> from vistorch.utils import collect_env
        >>> with contextlib.redirect_stdout(io.StringIO()) as said:
        ...     collect_env.main()
        >>> said.getvalue().splitlines()[0]
        'Collecting environment information...'
    """
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
