"""The calls that NCCL's transport makes, over stand-ins: two ranks in two threads, arrays named by pointers.

This proves which calls are made, with which pointers, counts and types; no kernel, no stream and no speed.
"""

import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from vistorch.engine.core.graph import Version
from vistorch.ranks.errors import DistBackendError
from vistorch.ranks.nccl import NCCLTransport
from vistorch.ranks.reduce_op import ReduceOp

CODES = "INT8 UINT8 INT32 UINT32 INT64 UINT64 FLOAT16 FLOAT32 FLOAT64 BFLOAT16".split()
NUMPY = {code: code.lower() for code in CODES}
OPS = {"SUM": np.add, "PROD": np.multiply, "MAX": np.maximum, "MIN": np.minimum}
HERE = threading.local()


class DeviceArray:
    """Memory of a device: no numpy array, and none unasked."""

    memory: dict = {}  # noqa: RUF012

    def __init__(self, a):
        self._a = a
        self.dtype, self.size, self.shape, self.device = a.dtype, a.size, a.shape, Device()
        self.data = types.SimpleNamespace(ptr=a.__array_interface__["data"][0])
        self.memory[self.data.ptr] = self

    def __array__(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def reshape(self, *shape):
        return DeviceArray(self._a.reshape(*shape))

    def __setitem__(self, key, value):
        self._a[key] = value._a

    def __truediv__(self, number):
        return DeviceArray(self._a / number)


class Device:
    def __init__(self, index=0):
        self.index = index

    def __enter__(self):
        HERE.device = True

    def __exit__(self, *_):
        HERE.device = False


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.recorded = False

    def record(self, stream):
        assert stream.ptr == 77
        self.recorded = True

    @property
    def done(self):
        assert self.recorded
        return True


class Communicator:
    """What cupy's NcclCommunicator does, between two threads."""

    meeting = threading.Barrier(2, timeout=10)
    held: dict = {}  # noqa: RUF012
    posts: dict = {}  # noqa: RUF012
    lost = False

    def __init__(self, ndev, commId, rank):
        assert ndev == 2 and commId == ("identity",)
        self.rank, self.waiting, self.ended = rank, [], None

    def at(self, pointer, count, code):
        array = DeviceArray.memory[pointer]._a.reshape(-1)
        name = NUMPY[CODES[code]]
        if array.dtype.kind == "c":
            array = array.view(array.real.dtype)
        elif array.dtype.kind == "b":
            array = array.view(np.uint8)
        assert array.dtype == np.dtype(name) and array.size >= count, (array.dtype, name)
        return array[:count]

    def together(self, value):
        assert HERE.device, "a call outside of its device"
        self.held[self.rank] = value.copy()
        self.meeting.wait()
        found = [self.held[0], self.held[1]]
        self.meeting.wait()
        return found

    def joined(self, a, op):
        return list(OPS.values())[op](*self.together(a))

    def allReduce(self, sendbuf, recvbuf, count, datatype, op, stream):
        self.at(recvbuf, count, datatype)[...] = self.joined(self.at(sendbuf, count, datatype), op)

    def reduce(self, sendbuf, recvbuf, count, datatype, op, root, stream):
        found = self.joined(self.at(sendbuf, count, datatype), op)
        if self.rank == root:
            self.at(recvbuf, count, datatype)[...] = found

    def bcast(self, buff, count, datatype, root, stream):
        self.at(buff, count, datatype)[...] = self.together(self.at(buff, count, datatype))[root]

    def allGather(self, sendbuf, recvbuf, count, datatype, stream):
        found = self.together(self.at(sendbuf, count, datatype))
        self.at(recvbuf, 2 * count, datatype)[...] = np.concatenate(found)

    def reduceScatter(self, sendbuf, recvbuf, recvcount, datatype, op, stream):
        whole = self.joined(self.at(sendbuf, 2 * recvcount, datatype), op)
        self.at(recvbuf, recvcount, datatype)[...] = whole[self.rank * recvcount :][:recvcount]

    def send(self, sendbuf, count, datatype, peer, stream):
        self.posts.setdefault((self.rank, peer), []).append(self.at(sendbuf, count, datatype).copy())

    def recv(self, recvbuf, count, datatype, peer, stream):
        self.waiting.append((self.at(recvbuf, count, datatype), peer))

    def settle(self):
        self.meeting.wait()
        for into, peer in self.waiting:
            into[...] = self.posts[peer, self.rank].pop(0)
        self.waiting.clear()

    def check_async_error(self):
        if self.lost:
            raise RuntimeError("NCCL_ERROR_REMOTE_ERROR")

    def abort(self):
        self.ended = "abort"

    def destroy(self):
        self.ended = "destroy"


@pytest.fixture
def pair(monkeypatch):
    """The two ends, and a function that calls something on both at once."""
    cupy, nccl = types.ModuleType("cupy"), types.ModuleType("cupy.cuda.nccl")
    cupy.cuda = types.SimpleNamespace(
        Device=Device, Event=Event, get_current_stream=lambda: types.SimpleNamespace(ptr=77)
    )
    cupy.ascontiguousarray = lambda a: a if a._a.flags.c_contiguous else DeviceArray(a._a.copy())
    cupy.concatenate = lambda arrays: DeviceArray(np.concatenate([a._a for a in arrays]))
    nccl.NcclCommunicator, nccl.get_unique_id = Communicator, lambda: ("identity",)
    nccl.groupStart = nccl.groupEnd = lambda: None
    for i, code in enumerate(CODES):
        setattr(nccl, f"NCCL_{code}", i)
    for i, op in enumerate(OPS):
        setattr(nccl, f"NCCL_{op}", i)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda.nccl", nccl)
    monkeypatch.setattr("vistorch.ranks.objects.broadcast_object_list", _identity)
    ends = [NCCLTransport(types.SimpleNamespace(rank=lambda r=r: r, size=lambda: 2)) for r in range(2)]
    with ThreadPoolExecutor(2) as pool:
        yield ends, lambda call: list(pool.map(call, ends))
    DeviceArray.memory.clear()
    Communicator.lost = False


def _identity(found, group, group_src):
    found[0] = ("identity",)


class Tensor:
    """What the transport asks of a tensor."""

    def __init__(self, a):
        self._data, self._ver = DeviceArray(a), Version()

    def numel(self):
        return self._data.size

    def chunk(self, n):
        return [Tensor(part) for part in np.split(self._data._a, n)]

    @property
    def values(self):
        return self._data._a.tolist()


def ramp(rank, dtype="float32", n=4):
    return Tensor((np.arange(n) + rank).astype(dtype))


@pytest.mark.parametrize("dtype", "float32 float64 float16 int64 int32 int8 uint8 complex64".split())
def test_all_reduce(pair, dtype):
    _, both = pair

    def call(end):
        t = ramp(end.rank, dtype)
        held = end.buffer(t)
        assert end.all_reduce(held.array, ReduceOp.SUM).Test()
        held.store()
        return t.values, t._ver.n

    assert both(call) == [([1, 3, 5, 7], 1)] * 2


def test_what_is_not_contiguous_is_written_back(pair):
    _, both = pair

    def call(end):
        t = Tensor(np.arange(8, dtype="float32").reshape(2, 4).T[::2])
        held = end.buffer(t)
        end.all_reduce(held.array, ReduceOp.MAX)
        end.broadcast(held.array, 1)
        held.store()
        return t.values

    assert both(call) == [[[0, 4], [2, 6]]] * 2


def test_booleans_and_reductions(pair):
    _, both = pair

    def call(end):
        flags = Tensor(np.array([True, end.rank == 0, False]))
        end.all_reduce(end.buffer(flags).array, ReduceOp.SUM)
        other = Tensor(np.array([True, end.rank == 0, False]))
        end.all_reduce(end.buffer(other).array, ReduceOp.PRODUCT)
        t = ramp(end.rank)
        end.reduce(end.buffer(t).array, ReduceOp.SUM, 1)
        return flags.values, other.values, t.values if end.rank else None

    expected = [True, True, False], [True, False, False]
    assert both(call) == [(*expected, None), (*expected, [1, 3, 5, 7])]


def test_parts(pair):
    _, both = pair

    def call(end):
        into, out = Tensor(np.zeros(8, "float32")), Tensor(np.zeros(2, "float32"))
        end.all_gather(end.buffer(ramp(end.rank)).array, end.buffer(into).array)
        requests, finish = end.reduce_scatter_tensors(out, [ramp(end.rank)], ReduceOp.AVG)
        assert all(request.Test() for request in requests)
        finish()
        return into.values, out.values

    whole = [0, 1, 2, 3, 1, 2, 3, 4]
    assert both(call) == [(whole, [0.5, 1.5]), (whole, [2.5, 3.5])]


@pytest.mark.parametrize("what", ["gather", "scatter", "all_gather", "all_to_all"])
def test_what_is_made_of_sends(pair, what):
    _, both = pair

    def call(end):
        rank, mine = end.rank, ramp(end.rank)
        outs = [Tensor(np.zeros(4, "float32")) for _ in range(2)]
        if what == "gather":
            requests, finish = end.gather_tensors(mine, outs if rank == 0 else [], 0)
        elif what == "scatter":
            requests, finish = end.scatter_tensors(outs[0], [ramp(10), ramp(20)] if rank == 0 else [], 0)
        elif what == "all_gather":
            requests, finish = end.all_gather_tensors(outs, mine)
        else:
            requests, finish = end.all_to_all_tensors(outs, [ramp(10 * rank), ramp(10 * rank + 5)])
        end.communicator.settle()
        assert all(request.Test() for request in requests)
        finish()
        return [int(t.values[0]) for t in outs], [int(t.values[-1]) for t in outs]

    firsts = [found[0] for found in both(call)]
    assert (
        firsts
        == {
            "gather": [[0, 1], [0, 0]],
            "scatter": [[10, 0], [20, 0]],
            "all_gather": [[0, 1], [0, 1]],
            "all_to_all": [[0, 10], [5, 15]],
        }[what]
    )


def test_a_lost_rank_ends_what_runs(pair):
    ends, both = pair
    requests = both(lambda end: end.all_reduce(end.buffer(ramp(end.rank)).array, ReduceOp.SUM))
    Communicator.lost = True
    with pytest.raises(DistBackendError, match="NCCL has lost another rank"):
        requests[0].Test()
    assert ends[0].communicator.ended == "abort"
    ends[1].free()
    assert ends[1].communicator.ended == "destroy"


def test_what_nccl_has_not_is_said(pair):
    ends, _ = pair
    array = ends[0].buffer(ramp(0)).array
    for call, said in (
        (lambda: ends[0].all_reduce(array, ReduceOp.BXOR), "NCCL has no ReduceOp.BXOR"),
        (lambda: ends[0].receive(array, -1), "give src"),
        (lambda: ends[0].all_reduce(ends[0].buffer(ramp(0, "uint16")).array, ReduceOp.SUM), "type uint16"),
    ):
        with pytest.raises(DistBackendError, match=said):
            call()
