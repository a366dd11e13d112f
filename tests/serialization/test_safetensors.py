"""The safetensors format, against the library of that name."""

import io
import json
import struct
import tracemalloc

import pytest

import vistorch
from vistorch.serialization import safetensors as ours

from .both import DTYPES, assert_same, torch

theirs = pytest.importorskip("safetensors.torch", reason="the library of the format")
safetensors = pytest.importorskip("safetensors")
HELD = [name for name in DTYPES if name != "complex128"]


def tensors(L):
    found = {name: L.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(L, name)) for name in HELD}
    return {**found, "a scalar": L.tensor(2.5), "empty": L.empty(0, 3), "é": L.arange(5), "z": L.arange(3)}


def test_the_bytes_are_those_of_the_library():
    for metadata in (None, {"format": "pt"}, {}):
        assert ours.save(tensors(vistorch), metadata) == theirs.save(tensors(torch), metadata)
    assert ours.save({}) == theirs.save({})


def test_both_ways(tmp_path):
    path = tmp_path / "x.safetensors"
    theirs.save_file(tensors(torch), path, {"by": "them"})
    loaded, reference = ours.load_file(path), theirs.load_file(path)
    assert_same({k: loaded[k] for k in sorted(loaded)}, {k: reference[k] for k in sorted(reference)})
    loaded["float32"] += 1  # memory of its own
    ours.save_file(tensors(vistorch), path, {"by": "us"})
    loaded, reference = ours.load(path.read_bytes()), theirs.load_file(path)
    assert_same({k: loaded[k] for k in sorted(loaded)}, {k: reference[k] for k in sorted(reference)})


def test_open_files(tmp_path):
    path = tmp_path / "x.safetensors"
    theirs.save_file({"w": torch.arange(24.0).reshape(2, 3, 4), "v": torch.ones(2)}, path, {"by": "them"})
    with ours.safe_open(path, "pt") as a, safetensors.safe_open(path, "pt") as b:
        assert list(a.keys()) == list(b.keys()) and a.offset_keys() == b.offset_keys()
        assert a.metadata() == b.metadata() == {"by": "them"}
        x, y = a.get_slice("w"), b.get_slice("w")
        assert x.get_shape() == y.get_shape() and x.get_dtype() == y.get_dtype() == "F32"
        for index in (
            (slice(None),),
            (0,),
            (1, 2, 3),
            (slice(1, None), slice(0, 2)),
            (..., 1),
            (slice(None), -1),
        ):
            assert x[index].tolist() == y[index].tolist() and tuple(x[index].shape) == tuple(y[index].shape)
        assert_same(a.get_tensor("v"), b.get_tensor("v"))
        with pytest.raises(ours.SafetensorError, match="File does not contain tensor no"):
            a.get_tensor("no")
        with pytest.raises(ours.SafetensorError, match="not by list"):
            x[[0, 1]]
    with pytest.raises(ours.SafetensorError, match="not open"):
        a.get_tensor("v")
    with pytest.raises(ours.SafetensorError, match="not open"):
        x[0]


def test_slices_read_only_their_part(tmp_path):
    path = tmp_path / "x.safetensors"
    ours.save_file({"w": vistorch.zeros(5_000_000)}, path)
    with ours.safe_open(path) as f:
        tracemalloc.start()
        assert f.get_slice("w")[10:20].shape == (10,)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
        tracemalloc.stop()


def test_devices(tmp_path):
    vistorch.cuda.simulate(1)
    try:
        x = vistorch.arange(3, device="cuda")
        ours.save_file({"x": x}, tmp_path / "x")
        assert str(ours.load_file(tmp_path / "x", device="cuda")["x"].device) == "cuda:0"
        assert theirs.load_file(tmp_path / "x")["x"].tolist() == [0, 1, 2]
    finally:
        vistorch.cuda.simulate(None)


def refusal(module, given, metadata=None):
    with pytest.raises(Exception) as caught:
        module.save(given, metadata)
    return type(caught.value).__name__, str(caught.value).replace("vistorch", "torch")


def test_what_cannot_be_saved():
    def both(make):
        a, b = refusal(ours, make(vistorch)), refusal(theirs, make(torch))
        assert a == b

    both(lambda L: [L.ones(1)])
    both(lambda L: {"x": 3})
    both(lambda L: {"x": L.ones(2, 3).t()})
    x = vistorch.ones(4)
    for shared in ({"a": x, "b": x}, {"a": x, "b": x[1:]}, {"a": x[:3], "b": x[2:], "c": vistorch.ones(1)}):
        kind, text = refusal(ours, shared)
        assert (
            kind == "RuntimeError"
            and text.startswith("Some tensors share memory")
            and "'a'" in text
            and "'b'" in text
        )
        assert "'c'" not in text
    ours.save({"a": x[:2], "b": x[2:]})  # one memory, but no element twice
    with pytest.raises(ours.SafetensorError, match="complex128"):
        ours.save({"x": vistorch.ones(1, dtype=vistorch.complex128)})
    with pytest.raises(ValueError, match="metadata must be"):
        ours.save({"x": x}, {"a": 1})
    with pytest.raises(ValueError, match="named '__metadata__'"):
        ours.save({"__metadata__": x})


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.safetensors"
    ours.save_file({"x": vistorch.ones(2)}, path)
    with pytest.raises(ValueError):
        ours.save_file({"x": vistorch.ones(2, 3).t()}, path)
    assert ours.load_file(path)["x"].tolist() == [1, 1] and [p.name for p in tmp_path.iterdir()] == [
        path.name
    ]


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def one(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


HOSTILE = {
    "nothing": b"",
    "seven bytes": b"\2\0\0\0\0\0\0",
    "no header": file_of(b"", length=2),
    "a header longer than the file": file_of({}, length=1000),
    "a header of 2**63 bytes": file_of({}, length=2**63),
    "a header of 200 MB": file_of({}, length=200_000_000),
    "no JSON": file_of(b"{x}"),
    "a list": file_of([]),
    "a text before the JSON": file_of(b" {}"),
    "no UTF-8": file_of(b'{"\xff": 1}'),
    "a deep header": file_of(b'{"a":' * 100_000),
    "a deep list": file_of(b'{"a":' + b"[" * 100_000),
    "a huge number": file_of(b'{"a": ' + b"9" * 10_000 + b"}"),
    "a tensor that is a number": file_of({"a": 1}),
    "no dtype": file_of({"a": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
    "more than a tensor has": file_of({"a": one(x=1)}, bytes(8)),
    "an unknown dtype": file_of({"a": one("F99")}, bytes(8)),
    "a dtype that is a list": file_of({"a": one(["F32"])}, bytes(8)),
    "a dtype we do not have": file_of({"a": one("U64", (1,))}, bytes(8)),
    "a negative size": file_of({"a": one(shape=(-2,))}, bytes(8)),
    "sizes that multiply to it": file_of({"a": one(shape=(-1, -2))}, bytes(8)),
    "a size that is a float": file_of({"a": one(shape=(2.0,))}, bytes(8)),
    "a size that is true": file_of({"a": one(shape=(True, 2))}, bytes(8)),
    "a huge size": file_of({"a": one(shape=(10**15,))}, bytes(8)),
    "sizes that wrap around": file_of({"a": one(shape=(2**62, 4))}, bytes(8)),
    "huge sizes and a zero": file_of({"a": one(shape=(2**62, 2**62, 0), offsets=(0, 0))}),
    "too many sizes": file_of({"a": one(shape=(1,) * 99 + (2,))}, bytes(8)),
    "offsets beyond the file": file_of({"a": one(offsets=(8, 16))}, bytes(8)),
    "offsets the wrong way round": file_of({"a": one(offsets=(8, 0))}, bytes(8)),
    "negative offsets": file_of({"a": one(offsets=(-8, 0))}, bytes(8)),
    "three offsets": file_of({"a": one(offsets=(0, 8, 8))}, bytes(8)),
    "a shape that does not fit": file_of({"a": one(shape=(3,))}, bytes(8)),
    "a gap": file_of({"a": one(), "b": one(offsets=(12, 20))}, bytes(20)),
    "an overlap": file_of({"a": one(), "b": one(offsets=(4, 12))}, bytes(12)),
    "the same bytes twice": file_of({"a": one(), "b": one()}, bytes(8)),
    "bytes left over": file_of({"a": one()}, bytes(9)),
    "a byte missing": file_of({"a": one()}, bytes(7)),
    "a name twice": file_of(
        b'{"a":' + json.dumps(one()).encode() + b',"a":' + json.dumps(one()).encode() + b"}", bytes(8)
    ),
    "metadata that are numbers": file_of({"__metadata__": {"a": 1}}),
    "metadata that are a list": file_of({"__metadata__": ["a"]}),
}


# What the library takes, against the format's own words or because it has more types.
STRICTER = {
    "a dtype we do not have",
    "a name twice",
    "a text before the JSON",
    "more than a tensor has",
    "too many sizes",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers(name, tmp_path):
    data = HOSTILE[name]
    (tmp_path / "x.safetensors").write_bytes(data)
    tracemalloc.start()
    try:
        for load in (
            lambda: ours.load(data),
            lambda: ours.load_file(tmp_path / "x.safetensors"),
            lambda: ours.safe_open(tmp_path / "x.safetensors"),
            lambda: vistorch.load(tmp_path / "x.safetensors"),
        ):
            with pytest.raises(ours.SafetensorError, match="Error while deserializing header: "):
                load()
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
    if name not in STRICTER:
        with pytest.raises(Exception, match=r"header|type|Metadata|deserializing"):
            theirs.load(data)


def test_cut_off_anywhere():
    data = ours.save(tensors(vistorch))
    for length in range(len(data)):
        with pytest.raises(ours.SafetensorError):
            ours.load(data[:length])


def test_any_byte_changed():
    data = bytearray(ours.save({"x": vistorch.arange(3), "b": vistorch.tensor([True])}, {"a": "b"}))
    for i in range(len(data)):
        for flip in (1, 0x80):
            data[i] ^= flip
            try:
                ours.load(bytes(data))
            except ours.SafetensorError:
                pass
            data[i] ^= flip


def test_bools_that_are_neither():
    data = file_of({"a": one("BOOL", (4,), (0, 4))}, b"\0\1\2\xff")
    assert ours.load(data)["a"]._data.view("u1").tolist() == [0, 1, 1, 1]


def test_a_buffer_is_as_good_as_bytes():
    data = io.BytesIO(ours.save({"x": vistorch.arange(3)})).getbuffer()
    assert ours.load(bytearray(data))["x"].tolist() == [0, 1, 2]
