"""Tensors to several devices and back: the moves themselves, without history.

Invariant: a tensor that is on its device already stays the object it is; only a second copy for that device is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..engine.base import dims, errors
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.memory.placement import CPU, Place
from ..engine.ops.shape.convert import converted
from .device_ids import place, places

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]

cat, empty = FUNCTIONS["cat"], FUNCTIONS["empty"]


def broadcast(tensor: Tensor, devices: Any = None, *, out: Any = None) -> tuple[Tensor, ...]:
    """A tensor on several devices.

    Args:
        tensor: the tensor.
        devices: the devices, the tensor's own first.
        out: instead, tensors that it is written into.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import comm
        >>> comm.broadcast(vistorch.ones(2), ["cpu", "cpu"])
        (tensor([1., 1.]), tensor([1., 1.]))
    """
    if (devices is None) == (out is None):
        raise RuntimeError(
            f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}"
        )
    if out is not None:
        for t in out:
            if t.shape != tensor.shape:
                raise RuntimeError(
                    "Expected all output tensors to have same shape as the source tensor "
                    f"{errors.sizes(tensor.shape)}, but got output tensor with shape {errors.sizes(t.shape)}"
                )
            t.copy_(tensor)
        return tuple(out)
    return tuple(_copies(tensor, places(devices)))


def _copies(tensor: Tensor, targets: list[Place]) -> list[Tensor]:
    """The tensor on each of several places: itself on its own, copies on the others."""
    found, used = [], False
    for target in targets:
        stays = target is tensor._place
        found.append(tensor if stays and not used else converted(tensor, None, target, copy=stays))
        used = used or stays
    return found


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Any, buffer_size: int = 10485760
) -> list[list[Tensor]]:
    """Several tensors on several devices: a list for each device.

    Args:
        tensors: the tensors, all on the first device.
        devices: the devices.
        buffer_size: accepted, as in PyTorch.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import comm
        >>> vistorch.cuda.simulate(2)
        >>> weights = [vistorch.ones(2, device="cuda:0"), vistorch.zeros(1, device="cuda:0")]
        >>> comm.broadcast_coalesced(weights, [0, 1])[1]
        [tensor([1., 1.], device='cuda:1'), tensor([0.], device='cuda:1')]
        >>> vistorch.cuda.simulate(None)
    """
    targets = places(devices)
    if any(t._place is not targets[0] for t in tensors):
        raise RuntimeError(
            f"All tensors must be on devices[0]: {targets[0].index if targets[0] is not CPU else 'cpu'}"
        )
    rows = [_copies(t, targets) for t in tensors]
    return [[row[i] for row in rows] for i in range(len(targets))]


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors from several devices.

    Args:
        inputs: tensors of one shape, one of them on the destination.
        destination: the device of the sum; the current one if None.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import comm
        >>> comm.reduce_add([vistorch.ones(2), vistorch.ones(2)], "cpu")
        tensor([2., 2.])
    """
    target = place(destination)
    root = None
    for i, t in enumerate(inputs):
        if t._place is target and root is None:
            root = i
        if t.shape != inputs[0].shape:
            got, expected = ("x".join(map(str, s)) for s in (t.shape, inputs[0].shape))
            raise ValueError(f"input {i} has invalid size: got {got}, but expected {expected}")
    if root is None:
        raise RuntimeError("reduce_add expects destination to be on the same GPU with one of the tensors")
    if len(inputs) == 1:
        return inputs[0]
    rest = [converted(t, None, target) for i, t in enumerate(inputs) if i != root]
    total = inputs[root] + rest[0]
    for t in rest[1:]:
        total.add_(t)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """The sums of several tensors from several devices.

    Args:
        inputs: for each device, its tensors.
        destination: the device of the sums.
        buffer_size: accepted, as in PyTorch.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import comm
        >>> vistorch.cuda.simulate(2)
        >>> grads = [[vistorch.ones(2, device=i), vistorch.full((1,), 3.0, device=i)] for i in range(2)]
        >>> comm.reduce_add_coalesced(grads, 0)
        (tensor([2., 2.], device='cuda:0'), tensor([6.], device='cuda:0'))
        >>> vistorch.cuda.simulate(None)
    """
    return tuple(reduce_add(row, destination).data for row in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Any = None,
    chunk_sizes: Any = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """A tensor in chunks, one for each of several devices.

    Args:
        tensor: the tensor.
        devices: the devices.
        chunk_sizes: how long each chunk is; about equally long if None, and none for the last devices if there is
            too little.
        dim: along which dimension.
        streams: accepted, as in PyTorch.
        out: instead, tensors that the chunks are written into.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import comm
        >>> [len(t) for t in comm.scatter(vistorch.ones(30), ["cpu"] * 4)]
        [8, 8, 8, 6]
    """
    if out is not None:
        for name, value in (("devices", devices), ("chunk_sizes", chunk_sizes)):
            if value is not None:
                raise RuntimeError(
                    f"'{name}' must not be specified when 'out' is specified, but got {name}={value}"
                )
        chunks = tensor.split([t.size(dim) for t in out], dim)
        for t, chunk in zip(out, chunks, strict=True):
            t.copy_(chunk)
        return tuple(out)
    targets = places(devices)
    if not targets:
        raise RuntimeError("Expected at least one device to scatter to")
    if chunk_sizes is None:
        chunks = tensor.chunk(len(targets), dim)
    elif len(chunk_sizes) != len(targets):
        raise RuntimeError(
            "Expected devices and chunk_sizes to be of same length, but got "
            f"len(devices) = {len(targets)} and len(chunk_sizes) = {len(chunk_sizes)}"
        )
    else:
        chunks = tensor.split(list(chunk_sizes), dim)
    return tuple(converted(chunk, None, target) for chunk, target in zip(chunks, targets, strict=False))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Any = None) -> Tensor:
    """Tensors from several devices, joined on one.

    Args:
        tensors: the tensors.
        dim: along which dimension.
        destination: the device; the current one if None.
        out: instead, the tensor that they are written into.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import comm
        >>> comm.gather([vistorch.ones(1), vistorch.zeros(1)], destination="cpu")
        tensor([1., 0.])
    """
    if out is not None and destination is not None:
        raise RuntimeError(
            f"'destination' must not be specified when 'out' is specified, but got destination={destination}"
        )
    if destination.__class__ is int and destination == -1:
        warnings.warn(
            "Using -1 to represent CPU tensor is deprecated. Please use a device object or string instead, e.g., "
            '"cpu".',
            FutureWarning,
            stacklevel=2,
        )
    target = out._place if out is not None else place(destination)
    along = dims.one(dim, tensors[0].ndim)
    expected = list(tensors[0].shape)
    for i, t in enumerate(tensors):
        if t.ndim != len(expected):
            raise RuntimeError(
                "Expected all input tensors to have the same number of dimensions, but tensor at index "
                f"{i}has {t.ndim} dimensions, (expected {len(expected)})"
            )
        expected[along] = t.shape[along]
        if list(t.shape) != expected:
            raise RuntimeError(
                f"Tensor at index {i} has invalid shape {errors.sizes(t.shape)}, "
                f"but expected {errors.sizes(tuple(expected))}"
            )
    joined = cat([converted(t, None, target) for t in tensors], along)
    return joined if out is None else out.copy_(joined)
