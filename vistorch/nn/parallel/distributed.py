"""`DistributedDataParallel`: one network in several processes, whose gradients are averaged while they are computed.

Invariant: after a backward pass all ranks have the same gradients, bit for bit, and so the same parameters.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from ...engine.base.modes import is_grad_enabled, no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...ranks.collectives import all_reduce
from ...ranks.group import chosen
from ...ranks.join import Join, Joinable, JoinHook
from ...ranks.objects import all_gather_object
from ...ranks.reducer import Reducer, synchronise
from ..modules import Module

__all__ = ["DistributedDataParallel"]
_MEGABYTE = 1024 * 1024


class DistributedDataParallel(Module, Joinable):
    """A network that is trained by several processes, each with its own part of every batch.

    Each rank has a copy of the network, the same on all. While the backward pass runs, gradients are averaged over the
    ranks, in buckets: a bucket is sent when its last gradient has come. Save `net.module.state_dict()` on rank 0; it
    loads anywhere.

    Args:
        module: the network.
        device_ids: the CUDA device of this process; None for networks on the CPU.
        output_device: PyTorch's; not used.
        dim: PyTorch's; not used.
        broadcast_buffers: give all ranks the buffers of rank 0 before each forward pass.
        init_sync: give all ranks the parameters of rank 0 when this is made.
        process_group: the ranks; all if None.
        bucket_cap_mb: how many megabytes of gradients are sent at a time; 25 if not given.
        find_unused_parameters: look in each pass for parameters that the loss does not depend on.
        check_reduction: PyTorch's; not used.
        gradient_as_bucket_view: let the gradients share the memory of the buckets.
        static_graph: every pass uses the same parameters; those that are not used are found in the first.
        delay_all_reduce_named_params: PyTorch's; not used.
        param_to_hook_all_reduce: PyTorch's; not used.
        mixed_precision: PyTorch's; not used.
        device_mesh: in place of `process_group`, a mesh of one dimension.
        skip_all_reduce_unused_params: PyTorch's; not used.
        bucket_cap_mb_list: PyTorch's; not used.
        batched_grad_copy: PyTorch's; not used.
        forward_sync_buffers: the same as `broadcast_buffers`.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist, nn
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> net(vistorch.ones(4, 2)).mean().backward()
        >>> net.module.weight.grad
        tensor([[1., 1.]])
        >>> list(net.state_dict())
        ['module.weight', 'module.bias']
        >>> with net.no_sync():  # add up gradients here, and average them with those of the next pass
        ...     net(vistorch.ones(4, 2)).mean().backward()
        >>> with net.join():
        ...     net(vistorch.ones(4, 2)).mean().backward()
        >>> net.will_sync_module_buffers(), net.join_process_group.size(), net.join_device.type
        (False, 1, 'cpu')
        >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: Any = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh is not None:
            if device_mesh.ndim != 1:
                raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
            process_group = device_mesh.get_group(mesh_dim=0)
        self.process_group = chosen(process_group)
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(n, p) for n, p in module.named_parameters() if n not in ignored]
        wanted = [(n, p) for n, p in named if p.requires_grad]
        if not wanted:
            self._refuse(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
                "gradient."
            )
        if device_ids is not None and len(device_ids) > 1:
            self._refuse("device_ids can only be None or contain a single element.")
        kinds = {p.device.type for _, p in named}
        if device_ids and kinds == {"cpu"}:
            self._refuse(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-"
                f"device GPU modules or CPU modules, but got device_ids {device_ids}, output_device {output_device}, "
                f"and module parameters {kinds}."
            )
        self.module, self.device = module, wanted[0][1].device
        self.dim, self.device_ids = dim, list(device_ids) if device_ids else None
        self.output_device = output_device
        asked = forward_sync_buffers if broadcast_buffers is None else broadcast_buffers
        self.broadcast_buffers = True if asked is None else asked
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.parameters_to_ignore = ignored
        cap = 25 if bucket_cap_mb is None else bucket_cap_mb
        self.bucket_bytes_cap = int(cap * _MEGABYTE)
        first = _MEGABYTE if bucket_cap_mb is None else self.bucket_bytes_cap
        if init_sync:
            self._check_alike(wanted)
            self._synchronise(0, everything=True)
        made = Reducer(
            wanted,
            self.process_group,
            self.bucket_bytes_cap,
            first,
            find_unused_parameters,
            gradient_as_bucket_view,
            static_graph,
        )
        object.__setattr__(self, "reducer", made)

    def _refuse(self, why: str) -> None:
        raise (RuntimeError if "requires" in why or "doesn't have" in why else ValueError)(why)

    def _check_alike(self, named: list) -> None:
        """Refuse networks that differ between ranks."""
        if self.process_group.size() == 1:
            return
        mine = [(name, tuple(p.shape), str(p.dtype)) for name, p in named]
        found: list = [None] * self.process_group.size()
        all_gather_object(found, mine, self.process_group)
        for rank, theirs in enumerate(found):
            if theirs != mine:
                if len(theirs) != len(mine):
                    how = f"{len(theirs)} parameters, this rank's {len(mine)}"
                else:
                    one, other = next(pair for pair in zip(theirs, mine, strict=True) if pair[0] != pair[1])
                    how = f"{one[0]} of shape {list(one[1])} ({one[2]}), this rank's {other[0]} of {list(other[1])}"
                raise RuntimeError(
                    "DDP expects same model across all ranks, but Rank "
                    f"{self.process_group.global_rank(rank)}'s has {how}."
                )

    def _synchronise(self, root: int, everything: bool = False) -> None:
        kept = [b for n, b in self.module.named_buffers() if n not in self.parameters_to_ignore]
        if everything:
            kept = [p for n, p in self.module.named_parameters() if n not in self.parameters_to_ignore] + kept
        with no_grad():
            synchronise(kept, self.process_group, root)

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass begins with the buffers of rank 0."""
        return (
            self.require_forward_param_sync
            and self.broadcast_buffers
            and next(iter(self.module.buffers()), None) is not None
        )

    # ---- passes -----------------------------------------------------------------------------------------------
    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the network."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        reducer: Reducer = self.reducer
        if syncs:
            reducer.check_finished()
        config = self._join_config
        if config.enable:
            Join.notify_join_context(self)
            self._passes_sync(True)
        elif syncs:
            reducer.rebuild()
        if self.will_sync_module_buffers():
            self._synchronise(self._common_rank(True) if config.enable else 0)
        output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = syncs
        if syncs:
            reducer.prepare(list(_tensors(output)) if self.find_unused_parameters else ())
        else:
            reducer.expecting = False
        return output

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within this, gradients are added up on each rank alone; the first pass after it averages the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def train(self, mode: bool = True) -> DistributedDataParallel:
        """Set the network to train, or to evaluate."""
        super().train(mode)
        return self

    def register_comm_hook(self, state: object, hook: Callable[[object, Any], Any]) -> None:
        """Have a function of the user's average the gradients of each bucket.

        Args:
            state: given to it.
            hook: called with the state and a `GradBucket`; returns a future of the flat tensor.

        Example:
            >>> import vistorch
            >>> from vistorch import distributed as dist, nn
            >>> from vistorch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
            >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
            >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
            >>> net.register_comm_hook(None, fp16_compress_hook)
            >>> net(vistorch.ones(1, 2)).sum().backward()
            >>> dist.destroy_process_group()
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.hook = state, hook

    def _set_static_graph(self) -> None:
        if self.static_graph:
            warnings.warn("You've set static_graph to be True, no need to set it again.", stacklevel=2)
            return
        self.static_graph = self.reducer.static = True

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Any, names: Any) -> None:
        module._ddp_params_and_buffers_to_ignore = names

    def __getstate__(self) -> dict:
        state = dict(self.__dict__)
        for name in ("reducer", "process_group"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.process_group = chosen(None)
        named = [(n, p) for n, p in self.module.named_parameters() if n not in self.parameters_to_ignore]
        made = Reducer(
            [(n, p) for n, p in named if p.requires_grad],
            self.process_group,
            self.bucket_bytes_cap,
            min(_MEGABYTE, self.bucket_bytes_cap),
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
            self.static_graph,
        )
        object.__setattr__(self, "reducer", made)

    # ---- unequally many inputs --------------------------------------------------------------------------------
    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """A context in which ranks may have unequally many inputs.

        Args:
            divide_by_initial_world_size: average over all ranks; False: over those that still have inputs.
            enable: False: do nothing.
            throw_on_early_termination: raise on all ranks when the first has no more inputs.
        """
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What answers for a rank without inputs.

        Example:
            >>> import vistorch
            >>> from vistorch import distributed as dist, nn
            >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
            >>> hook = nn.parallel.DistributedDataParallel(nn.Linear(2, 1)).join_hook()
            >>> hook.post_hook(is_last_joiner=True)
            >>> dist.destroy_process_group()
        """
        return _Shadow(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """The device of the network."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The ranks."""
        return self.process_group

    def _passes_sync(self, active: bool) -> bool:
        """Whether the active ranks average the gradients of this pass; how many there are, for the average."""
        said = FUNCTIONS["zeros"](2)
        if active:
            said[0] = 1.0
            said[1] = float(self.require_backward_grad_sync)
        all_reduce(said, group=self.process_group)
        count = int(said[0].item())
        self.reducer.divisor = None if self._divides_by_all else max(count, 1)
        return said[1].item() > 0

    _divides_by_all = True

    def _common_rank(self, active: bool) -> int:
        """The highest rank that has inputs: its buffers count."""
        from ...ranks.reduce_op import ReduceOp

        rank = FUNCTIONS["tensor"]([self.process_group.rank() if active else -1])
        all_reduce(rank, ReduceOp.MAX, self.process_group)
        if (found := int(rank.item())) < 0:
            raise ValueError("BUG! Expected rank_cond to be true for at least one process.")
        return found


class _Shadow(JoinHook):
    """Answers for a rank of a DistributedDataParallel that has no more inputs."""

    def __init__(self, net: DistributedDataParallel, divides_by_all: bool) -> None:
        self.net = net
        net._divides_by_all = divides_by_all

    def main_hook(self) -> None:
        """Answer one pass."""
        net = self.net
        syncs = net._passes_sync(False)
        if net.will_sync_module_buffers():
            net._synchronise(net._common_rank(False))
        net.require_forward_param_sync = syncs
        if syncs:
            net.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Give all ranks the network of one that has seen the most inputs."""
        self.net.reducer.divisor, self.net._divides_by_all = None, True
        self.net._synchronise(self.net._common_rank(is_last_joiner), everything=True)


def _tensors(output: Any) -> Iterator[Tensor]:
    """The tensors in what a network returned."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, dict):
        yield from chain.from_iterable(map(_tensors, output.values()))
    elif isinstance(output, (list, tuple)):
        yield from chain.from_iterable(map(_tensors, output))
    elif hasattr(output, "__dict__") and not isinstance(output, (type, Module)):
        yield from chain.from_iterable(map(_tensors, vars(output).values()))
