"""Training on several machines: not here yet; programs that ask first learn that.

Invariant: `is_available()` is False, and what needs a process group says that there is none.
"""

from __future__ import annotations

from typing import Any

from .._lazy import unbuilt

globals().update(unbuilt("distributed"))
_NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."


def is_available() -> bool:
    """False: no process groups are built.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.is_available()
        False
    """
    return False


is_initialized = is_nccl_available = is_gloo_available = is_mpi_available = is_ucc_available = is_available
is_xccl_available = is_torchelastic_launched = is_available


def is_backend_available(backend: str) -> bool:
    """False, for every backend.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.is_backend_available("gloo")
        False
    """
    return False


def get_rank(group: Any = None) -> int:
    """ValueError: there is no process group.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.get_rank() if vistorch.distributed.is_initialized() else 0
        0
        >>> vistorch.distributed.get_rank()
        Traceback (most recent call last):
            ...
        ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """
    raise ValueError(_NO_GROUP)


def get_world_size(group: Any = None) -> int:
    """ValueError: there is no process group.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.get_world_size() if vistorch.distributed.is_initialized() else 1
        1
        >>> vistorch.distributed.get_world_size()
        Traceback (most recent call last):
            ...
        ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """
    raise ValueError(_NO_GROUP)


def destroy_process_group(group: Any = None) -> None:
    """Nothing to destroy.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.destroy_process_group()
        >>> vistorch.distributed.is_initialized()
        False
    """
