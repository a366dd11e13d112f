"""A record in a file: a zip that holds one JSON and an .npy for each array. No pickle, so reading runs no code.

Invariant: what is read back equals what was written, arrays by type and value, NaN and infinity included.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from typing import Any

import numpy as np

from ...serialization.atomic import whole
from .record import WatchRecord

FORMAT = "vistorch watch 1"
MOST = 1 << 30  # bytes of all arrays of a file


def save(record: WatchRecord, path: Any) -> None:
    """Write a record, whole or not at all: a file that was there stays until the new one is complete.

    Args:
        record: the record.
        path: a file name, or an open binary file.
    """
    arrays: list[np.ndarray] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"npy": len(arrays) - 1}
        if isinstance(value, dict):
            return {str(k): plain(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        if isinstance(value, (float, np.floating)):
            value = float(value)
            return value if math.isfinite(value) else {"float": str(value)}
        return value.item() if isinstance(value, np.generic) else value

    text = json.dumps({"format": FORMAT, "text": record.said, "state": plain(record.state)}, allow_nan=False)
    with whole(path) as target, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("watch.json", text)
        for i, array in enumerate(arrays):
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            file.writestr(f"{i}.npy", held.getvalue())


def load(path: Any) -> WatchRecord:
    """Read a record that `Run.save` wrote.

    Args:
        path: the file.

    Example:
        >>> import io
        >>> from vistorch.debug.watch import load, watch
        >>> file = io.BytesIO()
        >>> watch(title="first").save(file)
        >>> load(file).wire()["title"]
        'first'
    """
    try:
        with zipfile.ZipFile(path) as file:
            if sum(entry.file_size for entry in file.infolist()) > MOST:
                raise ValueError("it is larger than 1 GiB")
            found = json.loads(file.read("watch.json"))
            if not isinstance(found, dict) or found.get("format") != FORMAT:
                raise ValueError("its format is not known")

            def full(value: Any) -> Any:
                if isinstance(value, dict):
                    if value.keys() == {"npy"}:
                        return np.load(io.BytesIO(file.read(f"{int(value['npy'])}.npy")), allow_pickle=False)
                    if value.keys() == {"float"}:
                        return float(value["float"])
                    return {k: full(v) for k, v in value.items()}
                return [full(v) for v in value] if isinstance(value, list) else value

            return WatchRecord(full(found["state"]), str(found["text"]))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"this is no saved watch record: {error}") from None
