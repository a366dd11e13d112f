"""A record in a file: a zip that holds one JSON and an .npy for each array. No pickle, so reading runs no code.

Invariant: what is read back equals what was written, arrays by type and value, NaN and infinity included; what is read
has the form that record.py describes, or is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bundle import reading, write
from .form import check

FORMAT = "vistorch watch 1"


def save(record: Any, path: Any) -> None:
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

    head = {"format": FORMAT, "text": record.said, "state": plain(record.state)}
    write(path, "watch.json", head, arrays, 6)


def read(path: Any) -> tuple[dict[str, Any], str]:
    """The state and the text of a record in a file; `WatchRecord`s are made of them by `record.load`."""
    with reading(path, "watch.json", "saved watch record") as file:
        found = file.head
        if not isinstance(found, dict) or found.get("format") != FORMAT or type(found.get("text")) is not str:
            raise ValueError("its format is not known")

        def full(value: Any) -> Any:
            if isinstance(value, dict):
                if value.keys() == {"npy"}:
                    return file.array(value["npy"])
                if value.keys() == {"float"}:
                    return float(value["float"])
                return {k: full(v) for k, v in value.items()}
            return [full(v) for v in value] if isinstance(value, list) else value

        state = full(found.get("state"))
        check(state)
        return state, found["text"]
