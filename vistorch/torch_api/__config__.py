"""How this vistorch computes, as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from vistorch._version import __version__
from vistorch.engine.kernels import threads
from vistorch.engine.kernels.fast.switch import onednn
from vistorch.engine.library_name import library

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The versions of what computes.

    Example:
        >>> import vistorch
        >>> vistorch.__config__.show().splitlines()[0].partition(" ")[0]
        'vistorch'
    """
    lines = [f"vistorch {__version__} on numpy {np.__version__}"]
    built: Any = np.show_config(mode="dicts")
    for name, found in (built or {}).get("Build Dependencies", {}).items():
        lines.append(f"  - {name}: {found.get('name')} {found.get('version')}")
    lines.append(f"  - fast kernels: {onednn.describe()}")
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """How many threads compute."""
    from vistorch.torch_api.settings import get_num_interop_threads, get_num_threads

    return (
        f"{library}.get_num_threads() : {get_num_threads()}\n"
        f"{library}.get_num_interop_threads() : {get_num_interop_threads()}\n"
        f"BLAS : {', '.join(map(str, threads.blas_counts())) or 'unknown'}\n"
        f"fast kernels : {onednn.describe()}\n"
    )
