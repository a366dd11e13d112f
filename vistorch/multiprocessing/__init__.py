"""Python's multiprocessing, in which tensors are shared between processes and not copied.

Everything of `multiprocessing` is here under its name: Process, Queue, Pool, Pipe, Lock, get_context and the rest.
"""

import multiprocessing as _python
import os as _os

from . import contexts, memory_server, notebook_pickle, pool, queue, reductions
from .contexts import default as _default
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

globals().update({name: getattr(_default, name) for name in _python.__all__})
__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", *_python.__all__]

_strategies = {"file_descriptor", "file_system"} if _os.name == "posix" else {"file_system"}
_strategy = "file_descriptor" if _os.name == "posix" else "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is handed from process to process.

    Both names lead to the same here: memory without a name, handed over as a descriptor, and small tensors share one.

    Args:
        new_strategy: "file_descriptor" or "file_system".

    Example:
        >>> import vistorch.multiprocessing as mp
        >>> before = mp.get_sharing_strategy()
        >>> mp.set_sharing_strategy("file_system")
        >>> mp.get_sharing_strategy()
        'file_system'
        >>> mp.set_sharing_strategy(before)
    """
    global _strategy
    if new_strategy not in _strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_strategies}")
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """How memory is handed from process to process.

    Example:
        >>> import vistorch.multiprocessing as mp
        >>> mp.get_sharing_strategy()
        'file_descriptor'
    """
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes.

    Example:
        >>> import vistorch.multiprocessing as mp
        >>> sorted(mp.get_all_sharing_strategies())
        ['file_descriptor', 'file_system']
    """
    return _strategies


reductions.init_reductions()
