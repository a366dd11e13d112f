"""What torchvision names in `datasets.utils`: checksums, downloads, archives.

Invariant: a download is whole and checked before it has its name; an archive writes nothing outside its folder.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterable
from typing import Any

from .checksums import calculate_md5, check_integrity, check_md5
from .fetching import fetch
from .unpacking import SINGLES, unpack

__all__ = [
    "calculate_md5",
    "check_integrity",
    "check_md5",
    "download_and_extract_archive",
    "download_url",
    "extract_archive",
    "verify_str_arg",
]


def download_url(
    url: str,
    root: str | os.PathLike,
    filename: str | os.PathLike | None = None,
    md5: str | None = None,
    max_redirect_hops: int = 3,
) -> None:
    """Download a file into a folder; one that is there with the right checksum is not downloaded again.

    Args:
        url: an https address.
        root: the folder.
        filename: its name there; the last part of the address if None.
        md5: its checksum; a sha1 or sha256 is recognised by its length.
        max_redirect_hops: accepted for compatibility.
    """
    root = os.path.expanduser(root)
    name = os.fspath(filename or os.path.basename(urllib.parse.urlsplit(url).path))
    if not name:
        raise ValueError(f"{url!r} names no file: pass filename=")
    fetch(url, os.path.join(root, name), md5)


def extract_archive(
    from_path: str | os.PathLike,
    to_path: str | os.PathLike | None = None,
    remove_finished: bool = False,
    most: int | None = None,
) -> str:
    """Unpack an archive; a member that would leave the folder, a link or a device is refused, and nothing is written.

    Args:
        from_path: a tar or zip archive, or a single file ending in .gz, .bz2 or .xz.
        to_path: the folder to unpack into; the archive's own if None.
        remove_finished: whether to delete the archive afterwards.
        most: refuse to write more bytes than this; None for a generous multiple of the archive's size.

    Returns:
        The folder, or the file that was in a single compressed file.
    """
    path = os.fspath(from_path)
    folder = os.path.dirname(path) if to_path is None else os.fspath(to_path)
    unpack(path, folder or ".", most)
    if remove_finished:
        os.remove(path)
    stem, ending = os.path.splitext(os.path.basename(path))
    single = ending.lower() in SINGLES and not stem.lower().endswith(".tar")
    return os.path.join(folder, stem) if single else folder


def download_and_extract_archive(
    url: str,
    download_root: str | os.PathLike,
    extract_root: str | os.PathLike | None = None,
    filename: str | os.PathLike | None = None,
    md5: str | None = None,
    remove_finished: bool = False,
) -> None:
    """Download an archive and unpack it.

    Args:
        url: an https address.
        download_root: the folder of the archive.
        extract_root: the folder to unpack into; the same if None.
        filename: the archive's name; the last part of the address if None.
        md5: the archive's checksum.
        remove_finished: whether to delete the archive afterwards.
    """
    download_root = os.path.expanduser(download_root)
    name = os.fspath(filename or os.path.basename(urllib.parse.urlsplit(url).path))
    download_url(url, download_root, name, md5)
    folder = download_root if extract_root is None else extract_root
    extract_archive(os.path.join(download_root, name), folder, remove_finished)


def verify_str_arg(
    value: Any,
    arg: str | None = None,
    valid_values: Iterable[str] | None = None,
    custom_msg: str | None = None,
) -> str:
    """Refuse an argument that is not one of some texts.

    Args:
        value: what was given.
        arg: the argument's name.
        valid_values: what it may be; any text if None.
        custom_msg: the sentence to refuse with.
    """
    if not isinstance(value, str):
        of = "" if arg is None else f" for argument {arg}"
        raise ValueError(f"Expected type str{of}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        known = "'" + "', '".join(valid_values) + "'"
        raise ValueError(
            custom_msg or f"Unknown value '{value}' for argument {arg}. Valid values are {{{known}}}."
        )
    return value
