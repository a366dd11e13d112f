"""MNIST and the like from files of the genuine form, made here and served by this machine."""

import gzip
import hashlib
import os
import struct

import numpy as np
import pytest

import vistorch
from vistorch.vision.datasets import KMNIST, MNIST, FashionMNIST
from vistorch.vision.datasets.fetching import Unreachable
from vistorch.vision.datasets.idx import (
    read_idx,
    read_image_file,
    read_label_file,
    read_sn3_pascalvincent_tensor,
)

KINDS = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def idx(array, kind=8):
    """An idx file."""
    return (
        struct.pack(f">BBBB{array.ndim}I", 0, 0, kind, array.ndim, *array.shape)
        + array.astype(KINDS[kind]).tobytes()
    )


def split(seed, count):
    chance = np.random.default_rng(seed)
    return chance.integers(0, 256, (count, 28, 28), np.uint8), chance.integers(0, 10, count, np.uint8)


TRAIN, TEST = split(0, 12), split(1, 5)
FILES = {
    name + ".gz": gzip.compress(idx(array), mtime=0)
    for name, array in zip(
        (
            "train-images-idx3-ubyte",
            "train-labels-idx1-ubyte",
            "t10k-images-idx3-ubyte",
            "t10k-labels-idx1-ubyte",
        ),
        (*TRAIN, *TEST),
        strict=True,
    )
}


@pytest.fixture(params=[MNIST, FashionMNIST, KMNIST])
def some(request, server, monkeypatch):
    cls = request.param
    for name, content in FILES.items():
        server.add(f"m/{name}", content)
    monkeypatch.setattr(cls, "mirrors", [f"{server.address}/gone/", f"{server.address}/m/"])
    monkeypatch.setattr(
        cls, "resources", [(name, hashlib.md5(content).hexdigest()) for name, content in FILES.items()]
    )
    return cls


def test_the_genuine_addresses():
    for cls in (MNIST, FashionMNIST, KMNIST):
        assert all(mirror.startswith("https://") and mirror.endswith("/") for mirror in cls.mirrors)
        assert [name for name, _ in cls.resources] == list(FILES) and len(cls.classes) == 10
    assert MNIST.resources[0][1] == "f68b3c2dcbeaaa9fbdd348bbdeb94873"


def test_both_halves(some, server, tmp_path):
    train = some(tmp_path, download=True)
    assert type(train.data) is vistorch.Tensor and train.data.dtype is vistorch.uint8
    assert train.targets.dtype is vistorch.int64
    np.testing.assert_array_equal(train.data.numpy(), TRAIN[0])
    np.testing.assert_array_equal(train.targets.numpy(), TRAIN[1])
    image, target = train[3]
    assert image.mode == "L" and image.size == (28, 28) and type(target) is int and target == TRAIN[1][3]
    np.testing.assert_array_equal(np.asarray(image), TRAIN[0][3])
    asked = len(server.asked)
    test = some(str(tmp_path), train=False, download=True, transform=np.asarray, target_transform=str)
    assert len(server.asked) == asked and len(test) == 5 and test[0][1] == str(TEST[1][0])
    assert test.raw_folder == str(tmp_path / some.__name__ / "raw") and len(os.listdir(test.raw_folder)) == 8
    assert repr(test).split("\n")[:4] == [
        f"Dataset {some.__name__}",
        "    Number of datapoints: 5",
        f"    Root location: {tmp_path}",
        "    Split: Test",
    ]
    assert test.class_to_idx[some.classes[4]] == 4
    with pytest.warns(UserWarning, match="^test_labels has been renamed targets$"):
        assert test.test_labels is test.targets
    with pytest.warns(UserWarning, match="^train_data has been renamed data$"):
        assert train.train_data is train.data


def test_nothing_there(some, tmp_path):
    missing = tmp_path / some.__name__ / "raw" / "train-images-idx3-ubyte"
    with pytest.raises(RuntimeError) as caught:
        some(tmp_path)
    assert str(caught.value) == (
        f"Dataset not found. You can use download=True to download it (there is no file {missing})"
    )


def test_no_network_and_files_put_there(some, server, tmp_path):
    kept, server.files = server.files, {}
    with pytest.raises(Unreachable) as caught:
        some(tmp_path, download=True)
    name, (gone, here) = "train-images-idx3-ubyte.gz", some.mirrors
    assert str(caught.value) == (
        f"Could not download {gone}{name}, {here}{name} (tried once: the server answers 404 Not Found; tried once: the "
        "server answers 404 Not Found); without a network, get the file elsewhere and put it at "
        f"{tmp_path / some.__name__ / 'raw' / name}"
    )
    for path, content in kept.items():
        (tmp_path / some.__name__ / "raw" / os.path.basename(path)).write_bytes(content)
    asked = len(server.asked)
    assert len(some(tmp_path, download=True)) == 12 and len(server.asked) == asked


def test_a_mirror_with_a_broken_file(some, server, tmp_path):
    for name in FILES:
        server.add(f"gone/{name}", b"a page that says hello")
    assert len(some(tmp_path, download=True)) == 12


def test_halves_that_do_not_fit(some, tmp_path):
    some(tmp_path, download=True)
    raw = tmp_path / some.__name__ / "raw"
    (raw / "t10k-labels-idx1-ubyte").write_bytes(idx(TRAIN[1]))
    with pytest.raises(
        RuntimeError, match="holds 5 pictures in t10k-images-idx3-ubyte but 12 labels in t10k-labels"
    ):
        some(tmp_path, train=False)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_number(tmp_path, kind):
    array = (np.arange(24).reshape(2, 3, 4) - (0 if kind == 8 else 7)).astype(KINDS[kind])
    (tmp_path / "a").write_bytes(idx(array, kind))
    found = read_sn3_pascalvincent_tensor(tmp_path / "a")
    np.testing.assert_array_equal(found.numpy(), array)
    assert read_idx(tmp_path / "a").dtype == np.dtype(KINDS[kind]).newbyteorder("=")


WHOLE = idx(TRAIN[0])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is no idx file: it begins with nothing, expected 00 00"),
        (b"<html>", "is no idx file: it begins with 3c 68 74 6d"),
        (b"\x1f\x8b\x08\x00" + WHOLE, "is no idx file: it begins with 1f 8b 08 00"),
        (b"\0\0\x07\x03" + WHOLE[4:], "is no idx file"),
        (b"\0\0\x08\x00", "is no idx file"),
        (b"\0\0\x08\xff" + bytes(2000), "is no idx file"),
        (WHOLE[:9], "is broken: it ends within its header"),
        (WHOLE[:-1], r"its header says \(12, 28, 28\), which makes 9,424 bytes; it has 9,423"),
        (WHOLE + b"x", "which makes 9,424 bytes; it has 9,425"),
        (WHOLE[:4] + b"\xff" * 12, "which makes .* bytes; it has 16"),
        (idx(TRAIN[1]), "holds uint8 of 1 dimensions, expected uint8 of 3"),
        (idx(TRAIN[0], 13), "holds float32 of 3 dimensions, expected uint8 of 3"),
    ],
)
def test_files_that_are_no_pictures(tmp_path, content, sentence):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(RuntimeError, match=f"^{tmp_path / 'a'} .*{sentence}"):
        read_image_file(tmp_path / "a")
    with pytest.raises(RuntimeError):
        (tmp_path / "a").write_bytes(content if content != idx(TRAIN[1]) else WHOLE)
        read_label_file(tmp_path / "a")
