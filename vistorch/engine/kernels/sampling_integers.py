"""Whole numbers and permutations.

Invariant: a range below 2**28 takes one 32-bit word a number, a larger one a 64-bit word, whatever the
dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vistorch.engine.kernels import sampling_checks as checks

__all__ = ["permutation", "permuted", "randint", "random_full"]

WIDE_RANGE = 1 << 28
# PyTorch's bound for a remainder of 32-bit words that is nearly uniform.
WIDE_PERMUTATION = (2**32 - 1) // 20
LOOP_UP_TO = 128
FEW = 64  # so few numbers cost the calls, not the division
DRAWN_TOGETHER = 1024  # of an order that is not made at once


def _remainder(words: np.ndarray, count: int) -> np.ndarray:
    """Unsigned words modulo a number: numpy divides by a constant faster than it takes remainders."""
    kind = words.dtype.type
    if words.size <= FEW:
        return words % kind(count)
    if count & (count - 1) == 0:
        return words & kind(count - 1)
    return words - words // kind(count) * kind(count)


def randint(generator, shape: Sequence[int], low: int, high: int | None, np_dtype) -> np.ndarray:
    """Whole numbers in [low, high); `high` None means up to the largest the dtype counts to."""
    np_dtype = np.dtype(np_dtype)
    low, count = checks.integer_bounds(np_dtype, low, high)
    size = math.prod(shape)
    with generator.lock:
        if count < WIDE_RANGE:
            out = _remainder(generator.words(size), count).astype(np.int64)
        elif count < 2**64:
            out = _remainder(generator.words64(size), count).view(np.int64)
        else:
            return generator.words64(size).view(np.int64).astype(np_dtype).reshape(shape)
    if low:
        out += np.uint64(low % 2**64).astype(np.int64)
    return out.astype(np_dtype, copy=False).reshape(shape)


def random_full(generator, shape: Sequence[int], np_dtype) -> np.ndarray:
    """Whole numbers from 0 to the largest the dtype counts to without gaps."""
    np_dtype = np.dtype(np_dtype)
    checks.unsupported("random_kernel_cpu", np_dtype, integers=True, boolean=True)
    bits = checks.KINDS[np_dtype][2]
    size = math.prod(shape)
    if np_dtype.kind == "b":
        count = 2
    else:
        count = 2**bits + 1 if bits else int(np.iinfo(np_dtype).max) + 1
    with generator.lock:
        words = generator.words64(size) if np_dtype.itemsize == 8 else generator.words(size)
        return _remainder(words, count).astype(np_dtype).reshape(shape)


def _shuffled(partners: np.ndarray) -> np.ndarray:
    """The order after exchanging places i and partners[i] >= i, for i = 0, 1, ...

    The value at place i just before exchange i came there by the latest exchange j < i with partner i, and
    was then the value at place j just before exchange j: following these links back to a place never
    exchanged before gives it.
    """
    n = partners.size
    places = np.arange(n)
    origin = places.copy()
    moved = partners > places
    # Where a partner repeats, numpy keeps the last assignment: the latest exchange.
    origin[partners[moved]] = places[moved]
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    # The number that arrives at place i stood at its partner since the last exchange with the same partner.
    # Sorting packed pairs is several times faster than a stable argsort.
    bits = n.bit_length()
    pairs = np.sort((partners << bits) | places)
    order = pairs & ((1 << bits) - 1)
    pairs >>= bits
    same = pairs[1:] == pairs[:-1]
    out = partners.copy()
    out[order[1:][same]] = origin[order[:-1][same]]
    return out


def permutation(generator, n: int, np_dtype=np.int64) -> np.ndarray:
    """The numbers 0 to n - 1 in a random order."""
    np_dtype = np.dtype(np_dtype)
    checks.check_permutation(n, np_dtype)
    draws = max(n - 1, 0)
    with generator.lock:
        if n < WIDE_PERMUTATION:
            words = generator.words(draws)
        else:
            words = generator.words64(draws)
    if n <= LOOP_UP_TO:
        order = list(range(n))
        for i, word in enumerate(words.tolist()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64).astype(np_dtype)
    left = np.arange(n, 1, -1, dtype=words.dtype)
    partners = np.arange(n)
    partners[:-1] += (words % left).astype(np.int64)
    return _shuffled(partners).astype(np_dtype)


def permuted(generator, n: int) -> Iterator[int]:
    """What `permutation` gives, one number after the other, each drawn about when it is asked for.

    An exchange decides its place for good, so the order needs no array: only the numbers that were moved to places
    further on are kept.

    Args:
        generator: where the words come from, some more of them than numbers were asked for.
        n: how many numbers there are.

    Example:
        >>> from itertools import islice
        >>> from vistorch.engine.random.mersenne_twister import Generator
        >>> list(islice(permuted(Generator().manual_seed(0), 10**12), 3))
        [223749065263, 183509117844, 634075600471]
    """
    moved: dict[int, Any] = {}
    for start in range(0, n - 1, DRAWN_TOGETHER):
        end = min(start + DRAWN_TOGETHER, n - 1)
        with generator.lock:
            words = (generator.words if n < WIDE_PERMUTATION else generator.words64)(end - start)
        places = np.arange(start, end)
        partners = places + (words % (n - places).astype(words.dtype)).astype(np.int64)
        for place, partner in enumerate(partners.tolist(), start):
            here = moved.pop(place, place)
            if partner == place:
                yield here
            else:
                yield moved.get(partner, partner)
                moved[partner] = here
    if n > 0:
        yield moved.pop(n - 1, n - 1)
