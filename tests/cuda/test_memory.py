"""Memory of a real device: counts, peaks, pools, what waits for other streams, pictures; over a stand-in's pools."""

import gc
import pickle

import numpy as np
import pytest

import vistorch
from vistorch import cuda
from vistorch.engine.memory import device_memory, placement

MIB = 1 << 20


@pytest.fixture
def gpu(two_gpus):
    """The allocator of two real devices that are in use."""
    cuda.init()
    return device_memory.allocator


def tensor(n=256):
    """A float32 tensor on the current device, with its memory."""
    t = vistorch.ones(n).to("cuda")
    assert t._data.data.mem.asked == 4 * n
    return t


def test_nothing_is_started_by_a_question(two_gpus):
    assert cuda.memory_allocated() == cuda.max_memory_reserved() == 0
    assert cuda.memory_snapshot() == []
    cuda.empty_cache()
    cuda.reset_accumulated_memory_stats()
    assert not cuda.is_initialized()
    assert two_gpus.log == []
    assert device_memory.allocator is None


def test_counts(gpu):
    first, second = gpu.malloc(100), gpu.malloc(2 * MIB)
    with cuda.device(1):
        other = gpu.malloc(1)
    assert (cuda.memory_allocated(), cuda.memory_allocated("cuda:1")) == (512 + 2 * MIB, 512)
    assert cuda.memory_reserved(0) == 512 + 2 * MIB
    del second
    assert cuda.memory_allocated() == 512
    assert cuda.max_memory_allocated() == 512 + 2 * MIB  # counted from the start
    assert cuda.max_memory_allocated(1) == 512
    stats = cuda.memory_stats()
    assert stats["allocation.all.allocated"] == 2
    assert stats["allocation.large_pool.freed"] == 1
    assert stats["allocation.small_pool.current"] == 1
    assert stats["requested_bytes.all.peak"] == 100 + 2 * MIB
    assert stats["active_bytes.large_pool.peak"] == 2 * MIB
    assert stats["num_device_alloc"] == 2
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == 512
    cuda.reset_accumulated_memory_stats()
    assert cuda.memory_stats()["allocation.all.allocated"] == 1
    assert cuda.memory_stats()["allocation.all.current"] == 1
    cuda.empty_cache()
    assert cuda.memory_reserved() == 512
    assert cuda.max_memory_reserved() == 512 + 2 * MIB
    assert (first.ptr, other.ptr) != (0, 0)


def test_the_counts_are_right_after_many_allocations(gpu):
    kept = []
    most = now = 0
    rng = np.random.default_rng(0)
    for n in rng.integers(1, 5000, 20_000):
        if kept and rng.random() < 0.5:
            now -= kept.pop().mem.size
        else:
            kept.append(gpu.malloc(int(n)))
            now += -(-int(n) // 512) * 512
        most = max(most, now)
    assert (cuda.memory_allocated(), cuda.max_memory_allocated()) == (now, most)
    assert len(gpu.account(0).entries) == 0


def test_every_key_of_pytorch(gpu):
    kinds = (
        "active active_bytes allocated_bytes allocation inactive_split inactive_split_bytes requested_bytes "
    )
    kinds += "reserved_bytes segment"
    keys = {
        f"{kind}.{pool}.{when}"
        for kind in kinds.split()
        for pool in ("all", "small_pool", "large_pool")
        for when in ("current", "peak", "allocated", "freed")
    }
    for kind in ("oversize_allocations", "oversize_segments"):
        keys |= {f"{kind}.{when}" for when in ("current", "peak", "allocated", "freed")}
    keys |= {"max_split_size", "num_alloc_retries", "num_device_alloc", "num_device_free", "num_ooms"}
    keys |= {"num_sync_all_streams"}
    assert set(cuda.memory_stats()) == keys
    cuda.memory.memory_summary()


def test_simulated_devices_have_every_key_too():
    cuda.simulate(1)
    stats = cuda.memory_stats()
    assert len(stats) == 122
    assert {n for key, n in stats.items() if key != "max_split_size"} == {0}
    assert "allocated" not in cuda.memory_summary().lower().split("taken")[0].replace("allocated memory", "")


def test_memory_used_by_another_stream_is_not_given_away(gpu):
    side = cuda.Stream()
    x = tensor()
    address = x._data.data.ptr
    x.record_stream(side)
    x.record_stream(cuda.current_stream())
    view = x[3:]
    del x
    gpu.cupy.cuda.Event.done = False  # the side stream is busy
    again = gpu.malloc(1024)
    assert again.ptr != address
    del view, again
    assert cuda.memory_stats()["active.all.current"] == 1
    assert cuda.memory_stats()["allocation.all.current"] == 0
    held = gpu.malloc(1024)
    assert held.ptr != address
    gpu.cupy.cuda.Event.done = True
    assert gpu.malloc(1024).ptr == address
    assert cuda.memory_stats()["active.all.peak"] == 2


def test_the_same_memory_is_given_again_without_it(gpu):
    x = tensor()
    address = x._data.data.ptr
    del x
    assert gpu.malloc(1024).ptr == address


def test_record_stream_is_of_the_memory_and_not_of_the_view(gpu):
    x = tensor()
    address, view = x._data.data.ptr, x[:10]
    view.record_stream(cuda.Stream())
    del view
    gpu.cupy.cuda.Event.done = False
    del x
    assert gpu.malloc(1024).ptr != address


def test_record_stream_refuses(two_gpus):
    with pytest.raises(NotImplementedError, match="arguments from the 'CPU' backend"):
        vistorch.ones(2).record_stream(None)
    with pytest.raises(TypeError, match=r"must be vistorch.cuda.Stream, not int$"):
        vistorch.ones(2).to("cuda").record_stream(3)
    cuda.synchronize()


def test_record_stream_on_a_simulated_device():
    cuda.simulate(1)
    vistorch.ones(2, device="cuda").record_stream(cuda.Stream())
    with pytest.raises(TypeError):
        vistorch.ones(2, device="cuda").record_stream("side")


def test_a_part_of_the_memory(gpu):
    gpu.runtime.memGetInfo = lambda: (MIB, 8 * MIB)
    assert cuda.get_per_process_memory_fraction() == 1.0
    cuda.set_per_process_memory_fraction(0.5)
    held = [gpu.malloc(2 * MIB), gpu.malloc(2 * MIB)]
    with pytest.raises(cuda.OutOfMemoryError, match=r"total capacity of 8.00 MiB .*; 4.00 MiB allowed"):
        gpu.malloc(MIB)
    held.pop()
    again = gpu.malloc(MIB)  # what is free in the pool was not the limit's
    assert cuda.memory_reserved() <= 4 * MIB
    cuda.set_per_process_memory_fraction(1.0)
    held.append(gpu.malloc(64 * MIB))
    assert again.ptr
    for wrong, kind in ((2.0, ValueError), (-0.1, ValueError), (1, TypeError)):
        with pytest.raises(kind):
            cuda.set_per_process_memory_fraction(wrong)


def test_memory_handed_to_other_libraries(gpu):
    address = cuda.caching_allocator_alloc(1000)
    assert cuda.memory_allocated() == 1024
    cuda.memory.caching_allocator_delete(address)
    assert cuda.memory_allocated() == 0
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        cuda.caching_allocator_delete(address)
    with pytest.raises(TypeError, match="Invalid type for stream argument"):
        cuda.caching_allocator_alloc(10, stream="side")


def test_without_a_cache(gpu):
    with cuda.memory.caching_allocator_disabled():
        held = gpu.malloc(1024)
        assert cuda.memory_reserved() == 1024
        del held
        assert cuda.memory_reserved() == 0
    assert gpu.cached


def test_snapshot(gpu):
    whole = gpu.malloc(4096)
    start = whole.ptr
    del whole
    first, second = gpu.malloc(1000), gpu.malloc(100)
    (segment,) = cuda.memory_snapshot()
    assert (segment["address"], segment["total_size"], segment["allocated_size"]) == (start, 4096, 1536)
    assert [(b["size"], b["requested_size"], b["state"]) for b in segment["blocks"]] == [
        (1024, 1000, "active_allocated"),
        (512, 100, "active_allocated"),
        (2560, 0, "inactive"),
    ]
    assert cuda.memory_stats()["inactive_split_bytes.small_pool.current"] == 2560
    assert first.ptr < second.ptr


def test_history(gpu, tmp_path):
    cuda.memory._record_memory_history(max_entries=100)
    held = gpu.malloc(1000)
    freed = gpu.malloc(500)
    del freed
    snapshot = cuda.memory._snapshot()
    entries = snapshot["device_traces"][0]
    actions = [entry["action"] for entry in entries]
    assert actions == ["segment_alloc", "alloc", "segment_alloc", "alloc", "free_requested", "free_completed"]
    assert entries[1]["addr"] == held.ptr
    assert any(frame["name"] == "test_history" for frame in entries[1]["frames"])
    (block,) = snapshot["segments"][0]["blocks"]
    assert any(frame["filename"] == __file__ for frame in block["frames"])
    cuda.memory._dump_snapshot(tmp_path / "memory.pickle")
    assert pickle.loads((tmp_path / "memory.pickle").read_bytes())["device_traces"][1] == []
    cuda.memory._record_memory_history(None)
    assert gpu.history is None
    with pytest.raises(RuntimeError, match="expected state to be"):
        cuda.memory._record_memory_history("some")


def test_a_private_pool(gpu):
    pool = cuda.MemPool()
    with cuda.use_mem_pool(pool):
        inside = gpu.malloc(2048)
        with cuda.device(1):
            elsewhere = gpu.malloc(2048)
    address = inside.ptr
    assert [s["address"] for s in pool.snapshot()] == [address]
    assert pool.snapshot()[0]["segment_pool_id"] == pool.id
    del inside
    outside = gpu.malloc(2048)
    assert outside.ptr != address
    with cuda.use_mem_pool(pool):
        assert gpu.malloc(2048).ptr == address
    cuda.empty_cache()
    assert pool.snapshot() == []
    assert elsewhere.ptr
    with pytest.raises(NotImplementedError, match="takes no allocator"):
        cuda.MemPool(object())


def test_a_pool_that_is_gone_gives_its_memory_back(gpu):
    pool = cuda.MemPool()
    with cuda.use_mem_pool(pool):
        gpu.malloc(MIB)
    assert cuda.memory_reserved() == MIB
    del pool
    gc.collect()
    assert cuda.memory_reserved() == 0


def test_pinned_memory_and_copies_that_do_not_wait(gpu):
    x = vistorch.arange(6.0).reshape(2, 3)
    log = gpu.cupy.log
    pinned = x.pin_memory()
    assert pinned.is_pinned() and pinned[1].is_pinned() and not x.is_pinned()
    assert pinned.pin_memory() is pinned
    assert pinned.untyped_storage().is_pinned() and not x.untyped_storage().is_pinned()
    log.clear()
    there = pinned.to("cuda", non_blocking=True)
    assert [entry[0] for entry in log] == ["set", "record"]
    assert there.tolist() == x.tolist()
    log.clear()
    back = there.to("cpu", non_blocking=True)
    assert ("get", 0, False) in log and ("get", 0, True) not in log
    assert back.is_pinned() and back.tolist() == x.tolist()
    log.clear()
    pinned.zero_()
    assert pinned.copy_(there, non_blocking=True) is pinned
    assert [entry[0] for entry in log] == ["get", "record"]
    assert pinned.tolist() == x.tolist()
    assert there.t().to("cpu", non_blocking=True).stride() == (1, 3)
    log.clear()
    vistorch.nn.Linear(2, 2).to("cuda", non_blocking=True)
    assert {entry[2] for entry in log if entry[0] == "array"} == {False}


def test_pinned_memory_on_simulated_devices_is_believed():
    cuda.simulate(1)
    x = vistorch.ones(2, 3).t()
    pinned = x.pin_memory()
    assert pinned.is_pinned() and pinned is not x and pinned.stride() == x.stride()
    assert pinned.tolist() == x.tolist()
    assert not pinned.to("cuda").is_pinned()
    (batch,) = vistorch.utils.data.DataLoader([1.0, 2.0], batch_size=2, pin_memory=True)
    assert batch.is_pinned()


def test_out_of_memory_says_who_has_it_and_the_process_goes_on(gpu):
    gpu.memory.capacity = 8 * MIB
    gpu.runtime.memGetInfo = lambda: (MIB, 8 * MIB)
    held = [gpu.malloc(2 * MIB) for _ in range(3)]  # this line has most
    x = tensor(MIB // 4)
    small = gpu.malloc(10)
    with pytest.raises(vistorch.OutOfMemoryError) as caught:
        gpu.malloc(4 * MIB)
    said = str(caught.value)
    line = test_out_of_memory_says_who_has_it_and_the_process_goes_on.__code__.co_firstlineno + 3
    assert said.startswith(
        "CUDA out of memory. Tried to allocate 4.00 MiB. GPU 0 has a total capacity of 8.00 MiB of which 1.00 MiB is "
        "free. Of the allocated memory 7.00 MiB is allocated by vistorch, and 0 bytes is reserved by vistorch but "
        f"unallocated. The largest holders: 6.00 MiB in 3 arrays at test_memory.py:{line}, 1.00 MiB in 1 array"
    )
    assert isinstance(caught.value, (RuntimeError, MemoryError))  # cupy's own code asks for the second
    stats = cuda.memory_stats()
    assert (stats["num_ooms"], stats["num_alloc_retries"]) == (1, 1)
    held.clear()
    assert gpu.malloc(4 * MIB).ptr
    assert x.tolist()[:2] == [1, 1]
    assert small.ptr


def test_memory_that_waits_for_a_stream_is_taken_before_it_fails(gpu):
    gpu.memory.capacity = MIB
    x = tensor(MIB // 4)
    x.record_stream(cuda.Stream())
    gpu.cupy.cuda.Event.done = False
    del x
    assert gpu.malloc(MIB).ptr
    assert [entry[0] for entry in gpu.cupy.log].count("synchronize event") == 1
    assert cuda.memory_stats()["num_ooms"] == 0


def test_the_op_is_named():
    from vistorch.engine.methods import device_holders

    assert device_holders._origin(("/a/train.py", 7, ("malloc", "kernel", "matmul", "forward"))) == (
        "of matmul at train.py:7"
    )
    assert device_holders._origin(("/a/train.py", 8, ("malloc", "softmax", "steps", "backward"))) == (
        "of softmax in backward at train.py:8"
    )
    assert device_holders._origin(("/a/train.py", 9, ("_kernel", "<lambda>"))) == "at train.py:9"
    assert (
        device_holders._origin(("/a/train.py", 9, ("_wait", "synchronize"))) == "of synchronize at train.py:9"
    )
    assert device_holders._origin(None) == "smaller than 1 MiB"


def test_the_allocator_stands_on_cupys_own_classes():
    """No driver is needed to make arrays over an address: what cupy asks of a block is asked of ours."""
    cupy = pytest.importorskip("cupy", reason="needs a GPU: cupy is not installed")
    memory = cupy.cuda.memory
    allocator = object.__new__(device_memory.Allocator)
    allocator.memory, allocator.history, allocator.accounts = memory, None, {}
    block, _ = device_memory._classes(allocator)
    below = memory.MemoryPointer(memory.UnownedMemory(1 << 40, 1024, None, device_id=0), 0)
    pointer = memory.MemoryPointer(block(below, 1000), 0)
    array = cupy.ndarray((2, 3), "f4", pointer)
    view = array[1:].T
    del array, pointer
    assert view.data.mem.asked == 1000
    assert allocator.account(0).settle().current("allocated_bytes") == 1024
    del view
    assert allocator.account(0).settle().current("allocated_bytes") == 0
    error = device_memory._out_of_memory(memory)("none left")
    assert isinstance(error, memory.OutOfMemoryError) and str(error) == "none left"


# ---- several processes ----------------------------------------------------------------------------------------------
class Driver:
    """The driver's calls for memory of several processes: handles are the addresses, as text."""

    def __init__(self, runtime):
        self.log = []
        runtime.ipcGetMemHandle = lambda pointer: b"%d" % pointer
        runtime.ipcGetEventHandle = lambda pointer: b"event %d" % pointer
        runtime.ipcOpenMemHandle = lambda handle: self.log.append(("open", handle)) or int(handle) + (1 << 50)
        runtime.ipcCloseMemHandle = lambda pointer: self.log.append(("close", pointer))
        runtime.ipcOpenEventHandle = lambda handle: self.log.append(("event", handle)) or 5
        runtime.streamWaitEvent = lambda stream, event: self.log.append(("wait", stream, event))
        runtime.eventDestroy = lambda event: None
        runtime.deviceSynchronize = lambda: self.log.append(("synchronize",))


@pytest.fixture
def elsewhere(gpu, monkeypatch):
    """Turns what is sent into what another process finds; the calls it makes."""
    from vistorch.cuda import ipc

    driver = Driver(gpu.runtime)
    monkeypatch.setattr(ipc, "_sent", {})
    cupy = gpu.cupy
    plain, memory = cupy.ndarray, gpu.memory

    class UnownedMemory(memory.BaseMemory):
        def __init__(self, address, size, owner, device):
            self.ptr, self.size, self.owner, self.device_id = address, size, owner, device

    UnownedMemory.__slots__ = ()
    memory.UnownedMemory = UnownedMemory

    class Laid(plain):
        def __new__(cls, shape, dtype, memptr, strides=None):
            made = np.zeros(shape, dtype).view(cls)
            made._pointer = memptr
            return made

    Laid.__module__ = "cupy"
    monkeypatch.setattr(placement.place_of("cuda:0").xp, "ndarray", Laid, raising=False)
    driver.get = lambda parts: ipc.received(*parts[:-1], (0, 0))
    return driver


def test_memory_goes_to_another_process_as_a_handle_and_an_offset(gpu, elsewhere):
    from vistorch.cuda import ipc

    first = gpu.malloc(512)
    whole = gpu.malloc(4096)
    address = whole.ptr
    del whole
    x = tensor(256)  # in the segment of what was freed
    assert x._data.data.ptr == address
    parts = ipc.sent(x[10:20])
    assert parts[:4] == ("cuda:0", b"%d" % address, 40, 40)
    theirs = elsewhere.get(parts)
    assert theirs._data.data.ptr == address + (1 << 50) + 40
    assert theirs.shape == (10,) and theirs.device.index == 0
    assert [entry[0] for entry in elsewhere.log] == ["open", "event", "wait"]
    again = elsewhere.get(ipc.sent(x))
    assert [entry[0] for entry in elsewhere.log].count("open") == 1  # a segment is mapped once
    del x
    ipc.ipc_collect()
    assert gpu.malloc(1024).ptr != address  # the other process works with it
    del theirs, again, parts
    gc.collect()
    assert [entry[0] for entry in elsewhere.log][-1] == "close"
    assert ("synchronize",) in elsewhere.log
    assert cuda.memory_allocated() == 512 + 1024
    cuda.ipc_collect()
    assert cuda.memory_allocated() == 512
    assert first.ptr


def test_what_is_sent_comes_back_in_its_own_process(gpu, elsewhere):
    from vistorch.cuda import ipc

    x = tensor(4).requires_grad_()
    made = ipc.received(*ipc.sent(x))
    assert made._data.data.ptr == x._data.data.ptr
    assert elsewhere.log == []
    empty = ipc.received(*ipc.sent(vistorch.ones(0).to("cuda")))
    assert empty.shape == (0,)


def test_memory_of_another_library_is_not_sent(gpu, elsewhere):
    from vistorch.cuda import ipc

    x = tensor(4)
    gpu.segments.clear()
    with pytest.raises(
        RuntimeError, match=r"was not made by vistorch: share a copy of the tensor, made with clone"
    ):
        ipc.sent(x)


# ---- faults ---------------------------------------------------------------------------------------------------------
def failing(status, words):
    error = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda.api.runtime"})(words)
    error.status = status

    def fail(*args, **kwargs):
        raise error

    return fail


@pytest.mark.parametrize("wait", ["device", "stream", "event", "copy"])
def test_a_kernel_fault_is_said_where_the_device_is_waited_for(gpu, monkeypatch, wait):
    fail = failing(700, "cudaErrorIllegalAddress: an illegal memory access was encountered")
    stream, event, x = cuda.Stream(), cuda.Event(), tensor(4)
    event.record(stream)
    monkeypatch.setattr(gpu.cupy.cuda.Device, "synchronize", fail)
    monkeypatch.setattr(gpu.cupy.cuda.Stream, "synchronize", fail)
    monkeypatch.setattr(gpu.cupy.cuda.Event, "synchronize", fail)
    monkeypatch.setattr(x._place.xp, "asnumpy", fail, raising=False)
    waits = {
        "device": cuda.synchronize,
        "stream": stream.synchronize,
        "event": event.synchronize,
        "copy": x.cpu,
    }
    with pytest.raises(vistorch.AcceleratorError) as caught:
        waits[wait]()
    assert isinstance(caught.value, RuntimeError)
    first, second = str(caught.value).splitlines()
    assert first == "CUDA error: an illegal memory access was encountered"
    assert second.startswith("CUDA kernel errors might be reported at a later call")
    assert "CUDA_LAUNCH_BLOCKING=1" in str(caught.value) and "restart" in str(caught.value)


def test_a_device_that_vanishes(gpu, monkeypatch):
    fail = failing(999, "cudaErrorUnknown: unknown error")
    monkeypatch.setattr(gpu.cupy.cuda.Device, "synchronize", fail)
    with pytest.raises(
        vistorch.AcceleratorError, match=r"^CUDA error: unknown error\nthe device does not answer"
    ):
        cuda.synchronize()


def test_other_errors_pass(gpu, monkeypatch):
    def interrupted(self):
        raise ValueError("not the device's")

    monkeypatch.setattr(gpu.cupy.cuda.Device, "synchronize", interrupted)
    with pytest.raises(ValueError, match="not the device's"):
        cuda.synchronize()
