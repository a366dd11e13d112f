"""Writing PyTorch's archive: a zip without compression, every record's first byte at a multiple of 64.

Invariant: the bytes are those PyTorch writes for the same records; a record is written as it comes, never held.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import Any

from .atomic import write_all

CHUNK = 1 << 20  # of a record, so that the checksum and the write find it in the cache
LARGE = 0xFFFFFFFF  # from here on a size or an offset needs the fields of 64 bits
HAS_DESCRIPTOR = 0x0008
UTF8 = 0x0800

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")


class ArchiveWriter:
    """A zip archive on its way into a file object that need not be able to seek.

    Args:
        file: where to; what it holds before is not touched.
        name: the folder that all records are in.
        checksums: whether to compute each record's CRC-32.
        alignment: what the offset of a record's first byte is a multiple of.
    """

    def __init__(self, file: Any, name: str, checksums: bool = True, alignment: int = 64) -> None:
        self._write = file.write
        self._name = name
        self._checksums = checksums
        self._alignment = alignment
        self._at = 0
        self._central: list[bytes] = []
        self._known = hashlib.sha256()

    def record(self, name: str, data: Any) -> None:
        """Write a record.

        Args:
            name: its name within the archive's folder.
            data: bytes, or anything flat that offers them as a memoryview.
        """
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        size = len(view)
        offset, path = self._open(name, size)
        crc = 0
        for i in range(0, size, CHUNK):
            part = view[i : i + CHUNK]
            if self._checksums:
                crc = zlib.crc32(part, crc)
            self._put(part)
        self._close(path, offset, size, crc)

    def write_zeros(self, name: str, size: int) -> None:
        """Write a record of zeros, to be filled later.

        Args:
            name: its name within the archive's folder.
            size: its length.
        """
        offset, path = self._open(name, size)
        crc, zeros = 0, memoryview(bytes(min(size, CHUNK)))
        for i in range(0, size, CHUNK):
            part = zeros[: size - i]
            if self._checksums:
                crc = zlib.crc32(part, crc)
            self._put(part)
        self._close(path, offset, size, crc)

    def _open(self, name: str, size: int) -> tuple[int, bytes]:
        """Write what comes before a record's bytes."""
        path = f"{self._name}/{name}".encode()
        offset = self._at
        wide = b""
        if size >= LARGE or offset >= LARGE:
            fields = [size, size] if size >= LARGE else []
            fields += [offset] if offset >= LARGE else []
            wide = struct.pack(f"<HH{len(fields)}Q", 1, 8 * len(fields), *fields)
        before = offset + _LOCAL.size + len(path) + len(wide) + 4
        filler = -before % self._alignment
        flags = UTF8 | (HAS_DESCRIPTOR if size else 0)
        self._put(
            _LOCAL.pack(b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(path), len(wide) + 4 + filler)
            + path
            + wide
            + struct.pack("<2sH", b"FB", filler)
            + b"Z" * filler
        )
        return offset, path

    def _close(self, path: bytes, offset: int, size: int, crc: int) -> None:
        """Write what comes after a record's bytes, and enter it in the directory."""
        if size:
            form = "<4sI2Q" if size >= LARGE or offset >= LARGE else "<4s3I"
            self._put(struct.pack(form, b"PK\7\10", crc, size, size))
        fields = [size, size] if size >= LARGE else []
        fields += [offset] if offset >= LARGE else []
        wide = struct.pack(f"<HH{len(fields)}Q", 1, 8 * len(fields), *fields) if fields else b""
        flags = UTF8 | (HAS_DESCRIPTOR if size else 0)
        short = min(size, LARGE)
        entry = (flags, 0, 0, 0, crc, short, short, len(path), len(wide), 0, 0, 0, 0, min(offset, LARGE))
        self._central.append(_CENTRAL.pack(b"PK\1\2", 0, 0, *entry) + path + wide)
        self._known.update(path + struct.pack("<QI", size, crc))

    def finish(self) -> None:
        """Write the records that end an archive, and its directory."""
        self.record("version", b"3\n")
        self.record(".data/serialization_id", str(int(self._known.hexdigest(), 16))[:40].zfill(40).encode())
        start, count = self._at, len(self._central)
        for entry in self._central:
            self._put(entry)
        end = self._at
        length = end - start
        # PyTorch writes the ends for 32 and for 64 bits, whatever the size.
        self._put(
            _END64.pack(b"PK\6\6", 44, 0x031E, 45, 0, 0, count, count, length, start)
            + _LOCATOR.pack(b"PK\6\7", 0, end, 1)
            + _END.pack(
                b"PK\5\6",
                0,
                0,
                min(count, 0xFFFF),
                min(count, 0xFFFF),
                min(length, LARGE),
                min(start, LARGE),
                0,
            )
        )

    def _put(self, part: Any) -> None:
        """Write all of `part`; an unbuffered file may take it in pieces."""
        self._at += len(part)
        write_all(self._write, part)


def folder_of(path: Any) -> str:
    """The folder in an archive written to `path`: the file's name without its last ending.

    Args:
        path: where the archive goes; None for a file object.
    """
    if path is None or not path.isascii():
        return "archive"
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    stem = name.rpartition(".")[0] if "." in name else name
    if not stem:
        raise RuntimeError(f"invalid file name: {path}")
    return stem
