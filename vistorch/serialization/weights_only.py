"""Which instructions of pickle are known when only weights are loaded.

Invariant: what is missing in the table is refused: INST, OBJ, NEWOBJ_EX, EXT, PERSID, DUP and the texts of protocol 0.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Any, ClassVar

from .machine import Machine

_BYTE, _SHORT, _INT = struct.Struct("<B"), struct.Struct("<H"), struct.Struct("<I")
_SIGNED, _LONG, _FLOAT = struct.Struct("<i"), struct.Struct("<Q"), struct.Struct(">d")


def _push(value: Any) -> Callable:
    return lambda u: u.stack.append(value)


def _with(method: Callable, form: struct.Struct) -> Callable:
    """An instruction that is followed by a length or an index."""
    return lambda u: method(u, u.number(form))


def _number(form: struct.Struct) -> Callable:
    return lambda u: u.value(form)


def _bytes(form: struct.Struct, made: Callable = bytes) -> Callable:
    return lambda u: u.raw(u.number(form), made)


_STEPS: dict[bytes, Callable] = {
    # what may call something
    pickle.REDUCE: Machine.reduce,
    pickle.NEWOBJ: Machine.newobj,
    pickle.BUILD: Machine.build,
    pickle.GLOBAL: Machine.name,
    pickle.STACK_GLOBAL: Machine.name_on_stack,
    pickle.BINPERSID: Machine.persistent,
    # containers
    pickle.MARK: Machine.mark,
    pickle.APPEND: Machine.append,
    pickle.APPENDS: Machine.appends,
    pickle.ADDITEMS: Machine.additems,
    pickle.SETITEM: Machine.setitem,
    pickle.SETITEMS: Machine.setitems,
    pickle.TUPLE: Machine.tuple_,
    pickle.TUPLE1: lambda u: u.tuple_of(1),
    pickle.TUPLE2: lambda u: u.tuple_of(2),
    pickle.TUPLE3: lambda u: u.tuple_of(3),
    pickle.LIST: Machine.list_,
    pickle.DICT: Machine.dict_,
    pickle.FROZENSET: Machine.frozen,
    pickle.EMPTY_TUPLE: _push(()),
    pickle.EMPTY_LIST: Machine.empty_list,
    pickle.EMPTY_DICT: Machine.empty_dict,
    pickle.EMPTY_SET: Machine.empty_set,
    # texts and numbers
    pickle.NONE: _push(None),
    pickle.NEWFALSE: _push(False),
    pickle.NEWTRUE: _push(True),
    pickle.BININT: _number(_SIGNED),
    pickle.BININT1: _number(_BYTE),
    pickle.BININT2: _number(_SHORT),
    pickle.BINFLOAT: _number(_FLOAT),
    pickle.LONG1: _with(Machine.whole, _BYTE),
    pickle.LONG4: _with(Machine.whole, _INT),
    pickle.SHORT_BINSTRING: _with(Machine.old_text, _BYTE),
    pickle.BINSTRING: _with(Machine.old_text, _INT),
    pickle.SHORT_BINUNICODE: _with(Machine.text, _BYTE),
    pickle.BINUNICODE: _with(Machine.text, _INT),
    pickle.BINUNICODE8: _with(Machine.text, _LONG),
    pickle.SHORT_BINBYTES: _bytes(_BYTE),
    pickle.BINBYTES: _bytes(_INT),
    pickle.BINBYTES8: _bytes(_LONG),
    pickle.BYTEARRAY8: _bytes(_LONG, bytearray),
    # the memo, and what only arranges
    pickle.BINGET: _with(Machine.recall, _BYTE),
    pickle.LONG_BINGET: _with(Machine.recall, _INT),
    pickle.BINPUT: _with(Machine.remember, _BYTE),
    pickle.LONG_BINPUT: _with(Machine.remember, _INT),
    pickle.MEMOIZE: lambda u: u.remember(len(u.memo) + len(u.far)),
    pickle.POP: Machine.pop,
    pickle.POP_MARK: Machine.since_mark,
    pickle.PROTO: Machine.protocol,
    pickle.FRAME: lambda u: u.number(_LONG),
}


class Unpickler(Machine):
    """Reads one pickle and runs nothing that is not on the allow-list; see `Machine`."""

    codes: ClassVar = [_STEPS.get(bytes([code])) for code in range(256)]
