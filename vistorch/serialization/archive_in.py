"""Reading a zip archive whose every number may be a lie.

Invariant: a record's bytes lie inside the file and inside no other record, so all records together are no longer
than the file; only compressed ones grow, and what they grow to is taken from the budget of the file before.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from vistorch.engine.library_name import library

from .budget import PICKLE_FREE, PICKLE_TIMES, allowed, budget

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")
LARGE = 0xFFFFFFFF
STORED, DEFLATED = 0, 8

LIKELY = (
    " If you are seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can happen "
    "if the checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
)


def failed(doing: str, why: str) -> RuntimeError:
    """PyTorch's error for an archive that cannot be read."""
    return RuntimeError(f"PytorchStreamReader failed {doing}: {why}.{LIKELY}")


class Record(NamedTuple):
    """Where a record is: of its header, from the archive's start."""

    offset: int
    size: int
    packed: int
    method: int
    crc: int
    path: bytes


class ArchiveReader:
    """An archive in a file object that can seek.

    Args:
        file: the file, at the archive's first byte.
        flat: take the records' names as they are; PyTorch's are all in one folder, which is left out of them.
    """

    def __init__(self, file: Any, flat: bool = False) -> None:
        self._file = file
        self._start = file.tell()
        file.seek(0, os.SEEK_END)
        self.length = file.tell() - self._start
        self._records: dict[str, Record] = {}
        entries, limit = self._directory()
        self._limits = _without_overlap(entries, limit)
        packed = sum(record.size for record in entries if record.method == DEFLATED)
        if packed > allowed(self.length):
            raise failed("reading zip archive", f"compressed records claim to hold {packed} bytes")
        first = entries[0].path.decode("utf-8", "replace")
        self.folder, slash, _ = ("", "/", "") if flat else first.partition("/")
        if not slash:
            raise failed("reading zip archive", f"file in archive is not in a subdirectory: {first}")
        for record in entries:
            name = record.path.decode("utf-8", "replace")
            if _leads_elsewhere(name):
                raise failed("reading zip archive", f"unexpected record name {name!r}")
            folder, _, rest = ("", "", name) if flat else name.partition("/")
            if folder != self.folder or not rest or rest.endswith("/"):
                continue  # what other programs put in, PyTorch passes over too
            if rest in self._records:
                raise failed("reading zip archive", f"two records are named {name!r}")
            self._records[rest] = record

    def __contains__(self, name: str) -> bool:
        return name in self._records

    def names(self) -> list[str]:
        """The records' names, in the order of the directory."""
        return list(self._records)

    def size(self, name: str) -> int:
        """How many bytes a record has."""
        return self._find(name).size

    def is_packed(self, name: str) -> bool:
        """Whether a record is compressed."""
        return self._find(name).method == DEFLATED

    def read(self, name: str, at_most: int | None = None) -> bytes:
        """A record's bytes.

        Args:
            name: its name within the archive's folder.
            at_most: the length that such a record may have.
        """
        record = self._find(name)
        if at_most is not None and record.size > at_most:
            raise failed(f"reading file {name}", f"it has {record.size} bytes, where {at_most} are enough")
        if record.method == DEFLATED:
            budget.spend(2 * record.size)
            return b"".join(self._inflated(name, record))
        self._go_to(name, record)
        data = self._read(record.size)
        if len(data) != record.size:
            raise failed(f"reading file {name}", "file read failed")
        return data

    def read_into(self, name: str, target: Any) -> None:
        """Read the first bytes of a record into memory, as many as there is room for.

        Args:
            name: the record's name.
            target: a writable array of bytes, no longer than the record.
        """
        record = self._find(name)
        if record.method == DEFLATED:
            budget.spend(record.size)
            view, done = memoryview(target), 0
            for piece in self._inflated(name, record):
                part = piece[: len(view) - done]
                view[done : done + len(part)] = part
                done += len(part)
            return
        self._go_to(name, record)
        view, done = memoryview(target), 0
        into = getattr(self._file, "readinto", None)
        while done < len(view):
            if into is not None:
                count = into(view[done:])
            else:
                part = self._file.read(min(len(view) - done, 1 << 24))
                count = len(part)
                view[done : done + count] = part
            if not count:
                raise failed(f"reading file {name}", "file read failed")
            done += count

    def place(self, name: str) -> int | None:
        """The offset in the file of a record's first byte; None if the record is compressed."""
        record = self._find(name)
        return None if record.method == DEFLATED else self._go_to(name, record)

    def _find(self, name: str) -> Record:
        """A record that is there."""
        record = self._records.get(name)
        if record is None:
            raise failed(f"locating file {name}", "file not found")
        return record

    def _go_to(self, name: str, record: Record) -> int:
        """Seek to a record's first byte and return its offset in the file."""
        self._file.seek(self._start + record.offset)
        head = self._read(_LOCAL.size)
        if len(head) < _LOCAL.size or head[:4] != b"PK\3\4":
            raise failed(f"reading file {name}", "invalid header or archive is corrupted")
        *_, path_length, extra_length = _LOCAL.unpack(head)
        if self._read(path_length) != record.path:
            raise failed(f"reading file {name}", "its header has another name")
        offset = record.offset + _LOCAL.size + path_length + extra_length
        if offset + record.packed > self._limits[record.offset]:
            raise failed(f"reading file {name}", "it reaches into what follows it")
        self._file.seek(self._start + offset)
        return self._start + offset

    def _read(self, count: int) -> bytes:
        """The next bytes, fewer only where the file ends."""
        data = self._file.read(count)
        while len(data) < count:
            part = self._file.read(count - len(data))
            if not part:
                break
            data += part
        return data

    def check(self, name: str, data: Any) -> None:
        """Refuse a record's bytes if their checksum is not the directory's; PyTorch does not look.

        Args:
            name: the record's name.
            data: all of its bytes.
        """
        if zlib.crc32(data) != self._find(name).crc:
            raise failed(f"reading file {name}", "its checksum is wrong")

    def _inflated(self, name: str, record: Record) -> Iterator[bytes]:
        """The bytes of a compressed record, a piece at a time."""
        self._go_to(name, record)
        unpacker, done, left = zlib.decompressobj(-15), 0, record.packed
        try:
            while not unpacker.eof and done <= record.size:
                given = unpacker.unconsumed_tail or self._read(min(left, 1 << 16))
                left -= 0 if unpacker.unconsumed_tail else len(given)
                piece = unpacker.decompress(given, 1 << 20)  # with nothing given, what it has still to give
                if not given and not piece:
                    break
                done += len(piece)
                if done <= record.size:
                    yield piece
        except zlib.error as error:
            raise failed(
                f"reading file {name}", f"decompression failed or archive is corrupted ({error})"
            ) from None
        if done != record.size or not unpacker.eof:
            raise failed(f"reading file {name}", "decompression failed or archive is corrupted")

    # ---- the directory ------------------------------------------------------------------------------------------
    def _directory(self) -> tuple[list[Record], int]:
        """The entries, and where the directory begins, which is where the last record ends at the latest."""
        start, length, count = self._end()
        if start + length > self.length or count > length // _CENTRAL.size:
            raise failed("reading zip archive", "invalid header or archive is corrupted")
        self._file.seek(self._start + start)
        data = self._read(length)
        entries, at = [], 0
        for _ in range(count):
            if len(data) - at < _CENTRAL.size or data[at : at + 4] != b"PK\1\2":
                raise failed("reading zip archive", "failed finding central directory")
            fields = _CENTRAL.unpack_from(data, at)
            flags, method, crc, packed, size = fields[3], fields[4], *fields[7:10]
            path_length, extra_length, comment_length = fields[10:13]
            offset = fields[16]
            at += _CENTRAL.size
            path = data[at : at + path_length]
            extra = data[at + path_length : at + path_length + extra_length]
            at += path_length + extra_length + comment_length
            if at > len(data):
                raise failed("reading zip archive", "invalid header or archive is corrupted")
            size, packed, offset = _wide(extra, size, packed, offset)
            if flags & 1 or method not in (STORED, DEFLATED):
                raise failed("reading zip archive", "unsupported method or encrypted file")
            if method == STORED and size != packed:
                raise failed("reading zip archive", "invalid header or archive is corrupted")
            entries.append(Record(offset, size, packed, method, crc, path))
        if not entries:
            raise failed("reading zip archive", "there is no record in it")
        return entries, start

    def _end(self) -> tuple[int, int, int]:
        """Where the directory begins, how long it is and how many entries it has."""
        tail = min(self.length, _END.size + 0xFFFF)
        self._file.seek(self._start + self.length - tail)
        data = self._read(tail)
        at = data.rfind(b"PK\5\6", 0, max(len(data) - _END.size + 4, 0))
        if at < 0:
            short = self.length < _END.size
            why = "not a ZIP archive" if short else "failed finding central directory"
            raise failed("reading zip archive", why)
        _, disk, first_disk, here, count, length, start, _ = _END.unpack_from(data, at)
        locator = at - _LOCATOR.size
        if locator >= 0 and data[locator : locator + 4] == b"PK\6\7":
            _, _, end64, _ = _LOCATOR.unpack_from(data, locator)
            if end64 + _END64.size > self.length:
                raise failed("reading zip archive", "invalid header or archive is corrupted")
            self._file.seek(self._start + end64)
            wide = self._read(_END64.size)
            if len(wide) < _END64.size or wide[:4] != b"PK\6\6":
                raise failed("reading zip archive", "invalid header or archive is corrupted")
            _, _, _, _, disk, first_disk, here, count, length, start = _END64.unpack(wide)
        if disk or first_disk or here != count:
            raise failed("reading zip archive", "unsupported multidisk archive")
        return start, length, count


def _wide(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Replace what did not fit into 32 bits by the field for 64."""
    at = 0 if LARGE in (size, packed, offset) else len(extra)
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            field, found, here = extra[at + 4 : at + 4 + length], [size, packed, offset], 0
            for i, value in enumerate(found):
                if value == LARGE and here + 8 <= len(field):
                    found[i] = struct.unpack_from("<Q", field, here)[0]
                    here += 8
            return found[0], found[1], found[2]
        at += 4 + length
    return size, packed, offset


def _without_overlap(entries: list[Record], limit: int) -> dict[int, int]:
    """Where each record must have ended, by its offset; refuse records that lie in one another."""
    found, end = {}, limit
    for record in sorted(entries, key=lambda r: r.offset, reverse=True):
        if record.offset + _LOCAL.size + len(record.path) + record.packed > end:
            raise failed("reading zip archive", "records overlap, or reach beyond the file")
        found[record.offset] = end
        end = record.offset
    return found


def _leads_elsewhere(name: str) -> bool:
    """Whether a name, taken for a path, could leave the folder: none here is, and none should look so."""
    return name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/")


def is_archive(file: Any) -> bool:
    """Whether the next four bytes are those a zip begins with; the position stays."""
    start = file.tell()
    head = b""
    while len(head) < 4:
        part = file.read(4 - len(head))
        if not part:
            break
        head += part
    file.seek(start)
    return head == b"PK\3\4"


@contextmanager
def opened(f: Any) -> Iterator[Any]:
    """A file object that can seek, of a path or of one.

    Args:
        f: the path or the file object.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            yield file
        return
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        if "seek" in str(error) or "tell" in str(error):
            raise type(error)(
                f"{error}. You can only {library}.load from a file that is seekable. Please pre-load the data into a "
                "buffer like io.BytesIO and try to load from it instead."
            ) from None
        raise
    if isinstance(f.read(0), str):
        raise TypeError("the file must be opened in binary mode, as open(path, 'rb')")
    yield f


def file_length(file: Any) -> int:
    """How many bytes a file has from here on; the position stays.

    Args:
        file: a file object that can seek.
    """
    here = file.tell()
    file.seek(0, os.SEEK_END)
    length = file.tell() - here
    file.seek(here)
    return length


def pickle_of(archive: ArchiveReader) -> bytes:
    """The pickle of an archive, if it is not one of a few bytes that unpack to hours of instructions.

    Args:
        archive: the archive.
    """
    most = PICKLE_TIMES * archive.length + PICKLE_FREE
    return archive.read("data.pkl", most if archive.is_packed("data.pkl") else None)
