"""Philox4x32-10, the counter-based generator of CUDA devices, on numpy.

A block is four 32-bit words, found by a key (the seed) and a counter of 128 bits: its lower half is the place in a
stream, its upper half the number of the stream. Invariant: the words are Random123's and cuRAND's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEPS = 0x9E3779B9, 0xBB67AE85
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
ROUNDS = 10


def blocks(seed: int, place: int, streams: Any) -> tuple[Any, Any, Any, Any]:
    """The four words at one place of many streams, as arrays of 32-bit numbers.

    Args:
        seed: the key, 64 bits.
        place: which block of each stream.
        streams: an array of unsigned 64-bit numbers.

    Example:
        >>> [hex(int(w[0])) for w in blocks(0, 0, np.zeros(1, "u8"))]
        ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    seed, place = seed % 2**64, place % 2**64
    key = [seed & 0xFFFFFFFF, seed >> 32]
    a: Any = np.full(streams.shape, place & 0xFFFFFFFF, np.uint64)
    b: Any = np.uint64(place >> 32)
    c, d = streams & LOW, streams >> HALF
    for _ in range(ROUNDS):
        p, q = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, c = (q >> HALF) ^ b ^ np.uint64(key[0]), (p >> HALF) ^ d ^ np.uint64(key[1])
        b, d = q & LOW, p & LOW
        key = [(k + step) & 0xFFFFFFFF for k, step in zip(key, STEPS, strict=True)]
    return a.astype(np.uint32), b.astype(np.uint32), c.astype(np.uint32), d.astype(np.uint32)
