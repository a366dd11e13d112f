"""What is long costs nothing until it is drawn: the first batch comes at once and memory stays flat."""

import itertools
import time
import tracemalloc

import pytest

import vistorch
from tests.story import story
from vistorch.utils import data
from vistorch.utils.data import sampler as samplers

HUGE = 10**10
ODDS = [0.1, 5.0, 0.0, 2.0]


def seeded():
    return vistorch.Generator().manual_seed(3)


FIRST = {
    "sequential": lambda: data.SequentialSampler(range(HUGE)),
    "random": lambda: data.RandomSampler(range(HUGE)),
    "random_of_a_generator": lambda: data.RandomSampler(range(HUGE), generator=seeded()),
    "random_fewer": lambda: data.RandomSampler(range(HUGE), num_samples=10**9),
    "random_rounds": lambda: data.RandomSampler(range(5), num_samples=HUGE),
    "replacement": lambda: data.RandomSampler(range(HUGE), replacement=True),
    "replacement_of_few": lambda: data.RandomSampler(range(5), replacement=True, num_samples=HUGE),
    "replacement_of_a_generator": lambda: data.RandomSampler(range(5), True, HUGE, seeded()),
    "subset": lambda: data.SubsetRandomSampler(range(HUGE)),
    "weighted": lambda: data.WeightedRandomSampler(ODDS, HUGE),
    "batches": lambda: data.BatchSampler(data.RandomSampler(range(HUGE)), 64, True),
    "distributed": lambda: data.DistributedSampler(range(HUGE), 3, 1),
    "distributed_in_order": lambda: data.DistributedSampler(range(HUGE), 3, 1, shuffle=False),
    "loader": lambda: data.DataLoader(range(HUGE), batch_size=64),
    "loader_shuffled": lambda: data.DataLoader(range(HUGE), batch_size=64, shuffle=True),
    "loader_of_a_subset": lambda: data.DataLoader(data.Subset(range(HUGE), range(HUGE)), shuffle=True),
    "loader_of_parts": lambda: data.DataLoader(data.ConcatDataset([range(HUGE)] * 3), shuffle=True),
    "loader_of_pairs": lambda: data.DataLoader(data.StackDataset(range(HUGE), range(HUGE)), shuffle=True),
    "loader_of_a_sampler": lambda: data.DataLoader(
        range(5), batch_size=8, sampler=data.RandomSampler(range(5), replacement=True, num_samples=HUGE)
    ),
}


@pytest.mark.parametrize("name", FIRST)
def test_the_first_batch_comes_at_once(name):
    list(itertools.islice(FIRST[name](), 1))  # what is imported and compiled the first time is not measured
    tracemalloc.start()
    try:
        began = time.process_time()
        sampler = FIRST[name]()
        assert len(sampler) >= 10**8
        got = list(itertools.islice(sampler, 3))
        seconds = time.process_time() - began
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(got) == 3
    assert seconds < 0.5, f"{seconds:.2f} s"
    assert most < 4e6, f"{most / 1e6:.1f} MB"


def test_memory_stays_flat_as_batches_are_drawn():
    for name in ("replacement_of_few", "random_rounds", "weighted", "sequential", "distributed_in_order"):
        keys = iter(FIRST[name]())
        next(keys)
        tracemalloc.start()
        try:
            for _ in itertools.islice(keys, 50_000):
                pass
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < 1e6, f"{name}: {most / 1e6:.1f} MB"


def test_workers_get_tasks_as_they_are_drawn():
    sampler = data.RandomSampler(range(5), replacement=True, num_samples=HUGE)
    began = time.monotonic()
    batches = iter(data.DataLoader(range(5), batch_size=8, sampler=sampler, num_workers=1))
    assert [next(batches).shape for _ in range(3)] == [(8,)] * 3
    assert time.monotonic() - began < 30
    assert len(batches) == HUGE // 8


LONG = samplers.LAZY_FROM + 5
LONG_ORDERS = {
    "random": lambda S, g: S.RandomSampler(range(LONG), generator=g),
    "random_rounds": lambda S, g: S.RandomSampler(range(LONG), num_samples=2 * LONG + 3, generator=g),
    "subset": lambda S, g: S.SubsetRandomSampler(range(7, 7 + LONG), generator=g),
    "weighted": lambda S, g: S.WeightedRandomSampler(ODDS, LONG, generator=g),
}


@pytest.mark.parametrize("name", LONG_ORDERS)
@pytest.mark.parametrize("own", [True, False])
@story
def test_a_long_order_is_pytorchs_to_the_end_and_its_generator_too(L, report, name, own):
    L.manual_seed(5)
    generator = L.Generator().manual_seed(11) if own else None
    keys = iter(LONG_ORDERS[name](L.utils.data.sampler, generator))
    report(list(itertools.islice(keys, 4)))
    # what others draw between two batches neither changes the order nor differs itself
    report(L.rand(3), L.rand(2, generator=generator))
    report(hash(tuple(keys)), L.get_rng_state(), generator.get_state() if own else None)


@story
def test_a_long_distributed_order(L, report):
    for drop_last in (True, False):
        sampler = L.utils.data.DistributedSampler(range(LONG), 4, 2, seed=5, drop_last=drop_last)
        report(hash(tuple(sampler)), len(sampler))


@pytest.mark.parametrize("n", [0, 1, 2, 1024, 1025, 1026, 3000])
def test_an_order_in_parts_is_the_order_at_once(n):
    from vistorch.engine.kernels.sampling_integers import permuted

    one, other = seeded(), seeded()
    one.words(1)
    other.words(1)  # parts need not begin at the border of a block
    assert list(permuted(one, n)) == vistorch.randperm(n, generator=other).tolist()
    assert one.get_state().equal(other.get_state())
