"""One file from the network: it goes on where it was cut, and has its name only when it is whole.

Invariant: `path` is either what it was before or a complete file with the expected checksum; what has arrived so far
waits beside it as `path.part`.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, BinaryIO

from .checksums import PIECE, fault_of

PAUSE = 0.5  # seconds before the second try; doubled for each further one
PATIENCE = 30  # seconds without a byte
MOST_TRIES = 100  # in all, even if each has brought something
LOCAL = ("localhost", "127.0.0.1", "::1")
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)  # not the line's fault
PASSING = (408, 425, 429, 500, 502, 503, 504)  # answers after which asking again may help


class Unreachable(RuntimeError):
    """A file did not come: the sentence says what was tried and what to do.

    Args:
        url: the address, or several.
        reason: what went wrong.
        path: where the file should be.
    """

    def __init__(self, url: str, reason: str, path: str):
        super().__init__(
            f"Could not download {url} ({reason}); without a network, get the file elsewhere and put it at {path}"
        )
        self.reason = reason


class Broken(RuntimeError):
    """A file came and is not the one that was meant."""


class _Cut(Exception):
    """The connection ended early; asking for the rest may help."""


def check_address(url: str) -> None:
    """Refuse an address over which anybody on the way could change the file.

    Args:
        url: https, or http to this machine itself.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL):
        return
    raise ValueError(f"Only https addresses are downloaded from, not {url!r}")


class _Wary(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to where a download may go."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        try:
            check_address(newurl)
        except ValueError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(
    url: str,
    path: str,
    checksum: str | None = None,
    *,
    most: int | None = None,
    retries: int = 3,
    progress: bool = True,
) -> None:
    """Download a file; one that is already there with the right checksum is left alone.

    Args:
        url: where it is.
        path: the file to be.
        checksum: its md5, sha1 or sha256.
        most: refuse more bytes than this.
        retries: how often to try again when nothing has arrived.
        progress: whether to draw a bar.

    Raises:
        Unreachable: no server, or a server that does not give it.
        Broken: what came has another checksum, or is larger than allowed.
    """
    check_address(url)
    if os.path.isfile(path) and (checksum is None or fault_of(path, checksum) is None):
        return
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with _alone(path + ".part") as part:
        if checksum is not None and fault_of(path, checksum) is None:
            return  # another process has brought it meanwhile
        if checksum is None:
            part.truncate(0)  # nothing would tell whether the two halves belong together
        resumed = part.seek(0, os.SEEK_END) > 0
        _arrive(url, path, part, most, retries, progress)
        part.flush()
        fault = fault_of(part.name, checksum)
        if fault and resumed:  # the half that was there may have been another file's
            part.truncate(0)
            _arrive(url, path, part, most, retries, progress)
            part.flush()
            fault = fault_of(part.name, checksum)
        if fault:
            _drop(part)
            raise Broken(f"What {url} gave is not the expected file: {fault}; nothing was kept")
        os.fsync(part.fileno())
        if os.name == "nt":
            part.close()  # an open file has no other name there
        os.replace(part.name, path)


@contextlib.contextmanager
def _alone(name: str) -> Any:
    """Open a file to add to it, after everybody else who does; an empty one does not stay."""
    while True:
        with open(name, "ab") as file:
            _lock(file)
            if not _is_named(file, name):
                continue  # while this process waited, another has given the file its final name
            try:
                yield file
            finally:
                if not file.closed and _is_named(file, name) and file.seek(0, os.SEEK_END) == 0:
                    _drop(file)
            return


def _is_named(file: BinaryIO, name: str) -> bool:
    """Whether an open file is the one that has this name."""
    try:
        return os.path.samestat(os.stat(name), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _lock(file: BinaryIO) -> None:
    """Wait until nobody else holds the file, where the system can tell."""
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)


def _drop(part: Any) -> None:
    """Forget what has arrived."""
    if os.name == "nt":
        part.close()  # an open file cannot be deleted there
    os.unlink(part.name)  # while it is locked: the next process must not take it for its own
    part.close()


def _arrive(url: str, path: str, part: Any, most: int | None, retries: int, progress: bool) -> None:
    """Fill the file, trying again and going on where the last try ended."""
    validator: list[str] = []
    left, tried = retries, 0
    while True:
        before, tried = part.seek(0, os.SEEK_END), tried + 1
        try:
            _attempt(url, part, validator, most, progress)
            return
        except urllib.error.HTTPError as error:
            error.close()
            reason, again = f"the server answers {error.code} {error.reason}", error.code in PASSING
        except (_Cut, urllib.error.URLError, http.client.HTTPException, OSError) as error:
            cause = getattr(error, "reason", error)
            if getattr(error, "errno", None) in DISK:
                raise
            reason, again = str(cause) or type(cause).__name__, True
        if part.seek(0, os.SEEK_END) > before:
            left = retries
        else:
            left -= 1
        if not again or left < 0 or tried >= MOST_TRIES:
            times = "once" if tried == 1 else f"{tried} times"
            raise Unreachable(url, f"tried {times}: {reason}", path)
        time.sleep(PAUSE * 2 ** (retries - left - 1) if left < retries else 0)


def _attempt(url: str, part: Any, validator: list[str], most: int | None, progress: bool) -> None:
    """Ask once for what is missing and append what comes."""
    have = part.seek(0, os.SEEK_END)
    headers = {"User-Agent": "vistorch", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if validator:
            headers["If-Range"] = validator[0]
    opener = urllib.request.build_opener(_Wary)
    try:
        answer = opener.open(urllib.request.Request(url, headers=headers), timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:
            raise
        total = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
        error.close()
        if total and int(total[1]) == have:
            return  # nothing was missing
        part.truncate(0)
        raise _Cut("the server has no such part of the file") from None
    with answer:
        total = _begin(answer, part, have)
        tag = answer.headers.get("ETag", "")
        mark = tag if tag.startswith('"') else answer.headers.get("Last-Modified")
        validator[:] = [mark] if mark else []
        _check_size(url, part, total, most)
        with _bar(os.path.basename(part.name)[: -len(".part")], part.tell(), total, progress) as bar:
            while piece := answer.read(PIECE):
                part.write(piece)
                bar.update(len(piece))
                _check_size(url, part, part.tell(), most)
        if total is not None and part.tell() < total:
            raise _Cut(f"the connection ended after {part.tell():,} of {total:,} bytes")


def _begin(answer: Any, part: Any, have: int) -> int | None:
    """Put the file where the answer begins; how long it will be, None if the server does not say."""
    if answer.status == 206:
        span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
        if span is None or int(span[1]) != have:
            part.truncate(0)
            raise _Cut("the server gave another part of the file than it was asked for")
        return None if span[2] == "*" else int(span[2])
    part.truncate(0)
    part.seek(0)
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None


def _check_size(url: str, part: Any, size: int | None, most: int | None) -> None:
    """Refuse a file larger than allowed."""
    if most is not None and size is not None and size > most:
        _drop(part)
        raise Broken(f"{url} is larger than the {most:,} bytes allowed; nothing was kept")


def _bar(name: str, start: int, total: int | None, progress: bool) -> Any:
    """A progress bar; a silent one where nobody wants it or tqdm is missing."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Silent()
    if not progress:
        return _Silent()
    return tqdm(desc=name, initial=start, total=total, unit="B", unit_scale=True, file=sys.stderr)


class _Silent:
    """Counts for nobody."""

    def update(self, count: int) -> None:
        """Take no notice."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to close."""
