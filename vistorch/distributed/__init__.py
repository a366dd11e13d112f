"""Training in several processes, on one machine or many, with PyTorch's names.

What does it is in `vistorch.ranks`. MPI moves what the ranks exchange (`pip install 'vistorch[mpi]'`), NCCL the tensors
on CUDA devices; a world of one rank needs neither.

Invariant: importing this starts nothing; `init_process_group` does.
"""

from __future__ import annotations

import os
from datetime import timedelta
from importlib import import_module
from typing import Any

from ..ranks.backends import (
    Backend,
    get_default_backend_for_device,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_ucc_available,
    is_xccl_available,
)
from ..ranks.collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
    scatter,
)
from ..ranks.cpp_options import (
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BackendConfig,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    Logger,
    ProcessGroupGloo,
    ReduceOptions,
    Reducer,
    ReduceScatterOptions,
    ScatterOptions,
)
from ..ranks.errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from ..ranks.file_store import FileStore
from ..ranks.grad_bucket import GradBucket
from ..ranks.group import (
    GroupMember,
    ProcessGroup,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    is_initialized,
)
from ..ranks.job import destroy_process_group, init_process_group, new_group
from ..ranks.objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from ..ranks.point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from ..ranks.reduce_op import ReduceOp
from ..ranks.rendezvous import DEFAULT_TIMEOUT as default_pg_timeout
from ..ranks.rendezvous import register_rendezvous_handler, rendezvous
from ..ranks.splits import get_backend_config, record_comm, shrink_group, split_group
from ..ranks.store import HashStore, PrefixStore, Store
from ..ranks.subgroups import new_subgroups, new_subgroups_by_enumeration
from ..ranks.tcp_store import TCPStore
from ..ranks.work import Work
from .device_mesh import DeviceMesh, init_device_mesh
from .levels import DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env

reduce_op = ReduceOp
_MODULES = ("algorithms", "constants", "distributed_c10d", "nn", "optim", "pipelining", "tensor")


def __getattr__(name: str) -> Any:
    """A module below, which PyTorch imports along."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_torchelastic_launched() -> bool:
    """Whether `vistorch launch` (or torchrun) has started this process.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_torchelastic_launched()
        False
    """
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine.

    Args:
        fallback_rank: what to answer where no launcher has said it.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.get_node_local_rank(fallback_rank=0)
        0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Whether complex values can be reduced so.

    Args:
        reduceOp: how values become one.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.supports_complex(dist.ReduceOp.SUM), dist.supports_complex(dist.ReduceOp.MAX)
        (True, False)
    """
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG)
