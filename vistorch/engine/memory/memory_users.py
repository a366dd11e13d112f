"""Everybody who looks at an array's memory: found when that memory moves, so that all of them move with it.

Invariant: after `share`, the tensors and storages that shared the old memory share the new one, in the same way.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from .. import browser
from ..kernels.strides import lay
from .array_memory import bytes_of, owner, reach
from .shared_memory import Piece, ledger

# Which attribute of a class holds its array; each class that looks at memory enters itself.
SLOTS: dict[type, str] = {}


def piece_of(a: Any) -> Piece | None:
    """The piece of shared memory that an array is on, if it is."""
    base = getattr(owner(a), "base", None)
    return base if base.__class__ is Piece else None


def share(holder: Any) -> Piece:
    """Move the memory of a tensor or storage to where other processes can see it, unless it is there.

    Args:
        holder: a Tensor or an UntypedStorage on the CPU or on a simulated device.
    """
    slot = _slot(type(holder))
    if slot is None:
        raise TypeError(f"{type(holder).__name__} holds no memory that could be shared")
    browser.refuse("share_memory_()", browser.MEMORY, "leave it out, the tensor can be used as it is")
    alone = _references(holder, slot) <= _ALONE
    root = owner(getattr(holder, slot))
    base = root.base
    if base.__class__ is Piece:
        return base
    low, length = reach(root)
    piece = ledger.new(length)
    made = piece.array()
    made[...] = bytes_of(root)
    if alone and getattr(holder, slot) is root:
        _rebase(holder, slot, low, made)
    else:
        for other, where in _holders(root):
            _rebase(other, where, low, made)
    return piece


def _references(holder: Any, slot: str) -> int:
    """How often an array is referred to, this question included."""
    return sys.getrefcount(getattr(holder, slot))


class _Only:
    _data = np.empty(1)


_ALONE = _references(_Only, "_data")  # what the question itself adds differs from one Python to the next


def _rebase(holder: Any, slot: str, low: int, made: Any) -> None:
    """Let a tensor or storage look at the same place in other memory."""
    a = getattr(holder, slot)
    offset = a.__array_interface__["data"][0] - low if a.size else 0
    setattr(holder, slot, lay(made, a.shape, a.dtype, offset, a.strides))


def _holders(root: Any) -> list[tuple[Any, str]]:
    """The tensors and storages whose memory is `root`'s."""
    slots: dict[type, str | None] = {}
    found = []
    for thing in gc.get_objects():
        cls = type(thing)
        slot = slots.get(cls, "")
        if slot == "":
            slot = slots[cls] = _slot(cls)
        if slot is not None:
            a = getattr(thing, slot, None)
            if isinstance(a, np.ndarray) and owner(a) is root:
                found.append((thing, slot))
    return found


def _slot(cls: type) -> str | None:
    for base in cls.__mro__:
        if base in SLOTS:
            return SLOTS[base]
    return None
