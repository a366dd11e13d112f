"""What a tensor has to do with a device's streams: page-locked memory for its copies, and work on other streams.

Invariant: without a CUDA device, real or simulated, nothing is page-locked.
"""

from __future__ import annotations

from typing import Any

from ..base import cuda_probe
from ..core.registry import public
from ..core.tensor import Tensor, wrap
from ..library_name import library
from ..memory import device_memory, pinned
from ..memory.placement import CPU


@public(function=False)
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the elements are in page-locked memory of the host.

    Args:
        self: the tensor.
        device: accepted, as in PyTorch.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).is_pinned()
        False
    """
    return self._place is CPU and pinned.is_pinned(self._data)


@public(function=False)
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in page-locked memory, from which a transfer to a CUDA device does not hold up the host.

    Simulated devices have no such memory; there the copy is believed to be in it.

    Args:
        self: a tensor of the CPU.
        device: accepted, as in PyTorch.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.ones(2).pin_memory().is_pinned()
        True
        >>> vistorch.cuda.simulate(None)
    """
    if not cuda_probe.find().ok:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    if self._place is not CPU:
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    return self if pinned.is_pinned(self._data) else wrap(pinned.copied(self.detach()._data))


@public(function=False)
def record_stream(self: Tensor, s: Any) -> None:
    """Note that a stream works with this tensor, so that its memory is not used anew before that work is done.

    Memory belongs to the stream on which it was made: when the last tensor on it is gone, that stream may use it again
    at once. What another stream still does with it must be named here.

    Args:
        self: a tensor on a CUDA device.
        s: the other stream.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> x, side = vistorch.ones(2, device="cuda"), vistorch.cuda.Stream()
        >>> with vistorch.cuda.stream(side):
        ...     y = x * 2
        >>> x.record_stream(side)
        >>> del x  # the memory stays until the product is made
        >>> vistorch.cuda.simulate(None)
    """
    if self._place.device.type != "cuda":
        raise NotImplementedError(
            "Could not run 'aten::record_stream' with arguments from the 'CPU' backend: its memory has no streams"
        )
    if not hasattr(s, "cuda_stream"):
        raise TypeError(
            f"record_stream(): argument 's' must be {library}.cuda.Stream, not {type(s).__name__}"
        )
    if self._place.kind and self._data.size and device_memory.allocator is not None:
        device_memory.allocator.use(self._data, s._own, s.device.index)
