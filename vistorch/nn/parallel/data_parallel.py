"""`DataParallel`: each batch cut into chunks, and a replica of the network for each.

Invariant: outputs and gradients are those of the network on the whole batch; only batch statistics are per chunk.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain
from typing import Any

from ...cuda.device_ids import all_cuda, place, places, shown
from ...engine.memory.placement import CPU
from ..modules import Module
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]

IMBALANCE = """
    There is an imbalance between your GPUs. You may want to exclude GPU {} which
    has less than 75% of the memory or cores of GPU {}. You can do so by setting
    the device_ids argument to DataParallel, or by setting the CUDA_VISIBLE_DEVICES
    environment variable."""


def _check_balance(device_ids: list[int]) -> None:
    """Warn of a device that is much smaller than another."""
    from ...cuda import get_device_properties

    properties = [get_device_properties(i) for i in device_ids]
    for name in ("total_memory", "multi_processor_count"):
        sizes = [getattr(p, name) for p in properties]
        least, most = min(sizes), max(sizes)
        if most and least / most < 0.75:
            small, large = device_ids[sizes.index(least)], device_ids[sizes.index(most)]
            warnings.warn(IMBALANCE.format(small, large), UserWarning, stacklevel=4)
            return


def _check_module(module: Any, home: Any) -> None:
    for t in chain(module.parameters(), module.buffers()):
        if t._place is not home:
            raise RuntimeError(
                f"module must have its parameters and buffers on device {home.device} (device_ids[0]) but found one of "
                f"them on device: {t.device}"
            )


class DataParallel(Module):
    """A network that works on each batch with several devices.

    The batch is cut along `dim`, each device gets a chunk and a replica of the network, and the outputs are joined.
    Without CUDA devices the network is called as it is, unless `device_ids` are CPUs: `["cpu"] * 4` shows the same
    steps in four threads.

    Args:
        module: the network, on the first device.
        device_ids: the devices; all CUDA devices if None.
        output_device: where the outputs are joined; on the first device if None.
        dim: which dimension of the inputs is the batch.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> net = nn.DataParallel(nn.Linear(2, 3), device_ids=["cpu"] * 4)
        >>> net(vistorch.ones(30, 2)).shape
        vistorch.Size([30, 3])
        >>> list(net.state_dict())
        ['module.weight', 'module.bias']
    """

    def __init__(
        self, module: Any, device_ids: Sequence | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        found = all_cuda()
        if found is None and not _are_cpus(device_ids):
            self.device_ids = []
            return
        targets = places(found if device_ids is None else device_ids)
        if not targets:
            raise RuntimeError("no available devices were found")
        self.dim = dim
        self.device_ids = [shown(p) for p in targets]
        self.output_device = shown(targets[0] if output_device is None else place(output_device))
        self.src_device_obj = targets[0].device
        if targets[0] is not CPU:
            _check_balance([p.index for p in targets])
        if len(targets) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the network with its arguments cut into chunks."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        _check_module(self.module, place(self.src_device_obj))
        chunks, named = self.scatter(inputs, kwargs, self.device_ids)
        if not chunks and not named:
            chunks, named = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*chunks[0], **named[0])
        replicas = self.replicate(self.module, self.device_ids[: len(chunks)])
        return self.gather(self.parallel_apply(replicas, chunks, named), self.output_device)

    # a subclass may do any of the four steps in its own way
    def replicate(self, module: Any, device_ids: Sequence) -> list:
        """The network on each device.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.DataParallel(vistorch.nn.Linear(2, 3), device_ids=["cpu"] * 4)
            >>> len(net.replicate(net.module, net.device_ids))
            4
        """
        from ...engine.base.modes import is_grad_enabled

        return replicate(module, device_ids, not is_grad_enabled())

    def scatter(self, inputs: tuple, kwargs: dict | None, device_ids: Sequence) -> Any:
        """The arguments for each device.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.DataParallel(vistorch.nn.ReLU(), device_ids=["cpu"] * 2)
            >>> chunks, named = net.scatter((vistorch.arange(4),), {"inplace": True}, net.device_ids)
            >>> chunks, named
            (((tensor([0, 1]),), (tensor([2, 3]),)), ({'inplace': True}, {'inplace': True}))
        """
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas: Sequence, inputs: Sequence, kwargs: Any) -> list:
        """The outputs of the replicas.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.DataParallel(vistorch.nn.ReLU(), device_ids=["cpu"] * 2)
            >>> replicas = net.replicate(net.module, net.device_ids)
            >>> net.parallel_apply(replicas, [(vistorch.tensor([-1.0]),), (vistorch.tensor([2.0]),)], ({}, {}))
            [tensor([0.]), tensor([2.])]
        """
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """The outputs, joined.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.DataParallel(vistorch.nn.ReLU(), device_ids=["cpu"] * 2)
            >>> net.gather([vistorch.zeros(1), vistorch.ones(2)], "cpu")
            tensor([0., 1., 1.])
        """
        return gather(outputs, output_device, dim=self.dim)


def _are_cpus(device_ids: Sequence | None) -> bool:
    """Whether some devices were named and all of them are the CPU."""
    return bool(device_ids) and all(str(device) == "cpu" for device in device_ids or ())


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Sequence | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """Call a network with several devices: `DataParallel` for one call.

    Args:
        module: the network, on the first device.
        inputs: its argument, or a tuple of them.
        device_ids: the devices; all CUDA devices if None.
        output_device: where the outputs are joined; on the first device if None.
        dim: which dimension of the inputs is the batch.
        module_kwargs: its named arguments.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> nn.parallel.data_parallel(nn.ReLU(), -vistorch.ones(3), ["cpu", "cpu"])
        tensor([0., 0., 0.])
    """
    if not isinstance(inputs, tuple):
        inputs = (inputs,) if inputs is not None else ()
    found = all_cuda()
    if found is None and not _are_cpus(device_ids):
        raise RuntimeError("device type could not be determined")
    targets = places(found if device_ids is None else device_ids)
    if not targets:
        raise RuntimeError("no available devices were found")
    _check_module(module, targets[0])
    chunks, named = scatter_kwargs(inputs, module_kwargs, targets, dim)
    if not chunks and not named:
        chunks, named = ((),), ({},)
    if len(targets) == 1:
        return module(*chunks[0], **named[0])
    used = targets[: len(chunks)]
    outputs = parallel_apply(replicate(module, used), chunks, named, used)
    return gather(outputs, targets[0] if output_device is None else output_device, dim)
