"""A PNG writer for pictures of a few colours, and for those of many.

Invariant: the bytes depend on the pixels alone: no time, no name of a program, one way of filtering.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _file(width: int, height: int, colour: int, rows: np.ndarray, extra: bytes = b"") -> bytes:
    lines = np.zeros((height, rows.shape[1] + 1), np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = rows
    head = struct.pack(">2I5B", width, height, 8, colour, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", head),
            extra,
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)),
            _chunk(b"IEND", b""),
        ]
    )


def indexed(pixels: np.ndarray, palette: np.ndarray, transparent: int | None = None) -> bytes:
    """A picture of at most 256 colours.

    Args:
        pixels: uint8 of shape (height, width), positions in the palette.
        palette: uint8 of shape (n, 3).
        transparent: the entry through which the page shows, if any.
    """
    extra = _chunk(b"PLTE", np.ascontiguousarray(palette, np.uint8).tobytes())
    if transparent is not None:
        extra += _chunk(b"tRNS", b"\xff" * transparent + b"\0")
    return _file(pixels.shape[1], pixels.shape[0], 3, np.ascontiguousarray(pixels, np.uint8), extra)


def full(pixels: np.ndarray) -> bytes:
    """A picture of any colours: uint8 of shape (height, width, 3), or 4 with an alpha channel."""
    height, width, channels = pixels.shape
    return _file(
        width, height, 2 if channels == 3 else 6, np.ascontiguousarray(pixels, np.uint8).reshape(height, -1)
    )
