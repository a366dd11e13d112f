"""Streams and events: the current stream of each device, waiting in cupy's order, errors of timing."""

import threading

import pytest

from vistorch import cuda
from vistorch.cuda import Event, Stream
from vistorch.engine.base.device import device


@pytest.fixture(params=["simulated", "real"])
def gpus(request, two_gpus):
    """Two devices: simulated ones, then those of the stand-in for cupy."""
    if request.param == "simulated":
        cuda.simulate(2)
    cuda.init()
    return two_gpus


def test_streams_are_told_apart(gpus):
    first, second = Stream(), Stream("cuda:1")
    assert first == first
    assert first != second
    assert first != Stream()
    assert len({first, second, first}) == 2
    assert second.device is device("cuda:1")
    assert first != "stream"
    assert repr(second) == f"<vistorch.cuda.Stream device=cuda:1 cuda_stream={second.cuda_stream:#x}>"
    assert cuda.current_device() == 0


def test_the_default_stream(gpus):
    assert cuda.current_stream() == cuda.default_stream()
    assert cuda.default_stream().cuda_stream == 0
    assert cuda.default_stream(0) != cuda.default_stream(1)
    assert cuda.current_stream("cuda:1").device is device("cuda:1")


def test_current_stream_in_blocks(gpus):
    first, second, other = Stream(), Stream(), Stream(1)
    with cuda.stream(first):
        assert cuda.current_stream() == first
        with second as entered:
            assert entered is second
            assert cuda.current_stream() == second
            with first:
                assert cuda.current_stream() == first
        assert cuda.current_stream() == first
        with cuda.stream(None):
            assert cuda.current_stream() == first
        with cuda.stream(other):
            assert cuda.current_device() == 1
            assert cuda.current_stream() == other
            assert cuda.current_stream(0) == first
        assert cuda.current_device() == 0
        assert cuda.current_stream() == first
        assert cuda.current_stream(1) == cuda.default_stream(1)
    assert cuda.current_stream() == cuda.default_stream()
    with pytest.raises(ZeroDivisionError), cuda.stream(first):
        raise ZeroDivisionError
    assert cuda.current_stream() == cuda.default_stream()


def test_set_stream(gpus):
    other = Stream(1)
    cuda.set_stream(None)
    assert cuda.current_device() == 0
    cuda.set_stream(other)
    assert (cuda.current_device(), cuda.current_stream()) == (1, other)


def test_simulated_current_stream_belongs_to_its_thread():
    cuda.simulate(1)
    seen = []
    with cuda.stream(Stream()):
        thread = threading.Thread(target=lambda: seen.append(cuda.current_stream() == cuda.default_stream()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_work_on_simulated_streams_is_always_done():
    cuda.simulate(1)
    first, second = Stream(), Stream()
    event = first.record_event()
    assert isinstance(event, Event)
    second.wait_event(event)
    second.wait_stream(first)
    first.synchronize()
    event.synchronize()
    event.wait()
    assert first.query() is True
    assert event.query() is True


def test_cupy_gets_the_calls_in_order(two_gpus):
    first, second = Stream(), Stream(1)
    two_gpus.log.clear()
    second.wait_stream(first)
    with cuda.device(1):
        event = Event(blocking=True)
    event.record(first)
    assert (event._own.block, event._own.disable_timing) == (True, True)
    event.wait(second)
    event.synchronize()
    first.synchronize()
    assert [entry for entry in two_gpus.log if entry[0] != "hook"] == [
        ("record", 0, first.cuda_stream),
        ("wait", 0, first.cuda_stream),
        ("record", 0, first.cuda_stream),
        ("wait", 0, first.cuda_stream),
        ("synchronize event", first.cuda_stream),
        ("synchronize stream", first.cuda_stream),
    ]
    first._own.done = event._own.done = False
    assert first.query() is False
    assert event.query() is False


def test_time_between_events(gpus):
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    assert repr(start) == "<vistorch.cuda.Event uninitialized>"
    assert start.query() is True
    with pytest.raises(
        RuntimeError, match=r"^Both events must be recorded before calculating elapsed time\.$"
    ):
        start.elapsed_time(end)
    start.record()
    end.record()
    assert repr(start) == "<vistorch.cuda.Event recorded>"
    assert 0 <= start.elapsed_time(end) < 10_000
    if start._own is not None:
        assert start.elapsed_time(end) == 12.5
        end._own.done = False
        with pytest.raises(RuntimeError, match="Both events must be completed before"):
            start.elapsed_time(end)
    plain = Event()
    plain.record()
    with pytest.raises(RuntimeError, match="created with argument 'enable_timing=True'"):
        start.elapsed_time(plain)


def test_simulated_time_is_the_clocks(monkeypatch):
    cuda.simulate(1)
    times = iter([10.0, 10.25])
    monkeypatch.setattr(cuda.streams.time, "perf_counter", lambda: next(times))
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    start.record()
    end.record()
    assert start.elapsed_time(end) == 250.0


def test_events_we_do_not_have():
    with pytest.raises(NotImplementedError, match="no external events"):
        Event(external=True)
    with pytest.raises(RuntimeError, match="keeps no time"):
        Event(interprocess=True, enable_timing=True)
    with pytest.raises(RuntimeError, match="if it was made with interprocess=True and recorded"):
        Event(interprocess=True).ipc_handle()


def test_events_of_other_processes(two_gpus):
    cuda.init()
    runtime = two_gpus.cuda.runtime
    opened = []
    runtime.ipcGetEventHandle = lambda pointer: b"h%d" % pointer
    runtime.ipcOpenEventHandle = lambda handle: opened.append(handle) or 77
    runtime.eventQuery = lambda pointer: 600
    runtime.eventSynchronize = lambda pointer: opened.append("waited")
    runtime.eventDestroy = lambda pointer: opened.append("destroyed")
    mine = Event(interprocess=True)
    mine.record()
    theirs = Event.from_ipc_handle(0, mine.ipc_handle())
    assert opened == [b"h%d" % mine._own.ptr]
    assert theirs.query() is False
    theirs.synchronize()
    del theirs
    assert opened[1:] == ["waited", "destroyed"]
