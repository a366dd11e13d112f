"""Whether a file is the one that was meant.

Invariant: a file is read in pieces and never changed.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

KINDS = {32: "md5", 40: "sha1", 64: "sha256"}  # how many hexadecimal digits each has
PIECE = 1 << 20


def kind_of(checksum: str) -> str:
    """The name of a checksum's kind, by its length.

    Args:
        checksum: hexadecimal digits.
    """
    kind = KINDS.get(len(checksum))
    if kind is None:
        raise ValueError(f"{checksum!r} is not an md5 (32 digits), sha1 (40) or sha256 (64)")
    return kind


def checksum_of(path: str | os.PathLike, kind: str = "md5") -> str:
    """The checksum of a file, in hexadecimal digits.

    Args:
        path: the file.
        kind: "md5", "sha1" or "sha256".
    """
    # It finds what a line has broken, not what has been forged: the address is https.
    total = hashlib.new(kind, usedforsecurity=False)
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            total.update(piece)
    return total.hexdigest()


def calculate_md5(fpath: str | os.PathLike, chunk_size: int = 1024 * 1024) -> str:
    """The md5 of a file, in hexadecimal digits.

    Args:
        fpath: the file.
        chunk_size: accepted for compatibility.
    """
    return checksum_of(fpath)


def check_md5(fpath: str | os.PathLike, md5: str, **kwargs: Any) -> bool:
    """Whether a file has this md5.

    Args:
        fpath: the file.
        md5: 32 hexadecimal digits; a sha1 or sha256 is recognised by its length.
        **kwargs: accepted for compatibility.
    """
    return checksum_of(fpath, kind_of(md5)) == md5.lower()


def check_integrity(fpath: str | os.PathLike, md5: str | None = None) -> bool:
    """Whether a file is there and, if a checksum is given, is the one that was meant.

    Args:
        fpath: the file.
        md5: its checksum, or None.
    """
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def fault_of(path: str | os.PathLike, checksum: str | None) -> str | None:
    """What is wrong with a file, as the end of a sentence; None if nothing is.

    Args:
        path: the file.
        checksum: what it should have, or None.
    """
    if not os.path.isfile(path):
        return f"there is no file {os.fspath(path)}"
    if checksum is None:
        return None
    kind = kind_of(checksum)
    found = checksum_of(path, kind)
    if found == checksum.lower():
        return None
    size = os.path.getsize(path)
    return f"{os.fspath(path)} ({size:,} bytes) is broken: its {kind} is {found}, expected {checksum.lower()}"
