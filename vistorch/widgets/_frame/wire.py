"""A record's state as one run of bytes: JSON for what is small, raw little-endian buffers for the arrays in it.

Live widgets and pages without a kernel read the same bytes (`js/src/shared/wire.ts`).

Invariant: the same state gives the same bytes, and no number is lost: what JSON cannot say is written as text.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

MAGIC = b"VT1\0"
ALIGN = 8  # so that the page can lay a typed array of any kind over a buffer
NAMES = {
    "f4": "f32",
    "f8": "f64",
    "i1": "i8",
    "u1": "u8",
    "i2": "i16",
    "u2": "u16",
    "i4": "i32",
    "u4": "u32",
    "i8": "i64",
}


def padded(size: int) -> int:
    """`size` rounded up to where the next buffer may begin."""
    return -(-size // ALIGN) * ALIGN


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "nan" if value != value else "inf" if value > 0 else "-inf"


class _Packing:
    """The buffers met so far, in the order in which they are met."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.spans: list[tuple[int, int]] = []
        self.at = 0

    def array(self, value: np.ndarray) -> dict[str, Any]:
        if value.dtype == np.float16:
            value = value.astype(np.float32)
        elif value.dtype == np.bool_:
            value = value.astype(np.uint8)
        name = NAMES.get(value.dtype.str[1:])
        if name is None:
            raise TypeError(
                f"an array of {value.dtype} does not travel to a page; expected one of {', '.join(NAMES.values())}"
            )
        data = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
        self.spans.append((self.at, len(data)))
        self.chunks.append(data + bytes(padded(len(data)) - len(data)))
        self.at += padded(len(data))
        return {"buffer": len(self.spans) - 1, "type": name, "shape": list(value.shape)}

    def plain(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bool, int)):
            return value
        if isinstance(value, (float, np.floating)):
            return _number(float(value))
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, (np.integer, np.bool_)):
            return value.item()
        if isinstance(value, Mapping):
            return {str(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.plain(item) for item in value]
        raise TypeError(
            f"a {type(value).__name__} does not travel to a page; a record's state holds numbers, text and arrays"
        )


def pack(kind: str, state: Mapping[str, Any]) -> bytes:
    """One record's state as bytes.

    Args:
        kind: which page reads it.
        state: numbers, text, lists, dicts, and numpy arrays at any depth.
    """
    packing = _Packing()
    plain = packing.plain(state)
    head = json.dumps(
        {"kind": kind, "state": plain, "buffers": packing.spans},
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    ).encode("utf-8", "replace")
    start = len(MAGIC) + 4 + len(head)
    return b"".join(
        [MAGIC, struct.pack("<I", len(head)), head, bytes(padded(start) - start), *packing.chunks]
    )


def unpack(payload: bytes) -> tuple[str, dict[str, Any]]:
    """The kind and the state that `pack` was given, arrays as numpy arrays: how a saved record is read."""
    data = bytes(payload)
    size = struct.unpack_from("<I", data, 4)[0] if len(data) >= 8 else -1
    if data[:4] != MAGIC or not 0 <= size <= len(data) - 8:
        raise ValueError("these bytes are not a packed record: they do not begin as one")
    head = json.loads(data[8 : 8 + size])
    base = padded(8 + size)
    kinds = {name: f"<{code}" for code, name in NAMES.items()}

    def back(value: Any) -> Any:
        if isinstance(value, list):
            return [back(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"buffer", "type", "shape"}:
            offset, length = head["buffers"][value["buffer"]]
            flat = np.frombuffer(
                data, kinds[value["type"]], length // int(kinds[value["type"]][2:]), base + offset
            )
            return flat.reshape(value["shape"])
        return {key: back(item) for key, item in value.items()}

    return head["kind"], back(head["state"])
