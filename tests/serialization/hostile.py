"""Builders of files that nobody should write: pickles by hand.

Every file is a function of a path that must not come into being: what is run by loading would make it.
"""

import io
import pickle as p
import struct

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
    "a name through a module of ours": lambda path: call(
        name("torch.serialization", "os.system"), text(command(path))
    ),
    "our own save": lambda path: call(name("vistorch", "save"), number(1), text(str(path))),
    "torch's save": lambda path: call(name("torch", "save"), number(1), text(str(path))),
    "from_file": lambda path: call(name("torch", "from_file"), text(str(path)), p.NEWTRUE, number(99)),
    "storage from file": lambda path: call(name("torch.storage", "UntypedStorage"), text(str(path))),
    "codecs": lambda path: call(name("_codecs", "encode"), text("x"), text("antigravity")),
    "codecs.lookup": lambda path: call(name("_codecs", "lookup"), text("antigravity")),
    "numpy": lambda path: call(name("numpy", "load"), text(str(path))),
    "the name on the stack": lambda path: (
        text("os") + text("system") + p.STACK_GLOBAL + tuple_(text("true")) + p.REDUCE
    ),
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
        name("collections", "OrderedDict"),
        name("torch", "Tensor"),
        p.EMPTY_TUPLE,
        p.EMPTY_DICT,
    ),
    "rebuild by itself": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch", "Tensor"),
        p.EMPTY_TUPLE,
        p.EMPTY_DICT,
    ),
    "rebuild as no tensor": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._utils", "_rebuild_tensor_v2"),
        name("collections", "Counter"),
        p.EMPTY_TUPLE,
        p.EMPTY_DICT,
    ),
    "args that are no tuple": lambda path: name("collections", "OrderedDict") + p.EMPTY_LIST + p.REDUCE,
    "a device by a tensor": lambda path: call(name("torch", "device"), tensor()),
    "a layout": lambda path: call(name("torch.serialization", "_get_layout"), text("os.system")),
}

BUILDERS = {
    "a function's attributes": lambda path: (
        name("torch._utils", "_rebuild_tensor_v2") + _state("__code__") + p.BUILD
    ),
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
        name("torch._utils", "_rebuild_tensor_v2"),
        name("torch", "Tensor"),
        tuple_(storage(), number(0), tuple_(number(4)), tuple_(number(1)), p.NEWFALSE, ORDERED),
        tuple_(p.NONE, _state("_data")),
    ),
    "attributes that are no texts": lambda path: call(
        name("torch._tensor", "_rebuild_from_type_v2"),
        name("torch._utils", "_rebuild_tensor_v2"),
        name("torch", "Tensor"),
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
    "a memo far away": p.NONE
    + p.LONG_BINPUT
    + b"\xff\xff\xff\xff"
    + p.POP
    + p.LONG_BINGET
    + b"\xfe\xff\xff\xff",
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
    "a deep key out of a list": call(
        name("__builtin__", "set"), p.EMPTY_LIST + p.NONE + p.TUPLE1 * 200_000 + p.APPEND
    ),
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
        p.EMPTY_LIST
        + p.BINPUT
        + b"\0"
        + p.MARK
        + p.NONE * 20_000
        + p.APPENDS
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
        storage(),
        number(0),
        tuple_(text("x")),
        tuple_(number(1)),
        p.NEWFALSE,
        ORDERED,
    ),
    "on no storage": tensor(memory=text("0")),
    "on a list": tensor(memory=p.EMPTY_LIST),
    "of whole numbers with a gradient": tensor(memory=storage(kind="IntStorage"), grad=p.NEWTRUE),
    "with a gradient that is no bool": tensor(grad=text("yes")),
    "with odd metadata": tensor(more=p.EMPTY_DICT + text("x") + number(1) + p.SETITEM),
    "of bool on another storage": call(
        name("torch._utils", "_rebuild_tensor_v3"),
        storage(),
        number(0),
        tuple_(number(4)),
        tuple_(number(1)),
        p.NEWFALSE,
        ORDERED,
        name("torch", "bool"),
    ),
    "of no dtype": call(
        name("torch._utils", "_rebuild_tensor_v3"),
        storage(),
        number(0),
        tuple_(number(4)),
        tuple_(number(1)),
        p.NEWFALSE,
        ORDERED,
        text("float32"),
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
