"""Models from the network: vistorch fetches nothing; the folder for them is PyTorch's.

Invariant: nothing here opens a connection.
"""

from __future__ import annotations

import os
import re
from urllib.parse import urlparse  # noqa: F401  programs take it from here

from vistorch._lazy import unbuilt

globals().update(unbuilt("hub"))
_home: str | None = None
# What files of weights are called: a name, a dash, and the beginning of the file's SHA-256.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
READ_DATA_CHUNK = 128 * 1024
ENV_TORCH_HOME, ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR = "TORCH_HOME", "XDG_CACHE_HOME", "~/.cache"


def get_dir() -> str:
    """The folder where PyTorch keeps what it fetched: `$TORCH_HOME/hub`.

    Example:
        >>> import vistorch
        >>> vistorch.hub.get_dir().endswith("hub")
        True
    """
    if _home is not None:
        return _home
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    cache = os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.expanduser(os.getenv("TORCH_HOME", cache))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Another folder.

    Args:
        d: its path.

    Example:
        >>> import os, vistorch
        >>> before = vistorch.hub.get_dir()
        >>> vistorch.hub.set_dir("models")
        >>> vistorch.hub.get_dir()
        'models'
        >>> vistorch.hub.set_dir(before)
    """
    global _home
    _home = os.path.expanduser(d)
