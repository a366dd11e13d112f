"""Keys of dicts and members of sets that come out of a file: what may be one, and what its hash costs.

Invariant: no container gets more than `ALIKE` keys of one hash, and hashing is paid for: texts and bytes are hashed
with a secret of the process, but the hashes of numbers and tuples are known to the writer of the file.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

from ..engine.base.size import Size
from .budget import budget, refuse

DEEPEST, MOST = 100, 10_000
ALIKE = 200
PRIME = (1 << 61) - 1  # below it an int is its own hash
_UNHASHABLE = (list, dict, set, bytearray, OrderedDict, Counter)


def check_key(key: Any, met: dict[int, int]) -> None:
    """Refuse a key whose hash would take forever, nest deeper than Python's stack, or is that of too many others.

    Args:
        key: the key.
        met: how many keys of each hash the container has got so far.
    """
    kind = type(key)
    if kind is str or kind is bytes:
        if len(key) > 256:  # equal ones are compared, each time
            budget.spend(len(key) >> 2)
        return
    if kind is bool or key is None:
        return
    if kind is int:
        if -PRIME < key < PRIME:
            return
        budget.spend(key.bit_length() >> 2)
    elif kind is not float and kind is not complex:
        _check_parts(key)
    try:
        found = hash(key)
    except TypeError as error:
        raise refuse(str(error)) from None
    count = met[found] = met.get(found, 0) + 1
    if count > ALIKE:
        raise refuse(f"more than {ALIKE} keys of one dict or set have the same hash")
    budget.spend(100)


def check_keys(keys: Any) -> None:
    """Refuse keys of a new container as `check_key` does."""
    met: dict[int, int] = {}
    for key in keys:
        check_key(key, met)


def _check_parts(key: Any) -> None:
    """Refuse a key of too many parts, or too deep."""
    count, level = 0, [key]
    for _ in range(DEEPEST):
        below: list = []
        for item in level:
            kind = type(item)
            if kind in (tuple, frozenset, Size):
                below.extend(item)
                count += len(item)
            elif kind is int:
                count += item.bit_length() >> 6
            elif kind in _UNHASHABLE:
                raise refuse(f"unhashable type: '{kind.__name__}'")
            if count > MOST:
                raise refuse("a key of too many parts")
        if not below:
            budget.spend(16 * count)
            return
        level = below
    raise refuse("a key nested too deeply")
