"""Objects as a stream of pickle and buffers: large arrays stay out of the stream.

Invariant: classes and functions that only the sender's `__main__` or a closure knows arrive too (cloudpickle), and come
back to their sender as the very same classes.
"""

from __future__ import annotations

import copyreg
import io
import mmap
import os
import pickle
import sys
from functools import partial
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import DupFd, ForkingPickler
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

import cloudpickle
import numpy as np

from ...._code_pickle import CodePickler
from ....engine.core.tensor import Tensor, wrap
from ....engine.memory.array_memory import start
from ....engine.memory.placement import CPU
from ....engine.memory.storage import UntypedStorage
from ....multiprocessing import reductions  # noqa: F401  registers tensors with `multiprocessing`
from .ring import aligned

LARGE = 4096  # a smaller array travels in the stream
COWARDLY = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
    "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., "
    "putting it on the queue)."
)


def _array(buffer: Any, dtype: str, shape: tuple) -> np.ndarray:
    """An array on memory that it does not own."""
    flat = np.frombuffer(buffer, np.uint8) if len(buffer) else np.empty(0, np.uint8)
    return flat.view(np.dtype(dtype)).reshape(shape)


def _tensor(buffer: Any, dtype: str, shape: tuple, requires_grad: bool) -> Tensor:
    """A tensor on memory that it does not own."""
    t = wrap(_array(buffer, dtype, shape))
    t._rg = requires_grad
    return t


def _described(a: np.ndarray) -> tuple:
    """The memory of an array in order, its type by name, its shape."""
    flat: Any = np.ascontiguousarray(a).reshape(-1).view(np.uint8)
    return pickle.PickleBuffer(flat), a.dtype.name


class _Batches(CodePickler):
    """Packs a batch: of a tensor or an array only its elements, not the memory they are a part of."""

    def reducer_override(self, obj: Any) -> Any:
        kind = obj.__class__
        if kind is Tensor and obj._place is CPU and not obj.__dict__:
            if obj.requires_grad and not obj.is_leaf:
                raise RuntimeError(COWARDLY)
            buffer, name = _described(obj._data)
            return _tensor, (buffer, name, obj._data.shape, obj.requires_grad)
        if kind is np.ndarray and obj.dtype.kind in "biufc" and obj.dtype.isnative:
            buffer, name = _described(obj)
            return _array, (buffer, name, obj.shape)
        return super().reducer_override(obj)


# `multiprocessing` has its own way to send these too, but cloudpickle's is the better one.
ORDINARY = (MethodType, BuiltinMethodType, type(list.append), type(int.__add__), partial)


class _Plans(CodePickler):
    """Packs what workers start with.

    A class or function of a module that no one else could import goes by value; a tensor in shared memory goes as that
    memory.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by_value: dict[str, bool] = {}  # what was found out about modules
        # what is sent only while a process is being started: shared memory, pipes, sockets
        table = ForkingPickler(io.BytesIO()).dispatch_table
        known = {*copyreg.dispatch_table, *ORDINARY}
        self.inherited = {kind: reduce for kind, reduce in table.items() if kind not in known}
        self.early = False  # whether something was left out, to be packed while a process is being started

    def reducer_override(self, obj: Any) -> Any:
        kind = obj.__class__
        if kind in self.inherited and (not isinstance(obj, (Tensor, UntypedStorage)) or _is_shared(obj)):
            if get_spawning_popen() is None:
                self.early = True
                return int, ()  # go on: something else may be in the way for good
            return self.inherited[kind](obj)
        if isinstance(obj, (type, FunctionType)):
            name = obj.__module__
            if name not in self.by_value:
                self.by_value[name] = name in sys.modules and _only_here(name)
                if self.by_value[name]:
                    cloudpickle.register_pickle_by_value(sys.modules[name])
        return super().reducer_override(obj)

    def dump(self, obj: Any) -> None:
        try:
            super().dump(obj)
        finally:
            for name, found in self.by_value.items():
                if found:
                    cloudpickle.unregister_pickle_by_value(sys.modules[name])


def _is_shared(obj: Tensor | UntypedStorage) -> bool:
    """Whether other processes see this memory of the CPU."""
    return obj._place is CPU and obj.is_shared()


def _only_here(name: str) -> bool:
    """Whether a module was made by other means than an import that another process could repeat."""
    if name in ("__main__", "builtins") or name in cloudpickle.list_registry_pickle_by_value():
        return False
    top = name.partition(".")[0]
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find is not None and find(top, None) is not None:
            return False
    return True


def pack(obj: Any, apart: bool, pickler: Any = _Batches) -> tuple[bytes, list[np.ndarray]]:
    """An object as a stream and the large buffers that it refers to.

    Args:
        obj: the object.
        apart: whether buffers are kept out of the stream at all.
        pickler: what packs it.
    """
    buffers: list[np.ndarray] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True
        buffers.append(np.frombuffer(raw, np.uint8))
        return False

    stream = io.BytesIO()
    pickler(stream, protocol=5, buffer_callback=keep if apart else None).dump(obj)
    return stream.getvalue(), buffers


def lay(memory: np.ndarray, at: int, buffers: list[np.ndarray]) -> tuple[list[tuple[int, int]], int]:
    """Put buffers into memory from `at` on, those that lie there already excepted.

    Returns:
        (where each begins and ends, the first free byte).
    """
    low = start(memory)
    high = low + memory.nbytes
    spans = []
    for buffer in buffers:
        address = start(buffer)
        if low <= address and address + buffer.nbytes <= high:
            spans.append((address - low, address - low + buffer.nbytes))
            continue
        at = aligned(at)
        memory[at : at + buffer.nbytes] = buffer
        spans.append((at, at + buffer.nbytes))
        at += buffer.nbytes
    return spans, at


def needed(at: int, buffers: list[np.ndarray], stream: bytes) -> int:
    """How many bytes `lay` may need, with a stream behind the buffers."""
    for buffer in buffers:
        at = aligned(at) + buffer.nbytes
    return aligned(at) + len(stream)


class Luggage:
    """One object for many processes, written once: each reads it in memory of its own that they share until written to.

    To send luggage to a process that is being started is to share it; `unpack` there gives the object.

    Args:
        obj: the object.
        shared: whether its buffers may lie in an anonymous file (Linux); else they travel in the stream.
        late: whether it is packed anew for each process, while that is being started.
    """

    def __init__(self, obj: Any, shared: bool, late: bool = False) -> None:
        self.fd = -1
        self.stream = b""
        self.spans: list[tuple[int, int]] = []
        self.unpacked: Any = (obj, shared) if late or self._pack(obj, shared) else None

    def _pack(self, obj: Any, shared: bool) -> bool:
        """Pack all that can be packed now; return whether that was not all."""
        self.close()
        plans: list[_Plans] = []

        def pickler(*args: Any, **kwargs: Any) -> _Plans:
            plans.append(_Plans(*args, **kwargs))
            return plans[0]

        self.stream, buffers = pack(obj, shared, pickler)
        if plans[0].early:
            return True
        size = needed(0, buffers, b"")
        if size:
            self.fd = os.memfd_create("vistorch-luggage", os.MFD_CLOEXEC)
            try:
                os.posix_fallocate(self.fd, 0, size)
                with mmap.mmap(self.fd, size) as mapping:
                    memory = np.frombuffer(mapping, np.uint8)
                    self.spans, _ = lay(memory, 0, buffers)
                    del memory
            except BaseException:
                self.close()
                raise
        return False

    def __reduce__(self) -> tuple:
        if self.unpacked is not None:
            self._pack(*self.unpacked)
        return _opened, (self.stream, self.spans, DupFd(self.fd) if self.fd >= 0 else None)

    def unpack(self) -> Any:
        """The object."""
        buffers = []
        if self.fd >= 0:
            memory = memoryview(mmap.mmap(self.fd, 0, access=mmap.ACCESS_COPY))
            buffers = [memory[begin:end] for begin, end in self.spans]
            self.close()
        return pickle.loads(self.stream, buffers=buffers)

    def close(self) -> None:
        """Let go of the file."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _opened(stream: bytes, spans: list, fd: Any) -> Luggage:
    """The luggage in a process that was just started."""
    luggage = object.__new__(Luggage)
    luggage.stream, luggage.spans = stream, spans
    luggage.fd = -1 if fd is None else fd.detach()
    return luggage
