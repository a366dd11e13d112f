"""`Place`: where an array really is. It turns device names into places, and moves arrays from one to another.

Invariant: one Place for the CPU and one for each CUDA index: `a._place is b._place` says "same device".
"""

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..base import cuda_probe
from ..base.device import CPU_DEVICE, default, is_index, make
from ..base.device import device as named_device
from ..kernels import simulated
from ..kernels.cuda import capture, faults
from ..kernels.cuda.library import array_library
from ..library_name import library
from . import device_faults, pinned

NUMPY = 0
CUPY = 1


class _Before(threading.local):
    """The devices that were current before each `with place:` a thread is in."""

    def __init__(self):
        self.stack: list[int] = []


_before = _Before()


class Place:
    """Where an array really is.

    Slots:
        device: the public device, a CUDA one with its index.
        index: the CUDA index, -1 for the CPU.
        kind: which of a rule's two kernels computes here: NUMPY or CUPY.
        xp: the array module, numpy or cupy.
        simulated: a pretended CUDA device, which is numpy on the CPU.
        name: the device as a string, for messages.
    """

    __slots__ = ("device", "index", "kind", "name", "simulated", "xp")

    def __init__(self, where: named_device, kind: int, xp: ModuleType, simulated: bool = False):
        self.device = where
        self.index = -1 if kind == NUMPY and not simulated else where.index or 0
        self.kind = kind
        self.xp = xp
        self.simulated = simulated
        self.name = str(where)

    def __copy__(self) -> "Place":
        return self

    def __deepcopy__(self, memo: dict) -> "Place":
        return self

    def __reduce__(self) -> tuple:
        return place_of, (self.name,)

    def __repr__(self) -> str:
        return f"Place({self.name}{', simulated' if self.simulated else ''})"

    def __enter__(self) -> "Place":
        """Make this CUDA device the current one; the CPU changes nothing."""
        if self.simulated:
            _before.stack.append(simulated.current())
            simulated.set_current(self.index)
        elif self.kind == CUPY:
            runtime = self.xp.cuda.runtime
            _before.stack.append(runtime.getDevice())
            runtime.setDevice(self.index)
        return self

    def __exit__(self, *exception: object) -> None:
        if self.simulated:
            simulated.set_current(_before.stack.pop())
        elif self.kind == CUPY:
            self.xp.cuda.runtime.setDevice(_before.stack.pop())


CPU = Place(CPU_DEVICE, NUMPY, np)


class _Untouched:
    """numpy, but what it makes of one value is zeros, for which the system gives memory only when they are written."""

    empty = zeros = ones = staticmethod(np.zeros)

    @staticmethod
    def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
        """An array of the shape, without the value."""
        return np.zeros(shape, dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


# Shapes and dtypes without values. Ops run on whatever lies in the memory; nothing reads it out.
META = Place(make("meta", None), NUMPY, _Untouched())  # type: ignore[arg-type]
NO_DATA = "Cannot copy out of meta tensor; no data!"

_real: dict[int, Place] = {}
_pretended: dict[int, Place] = {}
# Names whose place stays while the set of devices does. "cuda" is not among them: it is the current device.
_known: dict[Any, Place] = {}
# Called in order before the first real CUDA place is handed out. Upper files enter themselves (`rules`: bind the rows).
before_cuda: list[Callable[[], None]] = []


def place_of(where: Any = None, caller: str = "") -> Place:
    """Return the place of a device; None is the default device.

    Args:
        where: a device, its string, the index of an accelerator, or None.
        caller: the public function that was given `where`, named in the error for a value that is no device.
    """
    if where is None:
        where = default.device
        if where is None:
            return CPU
    try:
        place = _known.get(where)
    except TypeError:  # an unhashable thing, which is no device
        place = None
    return _resolve(where, caller) if place is None else place


def _resolve(where: Any, caller: str) -> Place:
    """Find the place of a device that is not known yet, or raise why there is none."""
    if type(where) is named_device:
        found = where
    elif isinstance(where, (str, bytes)) or is_index(where):
        found = named_device(where)
    else:
        before = f"{caller}(): " if caller else ""
        raise TypeError(f"{before}argument 'device' must be {library}.device, not {type(where).__name__}")
    if found.type == "cuda":
        index = cuda_probe.current_index() if found.index is None else cuda_probe.check_index(found.index)
        place = cuda_place(index)
        if found.index is None:
            return place
    elif found.type == "cpu":
        place = CPU
    elif found.type == "meta":
        place = META
    else:
        raise NotImplementedError(
            f"vistorch has cpu, cuda and meta devices; device type '{found.type}' has no kernels here"
        )
    if isinstance(where, (str, named_device)):  # not an index: True and 1.0 are found under the key 1
        _known[where] = place
    return place


def cuda_place(index: int) -> Place:
    """Return the one place of a CUDA index, which must exist."""
    pretended = simulated.count() > 0
    places = _pretended if pretended else _real
    place = places.get(index)
    if place is None:
        where = make("cuda", index)
        if pretended:
            place = Place(where, NUMPY, np, simulated=True)
        else:
            import cupy

            for prepare in before_cuda:
                prepare()
            place = Place(where, CUPY, array_library(cupy))
        place = places.setdefault(index, place)
    return place


def simulate(number: int | None) -> None:
    """Pretend `number` CUDA devices, None: what the environment says. Refused while real ones are in use."""
    wanted = simulated.from_environment()[0] if number is None else number
    if _real and wanted != 0:
        used = ", ".join(f"cuda:{index}" for index in sorted(_real))
        raise RuntimeError(
            f"simulate({number}): real CUDA devices are in use in this process ({used}); "
            "simulated ones would share their names. Start a new process, or restart the kernel, to simulate"
        )
    simulated.set_count(number)
    _known.clear()


def real_in_use() -> bool:
    """Say whether a real CUDA device has been used in this process."""
    return bool(_real)


def cuda_in_use() -> bool:
    """Say whether any CUDA device, real or simulated, has been used in this process."""
    return bool(_real or _pretended)


def array_place(array: Any) -> Place:
    """Return the place of a raw array: numpy is the CPU, cupy its own device."""
    if type(array).__module__.partition(".")[0] == "cupy":
        return cuda_place(array.device.id)
    if isinstance(array, (np.ndarray, np.generic)):
        return CPU
    raise TypeError(f"expected a numpy or cupy array, got {type(array).__name__}")


def move(array: Any, source: Place, target: Place, non_blocking: bool = False, copy: bool = False) -> Any:
    """Return an array's values at another place, the order of the axes in memory kept.

    Args:
        array: a numpy array, or a cupy one where `source.kind` is CUPY.
        source: where the array is.
        target: where it is to be.
        non_blocking: let the host go on while a copy to or from a real CUDA device runs. To overlap with the device's
            work it must be to or from page-locked memory: what comes to the host is put there, and must not be read
            before its stream, or an event behind the copy, was waited for.
        copy: make a copy even where nothing moves.
    """
    if source is target and not copy:
        return array
    if source is META or target is META:
        if target is not META:
            raise NotImplementedError(NO_DATA)
        contiguous = array.flags.c_contiguous or not isinstance(array, np.ndarray)
        return np.zeros(array.shape, array.dtype) if contiguous else np.empty_like(array)
    if source.kind == NUMPY and target.kind == NUMPY:
        return array.copy(order="K")  # pretended devices share no memory, with the CPU or with another
    if not array.flags.c_contiguous and not array.flags.f_contiguous:
        # cupy copies between places only what is contiguous: walk the axes in the order they have in memory.
        order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        back = sorted(range(array.ndim), key=order.__getitem__)
        return _cross(array.transpose(order), source, target, non_blocking).transpose(back)
    return _cross(array, source, target, non_blocking)


def _cross(array: Any, source: Place, target: Place, non_blocking: bool) -> Any:
    """Copy between numpy and cupy, or between cupy devices, or within one."""
    if source.kind != target.kind:
        capture.refuse(
            f"copies {'from' if source.kind else 'to'} the device, which a replay would not do again"
        )
    if target.kind == NUMPY:
        with source:
            if non_blocking:
                made = pinned.empty(array.shape, array.dtype, "C" if array.flags.c_contiguous else "F")
                fetch(array, made)
                return made
            # Order "A" keeps column-major; "C" would silently rearrange the memory of a transposed weight.
            with device_faults.waiting():
                values = source.xp.asnumpy(array, order="A")
        faults.report()  # the copy waited for the device
        return values
    with target:
        if source.kind == NUMPY:
            if non_blocking and pinned.is_pinned(array):
                stream = target.xp.cuda.get_current_stream()
                made = target.xp.empty(
                    array.shape, array.dtype, order="C" if array.flags.c_contiguous else "F"
                )
                made.set(array, stream=stream)
                pinned.hold(stream.record(), array)
                return made
            return target.xp.array(array, order="A", blocking=not non_blocking)
        if source is target:
            return array.copy(order="A")
        # The target's stream must not read before the source's stream has written.
        with source:
            written = source.xp.cuda.get_current_stream().record()
        target.xp.cuda.get_current_stream().wait_event(written)
        moved = array.copy(order="A")
        # ... and the source's memory must not be given away before it has been read.
        read = target.xp.cuda.get_current_stream().record()
        with source:
            source.xp.cuda.get_current_stream().wait_event(read)
        return moved


def fetch(array: Any, into: np.ndarray) -> None:
    """Copy a device's array into page-locked memory of the same order while the host goes on.

    The current device is the array's.
    """
    stream = cuda_place(array.device.id).xp.cuda.get_current_stream()
    array.get(stream=stream, order="C" if into.flags.c_contiguous else "F", out=into, blocking=False)
    pinned.hold(stream.record(), (array, into))
