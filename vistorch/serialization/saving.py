"""`save`: one object, with all the tensors in it, into one file.

Invariant: a failed save leaves the old file; the elements go to the file as they lie in memory, without a second copy.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import Any

from .archive_out import ArchiveWriter, folder_of
from .atomic import replacing
from .options import choice, skipping
from .pickling import Storages, bytes_on_host, pickled

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object to a file that `load` reads, here and in PyTorch.

    Tensors that share memory still share it when they are loaded. A file that is there already is replaced when the
    new one is complete, and stays as it was if the save fails.

    Args:
        obj: a tensor, a `state_dict()`, or any nest of Python values with tensors in it.
        f: a path, or a file object with `write`.
        pickle_module: what pickles everything but the tensors' elements.
        pickle_protocol: of pickle; PyTorch's `weights_only=True` reads 2 alone.
        _use_new_zipfile_serialization: with False, write the format of PyTorch before 1.6.
        _disable_byteorder_record: leave out the record that says the byte order.

    Example:
        >>> import io, vistorch
        >>> f = io.BytesIO()
        >>> x = vistorch.arange(4)
        >>> vistorch.save({"x": x, "part": x[2:]}, f)
        >>> _ = f.seek(0)
        >>> loaded = vistorch.load(f)
        >>> loaded["part"] += 10
        >>> loaded["x"]
        tensor([ 0,  1, 12, 13])
    """
    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    if not is_path and not callable(f.write):
        raise TypeError(f"Buffer of {str(type(f)).strip('<>')} has no callable attribute 'write'")
    path: Any = os.fspath(f) if is_path else None
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not _use_new_zipfile_serialization and skipping.on:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    folder = folder_of(path)
    # All that can go wrong with the object goes wrong here, before a file is touched.
    storages = Storages(legacy=not _use_new_zipfile_serialization)
    data = pickled(obj, storages, pickle_module, pickle_protocol)

    def write(file: Any) -> None:
        if _use_new_zipfile_serialization:
            _write(file, folder, data, storages, not _disable_byteorder_record)
        else:
            _write_legacy(file, data, storages, pickle_module, pickle_protocol)

    if path is None:
        write(f)
        flush: Any = getattr(f, "flush", None)
        if flush is not None:
            flush()
        return
    parent = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(parent):
        raise RuntimeError(f"Parent directory {parent} does not exist.")
    with replacing(path) as file:
        write(file)


def _write(file: Any, folder: str, data: bytes, storages: Storages, say_order: bool) -> None:
    """Write an archive."""
    archive = ArchiveWriter(file, folder, choice.compute_crc32, choice.storage_alignment)
    archive.record("data.pkl", data)
    archive.record(".format_version", b"1")
    archive.record(".storage_alignment", str(choice.storage_alignment).encode())
    if say_order:
        archive.record("byteorder", sys.byteorder.encode())
    for key, storage in storages.found.items():
        if skipping.on:
            archive.write_zeros(f"data/{key}", storage.nbytes())
        else:
            archive.record(f"data/{key}", bytes_on_host(storage))
    archive.finish()


def _write_legacy(file: Any, data: bytes, storages: Storages, module: Any, protocol: int) -> None:
    """Write the format of before 1.6: pickles one after another, and then the storages' elements."""
    kinds = {
        name: struct.calcsize("=" + code) for name, code in (("short", "h"), ("int", "i"), ("long", "l"))
    }
    system = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": kinds,
    }
    for value in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        file.write(module.dumps(value, protocol=protocol))
    file.write(data)
    keys = sorted(storages.found)
    file.write(module.dumps(keys, protocol=protocol))
    for key in keys:
        content = bytes_on_host(storages.found[key])
        file.write(struct.pack("<q", len(content) // storages.sizes[key]))
        file.write(memoryview(content))
