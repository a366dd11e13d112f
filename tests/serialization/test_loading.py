"""What `load` can be asked: where tensors go, what is trusted, mapping, byte order; with PyTorch's sentences."""

import io
import mmap
import os
import struct
import zipfile

import pytest

import vistorch
from vistorch import serialization as s

from . import hostile as h
from . import hostile_files as files
from .both import assert_same, ours_read, sentence, theirs_read, torch, written


@pytest.fixture
def simulated():
    vistorch.cuda.simulate(2)
    yield
    vistorch.cuda.simulate(None)


def of_cuda(tag="cuda:1"):
    """A file with a tensor that was on a CUDA device."""
    return h.archive(h.tensor(h.storage(location=tag)))


WHERE = {
    "None": None,
    "cpu": "cpu",
    "a cpu device": lambda L: L.device("cpu"),
    "cuda": "cuda",
    "cuda:1": "cuda:1",
    "a cuda device": lambda L: L.device("cuda", 1),
    "another tag": "foo",
    "hpu": "hpu",
    "a dict": {"cuda:1": "cpu"},
    "a dict of others": {"cuda:0": "cpu"},
    "a dict to cuda": {"cuda:1": "cuda:0"},
    "a function": lambda L: lambda storage, tag: storage,
    "a function that returns None": lambda L: lambda storage, tag: None,
    "a function of the tag": lambda L: lambda storage, tag: storage if tag == "cuda:1" else None,
    "a number": 3,
}


def outcome(load, data, where, L):
    try:
        found = load(data, map_location=where(L) if callable(where) else where)
        return str(found.device), found.tolist()
    except Exception as error:
        return type(error).__name__, str(error).replace("vistorch", "torch")


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("tag", ["cpu", "cuda:1"])
def test_map_location_without_cuda(where, tag):
    data = of_cuda(tag)
    vistorch.cuda.simulate(0)
    try:
        ours = outcome(ours_read, data, WHERE[where], vistorch)
    finally:
        vistorch.cuda.simulate(None)
    if torch.cuda.is_available():
        pytest.skip("needs a GPU: to be absent, for the comparison")
    assert ours == outcome(theirs_read, data, WHERE[where], torch)


@pytest.mark.parametrize(
    "where, device",
    [
        (None, "cuda:1"),
        ("cuda", "cuda:0"),
        ("cuda:0", "cuda:0"),
        ("cpu", "cpu"),
        ({"cuda:1": "cuda:0"}, "cuda:0"),
        ({"cuda:0": "cpu"}, "cuda:1"),
        (lambda storage, tag: storage.cuda(0), "cuda:0"),
        (lambda storage, tag: None, "cuda:1"),
    ],
)
def test_map_location_with_simulated_devices(simulated, where, device):
    x = vistorch.arange(4.0, device="cuda:1")
    for options in ({}, {"_use_new_zipfile_serialization": False}):
        data = written(vistorch.save, {"x": x, "part": x[1:], "c": vistorch.ones(1)}, **options)
        loaded = ours_read(data, map_location=where)
        assert str(loaded["x"].device) == str(loaded["part"].device) == device
        loaded["part"] += 1
        assert loaded["x"].tolist() == [0, 2, 3, 4]
        assert str(loaded["c"].device) in ("cpu", device)
        assert theirs_read(data, map_location="cpu")["x"].tolist() == [0, 1, 2, 3]


def test_a_device_that_is_not_there(simulated):
    with pytest.raises(RuntimeError) as caught:
        ours_read(of_cuda("cuda:5"))
    assert str(caught.value) == (
        "Attempting to deserialize object on CUDA device 5 but vistorch.cuda.device_count() is 2. Please use "
        "vistorch.load with map_location to map your storages to an existing device."
    )


def test_a_function_that_returns_no_storage():
    with pytest.raises(TypeError, match=r"must return None or a vistorch\.UntypedStorage, but got int"):
        ours_read(of_cuda(), map_location=lambda storage, tag: 5)


def test_the_function_is_called_once_for_each_storage():
    seen = []
    x = vistorch.arange(4.0)
    data = written(vistorch.save, [x, x[1:], vistorch.ones(2)])
    ours_read(data, map_location=lambda storage, tag: seen.append((len(storage), tag)))
    assert seen == [(16, "cpu"), (8, "cpu")]


def test_another_kind_of_place():
    before = list(s.locations._registered)
    try:
        s.register_package(5, lambda storage: "moon", lambda storage, tag: storage if tag == "moon" else None)
        assert s.location_tag(vistorch.ones(1).untyped_storage()) == "moon"
        data = written(vistorch.save, vistorch.ones(2))
        assert b"moon" in data and ours_read(data).tolist() == [1, 1]
    finally:
        s.locations._registered[:] = before
    with pytest.raises(
        RuntimeError, match=r"don't know how to restore data location of .*\(tagged with moon\)"
    ):
        ours_read(data)


# ---- mapping -----------------------------------------------------------------------------------------------
def test_mapped_files_are_copied_when_written(tmp_path):
    path = tmp_path / "x.pt"
    x = vistorch.arange(6.0)
    torch.save({"x": torch.arange(6.0), "part": torch.arange(6.0)[2:]}, path)
    before = path.read_bytes()
    loaded = vistorch.load(path, mmap=True)
    loaded["x"] += 1
    assert loaded["x"].tolist() == (x + 1).tolist() and path.read_bytes() == before
    assert isinstance(_bottom(loaded["x"]), mmap.mmap)


def _bottom(t):
    a = t._data
    while getattr(a, "base", None) is not None:
        a = a.base
    return a.obj if isinstance(a, memoryview) else a


def test_shared_mappings_change_the_file(tmp_path):
    path = str(tmp_path / "x.pt")
    vistorch.save(vistorch.arange(6.0), path)
    with s.set_default_mmap_options(mmap.MAP_SHARED):
        loaded = vistorch.load(path, mmap=True)
        loaded += 1
    _bottom(loaded).flush()
    assert theirs_read((tmp_path / "x.pt").read_bytes()).tolist() == [1, 2, 3, 4, 5, 6]
    assert s.get_default_mmap_options() == mmap.MAP_PRIVATE
    for L in (vistorch, torch):
        with pytest.raises(ValueError, match=r"expected mmap\.MAP_PRIVATE or mmap\.MAP_SHARED, but got 99"):
            L.serialization.set_default_mmap_options(99)


def test_mapped_storages_may_lie_anywhere(tmp_path):
    """A person's zip program does not align; elements must still lie where the machine can read them."""
    path = tmp_path / "x.pt"
    entries = [("a/data.pkl", h.PROTO + h.tensor() + h.p.STOP), ("a/data/0", struct.pack("<4f", 1, 2, 3, 4))]
    for shift in range(4):
        with zipfile.ZipFile(path, "w") as z:
            for name, data in entries:
                z.writestr(zipfile.ZipInfo(name), data)
            z.writestr("a/" + "x" * shift, b"")
        data = path.read_bytes()
        found = vistorch.load(path, mmap=True)
        assert found.tolist() == [1, 2, 3, 4] and found._data.flags.aligned, data


def test_what_cannot_be_mapped(tmp_path):
    data = written(vistorch.save, vistorch.ones(2))
    assert sentence(lambda: ours_read(data, mmap=True)) == sentence(lambda: theirs_read(data, mmap=True))
    path = str(tmp_path / "x.pt")
    vistorch.save(1, path, _use_new_zipfile_serialization=False)
    assert sentence(lambda: vistorch.load(path, mmap=True)) == sentence(lambda: torch.load(path, mmap=True))


# ---- byte order, skipped data ------------------------------------------------------------------------------
def swapped(kind, dtype):
    """A file from a machine with the other byte order."""
    data = torch.tensor([1, 2, 3, 4]).to(dtype)
    parts = bytes(data.untyped_storage().tolist())
    size = len(parts) // (8 if dtype.is_complex else 4)
    parts = b"".join(parts[i : i + size][::-1] for i in range(0, len(parts), size))
    pickled = h.PROTO + h.tensor(h.storage(kind=kind)) + h.p.STOP
    return [("a/data.pkl", pickled), ("a/data/0", parts), ("a/version", b"3\n")]


@pytest.mark.parametrize(
    "kind, dtype",
    [
        ("FloatStorage", "float32"),
        ("LongStorage", "int64"),
        ("BFloat16Storage", "bfloat16"),
        ("ComplexFloatStorage", "complex64"),
        ("ByteStorage", "uint8"),
    ],
)
def test_files_of_the_other_byte_order(kind, dtype):
    entries = swapped(kind, getattr(torch, dtype))
    for load in (ours_read, theirs_read):
        found = load(files.zipped([*entries, ("a/byteorder", b"big")]))
        assert found.real.tolist() == [1, 2, 3, 4] if found.is_complex() else found.tolist() == [1, 2, 3, 4]


def test_files_that_do_not_say_their_byte_order():
    data = files.zipped(swapped("IntStorage", torch.int32))
    kinds = s.LoadEndianness
    found = []
    for kind in (None, kinds.NATIVE, kinds.LITTLE, kinds.BIG):
        s.set_default_load_endianness(kind)
        assert s.get_default_load_endianness() is kind
        found.append(ours_read(data).tolist() == [1, 2, 3, 4])
    s.set_default_load_endianness(None)
    assert found == [False, False, False, True]
    assert [k.name for k in kinds] == [k.name for k in torch.serialization.LoadEndianness]
    for L in (vistorch, torch):
        with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
            L.serialization.set_default_load_endianness("big")


def test_skipped_data():
    x = vistorch.arange(3.0)
    with s.skip_data():
        empty = written(vistorch.save, x)
    full = written(vistorch.save, x)
    assert len(empty) == len(full) and theirs_read(empty).tolist() == [0, 0, 0]
    with s.skip_data():
        assert ours_read(full).tolist() == [0, 0, 0]
        with pytest.raises(RuntimeError) as caught:
            written(vistorch.save, x, _use_new_zipfile_serialization=False)
    assert str(caught.value) == "Cannot use skip_data=True with _use_new_zipfile_serialization=False"
    assert ours_read(full).tolist() == [0, 1, 2]
    with zipfile.ZipFile(io.BytesIO(empty)) as z:
        assert z.testzip() is None


# ---- files -------------------------------------------------------------------------------------------------
def test_paths_and_file_objects(tmp_path):
    import gzip
    import tempfile

    path = tmp_path / "x.pt"
    vistorch.save([1, vistorch.ones(2)], path)
    for f in (path, str(path), path.open("rb"), path.open("rb", buffering=0)):
        assert vistorch.load(f)[0] == 1
        if hasattr(f, "close"):
            f.close()
    with gzip.open(tmp_path / "x.gz", "wb") as f:
        vistorch.save([1, vistorch.ones(2)], f)
    with gzip.open(tmp_path / "x.gz", "rb") as f:
        assert vistorch.load(f)[1].tolist() == [1, 1]
    with tempfile.SpooledTemporaryFile() as f:
        vistorch.save([1, vistorch.ones(2)], f)
        f.seek(0)
        assert vistorch.load(f)[1].tolist() == [1, 1]


def test_a_file_that_cannot_seek():
    class Stream(io.RawIOBase):
        def readable(self):
            return True

    assert sentence(lambda: vistorch.load(Stream())) == sentence(lambda: torch.load(Stream()))
    a, b = os.pipe()
    with os.fdopen(a, "rb") as file:
        os.close(b)
        assert sentence(lambda: vistorch.load(file)) == sentence(lambda: torch.load(file))


def test_a_file_named_safetensors(tmp_path):
    from vistorch.serialization.safetensors import save_file

    path = tmp_path / "w.safetensors"
    save_file({"w": vistorch.arange(3.0)}, path)
    assert_same(vistorch.load(path), torch.load(path))
    for where in ({}, print):
        assert sentence(lambda w=where: vistorch.load(path, map_location=w)) == sentence(
            lambda w=where: torch.load(path, map_location=w)
        )


def test_names_of_torch():
    ours = set(s.__all__)
    unneeded = {
        "mkdtemp",
        "StorageType",
        "normalize_storage_type",
        "storage_to_tensor_type",
        "check_module_version_greater_or_equal",
    }
    assert set(torch.serialization.__all__) - ours == unneeded
    assert ours <= set(torch.serialization.__all__)
    for name in ours:
        assert getattr(s, name).__doc__


def test_light_until_asked_for():
    import subprocess
    import sys

    program = (
        "import sys, vistorch; print([m for m in sys.modules if 'serialization' in m or m == 'zipfile']);"
        "vistorch.save, vistorch.load, vistorch.serialization, vistorch.FloatStorage;"
        "print('torch' in sys.modules, 'vistorch.nn' in sys.modules, 'save' in dir(vistorch))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    ).stdout
    assert out.split("\n")[:2] == ["[]", "False False True"]
