"""Tensors on CUDA devices between ranks: NCCL, through cupy.

NCCL's identity travels over the group's own transport. What it has not (gather, scatter, all-to-all) is made of sends
and receives in one group of calls.

Invariant: an operation is on the current stream of the tensor's device, and a request is done when an event behind it
is; what NCCL reports of other ranks is looked at whenever a request is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.core.graph import version
from ..engine.core.tensor import Tensor
from .errors import DistBackendError
from .reduce_op import ReduceOp

_DTYPES = {
    "bool": "NCCL_UINT8",
    "uint8": "NCCL_UINT8",
    "int8": "NCCL_INT8",
    "int32": "NCCL_INT32",
    "int64": "NCCL_INT64",
    "float16": "NCCL_FLOAT16",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
    "bfloat16": "NCCL_BFLOAT16",
}
_OPS = {
    ReduceOp.SUM: "NCCL_SUM",
    ReduceOp.AVG: "NCCL_SUM",  # divided in the end, as on the CPU
    ReduceOp.PRODUCT: "NCCL_PROD",
    ReduceOp.MIN: "NCCL_MIN",
    ReduceOp.MAX: "NCCL_MAX",
}


class DeviceBuffer:
    """A tensor's values, contiguous on its device."""

    def __init__(self, tensor: Tensor, xp: Any) -> None:
        self.tensor, data = tensor, tensor._data
        self.array = xp.ascontiguousarray(data)
        self.copied = self.array is not data

    def store(self) -> None:
        """Write what has arrived into the tensor."""
        if self.copied:
            self.tensor._data[...] = self.array
        version(self.tensor).n += 1


class _Event:
    """Done when the device has come so far."""

    def __init__(self, transport: NCCLTransport, event: Any, keep: Sequence[Any]) -> None:
        self.transport, self.event, self.keep = transport, event, keep

    def Test(self) -> bool:
        self.transport.check()
        return bool(self.event.done)


class NCCLTransport:
    """Ranks with a CUDA device each.

    Args:
        group: the ranks, over whose own transport NCCL's identity travels.
        device: this rank's; the current one if None.
    """

    on_device = True

    def __init__(self, group: Any, device: Any = None) -> None:
        self.cupy: Any = importlib.import_module("cupy")
        self.nccl: Any = importlib.import_module("cupy.cuda.nccl")
        self.group, self.rank, self.size, self.device = group, group.rank(), group.size(), device
        identity = [self.nccl.get_unique_id() if self.rank == 0 else None]
        if self.size > 1:
            from .objects import broadcast_object_list

            broadcast_object_list(identity, group=group, group_src=0)
        self.communicator = self._start(identity[0])

    def _start(self, identity: Any) -> Any:
        index = getattr(self.device, "index", self.device)
        where = self.cupy.cuda.Device(index) if index is not None else self.cupy.cuda.Device()
        with where:
            return self.nccl.NcclCommunicator(self.size, identity, self.rank)

    def part(self, group: Any) -> NCCLTransport:
        """The transport of some of the ranks."""
        return NCCLTransport(group, self.device)

    def free(self) -> None:
        """Give the communicator back."""
        self.communicator.destroy()

    def check(self) -> None:
        """Raise, and end what runs, if NCCL has lost another rank."""
        try:
            self.communicator.check_async_error()
        except Exception as error:
            self.communicator.abort()
            raise DistBackendError(f"NCCL has lost another rank: {error}") from error

    # ---- one call each ----------------------------------------------------------------------------------------
    def buffer(self, tensor: Tensor) -> DeviceBuffer:
        """The values of a tensor."""
        return DeviceBuffer(tensor, self.cupy)

    def _type(self, array: Any) -> tuple[int, int]:
        """How many values there are, and NCCL's name for them."""
        if array.dtype.kind == "c":  # two numbers each
            return 2 * array.size, getattr(
                self.nccl, "NCCL_FLOAT64" if array.dtype.itemsize == 16 else "NCCL_FLOAT32"
            )
        name = _DTYPES.get(array.dtype.name)
        if name is None:
            raise DistBackendError(f"NCCL has no values of type {array.dtype.name}")
        return array.size, getattr(self.nccl, name)

    def _op(self, op: ReduceOp, array: Any) -> int:
        if op not in _OPS:
            raise DistBackendError(f"NCCL has no ReduceOp.{op.name}: reduce on the CPU")
        if array.dtype.kind == "b":  # any, or all
            op = ReduceOp.MAX if op in (ReduceOp.SUM, ReduceOp.MAX) else ReduceOp.MIN
        return getattr(self.nccl, _OPS[op])

    def _run(self, array: Any, call: Callable[[int], Any], *keep: Any) -> _Event:
        with array.device:
            stream = self.cupy.cuda.get_current_stream()
            call(stream.ptr)
            event = self.cupy.cuda.Event(disable_timing=True)
            event.record(stream)
        return _Event(self, event, (array, *keep))

    def all_reduce(self, array: Any, op: ReduceOp) -> Any:
        """Reduce in place."""
        count, kind = self._type(array)
        at, how = array.data.ptr, self._op(op, array)
        return self._run(array, lambda s: self.communicator.allReduce(at, at, count, kind, how, s))

    def reduce(self, array: Any, op: ReduceOp, root: int) -> Any:
        """Reduce in place at the root."""
        count, kind = self._type(array)
        at, how = array.data.ptr, self._op(op, array)
        return self._run(array, lambda s: self.communicator.reduce(at, at, count, kind, how, root, s))

    def broadcast(self, array: Any, root: int) -> Any:
        """Give all the root's values."""
        count, kind = self._type(array)
        return self._run(array, lambda s: self.communicator.bcast(array.data.ptr, count, kind, root, s))

    def all_gather(self, array: Any, into: Any) -> Any:
        """Give all the values of all."""
        count, kind = self._type(array)
        return self._run(
            into,
            lambda s: self.communicator.allGather(array.data.ptr, into.data.ptr, count, kind, s),
            array,
        )

    def send(self, array: Any, rank: int, tag: int = 0) -> Any:
        """Send values. NCCL has no tags: what is sent first is received first."""
        count, kind = self._type(array)
        return self._run(array, lambda s: self.communicator.send(array.data.ptr, count, kind, rank, s))

    def receive(self, array: Any, rank: int, tag: int = 0) -> Any:
        """Receive values."""
        if rank < 0:
            raise DistBackendError("NCCL receives from a rank that is named: give src")
        count, kind = self._type(array)
        return self._run(array, lambda s: self.communicator.recv(array.data.ptr, count, kind, rank, s))

    # ---- made of several calls --------------------------------------------------------------------------------
    def _exchange(self, sends: Sequence[tuple[Any, int]], receives: Sequence[tuple[Any, int]]) -> list:
        """Send and receive at the same time; what a rank has for itself is copied."""
        mine = [array for array, rank in sends if rank == self.rank]
        for (into, _), array in zip([one for one in receives if one[1] == self.rank], mine, strict=True):
            into[...] = array.reshape(into.shape)
        self.nccl.groupStart()
        try:
            events = [self.send(array, rank) for array, rank in sends if rank != self.rank]
            events += [self.receive(into, rank) for into, rank in receives if rank != self.rank]
        finally:
            self.nccl.groupEnd()
        return events

    def _moved(self, sends: Sequence[tuple[Tensor, int]], receives: Sequence[tuple[Tensor, int]]) -> tuple:
        out = [(self.buffer(t), rank) for t, rank in sends]
        into = [(self.buffer(t), rank) for t, rank in receives]
        events = self._exchange([(b.array, r) for b, r in out], [(b.array, r) for b, r in into])
        return events, lambda: [b.store() for b, _ in into]

    def gather_tensors(self, tensor: Tensor, outputs: Sequence[Tensor], root: int) -> tuple:
        """Give the root the tensors of all."""
        return self._moved([(tensor, root)], [(t, rank) for rank, t in enumerate(outputs)])

    def scatter_tensors(self, tensor: Tensor, inputs: Sequence[Tensor], root: int) -> tuple:
        """Give each its tensor of the root's."""
        return self._moved([(t, rank) for rank, t in enumerate(inputs)], [(tensor, root)])

    def all_gather_tensors(self, outputs: Sequence[Tensor], tensor: Tensor) -> tuple:
        """Give all the tensors of all, which may have different shapes."""
        every = range(self.size)
        return self._moved([(tensor, rank) for rank in every], [(outputs[rank], rank) for rank in every])

    def all_to_all_tensors(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> tuple:
        """Give each its tensor of everyone's."""
        if len(inputs) == 1 and self.size > 1:
            inputs, outputs = inputs[0].chunk(self.size), outputs[0].chunk(self.size)
        return self._moved(
            [(t, rank) for rank, t in enumerate(inputs)], [(t, rank) for rank, t in enumerate(outputs)]
        )

    def reduce_scatter_tensors(self, output: Tensor, inputs: Sequence[Tensor], op: ReduceOp) -> tuple:
        """Reduce, and give each its part."""
        held = self.buffer(output)
        xp = self.cupy
        whole = xp.concatenate([xp.ascontiguousarray(t._data).reshape(-1) for t in inputs])
        count, kind = self._type(held.array)
        how = self._op(op, held.array)

        def finish() -> None:
            if op is ReduceOp.AVG and self.size > 1:
                held.array[...] = held.array / self.size
            held.store()

        if len({t.numel() for t in inputs}) > 1:
            raise DistBackendError(
                "NCCL reduces and scatters tensors of one length: pad them, or take the CPU"
            )
        event = self._run(
            held.array,
            lambda s: self.communicator.reduceScatter(
                whole.data.ptr, held.array.data.ptr, count, kind, how, s
            ),
            whole,
        )
        return [event], finish

    def barrier(self) -> Any:
        """Wait for all: over the group's own transport."""
        return self.group.transport.barrier()
