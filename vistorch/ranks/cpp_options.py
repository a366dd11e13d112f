"""Arguments and classes of PyTorch's process groups in C++: names to annotate with, refused where they are made.

Invariant: no function here takes one.
"""

from __future__ import annotations

from typing import Any


class _Options:
    """What PyTorch's process groups take in C++; the functions of `distributed` take plain arguments."""

    def __init__(self, *args: Any, **options: Any) -> None:
        name = type(self).__name__
        raise NotImplementedError(
            f"{name} is an argument of PyTorch's own process groups: give `distributed` functions plain arguments"
        )


class AllreduceOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.AllreduceOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        AllreduceOptions is an argument of PyTorch's own process groups
    """


class AllreduceCoalescedOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.AllreduceCoalescedOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        AllreduceCoalescedOptions is an argument of PyTorch's own process groups
    """


class AllToAllOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.AllToAllOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        AllToAllOptions is an argument of PyTorch's own process groups
    """


class BarrierOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.BarrierOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        BarrierOptions is an argument of PyTorch's own process groups
    """


class BroadcastOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.BroadcastOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        BroadcastOptions is an argument of PyTorch's own process groups
    """


class GatherOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.GatherOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        GatherOptions is an argument of PyTorch's own process groups
    """


class ReduceOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.ReduceOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        ReduceOptions is an argument of PyTorch's own process groups
    """


class ReduceScatterOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.ReduceScatterOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        ReduceScatterOptions is an argument of PyTorch's own process groups
    """


class ScatterOptions(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.ScatterOptions()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        ScatterOptions is an argument of PyTorch's own process groups
    """


class BackendConfig(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.BackendConfig()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        BackendConfig is an argument of PyTorch's own process groups
    """


class Reducer(_Options):
    """Of PyTorch's C++; refused: DistributedDataParallel has its own.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.Reducer()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        Reducer is an argument of PyTorch's own process groups
    """


class Logger(_Options):
    """Of PyTorch's C++; refused.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.Logger()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        Logger is an argument of PyTorch's own process groups
    """


class ProcessGroupGloo(_Options):
    """A backend of PyTorch's; refused: MPI answers for gloo.

    Example:
        >>> from vistorch import distributed as dist
        >>> try:
        ...     dist.ProcessGroupGloo()
        ... except NotImplementedError as error:
        ...     print(str(error).partition(":")[0])
        ProcessGroupGloo is an argument of PyTorch's own process groups
    """
