"""Samplers against torch's: orders, lengths, refusals, and what they draw from the default generator."""

import pytest

from tests.story import story

SAMPLERS = {
    "sequential": lambda S, g: S.SequentialSampler(range(7)),
    "random": lambda S, g: S.RandomSampler(range(50), generator=g),
    "random_fewer": lambda S, g: S.RandomSampler(range(50), num_samples=9, generator=g),
    "random_more": lambda S, g: S.RandomSampler(range(5), num_samples=17, generator=g),
    "random_exactly_twice": lambda S, g: S.RandomSampler(range(5), num_samples=10, generator=g),
    "replacement": lambda S, g: S.RandomSampler(range(50), replacement=True, generator=g),
    "replacement_blocks": lambda S, g: S.RandomSampler(range(50), True, 64, generator=g),
    "subset": lambda S, g: S.SubsetRandomSampler([5, 3, 8, 13], generator=g),
    "weighted": lambda S, g: S.WeightedRandomSampler([0.1, 5.0, 0.0, 2.0], 12, generator=g),
    "weighted_once": lambda S, g: S.WeightedRandomSampler([0.1, 5.0, 0.3, 2.0], 3, False, generator=g),
    "batches": lambda S, g: S.BatchSampler(S.RandomSampler(range(10), generator=g), 3, False),
    "whole_batches": lambda S, g: S.BatchSampler(S.RandomSampler(range(10), generator=g), 3, True),
    "even_batches": lambda S, g: S.BatchSampler(range(9), 3, True),
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("own", [True, False])
@story
def test_orders(L, report, name, own):
    generator = L.Generator().manual_seed(11) if own else None
    sampler = SAMPLERS[name](L.utils.data.sampler, generator)
    for _ in range(2):
        report(list(sampler), len(sampler))
        report(L.get_rng_state(), generator.get_state() if own else None)


@story
def test_an_order_that_is_left_has_drawn_no_more_than_it_needed(L, report):
    order = iter(L.utils.data.RandomSampler(range(50), replacement=True))
    report(L.get_rng_state(), next(order), L.get_rng_state())


@story
def test_refusals(L, report):
    S = L.utils.data
    report.raises(lambda: S.RandomSampler(range(3), replacement=1))
    report.raises(lambda: S.RandomSampler(range(3), num_samples=0))
    report.raises(lambda: S.RandomSampler(range(3), num_samples=1.5))
    report.raises(lambda: S.RandomSampler([]))
    report(len(S.RandomSampler(range(3), num_samples=True)))
    for count in (0, -1, 2.0, True):
        report.raises(lambda: S.WeightedRandomSampler([1.0], count))  # noqa: B023
        report.raises(lambda: S.BatchSampler(range(3), count, False))  # noqa: B023
    report.raises(lambda: S.WeightedRandomSampler([1.0], 1, replacement=1))
    report.raises(lambda: S.WeightedRandomSampler([[1.0, 2.0]], 1))
    report.raises(lambda: S.BatchSampler(range(3), 2, 1))
    report.raises(lambda: iter(S.Sampler()))
    report.raises(lambda: len(S.Sampler()))


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(("length", "replicas"), [(10, 3), (9, 3), (2, 5), (11, 4), (6, 4)])
@story
def test_distributed(L, report, length, replicas, shuffle, drop_last):
    for rank in range(replicas):
        try:
            sampler = L.utils.data.DistributedSampler(
                range(length), replicas, rank, shuffle=shuffle, seed=5, drop_last=drop_last
            )
            report(len(sampler), sampler.total_size, list(sampler))
            sampler.set_epoch(2)
            report(list(sampler))
        except Exception as error:
            report(type(error).__name__, str(error))
    report(L.get_rng_state())


@story
def test_distributed_refusals(L, report):
    S = L.utils.data
    report.raises(lambda: S.DistributedSampler(range(4), 2, 2))
    report.raises(lambda: S.DistributedSampler(range(4), 2, -1))
