"""Builders of files that nobody should write: pickles by hand, archives whose numbers lie.

Every file is a function of a path that must not come into being: what is run by loading would make it.
"""

import io
import pickle as p
import struct
import zipfile
import zlib

from vistorch.serialization.archive_out import ArchiveWriter

PROTO = b"\x80\x02"


def text(value):
    data = value.encode("utf-8", "surrogatepass")
    return p.BINUNICODE + struct.pack("<I", len(data)) + data


def number(value):
    if 0 <= value < 256:
        return p.BININT1 + bytes([value])
    data = value.to_bytes((value.bit_length() >> 3) + 1, "little", signed=True)
    return p.LONG1 + bytes([len(data)]) + data


def name(module, attribute):
    return p.GLOBAL + f"{module}\n{attribute}\n".encode()


def tuple_(*items):
    return p.MARK + b"".join(items) + p.TUPLE


def call(function, *args):
    return function + tuple_(*args) + p.REDUCE


def storage(key="0", count=4, kind="FloatStorage", location="cpu"):
    named = tuple_(text("storage"), name("torch", kind), text(key), text(location), number(count))
    return named + p.BINPERSID


ORDERED = name("collections", "OrderedDict") + p.EMPTY_TUPLE + p.REDUCE


def tensor(memory=None, offset=0, size=(4,), stride=(1,), more=b"", grad=p.NEWFALSE):
    memory = storage() if memory is None else memory
    shape, strides = tuple_(*map(number, size)), tuple_(*map(number, stride))
    args = (memory, number(offset), shape, strides, grad, ORDERED, more)
    return call(name("torch._utils", "_rebuild_tensor_v2"), *args)


def archive(pickle, records=None, folder="archive"):
    """An archive with this pickle, and a storage of four float32 under the key 0."""
    file = io.BytesIO()
    writer = ArchiveWriter(file, folder)
    writer.record("data.pkl", PROTO + pickle + p.STOP)
    writer.record("byteorder", b"little")
    for key, data in ({"data/0": struct.pack("<4f", 1, 2, 3, 4)} if records is None else records).items():
        writer.record(key, data)
    writer.finish()
    return file.getvalue()


def legacy(pickle, keys=b"\x80\x02].", storages=b""):
    """A file from before 1.6 with this pickle."""
    head = b"".join(p.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    return head + PROTO + pickle + p.STOP + keys + storages


def command(path):
    return f"touch {path}"


def code(path):
    return f"open({str(path)!r}, 'w').close()"


def getattr_chain(path):
    """`getattr(getattr(OrderedDict, '__class__'), '__subclasses__')...`, which needs nothing but getattr."""
    return call(name("__builtin__", "getattr"), name("collections", "OrderedDict"), text("__class__"))


REDUCERS = {
    "os.system": lambda path: call(name("os", "system"), text(command(path))),
    "posix.system": lambda path: call(name("posix", "system"), text(command(path))),
    "nt.system": lambda path: call(name("nt", "system"), text(command(path))),
    "subprocess": lambda path: call(name("subprocess", "getoutput"), text(command(path))),
    "eval": lambda path: call(name("__builtin__", "eval"), text(code(path))),
    "builtins.exec": lambda path: call(name("builtins", "exec"), text(code(path))),
    "getattr": getattr_chain,
    "open": lambda path: call(name("builtins", "open"), text(str(path)), text("w")),
    "__import__": lambda path: call(name("builtins", "__import__"), text("antigravity")),
    "runpy": lambda path: call(name("runpy", "run_path"), text(str(path))),
    "a dotted name": lambda path: call(name("collections", "OrderedDict.fromkeys"), p.EMPTY_LIST),
    "a name through a module of ours": lambda path: call(name("torch.serialization", "os.system"), text(command(path))),
    "our own save": lambda path: call(name("vistorch", "save"), number(1), text(str(path))),
    "torch's save": lambda path: call(name("torch", "save"), number(1), text(str(path))),
    "from_file": lambda path: call(name("torch", "from_file"), text(str(path)), p.NEWTRUE, number(99)),
    "storage from file": lambda path: call(name("torch.storage", "UntypedStorage"), text(str(path))),
    "codecs": lambda path: call(name("_codecs", "encode"), text("x"), text("antigravity")),
    "codecs.lookup": lambda path: call(name("_codecs", "lookup"), text("antigravity")),
    "numpy": lambda path: call(name("numpy", "load"), text(str(path))),
    "the name on the stack": lambda path: text("os") + text("system") + p.STACK_GLOBAL + tuple_(text("true")) + p.REDUCE,
    "INST": lambda path: p.MARK + text(command(path)) + p.INST + b"os\nsystem\n",
    "OBJ": lambda path: p.MARK + name("os", "system") + text(command(path)) + p.OBJ,
    "NEWOBJ": lambda path: name("subprocess", "Popen") + tuple_(text(command(path))) + p.NEWOBJ,
    "NEWOBJ_EX": lambda path: name("collections", "OrderedDict") + p.EMPTY_TUPLE + p.EMPTY_DICT + p.NEWOBJ_EX,
    "EXT1": lambda path: p.EXT1 + b"\x01",
    "PERSID": lambda path: p.PERSID + b"storage\n",
    "a module": lambda path: tuple_(text("module"), name("os", "system"), text("f"), text("s")) + p.BINPERSID,
    "a text as function": lambda path: call(text("os.system"), text(command(path))),
    "a tensor as function": lambda path: call(tensor(), number(1)),
    "a dict as function": lambda path: p.EMPTY_DICT + p.EMPTY_TUPLE + p.REDUCE,
    "a dtype as function": lambda path: call(name("torch", "float32")),
    "a storage class as function": lambda path: call(name("torch", "FloatStorage"), number(10**12)),
    "rebuild by something else": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("collections", "OrderedDict"), name("torch", "Tensor"), p.EMPTY_TUPLE, p.EMPTY_DICT,
    ),
    "rebuild by itself": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._tensor", "_rebuild_from_type_v2"), name("torch", "Tensor"), p.EMPTY_TUPLE, p.EMPTY_DICT,
    ),
    "rebuild as no tensor": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._utils", "_rebuild_tensor_v2"), name("collections", "Counter"), p.EMPTY_TUPLE, p.EMPTY_DICT,
    ),
    "args that are no tuple": lambda path: name("collections", "OrderedDict") + p.EMPTY_LIST + p.REDUCE,
    "a device by a tensor": lambda path: call(name("torch", "device"), tensor()),
    "a layout": lambda path: call(name("torch.serialization", "_get_layout"), text("os.system")),
}

BUILDERS = {
    "a function's attributes": lambda path: name("torch._utils", "_rebuild_tensor_v2") + _state("__code__") + p.BUILD,
    "a class's attributes": lambda path: name("torch", "Tensor") + _state("__init__") + p.BUILD,
    "a class's slots": lambda path: name("torch", "Tensor") + tuple_(p.NONE, _state("backward")) + p.BUILD,
    "a dict subclass's method": lambda path: ORDERED + _state("items") + p.BUILD,
    "an ordered dict's class": lambda path: ORDERED + _state("__class__") + p.BUILD,
    "an ordered dict by a list": lambda path: ORDERED + p.EMPTY_LIST + p.BUILD,
    "an ordered dict by numbers": lambda path: ORDERED + p.EMPTY_DICT + number(1) * 2 + p.SETITEM + p.BUILD,
    "a counter": lambda path: call(name("collections", "Counter")) + _state("x") + p.BUILD,
    "a tensor": lambda path: tensor() + _state("_data") + p.BUILD,
    "a list": lambda path: p.EMPTY_LIST + _state("x") + p.BUILD,
    "a dtype": lambda path: name("torch", "float32") + _state("itemsize") + p.BUILD,
    "a storage": lambda path: storage() + _state("_untyped_storage") + p.BUILD,
    "slots of a tensor": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._utils", "_rebuild_tensor_v2"), name("torch", "Tensor"),
        tuple_(storage(), number(0), tuple_(number(4)), tuple_(number(1)), p.NEWFALSE, ORDERED),
        tuple_(p.NONE, _state("_data")),
    ),
    "attributes that are no texts": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._utils", "_rebuild_tensor_v2"), name("torch", "Tensor"),
        tuple_(storage(), number(0), tuple_(number(4)), tuple_(number(1)), p.NEWFALSE, ORDERED),
        p.EMPTY_DICT + number(1) + number(2) + p.SETITEM,
    ),
}


def _state(attribute):
    return p.EMPTY_DICT + text(attribute) + number(1) + p.SETITEM


def deep(opening, closing, depth=200_000):
    return opening * depth + p.NONE + closing * depth


def doubled(steps):
    """A tuple of two of a tuple of two of ...: 2**steps parts out of a few bytes."""
    return p.EMPTY_TUPLE + b"".join(p.BINPUT + b"\0" + p.BINGET + b"\0" + p.TUPLE2 for _ in range(steps))


STACKS = {
    "nothing": b"",
    "nothing to call": p.REDUCE,
    "nothing to pop": p.POP * 3,
    "two objects": p.NONE + p.NONE,
    "an open mark": p.MARK,
    "an open mark with an object": p.NONE + p.MARK,
    "no mark": p.TUPLE,
    "append to nothing": p.NONE + p.APPEND,
    "append to a tuple": p.EMPTY_TUPLE + p.NONE + p.APPEND,
    "appends to a text": text("x") + p.MARK + p.NONE + p.APPENDS,
    "add to a dict": p.EMPTY_DICT + p.MARK + p.NONE + p.ADDITEMS,
    "set an item of a tensor": tensor() + number(0) + number(1) + p.SETITEM,
    "set an item of a list": p.EMPTY_LIST + number(0) + number(1) + p.SETITEM,
    "an odd number of items": p.EMPTY_DICT + p.MARK + p.NONE + p.SETITEMS,
    "an odd dict": p.MARK + p.NONE + p.DICT,
    "a list as a key": p.EMPTY_DICT + p.EMPTY_LIST + p.NONE + p.SETITEM,
    "a dict as a member": p.EMPTY_SET + p.MARK + p.EMPTY_DICT + p.ADDITEMS,
    "a memo that is not there": p.BINGET + b"\5",
    "a memo far away": p.NONE + p.LONG_BINPUT + b"\xff\xff\xff\xff" + p.POP + p.LONG_BINGET + b"\xfe\xff\xff\xff",
    "a memo of nothing": p.BINPUT + b"\0",
    "an unknown instruction": b"\xff",
    "DUP": p.NONE + p.DUP,
    "a text that is none": p.BINUNICODE + struct.pack("<I", 2) + b"\xff\xfe",
    "a name that is none": p.GLOBAL + b"\xff\xfe\nx\n",
    "a name without an end": p.GLOBAL + b"o" * 5000,
    "a number as a name": number(1) + number(2) + p.STACK_GLOBAL,
    "a text longer than the file": p.BINUNICODE + b"\xff\xff\xff\xff" + b"x",
    "a text of 2**63 bytes": p.BINUNICODE8 + b"\xff" * 7 + b"\x7f" + b"x",
    "bytes of 2**64 bytes": p.BINBYTES8 + b"\xff" * 8 + b"x",
    "a bytearray of 2**62 bytes": p.BYTEARRAY8 + b"\0" * 7 + b"\x40" + b"x",
    "a number of 2**32 bytes": p.LONG4 + b"\xff\xff\xff\xff" + b"x",
    "a protocol of the future": b"\x80\xff" + p.NONE,
    "a tuple too deep for a key": p.EMPTY_DICT + p.NONE + p.TUPLE1 * 200_000 + p.NONE + p.SETITEM,
    "a tuple too deep for a set": p.EMPTY_SET + p.MARK + p.NONE + p.TUPLE1 * 200_000 + p.ADDITEMS,
    "a tuple too deep for a frozenset": p.MARK + p.NONE + p.TUPLE1 * 200_000 + p.FROZENSET,
    "a tuple too wide for a key": p.EMPTY_DICT + doubled(60) + p.NONE + p.SETITEM,
    "a deep key out of a list": call(name("__builtin__", "set"), p.EMPTY_LIST + p.NONE + p.TUPLE1 * 200_000 + p.APPEND),
}

COUNT = 10**15
CALLS = {
    "bytearray of a length": call(name("__builtin__", "bytearray"), number(COUNT)),
    "bytes of a length": call(name("__builtin__", "bytes"), number(COUNT)),
    "an encoding that grows": call(name("_codecs", "encode"), text("x" * 1000), text("utf-32")),
    "a slow encoding": call(name("_codecs", "encode"), text("x" * 1000), text("punycode")),
    "text that does not fit": call(name("_codecs", "encode"), text("€"), text("latin1")),
    "a set of a number": call(name("__builtin__", "set"), number(3)),
    "a size of texts": call(name("torch", "Size"), tuple_(text("x"))),
    "a dict of a number": call(name("collections", "OrderedDict"), number(3)),
    "a dict of no pairs": call(name("collections", "OrderedDict"), p.EMPTY_LIST + number(3) + p.APPEND),
    "a complex of a text": call(name("__builtin__", "complex"), text("1" * 100)),
    "a device that is none": call(name("torch", "device"), text("nowhere")),
    "a parameter of a number": call(name("torch.nn.parameter", "Parameter"), number(3)),
    "a parameter of a text": call(name("torch._utils", "_rebuild_parameter"), text("x"), p.NEWTRUE, ORDERED),
    "too few arguments": call(name("torch._utils", "_rebuild_tensor_v2")),
    "too many arguments": call(name("torch._utils", "_rebuild_tensor_v2"), *[number(1)] * 20),
    "many copies of a list": (
        p.EMPTY_LIST + p.BINPUT + b"\0" + p.MARK + p.NONE * 20_000 + p.APPENDS
        + (name("__builtin__", "set") + p.BINPUT + b"\1" + p.POP)
        + (p.BINGET + b"\1" + p.BINGET + b"\0" + p.TUPLE1 + p.REDUCE) * 2000
    ),
    "a sparse tensor": call(name("torch._utils", "_rebuild_sparse_tensor"), number(1), number(2)),
}

TENSORS = {
    "longer than its storage": tensor(size=(5,)),
    "huge": tensor(size=(COUNT,)),
    "huge in two dimensions": tensor(size=(2**40, 2**40), stride=(0, 0)),
    "of 2**63 elements": tensor(size=(2**62, 2), stride=(0, 0)),
    "of more than 64 bits": tensor(size=(2**70,), stride=(0,)),
    "beginning after its storage": tensor(offset=4),
    "beginning far away": tensor(offset=2**62),
    "beginning before its storage": tensor(offset=-1),
    "of negative size": tensor(size=(-1,)),
    "with a negative stride": tensor(size=(2,), stride=(-1,), offset=1),
    "with a long stride": tensor(size=(2,), stride=(2**61,)),
    "with a stride that wraps around": tensor(size=(2,), stride=(2**64,)),
    "with strides that leave it together": tensor(size=(2, 2), stride=(3, 1)),
    "with more strides than sizes": tensor(size=(2,), stride=(1, 1)),
    "of too many dimensions": tensor(size=(1,) * 100, stride=(1,) * 100),
    "of text sizes": call(
        name("torch._utils", "_rebuild_tensor_v2"),
        storage(), number(0), tuple_(text("x")), tuple_(number(1)), p.NEWFALSE, ORDERED,
    ),
    "on no storage": tensor(memory=text("0")),
    "on a list": tensor(memory=p.EMPTY_LIST),
    "of whole numbers with a gradient": tensor(memory=storage(kind="IntStorage"), grad=p.NEWTRUE),
    "with a gradient that is no bool": tensor(grad=text("yes")),
    "with odd metadata": tensor(more=p.EMPTY_DICT + text("x") + number(1) + p.SETITEM),
    "of bool on another storage": call(
        name("torch._utils", "_rebuild_tensor_v3"),
        storage(), number(0), tuple_(number(4)), tuple_(number(1)), p.NEWFALSE, ORDERED, name("torch", "bool"),
    ),
    "of no dtype": call(
        name("torch._utils", "_rebuild_tensor_v3"),
        storage(), number(0), tuple_(number(4)), tuple_(number(1)), p.NEWFALSE, ORDERED, text("float32"),
    ),
}

STORAGES = {
    "longer than its record": tensor(memory=storage(count=5)),
    "huge": tensor(memory=storage(count=COUNT)),
    "of more than 64 bits": tensor(memory=storage(count=2**80)),
    "of negative length": tensor(memory=storage(count=-1)),
    "of a wider type than its record": tensor(memory=storage(kind="DoubleStorage")),
    "without a record": tensor(memory=storage(key="7")),
    "that is the pickle's record": tensor(memory=storage(key="../data.pkl")),
    "of a class that is none": tensor(memory=storage(kind="Size")),
    "of a class that is not there": tensor(memory=storage(kind="OddStorage")),
    "nowhere": tensor(memory=storage(location="nowhere")),
    "named by a number": number(0) + p.BINPERSID,
    "named by nothing": p.EMPTY_TUPLE + p.BINPERSID,
    "named by a text": text("storage") + p.BINPERSID,
    "named by too little": tuple_(text("storage"), name("torch", "FloatStorage")) + p.BINPERSID,
    "named by lists": tuple_(text("storage"), *[p.EMPTY_LIST] * 4) + p.BINPERSID,
}


# ---- archives ---------------------------------------------------------------------------------------------------------
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
    "two records of one name": lambda: twins(),
    "a path upwards": lambda: zipped([*ENTRIES, ("a/../../etc/passwd", b"x")]),
    "a path from the root": lambda: zipped([*ENTRIES, ("/etc/passwd", b"x")]),
    "a path of another system": lambda: zipped([*ENTRIES, ("a\\..\\b", b"x")]),
    "an odd byte order": lambda: zipped([*ENTRIES, ("a/byteorder", b"middle")]),
    "a long byte order": lambda: zipped([*ENTRIES, ("a/byteorder", b"x" * 1000)]),
    "TorchScript": lambda: zipped([*ENTRIES, ("a/constants.pkl", b"x")]),
    "broken compression": lambda: _broken(),
    "compression that ends early": lambda: _broken(cut=True),
    "a header with another name": lambda: GOOD.replace(b"a/data.pkl", b"a/xxxx.pkl", 1),
    "a header that is none": lambda: GOOD[:4] + b"".join([b"\0" * 26, GOOD[30:]]),
    "a 64-bit end that lies": lambda: _end64(b"\xff" * 8),
    "a 64-bit end outside": lambda: _end64(struct.pack("<Q", 1 << 62), at=8),
}


def twins():
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
    "a huge storage": lambda: legacy(_old(COUNT)),
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
