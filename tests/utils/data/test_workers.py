"""DataLoader with workers, against torch's: the same batches, order, seeds and words."""

import multiprocessing
import multiprocessing.heap
import os
import random
import re
import sys
import threading
import time
import types

import cloudpickle
import numpy as np
import pytest

import vistorch
from tests.story import story
from tests.utils.data.things import Pair, TwoArguments

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),  # on a machine with one processor
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded"),  # torch forks
    pytest.mark.timeout(120),
]


def squares(L, n=10):
    class Squares(L.utils.data.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return L.full((2,), float(i * i)), i

    return Squares()


CHOICES = {
    "batches": {"batch_size": 4, "num_workers": 2},
    "one_worker": {"batch_size": 3, "num_workers": 1, "shuffle": True},
    "shuffled": {"batch_size": 3, "shuffle": True, "num_workers": 2},
    "no_batches": {"batch_size": None, "num_workers": 2, "sampler": [3, 1, 4, 1]},
    "batch_sampler": {"batch_sampler": [[3, 1], [4], [1, 5, 9]], "num_workers": 2},
    "far_ahead": {"batch_size": 2, "num_workers": 2, "prefetch_factor": 5},
    "nothing_to_do": {"batch_sampler": [], "num_workers": 2},
    "stays": {"batch_size": 4, "num_workers": 2, "persistent_workers": True, "shuffle": True},
    "fork": {"batch_size": 4, "num_workers": 2, "multiprocessing_context": "fork"},
}


@pytest.mark.parametrize("name", CHOICES)
@story
def test_batches(L, report, name):
    loader = L.utils.data.DataLoader(squares(L), **CHOICES[name])
    for _ in range(2):
        report(list(loader), L.get_rng_state())


@story
def test_random_numbers_of_workers(L, report):
    class Draws(L.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            info = L.utils.data.get_worker_info()
            return info.id, info.num_workers, info.seed, L.rand(2), random.random(), np.random.rand(2)

    for persistent in (False, True):
        loader = L.utils.data.DataLoader(Draws(), num_workers=2, persistent_workers=persistent)
        report(list(loader), list(loader), L.get_rng_state())
    generator = L.Generator().manual_seed(2**40 + 5)
    report(list(L.utils.data.DataLoader(Draws(), num_workers=1, generator=generator)), generator.get_state())


def stream(L, lengths):
    class Stream(L.utils.data.IterableDataset):
        def __iter__(self):
            info = L.utils.data.get_worker_info()
            return iter([(info.id, i) for i in range(lengths[info.id])])

    return Stream()


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("lengths", [(5, 5), (1, 7), (9, 0), (0, 0)])
@story
def test_streams(L, report, lengths, persistent):
    for options in ({"batch_size": 2}, {"batch_size": 2, "drop_last": True}, {"batch_size": None}):
        loader = L.utils.data.DataLoader(
            stream(L, lengths), num_workers=2, persistent_workers=persistent, **options
        )
        for _ in range(1 + persistent):
            report(list(loader))


@story
def test_a_stream_longer_than_it_says(L, report):
    class Said(type(stream(L, None))):
        def __len__(self):
            return 3

        def __iter__(self):
            return iter(range(3))

        def __repr__(self):
            return "Said"

    loader = L.utils.data.DataLoader(Said(), num_workers=2)
    report(len(loader), report.warns(lambda: list(loader)))


@story
def test_any_order(L, report):
    loader = L.utils.data.DataLoader(squares(L, 20), batch_size=3, num_workers=2, in_order=False)
    found = sorted(y.tolist() for _, y in loader)
    report(found, L.get_rng_state())


def test_any_order_does_not_wait_for_the_slow_one(tmp_path):
    gate = os.fspath(tmp_path / "gate")

    class Slow(vistorch.utils.data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            while i == 0 and not os.path.exists(gate):  # the first waits until all others have come
                threading.Event().wait(0.01)
            return i

    loader = vistorch.utils.data.DataLoader(Slow(), num_workers=2, in_order=False, batch_size=None)
    found = []
    for i in loader:
        found.append(i)
        if len(found) == 4:  # the other worker had its share: one more was sent to the slow one
            open(gate, "w").close()
    assert sorted(found) == [0, 1, 2, 3, 4, 5]
    assert 0 not in found[:4]


def failing(L, error):
    class Failing(L.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            if i == 1:
                raise error
            return i

    return Failing()


def frames_gone(text):
    """A worker's text without the frames of the library."""
    return re.sub(r'  File "(?:.|\n)*?(?=\n\S)', "", str(text)).replace("\n\n", "\n")


@pytest.mark.parametrize(
    "error", [ValueError("one"), KeyError("one"), StopIteration("one"), TwoArguments(1, 2)], ids=repr
)
@story
def test_errors(L, report, error):
    it = iter(L.utils.data.DataLoader(failing(L, error), num_workers=2))
    report(next(it))
    with pytest.raises(Exception) as caught:
        next(it)
    report(type(caught.value).__name__, frames_gone(caught.value))
    report(list(it))  # it goes on with the next


def test_an_error_names_the_line():
    loader = vistorch.utils.data.DataLoader(failing(vistorch, ValueError("one")), num_workers=1, batch_size=2)
    with pytest.raises(ValueError) as caught:
        list(loader)
    assert str(caught.value).startswith(
        "Caught ValueError in DataLoader worker process 0.\nOriginal Traceback "
    )
    assert "raise error" in str(caught.value) and "test_workers.py" in str(caught.value)


def test_errors_before_the_first_sample():
    D = vistorch.utils.data

    def bad(worker):
        raise ValueError(f"worker {worker}")

    class Refuses(D.IterableDataset):
        def __iter__(self):
            raise KeyError("not today")

    for loader, kind, words in (
        (
            D.DataLoader(squares(vistorch), num_workers=1, worker_init_fn=bad),
            ValueError,
            "ValueError: worker 0",
        ),
        (D.DataLoader(Refuses(), num_workers=1), KeyError, "KeyError: 'not today'"),
    ):
        it = iter(loader)
        for _ in range(2):  # each task has the same answer
            with pytest.raises(kind) as caught:
                next(it)
            assert str(caught.value).startswith(f"Caught {kind.__name__} in DataLoader worker process 0.\n")
            assert str(caught.value).rstrip().endswith(words)


@story
def test_worker_init_fn(L, report):
    def mark(worker):
        info = L.utils.data.get_worker_info()
        info.dataset.mark = worker * 10
        try:
            info.id = 5
        except AttributeError as error:
            info.dataset.refused = type(error).__name__

    class Marked(L.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return self.mark, self.refused

    data = Marked()
    report(list(L.utils.data.DataLoader(data, num_workers=2, worker_init_fn=mark)), hasattr(data, "mark"))


@story
def test_all_kinds_of_batches_cross(L, report):
    weight = L.nn.Parameter(L.ones(3))
    batches = [
        L.arange(6.0).view(2, 3),
        L.arange(6).view(2, 3).t(),
        L.tensor(3.5),
        L.ones(0, 4),
        L.ones(5, dtype=L.bfloat16),
        L.ones(3, dtype=L.bool),
        L.ones(3, dtype=L.complex64),
        L.ones(200, 300),
        L.ones(2, requires_grad=True),
        weight,
        np.arange(5000.0).reshape(50, 100),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["a", "b"]),
        np.array([1, None], dtype=object),
        np.float32(2),
        Pair(L.ones(2), ["a"]),
        {"a": [L.ones(2), (1, "x")], "b": None},
        "text",
        [],
        None,
    ]

    class Given(L.utils.data.Dataset):
        def __len__(self):
            return len(batches)

        def __getitem__(self, i):
            return batches[i]

    for x in L.utils.data.DataLoader(Given(), num_workers=1, batch_size=None, collate_fn=lambda x: x):
        report(x)
        if isinstance(x, (L.Tensor, np.ndarray)):
            report(type(x).__name__, str(x.dtype).split(".")[-1])
        if isinstance(x, L.Tensor) and not x.requires_grad and x.is_floating_point():
            x.add_(1)  # it can be written to
            report(x)


def test_what_is_local_comes_back_as_itself():
    """Not as a class that only looks the same: neither what is in a batch nor an exception."""

    class Box:
        def __init__(self, items):
            self.items = items

    class Full(Exception):
        pass

    def boxed(batch):
        if 3 in batch:
            raise Full("three")
        return Box(batch)

    it = iter(vistorch.utils.data.DataLoader([1, 2, 3], num_workers=1, collate_fn=boxed))
    assert [type(next(it)), next(it).items] == [Box, [2]]
    with pytest.raises(Full, match="three"):
        next(it)


def test_a_module_that_only_this_process_has(monkeypatch):
    """What `exec` or a test runner made is no file that a worker could import."""
    made = types.ModuleType("made_on_the_fly")
    code = """
import vistorch
factor = 3
def triple(x):
    return x * factor
class Data(vistorch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return triple(i)
"""
    exec(code, vars(made))
    monkeypatch.setitem(sys.modules, "made_on_the_fly", made)
    loader = vistorch.utils.data.DataLoader(made.Data(), num_workers=1, batch_size=2)
    assert [x.tolist() for x in loader] == [[0, 3]]
    assert not cloudpickle.list_registry_pickle_by_value()


def test_what_cannot_cross_is_an_error():
    def locked(batch):
        return threading.Lock()

    def grown(batch):
        return vistorch.ones(2, requires_grad=True) * 2

    for collate_fn, kind, words in (
        (locked, TypeError, "cannot pickle '_thread.lock' object"),
        (grown, RuntimeError, "Cowardly refusing to serialize non-leaf tensor which requires_grad"),
    ):
        loader = vistorch.utils.data.DataLoader([1, 2], num_workers=1, collate_fn=collate_fn)
        with pytest.raises(kind, match=words):
            list(loader)


def test_a_dataset_that_cannot_be_sent():
    class Locked(vistorch.utils.data.Dataset):
        def __init__(self):
            self.lock = threading.Lock()

        def __len__(self):
            return 2

        def __getitem__(self, i):
            with self.lock:
                return i

    for context in ("forkserver", "spawn"):
        loader = vistorch.utils.data.DataLoader(Locked(), num_workers=1, multiprocessing_context=context)
        with (
            pytest.warns(UserWarning, match="Got pickle error"),
            pytest.raises(TypeError, match="cannot pickle"),
        ):
            iter(loader)
    with pytest.warns(
        UserWarning, match=r"cannot be sent to other processes \(cannot pickle .*\)\. They are made as forks"
    ):
        assert [x.item() for x in vistorch.utils.data.DataLoader(Locked(), num_workers=1)] == [0, 1]
    loader = vistorch.utils.data.DataLoader(Locked(), num_workers=1, multiprocessing_context="fork")
    assert [x.item() for x in loader] == [0, 1]


@pytest.mark.parametrize(
    ("context", "kind"),
    [
        (None, "fork"),
        (None, "forkserver"),
        ("fork", "fork"),
        ("forkserver", "forkserver"),
        ("spawn", "spawn"),
    ],
)
def test_what_is_shared_stays_shared(context, kind, monkeypatch):
    # The memory of `Value` would stay in this process for good, and other tests look at what is shared.
    monkeypatch.setattr(multiprocessing.heap.BufferWrapper, "_heap", multiprocessing.heap.Heap())
    counter = vistorch.zeros(2).share_memory_()
    private = vistorch.zeros(2)
    kinds = multiprocessing.get_context(kind)
    value = kinds.Value("i", 0)

    class Counts(vistorch.utils.data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            with value.get_lock():
                value.value += 1
                counter[0] += 1
                private[0] += 1
            return i

    loader = vistorch.utils.data.DataLoader(Counts(), num_workers=2, multiprocessing_context=context)
    assert sorted(i.item() for i in loader) == list(range(6))
    assert (value.value, counter[0].item(), private[0].item()) == (6, 6.0, 0.0)


def test_a_shared_tensor_alone_needs_no_fork():
    flag = vistorch.zeros(6).share_memory_()
    big = vistorch.arange(100_000.0)

    class Sees(vistorch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            flag[2 + i] += 1  # its own: two workers that add to one lose a turn
            return os.getppid(), big[-1].item(), flag[1].item()

    loader = vistorch.utils.data.DataLoader(
        Sees(), batch_size=None, num_workers=2, persistent_workers=True, prefetch_factor=1
    )
    first = list(loader)
    flag[1] = 7
    assert {parent for parent, _, _ in first} == set(servers())
    assert [seen for _, _, seen in loader] == [7.0] * 4 and flag[2:].tolist() == [2.0] * 4


def servers():
    from vistorch.utils.data._workers import launch

    return [server._forkserver_pid for server in launch._servers.values()]


@pytest.mark.parametrize("context", ["spawn", "forkserver", None])
def test_ways_to_start(context):
    seen = {}

    class Where(vistorch.utils.data.Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, i):
            import multiprocessing

            threads = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 0
            return {
                "name": multiprocessing.current_process().name,
                "daemon": multiprocessing.current_process().daemon,
                "omp": os.environ["OMP_NUM_THREADS"],
                "mine": os.environ.get("VISTORCH_TEST_OWN"),
                "cwd": os.getcwd(),
                "cuda": vistorch.cuda.is_available(),
                "threads": threads,
            }

    os.environ["VISTORCH_TEST_OWN"] = "yes"  # set after our server was started
    try:
        loader = vistorch.utils.data.DataLoader(
            Where(), batch_size=None, num_workers=1, multiprocessing_context=context
        )
        (seen,) = loader
    finally:
        del os.environ["VISTORCH_TEST_OWN"]
    assert seen["name"] == "DataLoader worker 0" and seen["daemon"] and seen["omp"] == "1"
    assert seen["mine"] == "yes" and seen["cwd"] == os.getcwd() and not seen["cuda"]
    assert seen["threads"] <= 2  # the worker, and the thread that reads its orders


def test_workers_are_at_work_at_the_same_time(tmp_path):
    """Each sample waits for one that only the other worker can be making meanwhile."""

    class Meets(vistorch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            (tmp_path / str(i)).touch()
            deadline = time.monotonic() + 30
            while not (tmp_path / str(i ^ 1)).exists():
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.001)
            return True

    assert all(batch.item() for batch in vistorch.utils.data.DataLoader(Meets(), num_workers=2))


def test_the_server_of_workers_starts_with_the_loader(monkeypatch):
    """So that it is there when the first epoch begins; a loader that has no use for it starts none."""
    from vistorch.utils.data._workers import launch

    if not launch.has_server():
        return
    monkeypatch.setattr(launch, "_servers", {})
    vistorch.utils.data.DataLoader([1])
    vistorch.utils.data.DataLoader([1], num_workers=1, multiprocessing_context="fork")
    assert not launch._servers
    loader = vistorch.utils.data.DataLoader([1], num_workers=1)
    (server,) = launch._servers.values()
    pid = server._forkserver_pid
    try:
        assert pid is not None and next(iter(loader)).item() == 1
        assert [s._forkserver_pid for s in launch._servers.values()] == [pid]
    finally:
        server._stop()


def test_workers_find_onednn_opened_and_switched_off_where_it_was_since(monkeypatch):
    def state(batch):
        from vistorch.engine.kernels.fast.switch import onednn  # the worker's own

        return onednn.tried, onednn.on

    def of_a_worker():
        (found,) = vistorch.utils.data.DataLoader([1], num_workers=1, collate_fn=state)
        return found

    monkeypatch.delenv("VISTORCH_ONEDNN", raising=False)
    tried, on = of_a_worker()
    monkeypatch.setenv("VISTORCH_ONEDNN", "off")
    assert tried and of_a_worker() == (True, False)
    assert on or not vistorch.backends.mkldnn.is_available()


def test_numerical_libraries_have_one_thread(monkeypatch):
    """Under fork they are loaded already, with as many threads as the main process has."""
    import ctypes

    stem = "openblas_get_num_threads"
    getters = [before + stem + after for before in ("scipy_", "") for after in ("64_", "")]

    def threads_of(batch):
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "openblas" in line}
        found = []
        for path in paths:
            library = ctypes.CDLL(path)
            for getter in getters:
                if hasattr(library, getter):
                    found.append(getattr(library, getter)())
        return found

    if not os.path.exists("/proc/self/maps") or not threads_of(None):
        return  # another library, or another system
    for context in ("fork", None):
        loader = vistorch.utils.data.DataLoader(
            [1], num_workers=1, collate_fn=threads_of, multiprocessing_context=context
        )
        assert all(set(found) == {1} for found in loader)


def test_the_copy_of_a_dataset_is_a_workers_own():
    x = vistorch.zeros(100_000)

    class Writes(vistorch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            x.add_(1)
            return x[0].item()

    found = list(vistorch.utils.data.DataLoader(Writes(), batch_size=None, num_workers=2))
    assert found == [1.0, 1.0, 2.0, 2.0]
    assert x[0].item() == 0.0
