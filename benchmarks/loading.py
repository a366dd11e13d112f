"""Batches: collating, a loader in the main process, and one with workers.

A row's call is an epoch, but for collating. The harness counts the processor's time of its own process, so a row with
workers shows what the main process spends on them, not how long their work takes.
"""

import functools
import importlib

from benchmarks.rows import add, row

WORKERS = 2


def data_of(lib):
    """The module of datasets and loaders."""
    return importlib.import_module(f"{lib.__name__}.utils.data")


def epoch(loader):
    """Go through a loader once."""
    for _ in loader:
        pass


def images_dataset(lib, n, shape):
    """A dataset as a user writes it: Python for each sample."""
    pool = [lib.randn(*shape) for _ in range(64)]

    class Images(data_of(lib).Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return pool[i % 64], i % 10

    return Images()


def collating(samples):
    def prepare(lib):
        batch = samples(lib)
        return functools.partial(data_of(lib).default_collate, batch)

    return prepare


add("loading", "collate_128_images", collating(lambda lib: [lib.randn(3, 32, 32) for _ in range(128)]))
add("loading", "collate_128_pairs", collating(lambda lib: [(lib.randn(28, 28), i) for i in range(128)]))
add(
    "loading",
    "collate_128_dicts",
    collating(lambda lib: [{"x": lib.randn(10), "y": 1.5} for _ in range(128)]),
)
add("loading", "collate_128_scalars", collating(lambda lib: [lib.tensor(float(i)) for i in range(128)]))


@row("loading")
def tensor_dataset_10k(lib):
    data = data_of(lib)
    dataset = data.TensorDataset(lib.randn(10_000, 3, 32, 32), lib.randint(0, 10, (10_000,)))
    return functools.partial(epoch, data.DataLoader(dataset, batch_size=128, shuffle=True))


@row("loading")
def random_split_of_tensors(lib):
    data = data_of(lib)
    dataset = data.TensorDataset(lib.randn(4_000, 784), lib.randint(0, 10, (4_000,)))
    part, _ = data.random_split(dataset, [0.8, 0.2])
    return functools.partial(epoch, data.DataLoader(part, batch_size=128, shuffle=True))


@row("loading")
def python_dataset(lib):
    dataset = images_dataset(lib, 4_000, (3, 32, 32))
    return functools.partial(epoch, data_of(lib).DataLoader(dataset, batch_size=128, shuffle=True))


def with_workers(n, shape, batch):
    def prepare(lib):
        dataset = images_dataset(lib, n, shape)
        loader = data_of(lib).DataLoader(
            dataset, batch_size=batch, num_workers=WORKERS, persistent_workers=True
        )
        return functools.partial(epoch, loader)

    return prepare


add("loading", "workers_small_batches", with_workers(640, (3, 32, 32), 16))
add("loading", "workers_large_batches", with_workers(640, (3, 112, 112), 64))


@row("loading")
def workers_start(lib):
    """Two workers started, one batch each, and sent away: what an epoch costs beside its batches."""
    dataset = images_dataset(lib, 32, (3, 32, 32))
    return functools.partial(epoch, data_of(lib).DataLoader(dataset, batch_size=16, num_workers=WORKERS))
