"""Pickles as Python 2 and the numpy of its day wrote them, which is how CIFAR's are.

Invariant: every text is a byte string, arrays are named numpy.core.multiarray._reconstruct.
"""

import struct

import numpy as np


def dumps(value):
    """The pickle of dicts, lists, byte strings, whole numbers and arrays, in protocol 2."""
    return b"\x80\x02" + _of(value) + b"."


def _of(value):
    if isinstance(value, dict):
        return b"}(" + b"".join(_of(k) + _of(v) for k, v in value.items()) + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(map(_of, value)) + b"e"
    if isinstance(value, tuple):
        return b"(" + b"".join(map(_of, value)) + b"t"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if value is None:
        return b"N"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, bytes):
        return b"T" + struct.pack("<i", len(value)) + value
    assert isinstance(value, np.ndarray)
    kind = value.dtype
    dtype = b"cnumpy\ndtype\n" + _of((kind.str[1:].encode(), 0, 1)) + b"R"
    dtype += _of((3, kind.str[:1].encode(), None, None, None, -1, -1, 0)) + b"b"
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n" + _of((0,)) + _of(b"b") + b"tR"
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    raw = value.tobytes(order="F" if fortran else "C")
    return made + b"(K\x01" + _of(value.shape) + dtype + _of(bool(fortran)) + _of(raw) + b"tb"
