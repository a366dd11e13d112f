"""The exceptions of training in several processes, under PyTorch's names.

Invariant: all of them are RuntimeErrors, as in PyTorch.
"""

from __future__ import annotations


class DistError(RuntimeError):
    """Something went wrong between processes.

    Example:
        >>> from vistorch import distributed as dist
        >>> issubclass(dist.DistBackendError, dist.DistError)
        True
    """


class DistBackendError(DistError):
    """A collective operation failed or was not answered in time.

    Example:
        >>> from vistorch import distributed as dist
        >>> issubclass(dist.DistBackendError, RuntimeError)
        True
    """


class DistArgumentError(DistError, ValueError):
    """An argument does not fit the group: PyTorch raises a ValueError or, from C++, a RuntimeError; this is both.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> try:
        ...     dist.gather(vistorch.ones(2), [vistorch.ones(3)])
        ... except RuntimeError as error:
        ...     print(error)
        ``gather_list``: the tensor for rank 0 has the shape [3], but ``tensor`` [2]
        >>> dist.destroy_process_group()
    """


class DistNetworkError(DistError):
    """A connection could not be made, or was lost.

    Example:
        >>> from vistorch import distributed as dist
        >>> issubclass(dist.DistNetworkError, dist.DistError)
        True
    """


class DistStoreError(DistError):
    """A store has not, in time, what was waited for.

    Example:
        >>> from datetime import timedelta
        >>> from vistorch import distributed as dist
        >>> store = dist.HashStore()
        >>> store.set_timeout(timedelta(milliseconds=10))
        >>> store.get("nothing")
        Traceback (most recent call last):
            ...
        vistorch.ranks.errors.DistStoreError: wait timeout after 10ms, keys: nothing
    """


class QueueEmptyError(DistStoreError):
    """A queue of a store is empty.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.HashStore().queue_pop("tasks", block=False)
        Traceback (most recent call last):
            ...
        vistorch.ranks.errors.QueueEmptyError: queue tasks is empty
    """


NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."
