"""A record as an event file that TensorBoard reads: its scalars, one event a value.

The file is a row of frames: length (8 bytes, little-endian), checksum of the length, content, checksum of the content.
The content is one `Event` in protocol buffer encoding: wall time (field 1, double), step (2, varint), then the version
(3, the first event alone) or a summary (5) of one value (1) with its tag (1) and number (2, float). A checksum is
CRC-32C, rotated by 15 bits and moved by a constant, so that a checksum of data that holds checksums still tells.
Invariant: what is written is made of the record's state alone, so a record that was read from a file gives the same.
"""

from __future__ import annotations

import math
import os
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ...serialization.atomic import replacing
from .tables import columns_of

VERSION = b"brain.Event:2"
POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
MOVED = 0xA282EAD8


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def checksum(data: bytes) -> int:
    """The masked CRC-32C of some bytes.

    Args:
        data: the bytes.

    Example:
        >>> from vistorch.debug.watch.tensorboard import checksum
        >>> hex(checksum(b"123456789"))  # its CRC-32C is 0xe3069283
        '0xc78ab0e5'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + MOVED) & 0xFFFFFFFF


def framed(content: bytes) -> bytes:
    """A frame around an event."""
    length = struct.pack("<Q", len(content))
    return length + struct.pack("<I", checksum(length)) + content + struct.pack("<I", checksum(content))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def event(wall: float, step: int, tag: str, value: float) -> bytes:
    """One value of one step.

    Args:
        wall: seconds since 1970.
        step: a whole number from 0 on.
        tag: what it is a value of.
        value: a number; it is kept in single precision.
    """
    with np.errstate(over="ignore"):
        number = np.float32(value).tobytes()
    one = _field(1, tag.encode()) + b"\x15" + (number if np.little_endian else number[::-1])
    return b"\x09" + struct.pack("<d", wall) + b"\x10" + _varint(step) + _field(5, _field(1, one))


def scalars(state: dict[str, Any]) -> Iterator[tuple[int, str, float]]:
    """(step, tag, value) of all that is known by step.

    Args:
        state: a record's state.
    """
    found = columns_of(state)
    for name, tag in (("loss", "loss/training"), ("loss_min", "loss/least"), ("loss_max", "loss/largest")):
        if name == "loss" or state["loss"]["curve"]["width"] > 1:
            yield from ((s, tag, v) for s, v in zip(found["step"], found[name], strict=True))
    rates = [name for name in found if name.startswith("lr")]
    for i, name in enumerate(rates):
        tag = "learning rate" if len(rates) == 1 else f"learning rate/group {i}"
        yield from ((s, tag, v) for s, v in zip(found["step"], found[name], strict=True) if v == v)
    for check in state["validation"]:
        for name in ("loss", "accuracy", "r2", "perplexity"):
            if check.get(name) is not None:
                yield check["step"], f"{name}/validation", check[name]
    for epoch in state["accuracy"]["epochs"]:
        right, seen = np.asarray(epoch["right"], float), np.asarray(epoch["seen"], float)
        if seen.sum():
            yield epoch["step"], "accuracy/training", right.sum() / seen.sum()
        for i in np.flatnonzero(seen):
            yield epoch["step"], f"accuracy of a class/{state['classes'][i]}", right[i] / seen[i]
    columns = state["flow"]["columns"]
    if columns is not None:
        for name, row in zip(state["flow"]["names"], columns["mean"], strict=True):
            at = (columns["from"] + np.flatnonzero(row == row)) * columns["width"]
            yield from ((s, f"gradient norm/{name}", v) for s, v in zip(at, row[row == row], strict=True))


def write(state: dict[str, Any], folder: Any) -> str:
    """Write an event file and give its path.

    Args:
        state: a record's state.
        folder: where; it is made if it is not there. TensorBoard shows each folder as one run.
    """
    os.makedirs(folder, exist_ok=True)
    head, now = state["head"], time.time()
    begun, last = now - head["seconds"], max(head["step"], 1)
    name = os.path.join(folder, f"events.out.tfevents.{math.floor(now):010d}.vistorch.")
    number = 0
    while True:  # a file is never written over
        with suppress(FileExistsError), replacing(f"{name}{number}", new=True) as file:
            file.write(framed(b"\x09" + struct.pack("<d", begun) + _field(3, VERSION)))
            for step, tag, value in scalars(state):
                # a record knows how long it took, not when each step was
                wall = begun + head["seconds"] * min(int(step) / last, 1.0)
                file.write(framed(event(wall, int(step), tag, float(value))))
            break
        number += 1
    return f"{name}{number}"
