"""CIFAR from files of the genuine form, made here and served by this machine."""

import hashlib
import io
import os
import pickle
import tarfile

import numpy as np
import pytest

from tests.vision.datasets import old_pickle
from vistorch.vision.datasets import CIFAR10, CIFAR100
from vistorch.vision.datasets.fetching import Broken, Unreachable

NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def pictures(seed, count=4):
    return np.random.default_rng(seed).integers(0, 256, (count, 3072), np.uint8)


def batch(seed, key=b"labels"):
    entry = {b"batch_label": b"x", key: [(seed + k) % 10 for k in range(4)], b"data": pictures(seed)}
    if key != b"labels":
        entry[b"coarse_labels"] = [0, 1, 0, 1]
    return old_pickle.dumps({**entry, b"filenames": [b"a.png"] * 4})


TEN = {f"data_batch_{k}": batch(k) for k in range(1, 6)}
TEN["test_batch"] = batch(6)
TEN["batches.meta"] = old_pickle.dumps(
    {b"num_cases_per_batch": 4, b"label_names": [name.encode() for name in NAMES], b"num_vis": 3072}
)
HUNDRED = {
    "train": batch(1, b"fine_labels"),
    "test": batch(2, b"fine_labels"),
    "meta": old_pickle.dumps(
        {b"fine_label_names": [f"fine {k}".encode() for k in range(100)], b"coarse_label_names": [b"coarse"]}
    ),
}


def md5(content):
    return hashlib.md5(content).hexdigest()


def archive(folder, files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in {**files, "readme.html": b"<html>"}.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def genuine(cls, files, server, monkeypatch):
    """Let a data set expect the files made here."""
    packed = archive(cls.base_folder, files)
    monkeypatch.setattr(cls, "url", server.add(cls.filename, packed))
    monkeypatch.setattr(cls, "tgz_md5", md5(packed))
    for which in ("train_list", "test_list"):
        monkeypatch.setattr(cls, which, [[name, md5(files[name])] for name, _ in getattr(cls, which)])
    monkeypatch.setattr(cls, "meta", {**cls.meta, "md5": md5(files[cls.meta["filename"]])})
    return cls


@pytest.fixture
def ten(server, monkeypatch):
    return genuine(CIFAR10, TEN, server, monkeypatch)


@pytest.fixture
def hundred(server, monkeypatch):
    return genuine(CIFAR100, HUNDRED, server, monkeypatch)


def test_the_genuine_addresses():
    for cls, name, total in (
        (CIFAR10, "cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a"),
        (CIFAR100, "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85"),
    ):
        assert cls.url == f"https://www.cs.toronto.edu/~kriz/{name}" and cls.tgz_md5 == total


def test_ten(ten, server, tmp_path, capsys):
    train = ten(tmp_path / "data", download=True)
    assert train.data.shape == (20, 32, 32, 3) and train.data.dtype == np.uint8
    expected = np.concatenate([pictures(k) for k in range(1, 6)]).reshape(20, 3, 32, 32).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(train.data, expected)
    assert train.targets == [(seed + k) % 10 for seed in range(1, 6) for k in range(4)]
    assert train.classes == NAMES and train.class_to_idx["truck"] == 9
    image, target = train[7]
    assert image.mode == "RGB" and image.size == (32, 32) and target == train.targets[7]
    np.testing.assert_array_equal(np.asarray(image), train.data[7])
    assert repr(train) == (
        f"Dataset CIFAR10\n    Number of datapoints: 20\n    Root location: {tmp_path / 'data'}\n    Split: Train"
    )
    test = ten(tmp_path / "data", train=False, download=True, transform=np.asarray, target_transform=str)
    assert len(test) == 4 and repr(test).split("\n")[3] == "    Split: Test"
    np.testing.assert_array_equal(test[0][0], test.data[0])
    assert test[0][1] == "6" and len(server.asked) == 1, "what is there is not fetched again"
    assert "100%" in capsys.readouterr().err


def test_a_hundred(hundred, tmp_path):
    train = hundred(str(tmp_path), download=True)
    assert len(train) == 4 and train.targets == [1, 2, 3, 4] and train.classes[99] == "fine 99"
    assert hundred(str(tmp_path), train=False).targets == [2, 3, 4, 5]


def test_nothing_there(ten, tmp_path):
    with pytest.raises(RuntimeError) as caught:
        ten(tmp_path)
    assert str(caught.value) == (
        "Dataset not found or corrupted. You can use download=True to download it (there is no file "
        f"{tmp_path / 'cifar-10-batches-py' / 'data_batch_1'})"
    )


def test_a_broken_file_is_named_and_mended(ten, tmp_path):
    ten(tmp_path, download=True)
    path = tmp_path / "cifar-10-batches-py" / "data_batch_3"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"!")
    with pytest.raises(RuntimeError) as caught:
        ten(tmp_path)
    assert str(caught.value) == (
        f"Dataset not found or corrupted. You can use download=True to download it ({path} ({len(whole):,} bytes) is "
        f"broken: its md5 is {md5(whole[:-1] + b'!')}, expected {md5(whole)})"
    )
    ten(tmp_path, download=True)
    assert path.read_bytes() == whole
    (tmp_path / "cifar-10-batches-py" / "batches.meta").unlink()
    with pytest.raises(RuntimeError, match=r"^Dataset metadata file not found or corrupted"):
        ten(tmp_path)


def test_no_network_and_a_file_put_there(ten, server, tmp_path, monkeypatch):
    packed = server.files.pop("/" + ten.filename)
    server.errors = [503] * 4
    with pytest.raises(Unreachable) as caught:
        ten(tmp_path, download=True)
    assert str(caught.value) == (
        f"Could not download {ten.url} (tried 4 times: the server answers 503 Service Unavailable); without a network, "
        f"get the file elsewhere and put it at {tmp_path / ten.filename}"
    )
    (tmp_path / ten.filename).write_bytes(packed)
    assert len(ten(tmp_path, download=True)) == 20 and len(server.asked) == 4


def test_another_archive_than_expected(ten, server, tmp_path):
    server.files["/" + ten.filename] = archive("elsewhere", TEN)
    with pytest.raises(Broken, match=f"expected {ten.tgz_md5}; nothing was kept"):
        ten(tmp_path, download=True)
    assert os.listdir(tmp_path) == []


def test_an_archive_without_its_files(ten, server, tmp_path, monkeypatch):
    packed = server.files["/" + ten.filename] = archive(ten.base_folder, {})
    monkeypatch.setattr(ten, "tgz_md5", md5(packed))
    with pytest.raises(
        RuntimeError, match=r"cifar-10-python.tar.gz was unpacked, and there is no file .*data_batch_1$"
    ):
        ten(tmp_path, download=True)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({b"data": pictures(0)[:, :-1], b"labels": [1] * 4}, "holds no pictures"),
        ({b"data": pictures(0).astype(np.int32), b"labels": [1] * 4}, "holds no pictures"),
        ({b"labels": [1] * 4}, "holds no pictures"),
        ([], "holds no pictures"),
        ({b"data": pictures(0)}, "does not hold one class number for each of its 4 pictures"),
        ({b"data": pictures(0), b"labels": [1] * 3}, "does not hold one class number for each of its 4"),
        ({b"data": pictures(0), b"labels": [b"x"] * 4}, "does not hold one class number for each of its 4"),
    ],
)
def test_files_of_another_form(server, monkeypatch, tmp_path, entry, sentence):
    cls = genuine(CIFAR10, {**TEN, "test_batch": old_pickle.dumps(entry)}, server, monkeypatch)
    with pytest.raises(RuntimeError, match=sentence):
        cls(tmp_path, train=False, download=True)
    assert len(cls(tmp_path)) == 20


def test_a_malicious_file_runs_nothing(server, monkeypatch, tmp_path):
    evil = b"\x80\x02cos\nsystem\n(U\x0ctouch hackedtR."
    cls = genuine(CIFAR10, {**TEN, "test_batch": evil}, server, monkeypatch)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        pickle.UnpicklingError, match=r"test_batch: The pickle names os\.system, which is not allowed"
    ):
        cls(tmp_path, train=False, download=True)
    assert "hacked" not in os.listdir(tmp_path)
