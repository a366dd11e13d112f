"""DataLoader in the main process, against torch's: batches, order, the numbers it draws, its words."""

import gc
import pickle

import numpy as np
import pytest

import vistorch
from tests.story import story
from vistorch.engine.base.events import Listener
from vistorch.utils.data._utils import fetch


def squares(L, n=10):
    class Squares(L.utils.data.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return L.full((2,), float(i * i)), i

    return Squares()


def count(L, n, said=None):
    class Count(L.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(n))

        def __repr__(self):
            return "Count"

    class Sized(Count):
        def __len__(self):
            return said

    return Count() if said is None else Sized()


CHOICES = {
    "plain": {},
    "batches": {"batch_size": 4},
    "whole": {"batch_size": 4, "drop_last": True},
    "shuffled": {"batch_size": 3, "shuffle": True},
    "not_shuffled": {"batch_size": 3, "shuffle": False},
    "no_batches": {"batch_size": None},
    "no_batches_shuffled": {"batch_size": None, "shuffle": True},
    "sampler": {"sampler": [3, 1, 4], "batch_size": 2},
    "batch_sampler": {"batch_sampler": [[3, 1], [4], [1, 5, 9]]},
    "collate": {"batch_size": 5, "collate_fn": len},
}


@pytest.mark.parametrize("name", CHOICES)
@story
def test_batches(L, report, name):
    loader = L.utils.data.DataLoader(squares(L), **CHOICES[name])
    report(len(loader), loader.batch_size, loader.drop_last, loader._auto_collation)
    for _ in range(2):
        report(list(loader), L.get_rng_state())


@pytest.mark.parametrize("name", CHOICES)
@story
def test_tensors_side_by_side(L, report, name):
    data = L.utils.data.TensorDataset(L.arange(40.0).view(10, 2, 2).transpose(1, 2), L.arange(10))
    half = L.utils.data.Subset(data, [9, -8, 7, 6, 5, 4, 3, 2, 1, 0])
    for dataset in (data, half, L.utils.data.Subset(half, range(10))):
        report(list(L.utils.data.DataLoader(dataset, **CHOICES[name])), L.get_rng_state())


@story
def test_a_generator_of_ones_own(L, report):
    generator = L.Generator().manual_seed(7)
    loader = L.utils.data.DataLoader(squares(L), batch_size=4, shuffle=True, generator=generator)
    report([y for _, y in loader], generator.get_state(), L.get_rng_state())
    it = iter(loader)
    report(generator.get_state(), next(it), generator.get_state(), [y for _, y in it])


@story
def test_indices_that_are_no_plain_ints(L, report):
    data = L.utils.data.TensorDataset(L.arange(6.0).view(3, 2))
    for indices in (
        [True, False],
        [np.int64(2), np.int64(0)],
        [L.tensor(1)],
        [-1, 0],
        [slice(0, 2)],
        [3],
        [-4],
        [],
        (2, 1),
    ):
        loader = L.utils.data.DataLoader(data, batch_sampler=[indices])
        try:
            report(list(loader))
        except Exception as error:
            report(type(error).__name__, str(error))


@story
def test_what_the_shortcut_must_not_take(L, report):
    D = L.utils.data

    class Doubled(D.TensorDataset):
        def __getitem__(self, i):
            return tuple(t * 2 for t in super().__getitem__(i))

    class Items(D.TensorDataset):
        def __getitems__(self, indices):
            return [(L.tensor(7),) for _ in indices]

    class Part(D.Subset):
        def __getitem__(self, i):
            return -1

        def __getitems__(self, indices):
            return [-1 for _ in indices]

    x = L.arange(4.0)
    for data in (Doubled(x), Items(x), Part(D.TensorDataset(x), [0, 1, 2, 3]), D.Subset([5, 6, 7], [2, 1])):
        report(list(D.DataLoader(data, batch_size=2)))
    report(
        next(iter(D.DataLoader(D.TensorDataset(L.ones(3, requires_grad=True)), batch_size=2)))[
            0
        ].grad_fn.name()
    )
    report(list(D.DataLoader(D.TensorDataset(x), batch_size=2, collate_fn=lambda batch: batch)))


def test_the_shortcut_is_taken_and_copies(monkeypatch):
    asked = []
    monkeypatch.setattr(vistorch.utils.data.TensorDataset, "__len__", lambda self: 4)
    x = vistorch.arange(4.0)
    data = vistorch.utils.data.TensorDataset(x)
    found = fetch._cut(data, [1, 2])
    assert found is not None and found[0].tolist() == [1.0, 2.0]
    found[0].zero_()
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]

    class Asks(Listener):
        def op(self, rule, ins, consts, outs):
            asked.append(rule.name)

    with Asks():  # a listener gets the ops
        list(vistorch.utils.data.DataLoader(data, batch_size=4))
    assert "stack" in asked


@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 2}, {"batch_size": 2, "drop_last": True}, {"batch_size": None}]
)
@story
def test_streams(L, report, options):
    for said in (None, 5, 3):
        loader = L.utils.data.DataLoader(count(L, 5, said), **options)
        report.raises(lambda: len(loader))  # noqa: B023
        report(report.warns(lambda: list(loader)))  # noqa: B023
        report(L.get_rng_state())


REFUSED = [
    {"num_workers": -1},
    {"timeout": -1},
    {"prefetch_factor": 2},
    {"prefetch_factor": -1, "num_workers": 1},
    {"persistent_workers": True},
    {"sampler": [1], "shuffle": True},
    {"batch_sampler": [[1]], "batch_size": 2},
    {"batch_sampler": [[1]], "shuffle": True},
    {"batch_sampler": [[1]], "sampler": [1]},
    {"batch_sampler": [[1]], "drop_last": True},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0},
    {"batch_size": 1.5},
    {"drop_last": 1},
    {"multiprocessing_context": "fork"},
    {"multiprocessing_context": "teleport", "num_workers": 1},
    {"multiprocessing_context": 3, "num_workers": 1},
]


@pytest.mark.parametrize("options", REFUSED, ids=str)
@story
def test_refusals(L, report, options):
    report.raises(lambda: L.utils.data.DataLoader(range(4), **options))


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}], ids=str)
@story
def test_refusals_for_streams(L, report, options):
    report.raises(lambda: L.utils.data.DataLoader(count(L, 3), **options))


@story
def test_what_may_be_set_later(L, report):
    loader = L.utils.data.DataLoader(squares(L), batch_size=4)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        report.raises(lambda: setattr(loader, name, None))  # noqa: B023
    loader.collate_fn = len
    report(list(loader))
    report.raises(lambda: setattr(loader, "multiprocessing_context", "fork"))
    report(sorted(n for n in vars(loader) if not n.startswith("_")), loader.multiprocessing_context)
    report(L.utils.data.DataLoader[int] is not None)


@story
def test_warnings(L, report):
    report(report.warns(lambda: L.utils.data.DataLoader(range(3), num_workers=500)).num_workers)
    loader = L.utils.data.DataLoader([1, 2], pin_memory=True)
    report(report.warns(lambda: list(loader)))
    loader = L.utils.data.DataLoader([1, 2], pin_memory=True, pin_memory_device="cuda")
    report(report.warns(lambda: list(loader)))


@story
def test_iterators(L, report):
    loader = L.utils.data.DataLoader(squares(L, 4), batch_size=2)
    a, b = iter(loader), iter(loader)
    report(next(a), next(b), next(a), len(a), iter(a) is a)
    report.raises(lambda: next(a))
    report.raises(lambda: next(a))
    report(next(b))
    report.raises(lambda: pickle.dumps(b))
    report(L.utils.data.get_worker_info())


@story
def test_an_error_in_the_dataset_is_the_users(L, report):
    class Bad(L.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            if i == 1:
                raise KeyError("one")
            return i

    it = iter(L.utils.data.DataLoader(Bad(), batch_size=2))
    report.raises(lambda: next(it))
    report(next(it))


class Phases(Listener):
    """The events of loaders."""

    def __init__(self):
        self.seen = []

    def phase(self, name, subject, *details):
        if name.startswith("loader"):
            self.seen.append((name, subject))


def test_a_watch_sees_epochs():
    loader = vistorch.utils.data.DataLoader([1, 2, 3])
    epoch = [("loader", loader), ("loader_end", loader)]
    with Phases() as received:
        for _ in loader:
            assert received.seen == epoch[:1]
        assert received.seen == epoch
        for _ in loader:
            break
        gc.collect()
        assert received.seen == epoch * 2
        for _ in vistorch.utils.data.DataLoader([1]):  # nothing but the iterator holds this loader
            pass
        assert [name for name, _ in received.seen[4:]] == ["loader", "loader_end"] and received.seen[5][
            1
        ] is not None
        left = iter(loader)
    seen = len(received.seen)
    del left
    assert len(received.seen) == seen


def test_pinning_keeps_the_structure():
    vistorch.cuda.simulate(1)
    try:
        loader = vistorch.utils.data.DataLoader([{"x": vistorch.ones(2), "n": "a"}], pin_memory=True)
        (batch,) = loader
    finally:
        vistorch.cuda.simulate(None)
    assert batch["x"].tolist() == [[1.0, 1.0]] and batch["n"] == ["a"]
