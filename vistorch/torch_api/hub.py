"""Models from the network: vistorch fetches nothing; the folder for them is PyTorch's.

Invariant: nothing here opens a connection.
"""

from __future__ import annotations

import os

from vistorch._lazy import unbuilt

globals().update(unbuilt("hub"))
_home: str | None = None


def get_dir() -> str:
    """The folder where PyTorch keeps what it fetched: `$TORCH_HOME/hub`.

    Example:
        >>> import vistorch
        >>> vistorch.hub.get_dir().endswith("hub")
        True
    """
    if _home is not None:
        return _home
    cache = os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.join(os.path.expanduser(os.getenv("TORCH_HOME", cache)), "hub")


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
