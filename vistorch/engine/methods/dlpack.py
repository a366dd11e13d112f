"""DLPack: memory shared with other array libraries, both ways.

numpy and cupy do the exchange; this module finds the right one and keeps PyTorch's rules. Invariant: no element is
copied unless the caller asked for a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, errors
from ..core.base_ops import to_place
from ..core.registry import METHODS, public
from ..core.tensor import Tensor, wrap
from ..core.views import expanded
from ..memory.array_memory import check_array
from ..memory.placement import CPU, array_place, place_of

INVALID = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have "
    "already constructed a tensor from it once."
)
CPU_DEVICE, CUDA_DEVICE = 1, 2


class _Held:
    """A bare capsule in the form numpy asks for."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU_DEVICE, 0


class _Writable:
    """Memory of another library, kept alive, that numpy would hold to be read-only."""

    def __init__(self, array: Any) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def _export(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """The capsule another library takes."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if self._place.kind:
        return self._data.__dlpack__(stream=None if stream == -1 else stream)
    if self._place is CPU and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    a = self._data
    if a.dtype == dtypes.bfloat16.np:
        raise BufferError("bfloat16 cannot be exchanged: numpy has no DLPack code for it")
    options: dict = {} if max_version is None else {"max_version": max_version}
    if copy is not None:
        options["copy"] = copy
    return a.__dlpack__(**options) if options else a.__dlpack__()


def _device(self: Tensor) -> tuple[int, int]:
    """Where the memory is, in DLPack's numbers; a simulated device is the CPU."""
    return (CUDA_DEVICE, self._place.device.index) if self._place.kind else (CPU_DEVICE, 0)


@public(method=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Make a tensor on the memory of another library's array.

    Args:
        ext_tensor: an object with `__dlpack__`, or a capsule.
        device: where the tensor will be; without it, where the memory is.
        copy: True for a copy, False for an error where one would be needed.

    Example:
        >>> import numpy, vistorch
        >>> a = numpy.zeros(2)
        >>> vistorch.from_dlpack(a)[0] = 5
        >>> a
        array([5., 0.])
    """
    if isinstance(ext_tensor, Tensor):
        found = wrap(ext_tensor._data, ext_tensor._place)
    elif hasattr(ext_tensor, "__dlpack__"):
        found = _imported(ext_tensor, ext_tensor.__dlpack_device__()[0])
    elif type(ext_tensor).__name__ == "PyCapsule":
        try:
            found = _imported(_Held(ext_tensor), CPU_DEVICE)
        except (ValueError, RuntimeError):
            raise RuntimeError(INVALID) from None
    else:
        raise RuntimeError(INVALID)
    if copy:
        found = wrap(found._data.copy(), found._place)
    target = found._place if device is None else place_of(device, "from_dlpack")
    if target is not found._place:
        if copy is False:
            raise ValueError(f"can't alias tensor from device '{found._place.device}' to '{target.device}'.")
        found = to_place(found, target)
    return expanded(found)


def _imported(source: Any, kind: int) -> Tensor:
    """The memory behind a DLPack object."""
    if int(kind) == CUDA_DEVICE:
        import cupy  # pyright: ignore[reportMissingImports]

        a = cupy.from_dlpack(source)
        return wrap(a, array_place(a))
    if isinstance(source, np.ndarray):
        a = source
    else:
        a = np.from_dlpack(source)
    check_array(a)
    if not a.flags.writeable:
        a = np.asarray(_Writable(a))
    return wrap(a)


@public(method=False)
def to_dlpack(tensor: Tensor) -> Any:
    """The capsule another library takes; `from_dlpack` of that library is the better way.

    Args:
        tensor: the tensor.

    Example:
        >>> import vistorch
        >>> capsule = vistorch.to_dlpack(vistorch.arange(3))
        >>> vistorch.from_dlpack(capsule)
        tensor([0, 1, 2])
    """
    if not isinstance(tensor, Tensor):
        raise errors.must_be_tensor("to_dlpack", "tensor", 1, tensor)
    return _export(tensor)


METHODS.update(__dlpack__=_export, __dlpack_device__=_device)
