"""Batches: collating, a loader in the main process, and one with workers.

A row's call is an epoch, but for collating. The harness counts the processor's time of its own process, so a row with
workers shows what the main process spends on them, not how long their work takes. The rows of CIFAR and of decoding are
timed by the wall's clock: what counts there is when the batches come.
"""

import functools
import importlib
import zlib

import numpy as np

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


def cifar(lib, n):
    """Images as torchvision's CIFAR-10 gives them, with its two usual transforms."""
    images = np.random.default_rng(0).integers(0, 256, (1024, 32, 32, 3), dtype=np.uint8)
    mean, deviation = lib.full((3, 1, 1), 0.5), lib.full((3, 1, 1), 0.25)

    class CIFAR(data_of(lib).Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            x = lib.from_numpy(images[i % 1024]).permute(2, 0, 1).contiguous().float().div(255)
            return x.sub(mean).div(deviation), i % 10

    return CIFAR()


def encoded(lib, n):
    """Images that have to be unpacked and brought to range, some milliseconds each."""
    grain = np.random.default_rng(0).integers(-3, 4, (16, 224, 224, 3)).cumsum(2).astype(np.uint8)
    packed = [zlib.compress(image.tobytes()) for image in grain]

    class Encoded(data_of(lib).Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            pixels = np.frombuffer(zlib.decompress(packed[i % 16]), np.uint8).reshape(224, 224, 3)
            return lib.from_numpy(pixels.transpose(2, 0, 1).astype(np.float32)).div(255), i % 10

    return Encoded()


def waited(dataset, n, batch, workers=WORKERS, persistent=True):
    """An epoch with workers by the wall's clock, or without any."""

    def prepare(lib):
        loader = data_of(lib).DataLoader(
            dataset(lib, n),
            batch_size=batch,
            num_workers=workers,
            persistent_workers=workers > 0 and persistent,
        )
        return functools.partial(epoch, loader)

    return prepare


for size, samples in ((4, 2_000), (128, 8_000)):
    for n in (0, WORKERS):
        add("loading", f"cifar_batches_of_{size}_workers_{n}", waited(cifar, samples, size, n), waits=True)
add(
    "loading",
    "decode-heavy, 2 workers against 0",
    waited(encoded, 256, 32),
    base=waited(encoded, 256, 32, workers=0),
    budget=0.625,
    waits=True,
)
add(
    "loading",
    "decode-heavy, 2 new workers against 0",
    waited(encoded, 512, 32, persistent=False),
    base=waited(encoded, 512, 32, workers=0),
    waits=True,
)
