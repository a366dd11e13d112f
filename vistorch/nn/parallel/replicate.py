"""A network once for every device.

Invariant: the first replica's buffers are the network's own; every replica's parameters lead back to the network's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ...cuda.device_ids import places
from . import comm
from ._functions import Broadcast

__all__ = ["replicate"]


def replicate(network: Any, devices: Sequence, detach: bool = False) -> list:
    """A network on several devices, for one call: its gradients arrive at the parameters of the original.

    Args:
        network: the network, on the first device.
        devices: the devices.
        detach: without the way back.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> first, second = nn.parallel.replicate(nn.Linear(2, 1), ["cpu", "cpu"])
        >>> bool((first.weight == second.weight).all()), list(second.parameters())
        (True, [])
    """
    if not devices:
        return []
    targets = places(devices)
    params = list(network.parameters())
    buffers = list(network.buffers())
    learned = [b for b in buffers if b.requires_grad and not detach]
    kept = [b for b in buffers if not (b.requires_grad and not detach)]
    copies: list[dict] = [{} for _ in targets]  # for each device: the original tensor -> the copy there
    for tensors, apart in ((params, detach), (learned, detach), (kept, True)):
        for found, row in zip(copies, _spread(tensors, targets, apart), strict=True):
            found.update(zip(map(id, tensors), row, strict=True))
    modules = list(network.modules())
    return [_assembled(modules, found)[0] for found in copies]


def _spread(tensors: list, targets: list, detach: bool) -> list[list]:
    """For each device, the copies of the tensors there."""
    if not tensors:
        return [[] for _ in targets]
    if detach:
        return comm.broadcast_coalesced(tensors, targets)
    flat = Broadcast.apply(targets, *tensors)
    flat = flat if isinstance(flat, tuple) else (flat,)
    return [list(flat[i : i + len(tensors)]) for i in range(0, len(flat), len(tensors))]


def _assembled(modules: list, copies: dict) -> list:
    """One device's replicas of all modules, put together as the originals are."""
    replicas = []
    for module in modules:
        replica = module._replicate_for_data_parallel()
        replica._former_parameters = OrderedDict()
        replicas.append(replica)
    number = {module: i for i, module in enumerate(modules)}
    for module, replica in zip(modules, replicas, strict=True):
        for key, child in module._modules.items():
            if child is None:
                replica._modules[key] = None
            else:
                setattr(replica, key, replicas[number[child]])
        for key, param in module._parameters.items():
            if param is None:
                replica._parameters[key] = None
            else:
                setattr(replica, key, copies[id(param)])
                replica._former_parameters[key] = copies[id(param)]
        for key, buffer in module._buffers.items():
            if buffer is None:
                replica._buffers[key] = None
            else:
                setattr(replica, key, copies[id(buffer)])
    return replicas
