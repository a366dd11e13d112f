"""Builders of hostile files that are more than a pickle: archives whose numbers lie, old files, and no files at all."""

import io
import pickle as p
import struct
import zipfile
import zlib

from .hostile import PROTO, archive, call, legacy, name, number, storage, tensor, text, tuple_


def zipped(entries, method=zipfile.ZIP_STORED):
    """A zip as the standard library writes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        for path, data in entries:
            z.writestr(zipfile.ZipInfo(path), data, method)
    return file.getvalue()


PLAIN = PROTO + p.NONE + p.STOP


def bomb():
    """A hundred megabytes of zeros in a hundred kilobytes, as a storage."""
    count = 100 << 20
    pickle = PROTO + tensor(memory=storage(count=count // 4)) + p.STOP
    return zipped([("a/data.pkl", pickle), ("a/data/0", bytes(count))], zipfile.ZIP_DEFLATED)


def overlapping():
    """Two records on the same bytes."""
    data = bytearray(zipped([("a/data.pkl", PLAIN), ("a/data/0", bytes(64)), ("a/data/1", bytes(64))]))
    first = data.rfind(b"PK\1\2", 0, data.rfind(b"PK\1\2"))
    last = data.rfind(b"PK\1\2")
    data[last + 42 : last + 46] = data[first + 42 : first + 46]
    return bytes(data)


def patched(data, at, value):
    """The last entry of the directory, changed."""
    data = bytearray(data)
    entry = data.rfind(b"PK\1\2")
    data[entry + at : entry + at + len(value)] = value
    return bytes(data)


def end_patched(data, at, value):
    """The end of the directory, changed."""
    data = bytearray(data)
    entry = data.rfind(b"PK\5\6")
    data[entry + at : entry + at + len(value)] = value
    return bytes(data)


GOOD = zipped([("a/data.pkl", PLAIN), ("a/data/0", bytes(16))])
ENTRIES = [("a/data.pkl", PLAIN), ("a/data/0", bytes(16))]

WITH_STORAGE = PROTO + tensor() + p.STOP
PACKED = zipped([("a/data.pkl", WITH_STORAGE), ("a/data/0", bytes(1000))], zipfile.ZIP_DEFLATED)

ARCHIVES = {
    "a bomb": bomb,
    "records on one another": overlapping,
    "a record that claims more": lambda: patched(GOOD, 20, struct.pack("<II", 10**9, 10**9)),
    "a record that claims 4 GiB": lambda: patched(GOOD, 20, b"\xff" * 8),
    "a record beyond the file": lambda: patched(GOOD, 42, struct.pack("<I", 10**9)),
    "a record in the directory": lambda: patched(GOOD, 42, struct.pack("<I", GOOD.rfind(b"PK\1\2"))),
    "packed and unpacked sizes that differ": lambda: patched(GOOD, 24, struct.pack("<I", 10**9)),
    "an unknown compression": lambda: patched(GOOD, 10, struct.pack("<H", 12)),
    "encrypted": lambda: patched(GOOD, 8, struct.pack("<H", 1)),
    "a long name": lambda: patched(GOOD, 28, struct.pack("<H", 60000)),
    "a long comment": lambda: patched(GOOD, 32, struct.pack("<H", 60000)),
    "no directory": lambda: GOOD[: GOOD.rfind(b"PK\5\6")],
    "an empty directory": lambda: end_patched(GOOD, 8, bytes(8)),
    "many entries": lambda: end_patched(GOOD, 8, b"\xff\xff\xff\xff"),
    "a long directory": lambda: end_patched(GOOD, 12, b"\xff\xff\xff\x7f"),
    "a directory beyond the file": lambda: end_patched(GOOD, 16, b"\xff\xff\xff\x7f"),
    "several disks": lambda: end_patched(GOOD, 4, b"\1\0\1\0"),
    "no pickle": lambda: zipped([("a/data/0", bytes(16))]),
    "no folder": lambda: zipped([("data.pkl", PLAIN)]),
    "two records of one name": lambda: copies(),
    "a path upwards": lambda: zipped([*ENTRIES, ("a/../../etc/passwd", b"x")]),
    "a path from the root": lambda: zipped([*ENTRIES, ("/etc/passwd", b"x")]),
    "a path of another system": lambda: zipped([*ENTRIES, ("a\\..\\b", b"x")]),
    "an odd byte order": lambda: zipped([*ENTRIES, ("a/byteorder", b"middle")]),
    "a long byte order": lambda: zipped([*ENTRIES, ("a/byteorder", b"x" * 1000)]),
    "TorchScript": lambda: zipped([*ENTRIES, ("a/constants.pkl", b"x")]),
    "broken compression": lambda: _broken(),
    "compression that ends early": lambda: _broken(cut=True),
    "compressed and shorter than it claims": lambda: patched(PACKED, 24, struct.pack("<I", 2000)),
    "compressed and longer than it claims": lambda: patched(PACKED, 24, struct.pack("<I", 10)),
    "a header with another name": lambda: GOOD.replace(b"a/data.pkl", b"a/xxxx.pkl", 1),
    "a header that is none": lambda: GOOD[:4] + b"".join([b"\0" * 26, GOOD[30:]]),
    "a 64-bit end that lies": lambda: _end64(b"\xff" * 8),
    "a 64-bit end outside": lambda: _end64(struct.pack("<Q", 1 << 62), at=8),
}


def copies():
    """Two records of one name: which one is meant?"""
    data = zipped([("a/data.pkl", PLAIN), ("a/data.pkX", PROTO + p.NEWTRUE + p.STOP)])
    return data.replace(b"a/data.pkX", b"a/data.pkl")


def _broken(cut=False):
    data = zipped([("a/data.pkl", PLAIN), ("a/data/0", bytes(1000))], zipfile.ZIP_DEFLATED)
    at = data.find(b"a/data.pkl") + len("a/data.pkl")
    pickled = zlib.compressobj(9, zlib.DEFLATED, -15)
    length = len(pickled.compress(PLAIN) + pickled.flush())
    filler = (b"\0" if cut else b"\xff") * length
    return data[:at] + filler + data[at + length :]


def _end64(value, at=48):
    data = bytearray(archive(p.NONE))
    entry = data.rfind(b"PK\6\6" if at == 48 else b"PK\6\7")
    data[entry + at : entry + at + 8] = value
    return bytes(data)


LEGACY = {
    "another magic number": lambda: p.dumps(12345, 2) + p.dumps(1001, 2) + p.dumps({}, 2),
    "another protocol": lambda: p.dumps(0x1950A86A20F9469CFC6C, 2) + p.dumps(1000, 2) + p.dumps({}, 2),
    "no system": lambda: b"".join(p.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, 3)) + PLAIN,
    "only a head": lambda: legacy(b"")[:-8],
    "a huge storage": lambda: legacy(_old(10**15)),
    "a storage longer than the file": lambda: legacy(_old(200), _keys(), struct.pack("<q", 200) + bytes(80)),
    "storages longer than the file together": lambda: legacy(
        p.MARK + b"".join(_old(100, str(i)) for i in range(99)) + p.LIST
    ),
    "a length that differs": lambda: legacy(_old(4), _keys(), struct.pack("<q", 10**15) + bytes(16)),
    "a negative length": lambda: legacy(_old(4), _keys(), struct.pack("<q", -1) + bytes(16)),
    "no elements": lambda: legacy(_old(4), _keys()),
    "half the elements": lambda: legacy(_old(4), _keys(), struct.pack("<q", 4) + bytes(8)),
    "an unknown key": lambda: legacy(_old(4), _keys("9"), struct.pack("<q", 4) + bytes(16)),
    "keys that are none": lambda: legacy(_old(4), PROTO + number(5) + p.STOP),
    "a part beyond its storage": lambda: legacy(_old(4, view=tuple_(text("v"), number(2), number(9)))),
    "a part before its storage": lambda: legacy(_old(4, view=tuple_(text("v"), number(-2), number(2)))),
    "a part that is none": lambda: legacy(_old(4, view=text("x"))),
    "a pickle in the head that calls": lambda: PROTO + call(name("os", "getcwd")) + p.STOP,
}


def _old(count, key="0", view=p.NONE):
    memory = tuple_(
        text("storage"), name("torch", "FloatStorage"), text(key), text("cpu"), number(count), view
    )
    return tensor(memory=memory + p.BINPERSID, size=(count,) if view == p.NONE else (2,))


def _keys(key="0"):
    return PROTO + p.EMPTY_LIST + text(key) + p.APPEND + p.STOP


NOT_FILES = {
    "nothing": b"",
    "one byte": b"P",
    "a text": b"hello world\n",
    "an archive's first bytes": b"PK\3\4",
    "an archive's first bytes and more": b"PK\3\4" + b"x" * 100,
    "zeros": bytes(1000),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "a numpy file": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}" + bytes(100),
    "JSON": b'{"a": 1}',
    "a pickle of another program": p.dumps({"a": [1, 2]}),
    "a pickle of protocol 0": p.dumps({"a": [1, 2]}, 0),
    "a tar": b"storages" + bytes(92) + b"0000644\0" + bytes(500),
    "an empty zip": b"PK\5\6" + bytes(18),
}
