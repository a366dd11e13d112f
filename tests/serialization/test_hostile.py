"""Hostile files: each gives one clear error; none runs anything, takes memory that it has not the bytes for."""

import io
import pickle
import struct
import time
import tracemalloc

import pytest

import vistorch
from vistorch.serialization import machine, memory

from . import hostile as h
from . import hostile_files as files

REFUSED = (pickle.UnpicklingError, RuntimeError, ValueError)
MOST = 80 << 20  # bytes, of memory for a file of a few


def refused(data, tmp_path=None, where=None, **options):
    """Load what must be refused; return the sentence."""
    source = io.BytesIO(data)
    if where is not None:
        where.write_bytes(data)
        source = where
    tracemalloc.start()
    begun = time.monotonic()
    try:
        with pytest.raises(REFUSED) as caught:
            vistorch.load(source, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST + 20 * len(data)
    assert time.monotonic() - begun < 20
    assert str(caught.value).strip()
    assert type(caught.value) in (*REFUSED, machine.Truncated, memory.UnknownOrder)
    return str(caught.value)


@pytest.mark.parametrize("form", ["zip", "legacy", "file", "mapped"])
@pytest.mark.parametrize("name", [*h.REDUCERS, *h.BUILDERS])
def test_nothing_is_run(name, form, tmp_path):
    made = tmp_path / "made by the file"
    build = h.REDUCERS.get(name) or h.BUILDERS[name]
    data = h.legacy(build(made)) if form == "legacy" else h.archive(build(made))
    where = tmp_path / "x.pt" if form in ("file", "mapped") else None
    sentence = refused(data, where=where, **({"mmap": True} if form == "mapped" else {}))
    assert sentence.startswith(("Weights only load failed", "vistorch has strided", "the storage 0 claims"))
    assert not made.exists()


def test_what_is_run_without_the_guard(tmp_path):
    """The corpus is sharp: loaded by pickle itself, its calls happen."""
    for name in ("os.system", "eval", "builtins.exec", "subprocess"):
        made = tmp_path / name.replace(".", "")
        vistorch.load(io.BytesIO(h.archive(h.REDUCERS[name](made))), weights_only=False)
        assert made.exists()


@pytest.mark.parametrize("name", h.STACKS)
def test_pickles_that_make_no_sense(name):
    refused(h.archive(h.STACKS[name]))


@pytest.mark.parametrize("name", h.CALLS)
def test_allowed_functions_called_wrongly(name):
    refused(h.archive(h.CALLS[name]))


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("name", h.TENSORS)
def test_tensors_that_do_not_fit(name, mapped, tmp_path):
    refused(h.archive(h.TENSORS[name]), where=tmp_path / "x.pt", mmap=mapped)


@pytest.mark.parametrize(
    "name, sentence",
    [
        (
            "longer than its storage",
            "requiring a storage size of 20 are out of bounds for storage of size 16",
        ),
        (
            "with a stride that wraps around",
            "requiring a storage size of 73786976294838206468 are out of bounds",
        ),
        ("beginning before its storage", "Tensor: invalid storage offset -1"),
        ("of negative size", "Storage size calculation overflowed with sizes=[-1] and strides=[1]"),
        ("of 2**63 elements", "numel: integer multiplication overflow"),
        ("with more strides than sizes", "unequal size length (1) and stride length (2)"),
    ],
)
def test_tensors_that_do_not_fit_are_reported_why(name, sentence):
    assert sentence in refused(h.archive(h.TENSORS[name]))


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("name", h.STORAGES)
def test_storages_that_lie(name, mapped, tmp_path):
    refused(h.archive(h.STORAGES[name]), where=tmp_path / "x.pt", mmap=mapped)


@pytest.mark.parametrize("only", [True, False])
@pytest.mark.parametrize("name", files.ARCHIVES)
def test_archives_that_lie(name, only):
    data = files.ARCHIVES[name]()
    assert "Weights only load failed" not in refused(data, weights_only=only)


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("name", files.LEGACY)
def test_legacy_files_that_lie(name, where, tmp_path):
    refused(files.LEGACY[name](), where=tmp_path / "x.pt" if where == "file" else None)


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("name", files.NOT_FILES)
def test_what_is_no_file_of_ours(name, where, tmp_path):
    refused(files.NOT_FILES[name], where=tmp_path / "x.pt" if where == "file" else None)


def test_an_empty_file_is_an_eof_error_too():
    with pytest.raises(EOFError):
        vistorch.load(io.BytesIO())


def good(**options):
    """A file with a bit of everything."""
    file = io.BytesIO()
    x = vistorch.arange(6.0)
    vistorch.save(
        {"x": x, "part": x[2:], "p": vistorch.nn.Parameter(x), "n": [1, b"x", 2.5]}, file, **options
    )
    return file.getvalue()


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}], ids=["zip", "legacy"])
def test_cut_off_anywhere(options):
    data = good(**options)
    assert vistorch.load(io.BytesIO(data))["x"].shape == (6,)
    for length in range(len(data)):
        with pytest.raises(REFUSED):
            vistorch.load(io.BytesIO(data[:length]))


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}], ids=["zip", "legacy"])
def test_any_byte_changed(options):
    """A changed byte gives an error of ours, or another number; nothing else is raised."""
    data = bytearray(good(**options))
    for i in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            data[i] ^= flip
            try:
                vistorch.load(io.BytesIO(data))
            except REFUSED:
                pass
            data[i] ^= flip


@pytest.mark.parametrize("depth", [100_000])
def test_deep_nests_are_read(depth):
    """Lists in lists are harmless, however deep."""
    found = vistorch.load(io.BytesIO(h.archive(h.deep(h.p.EMPTY_LIST, h.p.APPEND, depth))))
    for _ in range(depth):
        (found,) = found
    assert found is None


def test_bools_that_are_neither():
    """Bytes other than 0 and 1 in a bool tensor make numpy write outside its memory; they are made true."""
    data = h.archive(
        h.tensor(h.storage(kind="BoolStorage", count=16), size=(16,)), {"data/0": bytes(range(100, 116))}
    )
    old = h.legacy(
        files._old(4).replace(b"FloatStorage", b"BoolStorage"),
        files._keys(),
        struct.pack("<q", 4) + b"\xff\x00\x02\x80",
    )
    for found in (vistorch.load(io.BytesIO(data)), vistorch.load(io.BytesIO(old))):
        assert set(found._data.view("u1").tolist()) <= {0, 1}
    assert vistorch.load(io.BytesIO(old)).tolist() == [True, False, True, True]


def test_bools_that_are_neither_in_a_mapped_file(tmp_path):
    data = h.archive(
        h.tensor(h.storage(kind="BoolStorage", count=16), size=(16,)), {"data/0": bytes(range(100, 116))}
    )
    (tmp_path / "x.pt").write_bytes(data)
    assert set(vistorch.load(tmp_path / "x.pt", mmap=True)._data.view("u1").tolist()) == {1}


def test_many_conjugated_copies_are_refused():
    count = 1 << 17
    one = h.tensor(
        h.storage(kind="ComplexFloatStorage", count=count),
        size=(count,),
        more=h.p.EMPTY_DICT + h.text("conj") + h.p.NEWTRUE + h.p.SETITEM,
    )
    records = {"data/0": bytes(8 * count)}
    assert vistorch.load(io.BytesIO(h.archive(one, records))).shape == (count,)
    sentence = refused(h.archive(h.p.MARK + one * 1000 + h.p.LIST, records))
    assert "its length does not justify" in sentence


def test_an_expanded_tensor_stays_small():
    """PyTorch writes repeated elements once; so are they held, whatever the sizes say."""
    data = h.archive(
        h.tensor(
            size=(10**9, 4), stride=(0, 1), more=h.p.EMPTY_DICT + h.text("neg") + h.p.NEWTRUE + h.p.SETITEM
        )
    )
    found = vistorch.load(io.BytesIO(data))
    assert found.shape == (10**9, 4) and found[5].tolist() == [-1, -2, -3, -4]


def test_compressed_archives_are_read():
    """PyTorch writes none, but a person may have unzipped and zipped the file."""
    entries = [("a/data.pkl", h.PROTO + h.tensor() + h.p.STOP), ("a/data/0", struct.pack("<4f", 1, 2, 3, 4))]
    for method in (files.zipfile.ZIP_STORED, files.zipfile.ZIP_DEFLATED):
        assert vistorch.load(io.BytesIO(files.zipped(entries, method))).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, 3 << 20])
def test_compressed_records_of_one_byte_are_read_to_the_end(size):
    """The last bytes come after all of the input is taken."""
    pickle = h.PROTO + h.tensor(h.storage(kind="ByteStorage", count=size), size=(size,)) + h.p.STOP
    entries = [("a/data.pkl", pickle), ("a/data/0", b"\7" * size)]
    found = vistorch.load(io.BytesIO(files.zipped(entries, files.zipfile.ZIP_DEFLATED)))
    assert found.shape == (size,) and (found == 7).all()


def test_blocked_modules_stay_blocked():
    import os

    with vistorch.serialization.safe_globals([(os.getcwd, "os.getcwd"), os.getcwd]):
        sentence = refused(h.archive(h.call(h.name("os", "getcwd"))))
    assert "whose module os is blocked" in sentence or "whose module posix is blocked" in sentence


def test_trusted_callables_may_fail_as_they_like():
    class Odd:
        def __setstate__(self, state):
            raise KeyError("mine")

    class NotMade:
        def __new__(cls, *args):
            raise KeyError("mine")

    with vistorch.serialization.safe_globals([(NotMade, "odd.Odd")]), pytest.raises(KeyError, match="mine"):
        vistorch.load(io.BytesIO(h.archive(h.name("odd", "Odd") + h.p.EMPTY_TUPLE + h.p.NEWOBJ)))
    with vistorch.serialization.safe_globals([(NotMade, "odd.Odd")]), pytest.raises(KeyError, match="mine"):
        vistorch.load(io.BytesIO(h.archive(h.call(h.name("odd", "Odd")))))
    with vistorch.serialization.safe_globals([(Odd, "odd.Odd")]), pytest.raises(KeyError, match="mine"):
        data = h.name("odd", "Odd") + h.p.EMPTY_TUPLE + h.p.NEWOBJ + h.p.EMPTY_DICT + h.p.BUILD
        vistorch.load(io.BytesIO(h.archive(data)))
