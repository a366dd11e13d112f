"""Showing the same tensor again and again keeps nothing."""

import gc
import tracemalloc
import weakref

import vistorch
from vistorch.debug.array import parameter, record, strip, tile
from vistorch.debug.updates import forget, remember


def all_of_it(x):
    record(x).wire()
    strip({"a": x, "b": x}).wire()
    parameter(x, x.detach(), None).wire()
    tile(x, [0, 0], [10, 10], [2, 2])


def test_repeated_records_keep_nothing():
    x = vistorch.randn(500, 500, requires_grad=True)
    tracemalloc.start()
    try:
        held = []
        for times in (3, 3, 9):  # the first rounds fill caches of Python's own
            for _ in range(times):
                all_of_it(x)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert held[2] - held[1] < 30_000  # nine rounds; a single overview is 40,000


def test_a_record_keeps_no_tensor_alive():
    x = vistorch.randn(500, 500)
    gone = weakref.ref(x)
    kept = [record(x), strip([x]), parameter(x, x * 2, None)]
    del x
    gc.collect()
    assert gone() is None and len(kept) == 3


def test_records_need_no_collector():
    gc.collect()
    gc.disable()
    try:
        gone = weakref.ref(record(vistorch.randn(500, 500)))
        assert gone() is None
    finally:
        gc.enable()


def test_remembered_updates_keep_no_record():
    p = vistorch.nn.Parameter(vistorch.randn(50, 50))
    remember(p)
    gone = weakref.ref(parameter(p))
    assert gone() is None
    forget()


def test_a_large_array_is_never_copied():
    x = vistorch.randn(2000, 2000)
    record(x)
    tracemalloc.start()
    try:
        record(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < x.nbytes / 2
