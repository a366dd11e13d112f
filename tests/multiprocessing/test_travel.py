"""Tensors in queues, pipes, pools and the arguments of processes: what arrives is the same memory."""

import gc
import multiprocessing
import os

import pytest

import vistorch
import vistorch.multiprocessing as mp
from tests.multiprocessing import workers
from tests.story import story
from vistorch import nn
from vistorch.engine.memory import shared_memory

METHODS = ("fork", "spawn", "forkserver")
PATIENCE = 120
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def ended(process):
    process.join(PATIENCE)
    assert process.exitcode == 0, process


@pytest.mark.parametrize("method", METHODS)
def test_both_sides_see_the_same_memory(method):
    context = mp.get_context(method)
    there, back = context.Queue(), context.Queue()
    direct = vistorch.zeros(2).share_memory_()
    process = context.Process(target=workers.answer, args=(there, back, direct))
    process.start()
    whole = vistorch.arange(12.0).reshape(3, 4).t()
    there.put({"row": whole[1], "whole": whole})
    assert back.get(timeout=PATIENCE) == (True, 1, (1, 4))
    assert whole.tolist() == [[0, 4, 8], [10, 50, 90], [2, 6, 10], [3, 7, 11]]
    assert direct.tolist() == [1, 1]
    leaf = nn.Parameter(vistorch.ones(2))
    leaf.grad = vistorch.ones(2)
    there.put(leaf)
    assert back.get(timeout=PATIENCE) == ("Parameter", True, True, True, True)
    theirs = back.get(timeout=PATIENCE)
    theirs[0] = 42
    there.put("seen")
    assert back.get(timeout=PATIENCE) == [42, 1, 2, 3]
    ended(process)
    assert theirs.tolist() == [42, 1, 2, 3]


@pytest.mark.parametrize("method", ("fork", "spawn"))
def test_what_was_sent_outlives_its_sender(method):
    """Joined before anything was received: the sender leaves its tensors with the parent."""
    context = mp.get_context(method)
    queue = context.Queue()
    process = context.Process(target=workers.send_and_end, args=(queue, 3))
    process.start()
    ended(process)
    for i in range(3):
        n, small, large = queue.get(timeout=PATIENCE)
        assert n == i and bool((small == i).all()) and bool((large == i).all())


def test_what_was_received_outlives_a_killed_sender():
    here, there = mp.Pipe()
    process = mp.get_context("fork").Process(target=workers.send_and_hang, args=(there,))
    process.start()
    x = here.recv()
    process.kill()
    process.join(PATIENCE)
    x += 1
    assert x.tolist() == [1, 2, 3, 4, 5]


def test_what_a_killed_process_had_sent_is_gone_and_says_so():
    here, there = mp.Pipe()
    process = mp.get_context("fork").Process(target=workers.send_and_be_killed, args=(there,))
    process.start()
    process.join(PATIENCE)
    with pytest.raises(
        RuntimeError, match="the process that sent this tensor ended before the tensor was received"
    ):
        here.recv()


def test_from_one_child_to_another():
    """The sender has ended and left its tensors with the parent, which waits for the other child meanwhile."""
    context = mp.get_context("fork")
    first, second = context.Queue(), context.Queue()
    sender = context.Process(target=workers.send_and_end, args=(first, 1))
    sender.start()
    ended(sender)
    receiver = context.Process(target=workers.pass_on, args=(first, second))
    receiver.start()
    ended(receiver)
    assert second.get(timeout=PATIENCE)[1].tolist() == [0, 0, 0]


@story
def test_within_one_process(L, report):
    from importlib import import_module

    queue = import_module(f"{L.__name__}.multiprocessing").SimpleQueue()
    x = L.arange(4.0)
    queue.put(x)
    y = queue.get()
    y[0] = 9
    report(x, y, x.is_shared(), y.data_ptr() == x.data_ptr())
    for t in (
        L.ones(2, requires_grad=True),
        nn_of(L).Parameter(L.ones(2)),
        L.tensor(2),
        L.empty(0, 2),
        x[1:3],
    ):
        t.note = "mine"
        queue.put(t)
        back = queue.get()
        report(back, back.shape, back.stride(), back.storage_offset(), back.is_leaf, hasattr(back, "note"))
    for kind in (L.bfloat16, L.float16, L.complex64, L.bool, L.int8):
        queue.put(L.ones(3, dtype=kind))
        report(str(queue.get().dtype))
    queue.put(x.untyped_storage())
    storage = queue.get()
    report(type(storage).__name__, storage.nbytes(), storage.data_ptr() == x.data_ptr())
    tied = nn_of(L).Linear(2, 2)
    tied.again = tied.weight
    queue.put(tied)
    back = queue.get()
    report(back.again is back.weight, back.weight.data_ptr() == tied.weight.data_ptr())


def nn_of(L):
    return L.nn


@story
def test_what_does_not_travel(L, report):
    from importlib import import_module

    queue = import_module(f"{L.__name__}.multiprocessing").SimpleQueue()
    x = L.ones(2, requires_grad=True)
    report.raises(lambda: queue.put(x * 2))
    x.register_hook(print)
    report.warns(lambda: queue.put(x))
    report(queue.get())


@story
def test_strategies(L, report):
    from importlib import import_module

    m = import_module(f"{L.__name__}.multiprocessing")
    report(m.get_sharing_strategy(), sorted(m.get_all_sharing_strategies()))
    m.set_sharing_strategy("file_system")
    report(m.get_sharing_strategy())
    m.set_sharing_strategy("file_descriptor")
    try:
        m.set_sharing_strategy("pigeon")
    except AssertionError as error:
        report(sorted(str(error).split()))


class Marked(vistorch.Tensor):
    """A subclass that was there before, or comes after, multiprocessing is asked for."""


def test_subclasses_and_their_attributes_travel_too():
    queue = mp.SimpleQueue()
    x = Marked([1, 1])
    x.note = "kept"
    queue.put(x)
    y = queue.get()
    assert type(y) is Marked and y.note == "kept" and y.data_ptr() == x.data_ptr() and y.is_shared()


def test_a_pool():
    with mp.get_context("spawn").Pool(2) as pool:
        assert [t.tolist() for t in pool.map(workers.square, [vistorch.ones(2) * 3, vistorch.ones(1)])] == [
            [9, 9],
            [1],
        ]
        seen = vistorch.zeros(3)
        assert pool.apply(workers.fill, (seen, 5)) != os.getpid()
        assert seen.tolist() == [5, 5, 5]
        assert (
            sum(t.item() for t in pool.imap(workers.square, [vistorch.tensor(float(i)) for i in range(20)]))
            == 2470
        )


def test_more_storages_than_a_fork_server_passes_on(monkeypatch):
    monkeypatch.setattr(shared_memory, "TOGETHER", 0)
    context = mp.get_context("forkserver")
    back = context.Queue()
    tensors = [vistorch.ones(5) for _ in range(260)]
    process = context.Process(target=workers.many, args=(tensors, back))
    process.start()
    assert back.get(timeout=PATIENCE) == [5] * 260
    ended(process)


def test_simulated_devices_are_those_of_the_sender():
    vistorch.cuda.simulate(3)
    try:
        context = mp.get_context("spawn")
        back = context.Queue()
        process = context.Process(target=workers.on_devices, args=(vistorch.ones(2, device="cuda:2"), back))
        process.start()
        assert back.get(timeout=PATIENCE) == ("cuda:2", [2, 2])
        ended(process)
    finally:
        vistorch.cuda.simulate(None)


def test_a_subclass_of_process():
    x = vistorch.ones(2).share_memory_()
    process = workers.Doubles(x)
    process.start()
    ended(process)
    assert x.tolist() == [2, 2]


def test_descriptors_are_given_back():
    queue = mp.SimpleQueue()
    queue.put(vistorch.ones(2))  # the memory server starts
    queue.get()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        queue.put((vistorch.ones(3), vistorch.ones(1 << 19)))
        queue.get()
    assert len(os.listdir("/proc/self/fd")) == before


def test_everything_of_python_is_here():
    for name in multiprocessing.__all__:
        assert hasattr(mp, name) and name in mp.__all__, name
    assert mp.TimeoutError is multiprocessing.TimeoutError
    assert mp.get_all_start_methods() == multiprocessing.get_all_start_methods()
    assert mp.get_start_method() == multiprocessing.get_start_method()
    with pytest.raises(ValueError, match="cannot find context for 'none'"):
        mp.get_context("none")
    value = mp.Value("i", 3)
    assert value.value == 3 and isinstance(mp.Process(), multiprocessing.Process)
    assert mp.queue.Queue is multiprocessing.queues.Queue and issubclass(
        mp.pool.Pool, multiprocessing.pool.Pool
    )
