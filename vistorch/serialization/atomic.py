"""A file that appears whole or not at all; everything here that writes a file writes it through this module.

Invariant: until the block has ended without an error, the old file is what it was; afterwards nothing else is left.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def whole(target: Any) -> Iterator[BinaryIO]:
    """Open what takes the place of a file, or goes into an open one, when the block ends.

    Args:
        target: a path, or a file object with `write`, which gets nothing if the block fails.
    """
    if isinstance(target, (str, bytes, os.PathLike)):
        with replacing(os.fsdecode(target)) as file:
            yield file
        return
    if not callable(getattr(target, "write", None)):
        raise TypeError(f"expected a path or an open binary file, got {type(target).__name__}")
    held = io.BytesIO()
    yield held
    write_all(target.write, held.getbuffer())


def write_all(write: Callable, part: Any) -> None:
    """Write all of some bytes: an unbuffered file may take them in pieces.

    Args:
        write: the file's method.
        part: the bytes.
    """
    left = len(part)
    written = write(part)
    while isinstance(written, int) and written < left:
        if written <= 0:
            raise OSError(f"the file took {written} of {left} bytes")
        part = memoryview(part)[written:]
        left -= written
        written = write(part)


@contextmanager
def replacing(path: str, new: bool = False) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` when the block ends; a device or a pipe is written directly.

    Args:
        path: the file to be.
        new: take no file's place: FileExistsError where there is one, also if it came while this one was written.
    """
    path = os.path.realpath(path)  # what a link points to is replaced, not the link
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", folder)
    mode = None
    with suppress(FileNotFoundError):
        found = os.stat(path).st_mode
        if new:
            raise FileExistsError(errno.EEXIST, "File exists", path)
        if stat.S_ISDIR(found):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
        if not stat.S_ISREG(found):
            with open(path, "wb") as file:
                yield file
            return
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        mode = stat.S_IMODE(found)
    descriptor, beside = _nameless(folder), ""
    if descriptor is None:
        beside = _beside(path)
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            if not beside:
                beside = _named(file.fileno(), path)
        (_renamed if new else os.replace)(beside, path)
    except BaseException:
        if beside:
            with suppress(FileNotFoundError):
                os.unlink(beside)
        raise
    _settle(folder)


def _renamed(beside: str, path: str) -> None:
    """Rename a file, if no other has the name."""
    if os.name == "nt":
        os.rename(beside, path)
        return
    os.link(beside, path)
    os.unlink(beside)


def _beside(path: str) -> str:
    """A name in the same folder that nobody has."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.tmp")


def _nameless(folder: str) -> int | None:
    """A new file without a name, which vanishes with its process; None where the system has no such files."""
    flag: Any = getattr(os, "O_TMPFILE", None)
    if flag is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, flag | os.O_RDWR | _BINARY, 0o666)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EMFILE):
            raise
        return None  # a file system without them


def _named(descriptor: int, path: str) -> str:
    """Give a nameless file a name beside `path`, for the moment until it takes its place."""
    beside = _beside(path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        # Naming the folder makes Python follow the link that /proc/self/fd is.
        source, target = f"/proc/self/fd/{descriptor}", os.path.basename(beside)
        os.link(source, target, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    except OSError:  # a system that makes such files and does not name them
        with open(descriptor, "rb", closefd=False) as source, open(beside, "xb") as copy:
            source.seek(0)
            shutil.copyfileobj(source, copy, 1 << 20)
            os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(descriptor).st_mode))
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        os.close(folder)
    return beside


def _settle(folder: str) -> None:
    """Have the folder's new entry written to the disk too, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
