"""The check mode: before a collective operation, every rank says what it is about to do.

Invariant: a difference is raised on every rank, before anything of the operation has moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import DistBackendError
from .work import wait

_LONGEST = 480


def compare(group: Any, name: str, tensors: Sequence[Any]) -> None:
    """Raise if the ranks of a group are about to do different things.

    Args:
        group: the group.
        name: the operation.
        tensors: what it is given: their shapes and dtypes are to be the same.
    """
    shapes = ", ".join(str(list(t.shape)) for t in tensors)
    dtypes = ", ".join(str(t.dtype).removeprefix("vistorch.") for t in tensors)
    devices = ", ".join(t.device.type for t in tensors)
    mine = f"{group.number}|{name.upper()}|{shapes}|{dtypes}|{devices}".encode()[:_LONGEST]
    sent = np.zeros(_LONGEST, np.uint8)
    sent[: len(mine)] = np.frombuffer(mine, np.uint8)
    got = np.empty((group.size(), _LONGEST), np.uint8)
    seconds = group.timeout.total_seconds()

    def late() -> Exception:
        missing = group._missing()
        who = f"; ranks {missing} did not come to any" if missing else ""
        return DistBackendError(
            f"rank {group.global_rank(group.rank())}: Timed out waiting {seconds * 1000:.0f}ms for the other ranks "
            f"before {_words(mine.decode())}{who}."
        )

    wait(group.control.all_gather(sent, got.reshape(-1)).Test, seconds, group, late)
    rank = group.rank()
    for other in range(group.size()):
        if other != rank and (got[other] != sent).any():
            theirs = bytes(got[other]).rstrip(b"\0").decode(errors="replace")
            raise RuntimeError(_difference(group, rank, mine.decode(), other, theirs))


def _words(text: str) -> str:
    number, name, shapes, dtypes, devices = text.split("|")
    tensors = f", TensorShape={shapes}, TensorDtypes={dtypes}, TensorDeviceTypes={devices}" if shapes else ""
    return f"CollectiveFingerPrint(SequenceNumber={number}, OpType={name}{tensors})"


_ASPECTS = (
    "Sequence number",
    "Op type",
    "Tensor Tensor shapes",
    "Tensor Tensor dtypes",
    "Tensor Tensor devices",
)


def _difference(group: Any, rank: int, mine: str, other: int, theirs: str) -> str:
    rows = zip(_ASPECTS, mine.split("|"), theirs.split("|"), strict=True)
    parts = [f"\t {aspect}: {a}vs {b}" for aspect, a, b in rows if a != b]
    return (
        f"Detected mismatch between collectives on ranks. Rank {group.global_rank(rank)} is running collective: "
        f"{_words(mine)}, but Rank {group.global_rank(other)} is running collective: {_words(theirs)}."
        "Collectives differ in the following aspects: " + "".join(parts)
    )
