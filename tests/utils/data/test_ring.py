"""The memory that batches cross in: nothing that is still looked at is ever written over."""

import gc
import mmap
import os
import sys

import numpy as np
import pytest

import vistorch
from vistorch.utils.data import DataLoader, Dataset, TensorDataset, default_collate
from vistorch.utils.data._workers import pickle_buffers, ring, worker_main, worker_pool

pytestmark = [
    pytest.mark.skipif(not ring.supported(), reason="no memfd on this system"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def two_slots():
    made = ring.Ring(slots=2)
    yield made
    made.close()


def test_a_slot_is_busy_while_a_view_of_it_lives(two_slots):
    back = []
    assert two_slots.reserve(1, 1000)
    memory = two_slots.lease(1, 1000, back.append)
    view = memory[8:16].view(np.float32).reshape(2, 1).T
    del memory
    assert two_slots.busy(1) and not two_slots.busy(0) and back == []
    view[:] = 3
    del view
    assert not two_slots.busy(1) and back == [1]


def test_slots_do_not_overlap_and_grow_where_they_are(two_slots):
    for slot in (0, 1):
        assert two_slots.reserve(slot, 100)
    first, second = two_slots.lease(0, ring.STRIDE), two_slots.lease(1, 100)
    first[:100], second[:] = 1, 2
    assert two_slots.reserve(0, 5_000_000)
    first[100:5_000_000] = 3
    assert first[:100].tolist() == [1] * 100 and second.tolist() == [2] * 100
    assert not two_slots.reserve(0, ring.STRIDE + 1)
    del first, second


def test_growing_asks_for_what_is_new_alone(two_slots, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "posix_fallocate", lambda fd, at, size: asked.append((at, size)))
    for nbytes in (100, ring.STEP, ring.STEP + 1, 100):
        assert two_slots.reserve(1, nbytes)
    assert asked == [(ring.STRIDE, ring.STEP), (ring.STRIDE + ring.STEP, ring.STEP)]


def test_the_first_batch_of_a_slot_is_made_in_it():
    """Not in private memory, to be copied."""
    shared = ring.Ring(slots=1)
    bench = worker_main._Bench(shared)
    try:
        bench.open()
        made = bench.take((4, worker_main.DIRECT), np.dtype("u1"))
        made[:] = 7
        _, spans, _ = bench.give(b"", [made.reshape(-1)])
        assert spans == [(0, made.nbytes)] and bench.slot is None
        del made
    finally:
        bench.memory = None
        shared.close()


def test_memory_is_returned_but_not_what_is_on_lease(two_slots):
    def occupied():
        return os.fstat(two_slots.fd).st_blocks * 512

    for slot in (0, 1):
        two_slots.reserve(slot, 10 * ring.STEP)
    assert occupied() == 20 * ring.STEP
    held = two_slots.lease(1, 10)
    held[:] = 5
    two_slots.give_up()
    assert occupied() == 10 * ring.STEP
    two_slots.close()
    assert held.tolist() == [5] * 10


def test_no_memory_to_be_had(two_slots, monkeypatch):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    assert not two_slots.reserve(0, 100)


def test_buffers_that_lie_in_the_memory_stay_there():
    memory = np.zeros(4096, np.uint8)
    inside, outside = memory[64:128], np.full(100, 7, np.uint8)
    spans, at = pickle_buffers.lay(memory, 128, [outside, inside])
    assert spans == [(128, 228), (64, 128)] and at == 228
    assert memory[128:228].tolist() == [7] * 100 and not memory[:128].any()


def test_luggage_shares_memory_until_it_is_written_to():
    x = vistorch.arange(100_000.0)
    luggage = pickle_buffers.Luggage({"x": x, "view": x[10:20]}, shared=True)
    assert len(luggage.stream) < 5000
    fd = os.dup(luggage.fd)
    found = luggage.unpack()
    with mmap.mmap(fd, 0) as file:
        found["x"].add_(1)
        assert found["view"][0].item() == 11.0  # one memory, as it was
        assert np.frombuffer(file[:8], np.float32).tolist() == [0.0, 1.0]  # and not the file's
    os.close(fd)


class Gone(Exception):
    """Said by a batch whose values have changed."""


def numbered(n, size=100_000):
    class Numbered(Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return vistorch.full((size,), float(i)), vistorch.tensor(i)

    return Numbered()


@pytest.mark.parametrize("size", [10, 100_000])
def test_batches_that_are_kept_keep_their_values(size):
    kept = list(DataLoader(numbered(40, size), batch_size=2, num_workers=2))
    for i, (x, y) in enumerate(kept):
        assert y.tolist() == [2 * i, 2 * i + 1]
        assert (x.amin(1).tolist(), x.amax(1).tolist()) == ([2.0 * i, 2 * i + 1],) * 2


def test_batches_can_be_written_to():
    for i, (x, _) in enumerate(DataLoader(numbered(8), num_workers=1)):
        assert x[0, 0].item() == i
        x.fill_(-1)


def test_a_batch_outlives_its_loader():
    loader = DataLoader(numbered(8), num_workers=1, persistent_workers=True)
    x, _ = next(iter(loader))
    view = x.numpy()[0, :5]
    del loader, x
    gc.collect()
    assert view.tolist() == [0.0] * 5


def is_lent(t):
    """Whether a tensor's memory is a ring's."""
    address = t.data_ptr()
    with open("/proc/self/maps") as maps:
        for line in maps:
            low, _, high = line.split()[0].partition("-")
            if int(low, 16) <= address < int(high, 16):
                return "vistorch-ring" in line
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_arrays_are_lent_and_only_so_many():
    it = iter(DataLoader(numbered(10), batch_size=1, num_workers=1))
    x, y = next(it)
    assert is_lent(x) and not is_lent(y)
    assert x.untyped_storage().nbytes() == 400_000
    labels = [y]
    for _ in range(3):
        x, y = next(it)  # the last batch is let go: its slot comes round again
        labels.append(y)
        assert is_lent(x)
    kept = [x, *[next(it)[0] for _ in range(3)]]
    assert [is_lent(k) for k in kept] == [True] * worker_pool.LENDS + [False] * (4 - worker_pool.LENDS)


def test_small_arrays_are_not_lent():
    (batch,) = DataLoader(numbered(2, 10), batch_size=2, num_workers=1)
    assert not is_lent(batch[0])


def test_a_worker_that_keeps_what_it_sent():
    """Its memory belongs to a slot that comes back: the slot must wait until the worker has let go."""
    sent = []

    def keep(samples):
        batch = default_collate(samples)
        for i, (x, y) in enumerate(sent):
            if x[0, 0].item() != i or y[0].item() != i:
                raise Gone(i)
        sent.append(batch)
        return batch

    loader = DataLoader(numbered(12), batch_size=1, num_workers=1, collate_fn=keep)
    found = [x[0, 0].item() for x, _ in loader]  # each batch is dropped here at once
    assert found == [float(i) for i in range(12)]


def test_a_batch_that_is_sent_twice():
    def again(samples, made=[]):  # noqa: B006  the worker's memory from call to call
        if not made:
            made.append(default_collate(samples))
        return made[0]

    batches = list(DataLoader(numbered(6), batch_size=1, num_workers=1, collate_fn=again))
    batches[0][0].fill_(9)
    assert [x[0, 0].item() for x, _ in batches[1:]] == [0.0] * 5


def test_tensors_side_by_side_are_cut_into_the_slot():
    data = TensorDataset(vistorch.arange(400_000.0).view(40, 10_000), vistorch.arange(40))
    for persistent in (False, True):
        loader = DataLoader(data, batch_size=8, num_workers=1, persistent_workers=persistent)
        for _ in range(1 + persistent):
            for i, (x, y) in enumerate(loader):
                assert y.tolist() == list(range(8 * i, 8 * i + 8))
                assert x[:, 0].tolist() == [10_000.0 * k for k in y.tolist()]
                assert x[:, -1].tolist() == [10_000.0 * k + 9_999 for k in y.tolist()]


def test_batches_of_growing_size():
    sizes = [10, 30_000, 20, 500_000, 70_000, 1_000_000, 5]

    class Growing(Dataset):
        def __len__(self):
            return len(sizes)

        def __getitem__(self, i):
            return vistorch.full((sizes[i],), float(i)), np.full(sizes[-i - 1], i)

    for i, (x, a) in enumerate(DataLoader(Growing(), batch_size=None, num_workers=1, prefetch_factor=1)):
        assert (x == i).all() and (a == i).all() and len(x) == sizes[i] and len(a) == sizes[-i - 1]


@pytest.mark.parametrize("lacking", ["memfd", "space"])
def test_without_shared_memory_batches_go_through_the_pipe(monkeypatch, lacking):
    if lacking == "memfd":
        monkeypatch.setattr(ring, "supported", lambda: False)
    else:

        def refuse(*args, **kwargs):
            raise OSError(12, "Cannot allocate memory")

        monkeypatch.setattr(ring.mmap, "mmap", refuse)
    data = numbered(6) if lacking == "memfd" else numbered(6, 1000)
    for i, (x, _) in enumerate(DataLoader(data, num_workers=2)):
        assert not is_lent(x) and (x == i).all()
        x.add_(1)


def test_a_bench_without_a_free_slot_offers_nothing():
    bench = worker_main._Bench(None)
    bench.open()
    assert bench.take((1000, 1000), np.dtype("f4")) is None and bench.give(b"", []) is None
    bench.close()
