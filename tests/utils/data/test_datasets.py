"""Datasets against torch's."""

import pytest

import vistorch
from tests.story import story


def data_of(L):
    return L.utils.data


def samples(dataset):
    return [dataset[i] for i in range(len(dataset))]


@story
def test_a_dataset_without_items(L, report):
    D = data_of(L)
    report.raises(lambda: D.Dataset()[0])
    report.raises(lambda: len(D.Dataset()))
    report(D.Dataset[int] is not None, issubclass(D.IterableDataset, D.Dataset))
    report.raises(lambda: D.IterableDataset())


@story
def test_tensor_dataset(L, report):
    D = data_of(L)
    data = D.TensorDataset(L.arange(12.0).view(4, 3), L.arange(4))
    report(len(data), samples(data), data[-1], data[1:3], data[[0, 2]])
    report.raises(lambda: data[4])
    report.raises(lambda: D.TensorDataset(L.ones(3), L.ones(4)))
    report.raises(lambda: len(D.TensorDataset()))
    report(hasattr(data, "__getitems__"))


@story
def test_stack_dataset(L, report):
    D = data_of(L)
    tensors = D.TensorDataset(L.arange(3))
    by_place = D.StackDataset(tensors, [4, 5, 6])
    by_name = D.StackDataset(x=D.Subset([7, 8, 9, 10], [3, 2, 1]), y="abc")
    for data in (by_place, by_name):
        report(len(data), samples(data), data.__getitems__([2, 0]), data.__getitems__([]))
    report.raises(lambda: D.StackDataset())
    report.raises(lambda: D.StackDataset([1], y=[1]))
    report.raises(lambda: D.StackDataset([1], [1, 2]))
    report.raises(lambda: D.StackDataset(x=[1], y=[1, 2]))

    class Short(D.Dataset):
        def __len__(self):
            return 3

        def __getitems__(self, indices):
            return [0]

    report.raises(lambda: D.StackDataset(Short()).__getitems__([0, 1]))
    report.raises(lambda: D.StackDataset(x=Short()).__getitems__([0, 1]))


@story
def test_concat_dataset(L, report):
    D = data_of(L)
    both = D.ConcatDataset([D.TensorDataset(L.arange(2)), ["a", "b", "c"], [9]])
    report(len(both), samples(both), both[-1], both[-6], both.cumulative_sizes)
    report.raises(lambda: both[6])
    report.raises(lambda: both[-7])
    report.raises(lambda: D.ConcatDataset([]))
    report.raises(lambda: D.ConcatDataset([D.IterableDataset()]))
    report(report.warns(lambda: both.cummulative_sizes))
    added = D.TensorDataset(L.arange(2)) + D.TensorDataset(L.arange(3))
    report(type(added).__name__, added.cumulative_sizes, samples(added))


@story
def test_chain_dataset(L, report):
    D = data_of(L)

    class Count(D.IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

        def __len__(self):
            return self.n

    chain = Count(2) + Count(3)
    report(type(chain).__name__, list(chain), len(chain))
    report.raises(lambda: list(D.ChainDataset([[1]])))
    report.raises(lambda: len(D.ChainDataset([Count(2), [1]])))


@story
def test_subset(L, report):
    D = data_of(L)
    part = D.Subset(D.TensorDataset(L.arange(5) * 10), [4, 0, 2])
    report(len(part), samples(part), part[[0, 2]], part.__getitems__([1, 1]))
    report(D.Subset(part, [2, 1]).__getitems__([0, 1]))
    report.raises(lambda: part[3])

    class Half(D.Subset):
        def __getitem__(self, idx):
            return 0

    report.raises(lambda: Half([1], [0]))

    class Whole(Half):
        def __getitems__(self, indices):
            return [self[i] for i in indices]

    report(Whole([1], [0])[0])


@pytest.mark.parametrize(
    "lengths", [(7, 3), (0.7, 0.3), (0.5, 0.25, 0.25), (10,), (1.0,), (0, 10), (1 / 3,) * 3]
)
@story
def test_random_split(L, report, lengths):
    D = data_of(L)
    parts = report.warns(lambda: D.random_split(range(10), lengths))
    report([list(part) for part in parts], [part.indices for part in parts], L.get_rng_state())
    parts = report.warns(lambda: D.random_split(range(10), lengths, generator=L.Generator().manual_seed(3)))
    report([list(part) for part in parts])


@story
def test_random_split_refusals_and_warnings(L, report):
    D = data_of(L)
    report.raises(lambda: D.random_split(range(10), [3, 3]))
    report.raises(lambda: D.random_split(range(10), [-0.5, 1.5]))
    report.raises(lambda: D.random_split(range(10), [0.5, 0.6]))
    report([len(p) for p in report.warns(lambda: D.random_split(range(2), [0.4, 0.4, 0.2]))])


def test_names_and_modules_are_torchs():
    for name in ("dataset.Subset", "sampler.SubsetRandomSampler", "distributed.DistributedSampler"):
        module, attribute = name.split(".")
        found = getattr(getattr(vistorch.utils.data, module), attribute)
        assert found is getattr(vistorch.utils.data, attribute)
        assert found.__module__ == f"vistorch.utils.data.{module}"
    assert (
        vistorch.utils.data.dataloader.default_collate is vistorch.utils.data._utils.collate.default_collate
    )
    for name in vistorch.utils.data.__all__:
        assert hasattr(vistorch.utils.data, name)
