"""Archives from the network: every path stays in the folder, and nothing appears before all is well.

Invariant: the members are written beside their place and moved when the last is whole; an archive that is refused or
broken changes nothing. Links, devices and permissions are never taken from an archive.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import os
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from ...serialization.atomic import replacing

try:
    import lzma
except ImportError:  # a Python that was built without it, and that of a browser
    lzma = None

PIECE = 1 << 20
MOST_MEMBERS = 1_000_000
FREE = 1 << 30  # an archive may always grow to this many bytes
GROWTH = 100  # and beyond that to so many times its own size

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tbz2", ".tar.xz", ".txz")
SINGLES = {".gz": gzip.open, ".bz2": bz2.open, **({".xz": lzma.open} if lzma else {})}
MAGIC = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, **({b"\xfd7zXZ\0": lzma.open} if lzma else {})}
SIP = 4 << 20
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    *((lzma.LZMAError,) if lzma else ()),
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    ValueError,
)
"""What the standard library raises of a broken archive."""


class Refused(RuntimeError):
    """An archive that would reach out of its folder, grow without end or is broken."""


class _Allowance:
    """How many more bytes may come out of an archive."""

    def __init__(self, archive: Path, most: int | None):
        self.archive = archive
        self.most = FREE + GROWTH * archive.stat().st_size if most is None else most
        self.left = self.most
        self.members = 0

    def copy(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Copy what `source` gives, not what its header promises."""
        while piece := source.read(PIECE):
            self.left -= len(piece)
            if self.left < 0:
                raise Refused(
                    f"{self.archive} was not unpacked: it grows to more than {self.most:,} bytes; "
                    "if that is right, pass most="
                )
            target.write(piece)


def unpack(archive: str | os.PathLike, folder: str | os.PathLike, most: int | None = None) -> None:
    """Unpack a tar or zip archive into a folder, or a single .gz, .bz2 or .xz file beside its name.

    Args:
        archive: its ending says what it is.
        folder: where its members go; made if it is missing.
        most: refuse to write more bytes than this; None for a generous multiple of the archive's size.

    Raises:
        Refused: the archive is broken, or something in it is not an ordinary file or folder inside.
    """
    archive, folder = Path(archive), Path(folder)
    members = _members_of(archive.name)
    allowance = _Allowance(archive, most)
    folder.mkdir(parents=True, exist_ok=True)
    with _damage_explained(archive):
        if members is None:
            opened: Any = SINGLES[archive.suffix.lower()]
            with opened(archive, "rb") as source, replacing(str(folder / archive.stem)) as target:
                allowance.copy(source, target)
            return
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as beside:
            for name, source in members(archive):
                _write(archive, name, source, Path(beside), allowance)
            _move(archive, Path(beside), folder)


def _members_of(name: str) -> Any:
    """What walks over the members of such an archive; None for a single compressed file."""
    name = name.lower()
    if name.endswith(TARS):
        return _in_tar
    if name.endswith(".zip"):
        return _in_zip
    if name.endswith(tuple(SINGLES)):
        return None
    endings = ", ".join(sorted({*TARS, ".zip", *SINGLES}))
    raise RuntimeError(f"{name!r} is no archive by its name; known endings are: {endings}")


@contextlib.contextmanager
def _damage_explained(archive: Path) -> Iterator[None]:
    """What a broken archive raises, in one sentence."""
    try:
        yield
    except Refused:
        raise
    except DAMAGE as error:
        raise Refused(
            f"{archive} was not unpacked: it is broken ({error or type(error).__name__}); delete it and download again"
        ) from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # a place before the file's start is the archive's fault
            raise
        raise Refused(
            f"{archive} was not unpacked: it is broken ({error}); delete it and download again"
        ) from None


class _Sips:
    """The bytes of an archive, unpacked if they are compressed, a little at a time.

    A header that claims to be a gigabyte long would otherwise be read into memory at once.
    """

    def __init__(self, archive: Path):
        self.archive = archive
        with open(archive, "rb") as file:
            start = file.read(max(map(len, MAGIC)))
        opened: Any = next((opened for magic, opened in MAGIC.items() if start.startswith(magic)), open)
        self.file = opened(archive, "rb")
        self.seek, self.tell = self.file.seek, self.file.tell

    def read(self, size: int = -1) -> bytes:
        """Read no more than a sip."""
        if not 0 <= size <= SIP:
            raise Refused(f"{self.archive} was not unpacked: it has a header of {size:,} bytes")
        return self.file.read(size)

    def __enter__(self) -> _Sips:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()


def _in_tar(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Names and contents of a tar archive; no content for a folder."""
    with _Sips(archive) as sips, tarfile.open(fileobj=cast(Any, sips), mode="r:") as tar:
        for member in tar:
            if member.isdir():
                yield member.name, None
            elif member.isreg() and not member.issparse():
                content = tar.extractfile(member)
                assert content is not None  # an ordinary file has one
                with content:
                    yield member.name, content
                    if content.tell() != member.size:
                        raise EOFError(f"{member.name} ends early")
            else:
                raise _refusal(archive, member.name, "is a link, a device or another special file")
            tar.members.clear()  # type: ignore[attr-defined]  # else a million names stay in memory


def _in_zip(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Names and contents of a zip archive; no content for a folder."""
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refusal(archive, member.filename, "is a link, a device or another special file")
            if member.flag_bits & 1:
                raise _refusal(archive, member.filename, "is encrypted")
            if not member.filename:
                raise _refusal(archive, "", "has no name")
            if member.is_dir():
                yield member.orig_filename, None
                continue
            try:
                content = packed.open(member)
            except NotImplementedError as error:
                raise _refusal(archive, member.filename, f"cannot be read ({error})") from None
            with content:
                yield member.orig_filename, content


def _refusal(archive: Path, name: str, why: str) -> Refused:
    """The one sentence for a member that is not wanted."""
    return Refused(f"{archive} was not unpacked: its member {name[:200]!r} {why}")


def _inside(archive: Path, name: str) -> list[str]:
    """The parts of a member's path, all of which lead downwards."""
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        raise _refusal(archive, name, "has an absolute path")
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]
    if ".." in parts:
        raise _refusal(archive, name, "leads out of the folder")
    if "\0" in name or any(len(os.fsencode(part)) > 255 for part in parts) or len(parts) > 100:
        raise _refusal(archive, name, "has a name that no file can have")
    if os.name == "nt" and any(re.search(r'[:<>"|?*]|[. ]$', part) for part in parts):
        raise _refusal(archive, name, "has a name that no file can have on this system")
    return parts


def _write(archive: Path, name: str, source: IO[bytes] | None, beside: Path, allowance: _Allowance) -> None:
    """One member, into the folder that nobody sees yet."""
    allowance.members += 1
    if allowance.members > MOST_MEMBERS:
        raise Refused(f"{archive} was not unpacked: it has more than {MOST_MEMBERS:,} members")
    place = beside.joinpath(*_inside(archive, name))
    try:
        if source is None:
            place.mkdir(parents=True, exist_ok=True)
            return
        if place == beside:
            raise _refusal(archive, name, "has no name")
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "wb") as target:
            allowance.copy(source, target)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise _refusal(archive, name, "is both a file and a folder") from None


def _move(archive: Path, beside: Path, folder: Path) -> None:
    """Give the members their places, each at once."""
    moves = []
    for at, folders, files in os.walk(beside):
        there = folder / Path(at).relative_to(beside)
        for names, wrong in ((folders, Path.is_file), (files, Path.is_dir)):
            taken = [there / name for name in names if wrong(there / name)]
            if taken:
                raise _refusal(
                    archive,
                    taken[0].name,
                    f"would replace {taken[0]}, a file a folder or the other way round",
                )
        moves.append((Path(at), there, files))
    for at, there, files in moves:
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            os.replace(at / name, there / name)
