"""What a file may take while it is loaded: each instruction pays, and keys of one hash are few."""

import io
import pickle as p
import struct
import time
import zipfile

import pytest

import vistorch
from vistorch.serialization.budget import allowed
from vistorch.serialization.keys import ALIKE, PRIME

from . import hostile as h
from .hostile_files import zipped
from .test_hostile import REFUSED, refused

MB = 1 << 20


def packed(pickle):
    return zipped([("a/data.pkl", h.PROTO + pickle + p.STOP)], zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("code", [p.EMPTY_DICT, p.EMPTY_SET, p.EMPTY_LIST, p.NONE, p.MARK, p.EMPTY_TUPLE])
def test_a_compressed_pickle_of_one_instruction(code):
    began = time.process_time()
    refused(packed(p.EMPTY_LIST + p.MARK + code * (20 * MB) + p.APPENDS))
    assert time.process_time() - began < 5


GROWING = {
    "sets": p.EMPTY_SET * (MB // 2),
    "dicts": p.EMPTY_DICT * MB,
    "marks": p.MARK * MB,
    "tuples": p.NONE + p.TUPLE1 * (2 * MB),
    "numbers": p.BININT1 + b"\x01" + p.POP + (p.LONG1 + b"\x02\xff\x7f") * (2 * MB // 4),
    "calls": h.name("collections", "OrderedDict")
    + p.BINPUT
    + b"\0"
    + (p.BINGET + b"\0" + p.EMPTY_TUPLE + p.REDUCE + p.POP) * 700_000,
}


@pytest.mark.parametrize("name", GROWING)
def test_what_is_made_is_paid_for(name):
    data = h.archive(GROWING[name])
    began = time.process_time()
    with pytest.raises(REFUSED, match=r"its length does not justify|more than one object"):
        vistorch.load(io.BytesIO(data))
    assert time.process_time() - began < 10


LONG = p.LONG1 + b"\x0a"
ALL_ALIKE = {
    "ints": lambda i: LONG + (i * PRIME).to_bytes(10, "little", signed=True),
    "tuples of ints": lambda i: LONG + (i * PRIME).to_bytes(10, "little", signed=True) + p.TUPLE1,
    "complex": lambda i: h.call(
        h.name("__builtin__", "complex"),
        p.BINFLOAT + struct.pack(">d", -1000003.0 * i),
        p.BINFLOAT + struct.pack(">d", float(i)),
    ),
}
CONTAINERS = {
    "a set": lambda items: p.EMPTY_SET + p.MARK + b"".join(items) + p.ADDITEMS,
    "a set, one by one": lambda items: p.EMPTY_SET + b"".join(p.MARK + item + p.ADDITEMS for item in items),
    "a frozenset": lambda items: p.MARK + b"".join(items) + p.FROZENSET,
    "a dict": lambda items: p.EMPTY_DICT + p.MARK + b"".join(item + p.NONE for item in items) + p.SETITEMS,
    "a dict, one by one": lambda items: p.EMPTY_DICT + b"".join(item + p.NONE + p.SETITEM for item in items),
    "a set of a list": lambda items: h.call(
        h.name("__builtin__", "set"), p.EMPTY_LIST + p.MARK + b"".join(items) + p.APPENDS
    ),
    "an ordered dict": lambda items: h.call(
        h.name("collections", "OrderedDict"),
        p.EMPTY_LIST + p.MARK + b"".join(item + p.NONE + p.TUPLE2 for item in items) + p.APPENDS,
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", ALL_ALIKE)
def test_keys_of_one_hash(kind, container):
    items = [ALL_ALIKE[kind](i) for i in range(3000)]
    began = time.process_time()
    sentence = refused(h.archive(CONTAINERS[container](items)))
    assert "have the same hash" in sentence and time.process_time() - began < 2
    few = h.archive(CONTAINERS[container](items[:ALIKE]))
    assert len(vistorch.load(io.BytesIO(few))) == ALIKE


@pytest.mark.parametrize("key", [h.tuple_(*[p.NONE] * 9999), p.LONG4 + struct.pack("<I", MB) + b"\x11" * MB])
def test_a_key_that_is_slow_to_hash_and_met_often(key):
    use = p.EMPTY_DICT + p.BINGET + b"\0" + p.NONE + p.SETITEM
    began = time.process_time()
    assert "does not justify" in refused(
        h.archive(p.EMPTY_LIST + p.MARK + key + p.BINPUT + b"\0" + use * 200_000 + p.APPENDS)
    )
    assert time.process_time() - began < 5


def test_what_programs_save_is_within_the_budget():
    """The densest of what is not meant to be hostile."""
    whole = {
        "floats": [i / 7 for i in range(20_000)],
        "by number": dict.fromkeys(range(300, 20_000)),
        "by pair": {(i, i + 1): i for i in range(20_000)},
        "empty": [{} for _ in range(20_000)] + [[] for _ in range(20_000)] + [set() for _ in range(20_000)],
        "texts": {str(i): str(i) for i in range(20_000)},
        "tensors": [vistorch.ones(1) for _ in range(2000)],
    }
    for protocol in (2, 4):
        for name, value in whole.items():
            file = io.BytesIO()
            vistorch.save([value, value], file, pickle_protocol=protocol)
            again = vistorch.load(io.BytesIO(file.getvalue()))[1]
            assert again == value if name != "tensors" else len(again) == len(value)
            assert len(file.getvalue()) < allowed(len(file.getvalue()))


def test_a_directory_of_endless_extra_fields():
    """Each entry's field is walked once, not copied for every part of it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for i in range(60):
            info = zipfile.ZipInfo(f"a/{i}")
            info.extra = b"\x99\x99\0\0" * 16_000
            z.writestr(info, b"")
    data = bytearray(file.getvalue())
    at = data.find(b"PK\1\2")
    while at >= 0:
        data[at + 20 : at + 28] = b"\xff" * 8  # sizes that are said to be in the extra field
        at = data.find(b"PK\1\2", at + 1)
    began = time.process_time()
    with pytest.raises(RuntimeError):
        vistorch.load(io.BytesIO(data))
    assert time.process_time() - began < 3


def test_a_device_that_is_not_there():
    """A tensor of another device than those of storages is refused like any other."""
    moved = h.call(
        h.name("torch._utils", "_rebuild_device_tensor_from_cpu_tensor"),
        h.tensor(),
        h.name("torch", "float32"),
        h.text("cuda:7"),
        p.NEWFALSE,
    )
    assert "Attempting to deserialize object on CUDA device" in refused(h.archive(moved)).replace(
        "a CUDA", "CUDA"
    )
    assert vistorch.load(io.BytesIO(h.archive(moved)), map_location="cpu").tolist() == [1, 2, 3, 4]
